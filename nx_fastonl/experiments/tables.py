"""Small tables that summarise the records of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nx_fastonl.experiments.adaptive import MOST_FREQUENT
from nx_fastonl.experiments.directed import IGNORED
from nx_fastonl.experiments.few_labels import OURS

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
        "fastonl's": errors["fastonl"].round(4),
        "seconds": seconds["adaptive"].round(4),
        "times fastonl": (seconds["adaptive"] / seconds["fastonl"]).round(2),
    }
    return pd.DataFrame(columns).loc[frame["graph"].unique()].rename_axis("graph")


def few_labels_table(frame: pd.DataFrame) -> pd.DataFrame:
    """For each rate and method: means over graphs, and differences to the best peer of each graph in hindsight.

    Peers do not run on every graph. What compares a method with the adaptive learner is over the graphs of the method.
    """
    import pandas as pd

    groups = frame.groupby(["rate", "graph", "method"], sort=False)[["accuracy", "seconds"]].mean()
    accuracy, seconds = (groups[name].unstack("method") for name in ("accuracy", "seconds"))
    methods = list(frame["method"].unique())
    best = accuracy[[method for method in methods if method not in OURS]].max(axis=1)
    rows = {}
    for rate in frame["rate"].unique():
        for method in methods:
            of_rate = accuracy.loc[rate, method].dropna()
            to_best = of_rate - best.loc[rate]
            at = of_rate.index
            rows[rate, method] = {
                "graphs": len(at),
                "accuracy": round(of_rate.mean(), 4),
                "- best peer": round(to_best.mean(), 4),
                "worst": round(to_best.min(), 4),
                "worst on": to_best.idxmin() if to_best.notna().any() else "",
                "adaptive - it": round((accuracy.loc[rate, "adaptive"][at] - of_rate).mean(), 4),
                "seconds": round(seconds.loc[rate, method][at].mean(), 4),
                "times adaptive": round(
                    seconds.loc[rate, method][at].sum() / seconds.loc[rate, "adaptive"][at].sum(), 2
                ),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["rate", "method"])


def directed_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The adaptive learner with arrows beside the one without, and beside other methods."""
    import pandas as pd

    accuracy, errors, coverage, sizes = (
        _means(frame, "method", y) for y in ("accuracy", "calibration_error", "coverage", "set_size")
    )
    seconds = frame.groupby(["graph", "method"], sort=False)["seconds"].min().unstack("method")
    columns = {
        "arrivals": frame.groupby("graph", sort=False)["arrivals"].first(),
        "adaptive": accuracy["adaptive"],
        "arrows ignored": accuracy[IGNORED],
        "gain": accuracy["adaptive"] - accuracy[IGNORED],
        "fastonl": accuracy["fastonl"],
        "- fastonl": accuracy["adaptive"] - accuracy["fastonl"],
        "weighted-majority": accuracy["weighted-majority"],
        MOST_FREQUENT: accuracy[MOST_FREQUENT],
        "calibration error": errors["adaptive"],
        "ignored: error": errors[IGNORED],
        "coverage": coverage["adaptive"],
        "ignored: coverage": coverage[IGNORED],
        "set size": sizes["adaptive"].round(2),
        "ignored: set size": sizes[IGNORED].round(2),
        "seconds": seconds["adaptive"],
        "times ignored": (seconds["adaptive"] / seconds[IGNORED]).round(2),
    }
    return pd.DataFrame(columns).loc[frame["graph"].unique()].rename_axis("graph").round(4)


def half_known_table(frame: pd.DataFrame) -> pd.DataFrame:
    groups = frame.groupby(["graph", "method"], sort=False)
    table = groups[["accuracy", "seconds"]].mean().round(4)
    table.insert(0, "known", groups["known"].first())
    return table


def _means(frame: pd.DataFrame, by: str, y: str) -> pd.DataFrame:
    means = frame.groupby(["graph", by], sort=False)[y].mean().unstack(by)
    return means[frame[by].unique()]
