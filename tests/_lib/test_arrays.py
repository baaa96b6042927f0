import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nx_fastonl._lib.arrays import with_ties


@given(st.lists(st.floats(0.0, 1.0), max_size=30), st.sampled_from([0.0, 1e-12, 0.1]))
def test_close_values_become_the_smallest_of_them(values, gap):
    found = with_ties(np.array(values), gap).tolist()
    for value, tied in zip(values, found, strict=True):
        # From each value, steps of at most the gap lead down to the one it is given.
        smallest = value
        for other in sorted(values, reverse=True):
            if other < smallest and smallest - other <= gap * smallest:
                smallest = other
        assert tied == smallest
