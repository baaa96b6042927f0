"""A whole stream in one call: online_node_labeling."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal, Unpack

import numpy as np

from nx_fastonl._lib.checks import UnknownLabels
from nx_fastonl.labeling.labeler import OnlineNodeLabeler
from nx_fastonl.labeling.labels import Labels, read_attribute
from nx_fastonl.labeling.sequence import LabelSequence
from nx_fastonl.learners.registry import LabelerOptions, Method
from nx_fastonl.nxapi.dispatch import dispatchable

__all__ = ["online_node_labeling"]


@dispatchable
def online_node_labeling(
    G: Any,
    labels: Labels,
    kernel: str | None = None,
    smoothness: float | None = None,
    method: Method = "adaptive",
    *,
    classes: Iterable[Hashable] | None = None,
    predict: Literal["argmax", "sample"] = "argmax",
    seed: int | np.random.Generator | None = None,
    weight: str | None = "weight",
    direction: Literal["use", "ignore"] = "use",
    unknown: UnknownLabels = "error",
    progress: bool = False,
    **options: Unpack[LabelerOptions],
) -> LabelSequence:
    """Predict the label of each arriving node from the graph and the labels before it, then learn its true label.

    Parameters
    ----------
    G : nx.Graph, scipy sparse array or CSRGraph
        Nodes without a label still connect others. Of a directed graph, ``"adaptive"`` uses the arrows: see `direction`
        of `OnlineNodeLabeler`.
    labels : dict, iterable of pairs, table, array, or str
        As for `OnlineNodeLabeler.run`; or the name of the node attribute that holds the labels, in the order of the
        graph.
    kernel : str, optional
        By default ``"normalized-laplacian"``, with ``method="perceptron"`` ``"augmented-laplacian"``.
    smoothness, method, classes, predict, seed, weight, direction
        As for `OnlineNodeLabeler`.
    unknown : {"error", "skip", "add"}, default "error"
        What to do with labelled nodes that are not in the graph: see `OnlineNodeLabeler.run`.
    progress : bool, default False
        Show a progress bar (needs tqdm).
    **options
        The parameters of single kernels and methods, as for `OnlineNodeLabeler`: `lam`, `beta`, `b`, `S`, `epsilon`,
        `experts`, `forgetting`, `trace`, `symmetrized`, `dtype`, `terms`, `trees`.

    Returns
    -------
    LabelSequence
        The predicted labels in order of arrival, with the nodes, the true labels, mistakes and error rates.

    Raises
    ------
    networkx.NodeNotFound
        If labelled nodes are not in the graph and `unknown` is ``"error"``, or one of `S` is not.
    networkx.NetworkXNotImplemented
        If `G` is directed, its arrows are not ignored, and the method cannot use them.
    networkx.NetworkXPointlessConcept
        If `G` has no nodes.
    TypeError, ValueError
        If a parameter is unknown, of the wrong type or out of range, a node arrives twice, or the graph is too large
        for an exact kernel. If `unknown` is ``"skip"``, and nodes came, but none that is in the graph.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    See Also
    --------
    OnlineNodeLabeler : Predict and learn one node at a time.

    References
    ----------
    B. Zhou, Y. Sun, R. Babanezhad, "Fast Online Node Labeling for Very Large Graphs", ICML 2023.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> G = nx.karate_club_graph()
    >>> seq = fo.online_node_labeling(G, [(0, "a"), (33, "b"), (1, "a"), (32, "b"), (2, "a")])
    >>> list(seq)
    [None, 'a', 'a', 'b', 'a']
    >>> seq.mistakes, seq.error_rate
    (2, 0.4)
    """
    model = OnlineNodeLabeler(
        G,
        classes,
        kernel,
        smoothness,
        method,
        predict=predict,
        seed=seed,
        weight=weight,
        direction=direction,
        **options,
    )
    return model.run(read_attribute(G, labels), unknown=unknown, progress=progress)
