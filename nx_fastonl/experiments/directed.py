"""The experiment `directed`: what the arrows of a graph add."""

from __future__ import annotations

from math import nan
from typing import Any

from nx_fastonl.experiments.adaptive import MOST_FREQUENT, frequency_accuracy
from nx_fastonl.experiments.base import Record, Task
from nx_fastonl.experiments.graphs import load_labelled_graph
from nx_fastonl.experiments.labeling import label_stream, run_stream
from nx_fastonl.labeling.labeler import OnlineNodeLabeler

IGNORED = "adaptive, arrows ignored"
METHODS: dict[str, dict[str, Any]] = {
    "adaptive": {"method": "adaptive"},
    IGNORED: {"method": "adaptive", "direction": "ignore"},
    "fastonl": {"method": "fastonl", "direction": "ignore"},
    "weighted-majority": {"method": "weighted-majority"},
}
# How often prediction sets should hold the true label.
COVERAGE = 0.9


def tasks(graph: str, trials: int) -> list[Task]:
    load_labelled_graph(graph, arrows=True)  # raises now if there are no labels
    return [
        {"graph": graph, "method": method, "trial": trial}
        for trial in range(trials)
        for method in (*METHODS, MOST_FREQUENT)
    ]


def measure(task: Task) -> list[Record]:
    """The accuracy of one method over a whole stream, and the seconds of CPU; of the adaptive ones, how sure they were.

    Prediction sets come from a second run, one node at a time, which is not timed.
    """
    stream = label_stream(task, arrows=True)
    record = {"arrivals": len(stream), "seconds": nan, "calibration_error": nan, "coverage": nan, "set_size": nan}
    if task["method"] == MOST_FREQUENT:
        return [{**record, "accuracy": frequency_accuracy([label for _, label in stream])}]
    options = METHODS[task["method"]]
    sequence, seconds = run_stream(task, arrows=True, **options)
    record |= {"accuracy": sequence.accuracy, "seconds": seconds}
    if options["method"] == "adaptive":
        coverage, set_size = _sets(task, stream, options)
        record |= {"calibration_error": sequence.calibration().error, "coverage": coverage, "set_size": set_size}
    return [record]


def _sets(task: Task, stream: list[tuple[Any, Any]], options: dict[str, Any]) -> tuple[float, float]:
    """How often the prediction sets of a stream hold the true label, and how many labels they have on average."""
    graph, _ = load_labelled_graph(task["graph"], arrows=True)
    model = OnlineNodeLabeler(graph, seed=task["trial"], **options)
    held = size = 0
    for node, label in stream:
        found = model.predict_set_one(node, COVERAGE)
        held += label in found
        size += len(found)
        model.learn_one(node, label)
    return held / len(stream), size / len(stream)
