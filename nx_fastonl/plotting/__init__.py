"""Pictures: curves with bands, labelled graphs, which labels attract, PageRank around a node. Needs matplotlib."""

from nx_fastonl._lib.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "plot_bands": "curves",
        "plot_compatibility": "compatibility",
        "plot_error_curves": "curves",
        "plot_labels": "graphs",
        "plot_pagerank": "graphs",
        "plot_sweep": "curves",
    },
)
