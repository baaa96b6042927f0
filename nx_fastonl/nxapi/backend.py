"""The backend as NetworkX calls it, with ``backend="fastonl"`` or by its configuration.

Where the configuration gives this backend priority, NetworkX loads this module at its first call of any function. So it
imports other modules only when a function runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

    from nx_fastonl.graph.live import LiveGraph

__all__ = ["BackendInterface"]


def _deferred(module: str, name: str) -> staticmethod[..., Any]:
    """A function of the package without NetworkX's dispatch around it, imported at its first call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        function = import_module("inspect").unwrap(getattr(import_module(f"nx_fastonl.{module}"), name))
        try:
            return function(*args, **kwargs)
        except NotImplementedError as error:
            _log_fallback("cannot run %s: %s", name, error)
            raise

    return staticmethod(call)


def _log_fallback(message: str, name: str, reason: Any) -> Any:
    """Log why a call does not run here, and return the reason."""
    import_module("nx_fastonl._lib.log").logger.info(message, name, reason)
    return reason


class BackendInterface:
    """What NetworkX asks of a backend, and its functions, by the names under which NetworkX dispatches them."""

    pagerank = _deferred("nxapi.algorithms", "pagerank")
    google_matrix = _deferred("nxapi.algorithms", "google_matrix")
    katz_centrality = _deferred("nxapi.algorithms", "katz_centrality")
    local_and_global_consistency = _deferred("nxapi.algorithms", "local_and_global_consistency")
    harmonic_function = _deferred("nxapi.algorithms", "harmonic_function")

    resistance_distance = _deferred("nxapi.electrical", "resistance_distance")
    current_flow_closeness_centrality = _deferred("nxapi.electrical", "current_flow_closeness_centrality")
    approximate_current_flow_betweenness_centrality = _deferred(
        "nxapi.electrical", "approximate_current_flow_betweenness_centrality"
    )

    from_scipy_sparse_array = _deferred("nxapi.readers", "from_scipy_sparse_array")
    read_edgelist = _deferred("nxapi.readers", "read_edgelist")
    read_weighted_edgelist = _deferred("nxapi.readers", "read_weighted_edgelist")
    from_pandas_edgelist = _deferred("nxapi.readers", "from_pandas_edgelist")

    fastonl_fifo_push = _deferred("push.fifo", "fifo_push")
    fastonl_personalized_pagerank_local = _deferred("push.pagerank", "personalized_pagerank_local")
    fastonl_ppr_matrix = _deferred("push.matrix", "ppr_matrix")
    fastonl_effective_resistance = _deferred("push.resistance", "effective_resistance")
    fastonl_sweep_cut = _deferred("push.sweep", "sweep_cut")
    fastonl_local_community = _deferred("push.community", "local_community")
    fastonl_kernel_column = _deferred("kernels.functions", "kernel_column")
    fastonl_kernel_matrix = _deferred("kernels.matrix", "kernel_matrix")
    fastonl_online_node_labeling = _deferred("labeling.stream", "online_node_labeling")
    fastonl_labeling_cut = _deferred("labeling.regret", "labeling_cut")
    fastonl_regret_bound = _deferred("labeling.regret", "regret_bound")

    @staticmethod
    def convert_from_nx(G: nx.Graph[Any], **_attributes: Any) -> LiveGraph:
        """`G` with all its attributes. Its arrays are made when a function asks for them."""
        live: LiveGraph = import_module("nx_fastonl.graph.live").live_graph(G)
        return live

    @staticmethod
    def convert_to_nx(result: Any, **_names: Any) -> Any:
        """A graph of this backend as one of NetworkX; whatever else a function returns, as it is."""
        return result.to_networkx() if getattr(result, "__networkx_backend__", None) == "fastonl" else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """True, or why this backend would not give NetworkX's answer."""
        reason = import_module("nx_fastonl.nxapi.support").why_unsupported(name, args, kwargs)
        return _log_fallback("cannot run %s as NetworkX does: %s", name, reason) if reason else True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """True, or why NetworkX would be faster."""
        reason = import_module("nx_fastonl.nxapi.support").why_slower(name, args, kwargs)
        return _log_fallback("left %s to NetworkX: %s", name, reason) if reason else True
