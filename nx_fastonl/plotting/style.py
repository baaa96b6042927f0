"""Colours, line styles, markers and texts of all pictures."""

from __future__ import annotations

from typing import Any

from nx_fastonl._lib.checks import printable

# Okabe and Ito's colours, which colour-blind readers can tell apart. Their yellow is too pale for a line, and black is
# the colour of the cross on a mistake.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
LINE_COLOURS = (*COLOURS, "#000000")
NODE_COLOURS = (*COLOURS, "#F0E442")
# Where nodes are too small to have a shape: all differ from each other, from grey and from white.
DOT_COLOURS = (
    *COLOURS,
    *("#694B00", "#694BD2", "#78A500", "#870F2D", "#FF00E1", "#00D800", "#FFA587"),
    *("#870078", "#E1D278", "#FF005A", "#1E5A00", "#F087FF", "#0FF087", "#0000FF"),
)
# The numbers of styles and markers have no common divisor with that of the colours, so that as many combinations as
# possible are used before one comes again.
LINE_STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*")

UNLABELLED = "0.8"
EDGE_COLOUR = "0.5"
RIM: dict[str, Any] = {"edgecolors": "0.3", "linewidths": 0.5, "zorder": 2}  # of every node
RING = "#D55E00"  # around the source of a PageRank vector

# How bright red, green and blue look.
LUMINANCE = (0.299, 0.587, 0.114)

# A line with at most this many points has a marker at each of them.
MARKED_POINTS = 15


def line_style(i: int, points: int) -> dict[str, Any]:
    """Colour, dashes and markers of line number `i`, which has this many points."""
    # Floats are fractions of the axes' diagonal: a marker every tenth. Other starts keep those of two lines apart.
    every = 1 if points <= MARKED_POINTS else (0.02 * (i % 5), 0.1)
    return {
        "color": LINE_COLOURS[i % len(LINE_COLOURS)],
        "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markevery": every,
        "markersize": 5.0,
    }


def node_style(i: int) -> dict[str, Any]:
    """Colour and marker of the nodes with label number `i`."""
    return {"color": NODE_COLOURS[i % len(NODE_COLOURS)], "marker": MARKERS[i % len(MARKERS)]}


def dot_style(i: int) -> dict[str, Any]:
    """The same where nodes are so small that one sees their colour, and hardly their shape."""
    turn, colour = divmod(i, len(DOT_COLOURS))
    return {"color": DOT_COLOURS[colour], "marker": MARKERS[turn % len(MARKERS)]}


def literal(value: object) -> str:
    """A name that a user chose as matplotlib draws it unchanged, also in a legend.

    Between two dollar signs matplotlib would see a formula, and a legend leaves out what begins with an underscore.
    """
    text = printable(str(value)).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
