"""The experiment `adaptive`: the adaptive learner against every kernel and smoothness in hindsight."""

from __future__ import annotations

from collections import Counter
from math import nan
from typing import Any

from nx_fastonl.experiments.base import Record, Task
from nx_fastonl.experiments.graphs import load_labelled_graph
from nx_fastonl.experiments.labeling import label_stream, run_stream
from nx_fastonl.kernels.table import ALIASES, checked_parameters
from nx_fastonl.labeling.labeler import OnlineNodeLabeler
from nx_fastonl.labeling.sequence import LabelSequence

SMOOTHNESSES = (0.03, 0.1, 0.15, 0.5, 0.9)
MOST_FREQUENT = "most frequent"
# Of more labels, the first so many of each order arrive. Most kernels then take seconds on any graph; K6 at 0.03
# takes minutes on graphs of more than 100,000 nodes. It is not left out: it is the best of all on com-dblp.
MAX_ARRIVALS = 20_000


def tasks(graph: str, trials: int) -> list[Task]:
    nodes, labels = load_labelled_graph(graph)
    arrivals = min(len(labels), MAX_ARRIVALS)
    return [
        {"graph": graph, "method": method, "trial": trial, "arrivals": arrivals}
        for trial in range(trials)
        for method in ("adaptive", "fastonl", MOST_FREQUENT, *pairs(len(nodes)))
    ]


def pairs(n: int) -> dict[str, dict[str, Any]]:
    """The kernels with each smoothness that they take, as options of `fastonl`, by name."""
    found = {}
    for alias, kernel in ALIASES.items():
        for smoothness in SMOOTHNESSES:
            try:
                checked_parameters(n, kernel, smoothness, {})
            except ValueError:
                continue
            found[f"{alias} at {smoothness}"] = {"kernel": alias, "smoothness": smoothness}
    return found


def measure(task: Task) -> list[Record]:
    """The accuracy of one method, and the seconds of CPU. Of the first two methods, how sure they were as well."""
    method = task["method"]
    if method == MOST_FREQUENT:
        return [_record(frequency_accuracy([label for _, label in label_stream(task)]))]
    if method == "adaptive":
        sequence, seconds = run_stream(task, method=method)
        return [_record(sequence.accuracy, seconds, sequence)]
    if method == "fastonl":
        sequence, seconds = run_stream(task, method=method)
        return [_record(sequence.accuracy, seconds, _with_shares(task))]
    graph, _ = load_labelled_graph(task["graph"])
    sequence, seconds = run_stream(task, method="fastonl", **pairs(len(graph))[method])
    return [_record(sequence.accuracy, seconds)]


def _record(accuracy: float, seconds: float = nan, sequence: LabelSequence | None = None) -> Record:
    return {
        "accuracy": accuracy,
        "seconds": seconds,
        "calibration_error": nan if sequence is None else sequence.calibration().error,
        "log_loss": nan if sequence is None else sequence.log_loss,
    }


def frequency_accuracy(labels: list[Any]) -> float:
    """How often the label that was most frequent so far is right. Of two, the one seen first."""
    counts: Counter[Any] = Counter()
    right = 0
    best = None
    for label in labels:
        right += best is not None and label == best
        counts[label] += 1
        best = counts.most_common(1)[0][0]
    return right / len(labels)


def _with_shares(task: Task) -> LabelSequence:
    """The stream of `fastonl` with its distributions as if they were probabilities, which they are not."""
    graph, _ = load_labelled_graph(task["graph"])
    model = OnlineNodeLabeler(graph, method="fastonl", seed=task["trial"])
    stream = label_stream(task)
    predicted, shares, true_shares = [], [], []
    for node, label in stream:
        distribution = model.predict_proba_one(node)
        best = max(distribution, key=distribution.__getitem__, default=None)
        predicted.append(best)
        shares.append(distribution.get(best, 0.0))
        true_shares.append(distribution.get(label, 0.0))
        model.learn_one(node, label)
    nodes, truth = zip(*stream, strict=True)
    return LabelSequence(tuple(predicted), nodes, truth, tuple(shares), tuple(true_shares))
