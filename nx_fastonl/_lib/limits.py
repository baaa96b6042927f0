"""Which numbers are allowed. Graphs from any source are checked against these, so what one accepts, all accept.

The tables of ``docs/guide/numbers.md`` say the same, with the reasons; a test compares them.
"""

from __future__ import annotations

__all__ = [
    "ARC_RANGE",
    "LARGEST_COUNT",
    "LARGEST_NUMBER",
    "MAX_WEIGHT_RATIO",
    "SINGLE_DEGREES",
    "SINGLE_FRACTION",
    "SINGLE_PIVOTS",
    "SMALLEST_C",
    "SMALLEST_FRACTION",
    "SMOOTHNESS_RANGE",
    "S_RANGE",
    "WEIGHT_RANGE",
    "allowed_weights",
    "weight_range",
]

# Sums and quotients of numbers inside this range neither overflow nor vanish.
WEIGHT_RANGE = (1e-100, 1e100)
# Of an arc of a directed graph: W + W^T, in which a self-loop counts twice, is then in the range of weights. So an arc
# can be checked alone, wherever it comes from.
ARC_RANGE = (WEIGHT_RANGE[0], 0.5 * WEIGHT_RANGE[1])
# Of every number that has no range of its own: epsilon, tol, beta, b, masses of seeds.
LARGEST_NUMBER = WEIGHT_RANGE[1]
# Closer to 0 or 1 than this, alpha and 1 - alpha no longer have enough digits to compute with.
SMALLEST_FRACTION = 1e-12
# A count may be far too large, as one that means "no limit" is. Beyond this it is a mistake.
LARGEST_COUNT = 10**100
# Of lam / n. Outside of it, rounding loses either lam / n or the degree when the two are added.
SMOOTHNESS_RANGE = (1e-9, 1e9)
# What a kernel adds to a degree D is at least this fraction of D. Otherwise no push would end, and rounding would spoil
# the result.
SMALLEST_C = 1e-9
# Of the diagonal S of a kernel.
S_RANGE = (1e-18, 1e18)
# Roots, products and quotients of weighted degrees in this range neither overflow nor vanish in single precision.
SINGLE_DEGREES = (1e-20, 1e20)
# What `SMALLEST_C` is in single precision, whose numbers of 24 bits do not notice smaller fractions.
SINGLE_FRACTION = 1e-6
# Of the weights of a large network whose resistances are certified. Currents are rounded to 1e-16 of themselves. So
# with weights that differ more, the energy of what is lost may be 1e-8 of all, and no steps make it smaller.
MAX_WEIGHT_RATIO = 1e24
# Pivots that single precision can hold, with room for products. Outside, steps are in double precision.
SINGLE_PIVOTS = (1e-30, 1e30)


def weight_range(directed: bool) -> tuple[float, float]:
    """The smallest and the largest weight of an edge, or of an arc of a directed graph."""
    return ARC_RANGE if directed else WEIGHT_RANGE


def allowed_weights(directed: bool, *, or_zero: bool = False) -> str:
    """What a weight must be, as messages say it."""
    smallest, largest = weight_range(directed)
    arcs = " in a directed graph, where the arcs between two nodes add up" if directed else ""
    return f"{'0 or ' if or_zero else ''}a number between {smallest:g} and {largest:g}{arcs}"
