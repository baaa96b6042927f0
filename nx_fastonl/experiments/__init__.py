"""The paper's evaluation as code, run times, accuracies, sweeps, operations and magnitudes; comparisons beside it.

An experiment lists tasks, works on each task, and draws a picture of the results. `run` takes the name of one;
`EXPERIMENTS` has them all by name.
"""

from nx_fastonl._lib.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "EXPERIMENTS": "catalog",
        "Experiment": "base",
        "run": "catalog",
        "summary": "catalog",
    },
)

#: The experiments by name, for `run`: accuracy, runtime, error-curves, smoothness, epsilon, operations, magnitudes,
#: nnz, adaptive, few-labels, directed and half-known.
EXPERIMENTS: dict  # for the documentation; its value is loaded on first use
