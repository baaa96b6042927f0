import math
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import nx_fastonl as fo
from tests import oracles

EDGES = [0.0, 0.1, 0.2, 0.3, 0.6, 0.7, 0.9, 1.0, math.nextafter(0.1, 0), math.nextafter(1.0, 0), 5e-324]


def predictions(max_size=30):
    """Probabilities, many at the edges of bins, and whether each prediction is right."""
    return st.lists(st.tuples(st.sampled_from(EDGES) | st.floats(0.0, 1.0), st.booleans()), max_size=max_size)


def sequence(probabilities, correct, true_probabilities=None):
    n = len(probabilities)
    predicted = tuple("a" if right else "b" for right in correct)
    of_true = probabilities if true_probabilities is None else true_probabilities
    return fo.LabelSequence(predicted, tuple(range(n)), ("a",) * n, tuple(probabilities), tuple(of_true))


def same(found, expected):
    return found == expected or (math.isnan(found) and math.isnan(expected))


@given(predictions(), st.sampled_from([1, 2, 3, 7, 10, 100]))
@example([], 10)
@example([(0.1, True)], 10)
@example([(1.0, False), (0.0, True)], 1)
def test_calibration_is_that_of_the_definition(pairs, bins):
    probabilities, correct = [p for p, _ in pairs], [right for _, right in pairs]
    found = sequence(probabilities, correct).calibration(bins)
    assert (len(found.counts), sum(found.counts)) == (bins, len(pairs))
    if not pairs:
        assert math.isnan(found.error)
        return
    assert_allclose(found.error, oracles.calibration_error(probabilities, correct, bins), atol=1e-12)
    for i, (count, confidence, accuracy) in enumerate(
        zip(found.counts, found.confidences, found.accuracies, strict=True)
    ):
        inside = [j for j, p in enumerate(probabilities) if min(sum(e / bins <= p for e in range(1, bins)), bins) == i]
        assert count == len(inside)
        assert math.isnan(confidence) == math.isnan(accuracy) == (count == 0)
        if inside:
            assert_allclose(confidence, sum(probabilities[j] for j in inside) / count)
            assert_allclose(accuracy, sum(correct[j] for j in inside) / count)


@pytest.mark.parametrize(
    ("probability", "bin_of_ten"),
    [
        (0.0, 0),
        (math.nextafter(0.1, 0), 0),
        (0.1, 1),
        (0.3, 3),
        (0.6, 6),
        (0.7, 7),
        (math.nextafter(1.0, 0), 9),
        (1, 9),
    ],
)
def test_bins_hold_their_lower_bound_and_the_last_its_upper(probability, bin_of_ten):
    assert sequence([probability], [True]).calibration().counts.index(1) == bin_of_ten


def test_no_prediction_counts_as_a_mistake_with_probability_0():
    seq = fo.LabelSequence((None, "a"), (0, 1), ("a", "a"), (0.0, 1.0), (0.0, 1.0))
    found = seq.calibration()
    assert (found.counts[0], found.accuracies[0], found.error) == (1, 0.0, 0.0)


def test_repr_of_a_calibration():
    found = sequence([0.75, 0.75, 0.5], [True, False, False]).calibration(2)
    text = "Calibration of 3 predictions in 2 bins: mean probability 0.667, accuracy 0.333, calibration error 0.333"
    assert repr(found) == text
    assert repr(sequence([], []).calibration()) == "Calibration of 0 predictions in 10 bins"
    assert found == sequence([0.75, 0.75, 0.5], [False, True, False]).calibration(2)


def test_calibration_to_frame(monkeypatch):
    found = sequence([0.15, 0.25, 1.0], [False, True, True]).calibration(4)
    frame = found.to_frame()
    assert list(frame.columns) == ["low", "high", "count", "confidence", "accuracy"]
    assert (list(frame["low"]), list(frame["high"])) == ([0.0, 0.25, 0.5, 0.75], [0.25, 0.5, 0.75, 1.0])
    assert list(frame["count"]) == [1, 1, 0, 1]
    assert_allclose(frame["accuracy"], [0.0, 1.0, math.nan, 1.0])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'to_frame\(backend="pandas"\) needs pandas: pip install pandas'):
        found.to_frame()
    assert found.to_frame("pyarrow")["count"].to_pylist() == [1, 1, 0, 1]


# The log loss


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 5e-324, 0.25, 1.0])), max_size=12))
def test_log_loss_leaves_out_new_labels(stream):
    truth, probabilities = tuple(label for label, _ in stream), tuple(p for _, p in stream)
    # A label that is new to the stream may have been learned before it: then its probability is positive.
    counted = [p for i, p in enumerate(probabilities) if p > 0.0 or truth[i] in truth[:i]]
    seq = fo.LabelSequence(truth, tuple(range(len(truth))), truth, probabilities, probabilities)
    if not counted:
        assert math.isnan(seq.log_loss)
    elif 0.0 in counted:
        assert seq.log_loss == math.inf
    else:
        assert_allclose(seq.log_loss, -sum(math.log(p) for p in counted) / len(counted))
        assert math.isfinite(seq.log_loss)


def test_log_loss_is_that_of_the_true_label():
    seq = sequence([0.9, 0.6], [True, False], true_probabilities=[0.9, 0.3])
    assert_allclose(seq.log_loss, -(math.log(0.9) + math.log(0.3)) / 2)


# Sequences


@given(predictions(12), st.slices(12))
def test_slices_keep_probabilities(pairs, index):
    probabilities, correct = [p for p, _ in pairs], [right for _, right in pairs]
    of_true = [1.0 - p for p in probabilities]
    part = sequence(probabilities, correct, of_true)[index]
    assert part.probabilities == tuple(probabilities)[index]
    assert part.true_probabilities == tuple(of_true)[index]
    assert same(part.calibration().error, sequence(probabilities[index], correct[index]).calibration().error)


def test_sequence_to_frame_has_the_probabilities():
    frame = sequence([0.9, 0.6], [True, False], true_probabilities=[0.9, 0.3]).to_frame()
    assert list(frame.columns) == ["node", "predicted", "truth", "correct", "error_rate", "probability"]
    assert list(frame["probability"]) == [0.9, 0.6]


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("log_loss", lambda seq: seq.log_loss),
        (r"calibration\(\)", lambda seq: seq.calibration()),
        (r"calibration\(\)", lambda seq: seq.plot_calibration()),
    ],
)
def test_sequences_without_probabilities_say_which_method_has_them(karate, name, use):
    seq = fo.online_node_labeling(karate, "club", method="fastonl")
    message = f'{name} needs calibrated probabilities, and the method of this stream has none; method="adaptive" has'
    with pytest.raises(ValueError, match=message):
        use(seq)


@pytest.mark.parametrize(("bins", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError), (10**9, ValueError)])
def test_bins_are_a_whole_number(bins, error):
    with pytest.raises(error, match="bins must be"):
        sequence([0.5], [True]).calibration(bins)


def test_reliability_diagram():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    seq = sequence([0.15, 0.95, 0.95, 0.35], [False, True, True, True])
    figure, ax = plt.subplots()
    assert seq.plot_calibration(ax) is ax
    diagonal, line = ax.lines
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0.0, 1.0]
    assert_allclose(line.get_xdata(), [0.15, 0.35, 0.95])
    assert_allclose(line.get_ydata(), [0.0, 1.0, 1.0])
    areas = ax.collections[0].get_sizes()
    assert areas[2] > areas[0] == areas[1] > 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("probability of the predicted label", "fraction right")
    figure.canvas.draw()
    _, empty = plt.subplots()
    assert len(sequence([], []).plot_calibration(empty).lines) == 2
    assert sequence([0.5], [True]).plot_calibration() is empty
    plt.close("all")
