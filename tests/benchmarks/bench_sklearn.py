"""Few labels of many samples, in scikit-learn: NodeClassifier beside LabelSpreading and LabelPropagation.

    python -m tests.benchmarks.bench_sklearn

The 1,797 digits of scikit-learn. A quarter of them is held out. Of the others, some labels are known, drawn at random
with at least one of each digit; all methods see the ten nearest neighbours of each. It prints the accuracy of the
labels that were not known, and of the digits held out, as means over DRAWS draws; and the seconds of CPU that fitting
and predicting take, the search for neighbours included, the best of five runs.

It takes --record. Needs scikit-learn.
"""

from __future__ import annotations

import os
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # the clock is that of one thread

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from nx_fastonl.sklearn import NodeClassifier
from tests.benchmarks.measure import Table, best_times, parser

DRAWS = 20
KNOWN = (0.01, 0.02, 0.05, 0.2, 1.0)
NEIGHBORS = 10


def classifiers() -> dict[str, object]:
    def on_neighbors(classifier: NodeClassifier) -> object:
        return make_pipeline(KNeighborsTransformer(n_neighbors=NEIGHBORS, mode="connectivity"), classifier)

    knn = {"kernel": "knn", "n_neighbors": NEIGHBORS}
    return {
        "NodeClassifier": on_neighbors(NodeClassifier()),
        'NodeClassifier("fastonl")': on_neighbors(NodeClassifier("fastonl", direction="ignore")),
        "LabelSpreading": LabelSpreading(**knn),
        "LabelSpreading(alpha=0.8)": LabelSpreading(alpha=0.8, **knn),
        "LabelPropagation": LabelPropagation(max_iter=3000, **knn),
    }


def known_labels(y: np.ndarray, fraction: float, random: np.random.Generator) -> np.ndarray:
    """Labels of which a fraction is known, and at least one of each."""
    order = random.permutation(len(y))
    firsts = [order[y[order] == label][0] for label in np.unique(y)]
    others = np.setdiff1d(order, firsts, assume_unique=True)
    chosen = np.concatenate([firsts, others])[: max(len(firsts), int(fraction * len(y)))]
    known = np.full(len(y), -1)
    known[chosen] = y[chosen]
    return known


def seconds_of(X: np.ndarray, known: np.ndarray, new: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
    """The seconds that each classifier takes to fit, and to predict new samples."""
    fits = {name: lambda one=one: one.fit(X, known) for name, one in classifiers().items()}
    fitted = {name: one.fit(X, known) for name, one in classifiers().items()}
    predictions = {name: lambda one=one: one.predict(new) for name, one in fitted.items()}
    return best_times(fits, 5), best_times(predictions, 5)


def digits() -> Table:
    headers = ("known", "method", "accuracy, not known", "accuracy, held out", "fit, s", "predict, s")
    table = Table("sklearn-digits", *headers, peers=("scikit-learn",))
    X, y = load_digits(return_X_y=True)
    for fraction in KNOWN:
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in classifiers()}
        for draw in range(DRAWS):
            train, test = train_test_split(np.arange(len(y)), random_state=draw, stratify=y)
            known = known_labels(y[train], fraction, np.random.default_rng(draw))
            for name, classifier in classifiers().items():
                classifier.fit(X[train], known)
                labels = getattr(classifier, "steps", [(None, classifier)])[-1][1].transduction_
                hidden = known < 0
                inside = float((labels == y[train])[hidden].mean()) if hidden.any() else np.nan
                found[name].append((inside, float(classifier.score(X[test], y[test]))))
        fit_seconds, predict_seconds = seconds_of(X[train], known, X[test])
        for name, scores in found.items():
            inside, outside = np.mean(scores, axis=0).tolist()
            seconds = fit_seconds[name], predict_seconds[name]
            table.add(f"{fraction:.0%}", name, None if np.isnan(inside) else inside, outside, *seconds)
    return table


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # LabelPropagation divides by 0 where no label arrives
        result = digits()
    if options.record:
        result.record()
