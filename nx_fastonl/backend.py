"""The NetworkX door: what ``backend="fastonl"`` reaches.

NetworkX loads it at its first call of any function at all, where this backend has priority. So it imports what it needs
when that is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

    from nx_fastonl.graph import LiveGraph

__all__ = ["BackendInterface"]


def _deferred(module: str, name: str) -> staticmethod[..., Any]:
    """A function of the package, as it is before NetworkX dispatches it, imported at its first call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return import_module("inspect").unwrap(getattr(import_module(f"nx_fastonl.{module}"), name))(*args, **kwargs)

    return staticmethod(call)


class BackendInterface:
    """What NetworkX asks of a backend, and the functions under the names that it dispatches them by."""

    pagerank = _deferred("drop_in", "pagerank")
    google_matrix = _deferred("drop_in", "google_matrix")
    katz_centrality = _deferred("drop_in", "katz_centrality")
    local_and_global_consistency = _deferred("drop_in", "local_and_global_consistency")
    harmonic_function = _deferred("drop_in", "harmonic_function")

    fastonl_fifo_push = _deferred("fifo", "fifo_push")
    fastonl_personalized_pagerank_local = _deferred("pagerank", "personalized_pagerank_local")
    fastonl_ppr_matrix = _deferred("pagerank", "ppr_matrix")
    fastonl_kernel_column = _deferred("kernels", "kernel_column")
    fastonl_kernel_matrix = _deferred("kernels", "kernel_matrix")
    fastonl_online_node_labeling = _deferred("online", "online_node_labeling")
    fastonl_labeling_cut = _deferred("regret", "labeling_cut")
    fastonl_regret_bound = _deferred("regret", "regret_bound")

    @staticmethod
    def convert_from_nx(G: nx.Graph[Any], **_attributes: Any) -> LiveGraph:
        """`G`, with all its attributes, converted when a function asks for its arrays."""
        live: LiveGraph = import_module("nx_fastonl.graph").live_graph(G)
        return live

    @staticmethod
    def convert_to_nx(result: Any, **_names: Any) -> Any:
        """A graph of this backend as one of NetworkX; whatever else a function returns, as it is."""
        return result.to_networkx() if getattr(result, "__networkx_backend__", None) == "fastonl" else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """True, or why this backend would not give NetworkX's answer."""
        return import_module("nx_fastonl._objections").refusal(name, args, kwargs) or True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """True, or why NetworkX would be sooner done."""
        return import_module("nx_fastonl._objections").reluctance(name, args, kwargs) or True
