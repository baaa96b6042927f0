"""Small tables that summarise the records of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nx_fastonl.experiments.adaptive import MOST_FREQUENT

if TYPE_CHECKING:
    import pandas as pd

# Accuracies of FastONL in Table 6 of the paper.
PAPER_ACCURACY = {
    "political-blogs": 0.9418,
    "citeseer": 0.7404,
    "cora": 0.8420,
    "blogcatalog": 0.2921,
    "mnist-knn": 0.7960,
    "pubmed": 0.8257,
    "ogbn-arxiv": 0.7089,
}


def accuracy_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracies, a column for each method, beside what the paper reports for FastONL."""
    table = _means(frame, "method", "accuracy")
    if not PAPER_ACCURACY.keys() & set(table.index):
        return table.round(4)
    table["paper"] = [PAPER_ACCURACY.get(str(graph), float("nan")) for graph in table.index]
    table["fastonl - paper"] = table["fastonl"] - table["paper"]
    return table.round(4)


def fastest_runs(frame: pd.DataFrame) -> pd.DataFrame:
    fastest = frame.groupby(["graph", "method"], sort=False)["seconds"].min().unstack("method")
    return fastest[frame["method"].unique()].round(4)


def last_errors(frame: pd.DataFrame) -> pd.DataFrame:
    last = frame[frame["nodes_seen"] == frame.groupby("graph")["nodes_seen"].transform("max")]
    return _means(last, "method", "error_rate").round(4)


def epsilon_table(frame: pd.DataFrame) -> pd.DataFrame:
    groups = frame.groupby(["graph", "method", "epsilon_times_n"], sort=False)
    return groups[["accuracy", "seconds"]].mean().round(4)


def best_smoothness(frame: pd.DataFrame) -> pd.DataFrame:
    means = frame.groupby(["graph", "kernel", "smoothness"], sort=False)["accuracy"].mean().reset_index()
    best = means.loc[means.groupby(["graph", "kernel"], sort=False)["accuracy"].idxmax()]
    return best.set_index(["graph", "kernel"]).round(4)


def median_edges(frame: pd.DataFrame) -> pd.DataFrame:
    medians = frame.groupby(["graph", "epsilon", "quantity"], sort=False)["edges"].median().unstack("quantity")
    return medians[frame["quantity"].unique()].round(0)


def decay_exponents(frame: pd.DataFrame) -> pd.DataFrame:
    """The exponent of the power law between ranks 2 and 1,000: the slope in a double logarithmic picture."""
    middle = frame[(frame["rank"] >= 2) & (frame["rank"] <= 1_000) & (frame["magnitude"] > 0.0)]
    slopes = {
        key: float(np.polyfit(np.log(group["rank"]), np.log(group["magnitude"]), 1)[0])
        for key, group in middle.groupby(["graph", "vector"], sort=False)
    }
    import pandas as pd

    return pd.Series(slopes).unstack(sort=False).rename_axis("graph").round(2)


def mean_reach(frame: pd.DataFrame) -> pd.DataFrame:
    means = frame.groupby(["graph", "step"], sort=False)["fraction_reached"].mean()
    return means.unstack("step").round(3)


def hindsight_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The adaptive learner beside `fastonl`, the best kernel and smoothness, and the most frequent label."""
    import pandas as pd

    accuracy = _means(frame, "method", "accuracy")
    errors = _means(frame, "method", "calibration_error")
    seconds = frame.groupby(["graph", "method"], sort=False)["seconds"].min().unstack("method")
    of_pairs = accuracy.drop(columns=["adaptive", "fastonl", MOST_FREQUENT])
    columns = {
        "arrivals": frame.groupby("graph", sort=False)["arrivals"].first(),
        "adaptive": accuracy["adaptive"].round(4),
        "fastonl": accuracy["fastonl"].round(4),
        "gain": (accuracy["adaptive"] - accuracy["fastonl"]).round(4),
        "best pair": of_pairs.idxmax(axis=1),
        "its accuracy": of_pairs.max(axis=1).round(4),
        "adaptive - best": (accuracy["adaptive"] - of_pairs.max(axis=1)).round(4),
        MOST_FREQUENT: accuracy[MOST_FREQUENT].round(4),
        "calibration error": errors["adaptive"].round(4),
        "of fastonl": errors["fastonl"].round(4),
        "seconds": seconds["adaptive"].round(4),
        "times fastonl": (seconds["adaptive"] / seconds["fastonl"]).round(2),
    }
    return pd.DataFrame(columns).loc[frame["graph"].unique()].rename_axis("graph")


def _means(frame: pd.DataFrame, by: str, y: str) -> pd.DataFrame:
    means = frame.groupby(["graph", by], sort=False)[y].mean().unstack(by)
    return means[frame[by].unique()]
