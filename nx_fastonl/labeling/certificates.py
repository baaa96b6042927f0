"""A label with a proof that the exact kernel gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nx_fastonl._lib.html import record_view

__all__ = ["CertifiedLabel"]


@dataclass(frozen=True)
class CertifiedLabel:
    """The answer of `OnlineNodeLabeler.certify_one`.

    Attributes
    ----------
    label : label
        The best label as far as was read; None while no label is known.
    margin : float
        How much worse the score of the second best label is; infinite where there is no second. With
        ``method="adaptive"``, the middle between the least and the most that it can be.
    error : float
        An upper bound on the difference between `margin` and that of the exact kernel.
    certain : bool
        Whether ``error < margin``, so that the exact kernel gives the same label for what was learned.

    Examples
    --------
    >>> import networkx as nx
    >>> import nx_fastonl as fo
    >>> model = fo.OnlineNodeLabeler(nx.karate_club_graph(), classes=["Mr. Hi", "Officer"])
    >>> model.certify_one(8).certain  # nothing was learned
    False
    >>> found = model.fit({0: "Mr. Hi", 33: "Officer"}).certify_one(8)
    >>> found.label, found.certain
    ('Officer', True)
    """

    label: Any
    margin: float
    error: float
    certain: bool

    def _repr_html_(self) -> str | None:
        return record_view(self, names=("label",))
