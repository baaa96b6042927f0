"""What an entry may find."""

import networkx as nx

# How the package refuses what is wrong with an input.
REFUSALS = (TypeError, ValueError, nx.NetworkXException)


class Wrong(AssertionError):  # noqa: N818  an answer is wrong, the program need not be
    """An answer outside of what was promised."""


def check(holds, message, *values):
    """Raise `Wrong` with the message and the values unless it holds. They are only formatted then."""
    if not holds:
        raise Wrong(message.format(*values))
