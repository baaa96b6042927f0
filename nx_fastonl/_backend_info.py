"""What NetworkX shows of this backend. It asks while it is being imported itself: nothing may be imported here."""

from __future__ import annotations


def get_info() -> dict[str, object]:
    """The functions that run here, and what to say of each in NetworkX's documentation."""
    return {
        "backend_name": "fastonl",
        "project": "nx_fastonl",
        "package": "nx_fastonl",
        "short_summary": "Local graph diffusion and online node labelling, in compiled code.",
        "functions": {
            "pagerank": {
                "additional_docs": (
                    "A push, over-relaxed on undirected graphs, to a certified L1 error of a millionth of NetworkX's\n"
                    "`N * tol`, at most 1e-6. It always ends: `max_iter` below 1 fails as in NetworkX, other values\n"
                    "do not limit it. It starts from `nstart` where one is given. Negative weights or values are left\n"
                    "to NetworkX, and so is an `alpha` that is not above 0 and at most 0.9999."
                ),
                "additional_parameters": {
                    "l1_error : float, optional": (
                        "An upper bound on the L1 distance to the exact vector, instead of what `tol` asks for."
                    ),
                },
            },
            "google_matrix": {"additional_docs": "The same matrix, from the conversion that is kept."},
            "katz_centrality": {"additional_docs": "The same iteration, a sparse product a step."},
            "local_and_global_consistency": {
                "additional_docs": "The same iteration on arrays. Labels are read from the graph at every call."
            },
            "harmonic_function": {
                "additional_docs": "The same iteration on arrays. Labels are read from the graph at every call."
            },
        },
    }
