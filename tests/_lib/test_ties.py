import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nx_fastonl._lib._ties import with_ties


def chains(values, gap):
    """Values in groups: each but the smallest of a group is within the gap of another one that is smaller."""
    groups = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= gap * value:
            groups[-1].append(value)
        else:
            groups.append([value])
    return groups


@given(st.data(), st.sampled_from([1e-12, 1e-6, 0.1]))
def test_close_values_become_one_of_them(data, gap):
    size = st.just(0.0) | st.floats(1e-300, 1.0)
    values = data.draw(st.lists(size, max_size=15))
    nearby = st.floats(-3.0, 3.0).map(lambda steps: 1.0 + steps * gap)
    values += [value * data.draw(nearby) for value in values]
    found = dict(zip(values, with_ties(np.array(values), gap).tolist(), strict=True))
    groups = chains(values, gap)
    shared = [{found[value] for value in group} for group in groups]
    for group, its_own in zip(groups, shared, strict=True):
        assert len(its_own) == 1
        assert its_own <= set(group)
    assert len(set().union(*shared)) == len(groups)


def test_equal_values_stay_as_they_are():
    values = np.array([0.25, 0.5, 0.25, 0.0, 0.5, 0.0])
    assert with_ties(values, 1e-12).tolist() == values.tolist()
