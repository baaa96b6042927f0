"""Local graph diffusion and online node labelling for NetworkX."""

import importlib
from typing import Any

_HOME = {
    "CSRGraph": "graph",
    "CertifiedLabel": "certificates",
    "KernelInfo": "kernels",
    "LabelSequence": "sequence",
    "OnlineNodeLabeler": "online",
    "PageRankInfo": "pagerank",
    "PushInfo": "fifo",
    "fifo_push": "fifo",
    "kernel_column": "kernels",
    "kernel_matrix": "kernels",
    "labeling_cut": "regret",
    "online_node_labeling": "online",
    "personalized_pagerank_local": "pagerank",
    "ppr_matrix": "pagerank",
    "regret_bound": "regret",
}

_MODULES = ("datasets", "experiments", "plotting")

__all__ = [*_HOME, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `import nx_fastonl` alone is cheap."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("nx-fastonl")
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
