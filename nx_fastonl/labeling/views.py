"""What notebooks show of predictions, models, and of what was found about them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.html import (
    BLUE,
    ORANGE,
    PURPLE,
    bars,
    curve,
    facts,
    few_names,
    fraction,
    heading,
    name_of,
    note,
    number,
    table,
    tint,
    view,
)
from nx_fastonl.labeling.knowledge import Knowledge
from nx_fastonl.learners.adaptive import AdaptiveLearner

__all__ = ["calibration_view", "compatibility_view", "labeler_view", "sequence_view"]

# Labels, experts and bins that a view has room for.
SHOWN_LABELS = 10
SHOWN_EXPERTS = 12
SHOWN_BINS = 50
LISTED_BINS = 10
# Ratios of this size have the strongest colour.
STRONGEST_RATIO = 10.0

Cell = tuple[str, str]


def sequence_view(
    predicted: Sequence[Any], truth: Sequence[Hashable], correct: Sequence[bool], more: Mapping[str, object]
) -> str:
    """The view of a LabelSequence: its accuracy, the error rate so far, which labels were taken for which."""
    n = len(predicted)
    right = np.array(correct, dtype=bool)
    n_right = int(right.sum())
    shown = {"accuracy": fraction(n_right, n), **more}
    summary = f"{n:,} predictions, {n - n_right:,} mistakes"
    if n == 0:
        return view("LabelSequence", summary)
    errors = (np.cumsum(~right) / np.arange(1, n + 1)).tolist()
    picture = curve(errors, "nodes seen", f"error rate so far, {errors[-1]:.3f} after {n:,} nodes")
    rate = heading("Error rate so far") + picture
    return view("LabelSequence", summary, facts(shown), rate, _confusion(predicted, truth, correct))


def _confusion(predicted: Sequence[Any], truth: Sequence[Hashable], correct: Sequence[bool]) -> str:
    """How often the most frequent labels were predicted as which."""
    totals = Counter(truth)
    labels = [label for label, _ in totals.most_common(SHOWN_LABELS)]
    places = {label: i for i, label in enumerate(labels)}
    others = len(labels)  # the place of all other labels, and after it that of no label
    counts = np.zeros((others + 1, others + 2), dtype=np.int64)
    for (guess, label, is_right), count in Counter(zip(predicted, truth, correct, strict=True)).items():
        i = places.get(label, others)
        # What is right is on the diagonal, also where two objects for one label are told apart by their hashes.
        j = i if is_right else (others + 1 if guess is None else places.get(guess, others))
        counts[i, j] += count
    n_others = len(totals) - others
    columns = [*map(name_of, labels), "other labels", "none"]
    keep = [j for j in range(others + 2) if j < others or counts[:, j].any()]

    def cell(i: int, j: int) -> Cell:
        if i == j == others:  # what is right, and mistakes between two of these labels
            return f"{counts[i, j]:,}", ""
        return _count(counts[i, j], counts[i].sum(), BLUE if i == j else ORANGE)

    rows = [(columns[i], [cell(i, j) for j in keep]) for i in range(others + 1) if i < others or n_others]
    below = note(f"labels that are less frequent: {n_others:,} of {len(totals):,}") if n_others else ""
    return heading("Predicted as") + table([columns[j] for j in keep], rows, "true label") + below


def _count(count: int, of: int, colour: str) -> Cell:
    return f"{count:,}", tint(colour, count / of) if count else ""


def labeler_view(settings: Mapping[str, object], knowledge: Knowledge, n_nodes: int) -> str:
    """The view of an OnlineNodeLabeler: its settings, what it has learned, which experts it trusts.

    It shows what the model knows. It asks no question: the model does not catch up with a graph that has changed.
    """
    learner, classes, learned = knowledge.learner, knowledge.classes, knowledge.n_learned
    shown = {
        **settings,
        "learned": f"{learned:,} of {n_nodes:,} nodes",
        "labels": few_names(classes, len(classes)) if classes else "none yet",
    }
    if learner.is_behind:
        shown["behind"] = "the graph has changed since the last question; the next one catches up"
    counts = zip(classes, learner.history.label_counts.tolist(), strict=False)
    parts = [facts(shown), _frequencies(list(counts))]
    if isinstance(learner, AdaptiveLearner):
        parts.append(_weights(learner.weights()))
    return view("OnlineNodeLabeler", f"{len(classes):,} labels, {learned:,} nodes learned", *parts)


def _frequencies(counts: list[tuple[Any, int]]) -> str:
    """How many nodes were learned with each of the most frequent labels."""
    total = sum(count for _, count in counts)
    if total == 0:
        return ""
    most = sorted(counts, key=lambda pair: -pair[1])[:SHOWN_LABELS]
    rows = [(name_of(label), [_count(count, most[0][1], BLUE)]) for label, count in most]
    rest = total - sum(count for _, count in most)
    if rest:
        rows.append((f"{len(counts) - len(most):,} other labels", [(f"{rest:,}", "")]))
    return heading("Labels learned") + table(["nodes"], rows, "label")


def _weights(weights: Mapping[str, float]) -> str:
    """How much each expert is trusted."""
    most = max(map(abs, weights.values()), default=0.0) or 1.0
    strongest = sorted(weights.items(), key=lambda pair: -abs(pair[1]))[:SHOWN_EXPERTS]
    rows = [
        (name_of(name), [(f"{weight:z.2f}", tint(BLUE if weight > 0.0 else ORANGE, abs(weight) / most))])
        for name, weight in strongest
    ]
    return heading("Weights of the experts") + table(["weight"], rows, "expert")


def calibration_view(counts: Sequence[int], means: Mapping[str, float], bins: Iterable[tuple[float, float]]) -> str:
    """The view of a Calibration; `bins` are the mean probability and the accuracy of each bin."""
    total = sum(counts)
    summary = f"{total:,} predictions in {len(counts):,} bins"
    if total == 0:
        return view("Calibration", summary)
    filled = [(i, pair) for i, pair in enumerate(bins) if counts[i]]
    rows = [
        (
            f"{i / len(counts):.3g} to {(i + 1) / len(counts):.3g}",
            [*_calibrated(probability, right), (f"{counts[i]:,}", "")],
        )
        for i, (probability, right) in filled[-LISTED_BINS:]
    ]
    histogram = ""
    if len(counts) <= SHOWN_BINS:
        histogram = heading("Predictions by probability") + bars(counts, ("0", "probability", "1"), summary)
    left = len(filled) - len(rows)
    below = note(f"bins below that are not shown: {left:,}") if left > 0 else ""
    columns = ["probability", "right", "predictions"]
    return view("Calibration", summary, facts(means), table(columns, rows, "bin") + below, histogram)


def _calibrated(probability: float, right: float) -> list[Cell]:
    """The two numbers; orange where predictions were right less often than they were held to be, else blue."""
    colour = tint(ORANGE if right < probability else BLUE, 4.0 * abs(right - probability))
    return [(f"{probability:.3f}", ""), (f"{right:.3f}", colour)]


def compatibility_view(
    labels: Sequence[Any], ratios: NDArray[np.float64], counts: NDArray[np.float64], verb: str
) -> str:
    """The view of a Compatibility: the ratios of the labels with the most edges."""
    n_edges = counts.sum(axis=0) + counts.sum(axis=1)
    kept = np.sort(np.argsort(-n_edges, kind="stable")[:SHOWN_LABELS])
    names = [name_of(labels[i]) for i in kept]
    rows = [(names[i], [_ratio(float(ratios[u, v])) for v in kept]) for i, u in enumerate(kept)]
    summary = f"{len(labels):,} labels"
    if not rows:
        return view("Compatibility", summary)
    left = len(labels) - len(kept)
    below = note(f"not shown, with fewer edges: {left:,} of {len(labels):,} labels") if left else ""
    above = heading(f"How many times as often as chance a node {verb}")
    return view("Compatibility", summary, above + table(names, rows) + below)


def _ratio(ratio: float) -> Cell:
    if math.isnan(ratio):
        return "", ""
    distance = math.log(min(max(ratio, 1.0 / STRONGEST_RATIO), STRONGEST_RATIO)) / math.log(STRONGEST_RATIO)
    return number(float(f"{ratio:.2g}")), tint(ORANGE if distance > 0.0 else PURPLE, abs(distance))
