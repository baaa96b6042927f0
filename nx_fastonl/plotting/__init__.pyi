from nx_fastonl.plotting.compatibility import plot_compatibility as plot_compatibility
from nx_fastonl.plotting.curves import plot_bands as plot_bands
from nx_fastonl.plotting.curves import plot_error_curves as plot_error_curves
from nx_fastonl.plotting.curves import plot_sweep as plot_sweep
from nx_fastonl.plotting.graphs import plot_labels as plot_labels
from nx_fastonl.plotting.graphs import plot_pagerank as plot_pagerank

__all__ = ["plot_bands", "plot_compatibility", "plot_error_curves", "plot_labels", "plot_pagerank", "plot_sweep"]
