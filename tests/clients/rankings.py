"""Does the backend rank nodes as NetworkX does? Where it does not, the exact vector says which one is right."""

from typing import NamedTuple

import numpy as np

from tests import oracles

# Exact values that differ by less than this fraction are equal: the dense solution has some fourteen digits.
TIE = 1e-13
NETWORKX_RIGHT = "NetworkX is right"
BACKEND_RIGHT = "the backend is right"
NETWORKX_BREAKS_TIE = "NetworkX breaks a tie"
BACKEND_BREAKS_TIE = "the backend breaks a tie"
BOTH_BREAK_TIE = "both break a tie"
NOT_JUDGED = "not judged"
FAULTS = {NETWORKX_RIGHT, BACKEND_BREAKS_TIE}


class Pairs(NamedTuple):
    """Pairs of nodes that are the other way round, all with one verdict; names and values of the first of them."""

    verdict: str
    count: int
    nodes: tuple[str, str]
    plain: tuple[float, float]
    through: tuple[float, float]
    exact: tuple[float, float] | None


class Difference(NamedTuple):
    """A call whose ranking is not that of NetworkX."""

    test: str
    function: str
    n: int
    directed: bool
    pairs: tuple[Pairs, ...]

    @property
    def is_fault(self):
        """True if a pair is ordered otherwise than in NetworkX, although NetworkX has the better order."""
        return any(pairs.verdict in FAULTS for pairs in self.pairs)


def compare(calls):
    """The calls of a run through the backend whose ranking is not that of NetworkX."""
    return [found for call in calls if "values" in call and "values" in call["networkx"] if (found := difference(call))]


def other_outcomes(calls):
    """{test: (what NetworkX raises, what the backend raises)}, where it is not the same."""
    pairs = [(call["test"], call["networkx"].get("raised"), call.get("raised")) for call in calls]
    return {test: (plain, through) for test, plain, through in pairs if plain != through}


def difference(call):
    """What a stable sort by value puts in another order; None if nothing."""
    plain, through = np.array(call["networkx"]["values"]), np.array(call["values"])
    changed = list(pairs_in_another_order(by_value(plain), by_value(through)))
    if not changed:
        return None
    exact = exact_vector(call)
    found = {}
    for u, v in changed:
        both = [None if vector is None else (vector[u], vector[v]) for vector in (plain, through, exact)]
        found.setdefault(verdict(*both), []).append(((call["nodes"][u], call["nodes"][v]), *both))
    pairs = tuple(Pairs(name, len(listed), *listed[0]) for name, listed in found.items())
    return Difference(call["test"], call["function"], len(plain), call["input"]["directed"], pairs)


def pairs_in_another_order(order, other):
    """Pairs of rows, in the first order, that stand the other way round in the other; from the first place on."""
    places = np.argsort(other)[order]
    first, second = np.nonzero(np.triu(np.greater.outer(places, places)))
    return zip(order[first], order[second], strict=True)


def by_value(values):
    """The largest first; equal values in the order in which they come."""
    return np.argsort(-values, kind="stable")


def verdict(plain, through, exact):
    """Of two nodes that NetworkX puts in this order, and the backend in the other."""
    if exact is None:
        return NOT_JUDGED
    if abs(exact[0] - exact[1]) > TIE * max(exact):
        return NETWORKX_RIGHT if exact[0] > exact[1] else BACKEND_RIGHT
    if plain[0] == plain[1]:
        return BACKEND_BREAKS_TIE
    return NETWORKX_BREAKS_TIE if through[0] == through[1] else BOTH_BREAK_TIE


def exact_vector(call):
    """PageRank by dense elimination, from the recorded input; None for other functions."""
    if call["function"] != "pagerank":
        return None
    n, arguments = call["input"]["n"], call["input"]["arguments"]
    W = np.zeros((n, n))
    for u, v, weight in call["input"]["edges"]:
        W[u, v] += weight
        if not call["input"]["directed"] and u != v:
            W[v, u] += weight
    seeds = distribution(n, arguments.get("personalization"))
    jumps = seeds if "dangling" not in arguments else distribution(n, arguments["dangling"])
    return oracles.pagerank(W, seeds, arguments["alpha"], jumps)


def distribution(n, masses):
    if masses is None:
        return np.full(n, 1.0 / n)
    vector = np.zeros(n)
    for u, mass in masses:
        vector[u] = mass
    return vector / vector.sum()
