"""What NetworkX shows of this backend. NetworkX asks during its own import, so nothing may be imported here."""

from __future__ import annotations

READERS = (
    "A CSRGraph, without an nx.Graph in between. `create_using` must be None, nx.Graph or nx.DiGraph. Weights must be\n"
    "positive."
)


def get_info() -> dict[str, object]:
    """The functions that run here, and what NetworkX's documentation says about each."""
    return {
        "backend_name": "fastonl",
        "project": "nx_fastonl",
        "package": "nx_fastonl",
        "short_summary": "Local graph diffusion and online node labelling, in compiled code.",
        "functions": {
            "pagerank": {
                "additional_docs": (
                    "All nodes at once. The L1 error is certified: at most a millionth of NetworkX's `N * tol`, and\n"
                    "at most 1e-6. Nodes that are alike have equal values. It always ends: `max_iter` below 1 fails\n"
                    "as in NetworkX, other values do not limit it. It starts from `nstart` where that is given.\n"
                    "Calls with negative weights or values, or with `alpha` at or below 0 or above 0.9999, are left\n"
                    "to NetworkX."
                ),
                "additional_parameters": {
                    "l1_error : float, optional": (
                        "An upper bound on the L1 distance to the exact vector, instead of what `tol` asks for."
                    ),
                },
            },
            "google_matrix": {"additional_docs": "The same matrix. The converted graph is kept for later calls."},
            "katz_centrality": {"additional_docs": "The same iteration, with one sparse product per step."},
            "local_and_global_consistency": {
                "additional_docs": "The same iteration on arrays. Labels are read from the graph at every call."
            },
            "harmonic_function": {
                "additional_docs": "The same iteration on arrays. Labels are read from the graph at every call."
            },
            "resistance_distance": {
                "additional_docs": (
                    "For two nodes of a graph of more than 50, one sparse system is solved, and the relative error\n"
                    "is certified: 1e-9 at most. One node takes a dense inverse, or a sparse system for each node\n"
                    "where that is faster. None takes a dense inverse. Nodes that are alike have equal values. Calls\n"
                    "with negative weights are left to NetworkX."
                )
            },
            "current_flow_closeness_centrality": {
                "additional_docs": (
                    "Also `information_centrality`. From a dense inverse, or from a sparse system for each node in\n"
                    "bounded memory where that is faster. Always in double precision, whatever `solver` is. Nodes\n"
                    "that are alike have equal values. Calls with negative weights are left to NetworkX."
                )
            },
            "approximate_current_flow_betweenness_centrality": {
                "additional_docs": (
                    "From the pairs that NetworkX draws with this `seed`, so the values agree. Sparse systems are\n"
                    "solved, whatever `solver` is, always in double precision. Calls with negative weights, and\n"
                    "multigraphs, are left to NetworkX."
                )
            },
            "from_scipy_sparse_array": {"additional_docs": f"{READERS} `edge_attribute` must be weight."},
            "from_pandas_edgelist": {
                "additional_docs": (
                    f"{READERS} Nodes must be texts or integers. `edge_attr` must be None or weight.\n"
                    "`edge_key` is not supported."
                )
            },
            "read_edgelist": {
                "additional_docs": (
                    f"{READERS} `nodetype` must be None, str or int; `data` True (without dicts), False or\n"
                    '`(("weight", float),)`.'
                )
            },
            "read_weighted_edgelist": {"additional_docs": f"{READERS} `nodetype` must be None, str or int."},
        },
    }
