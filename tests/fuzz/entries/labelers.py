"""Labelers with random options."""

import nx_fastonl as fo
from tests.fuzz import inputs
from tests.fuzz.entries.kernels import NAMES, parameters

METHODS = (
    *("adaptive", "fastonl", "fastonl", "fastonl-fifo", "relaxation", "approximate", "perceptron"),
    *("weighted-majority", "weighted-tree"),
)
LABELS = ("a", "b", "c", 3, ("d",), "e", "f", 7.5, "h", "i", "j", "k")


def options_of(draw, G, methods=METHODS):
    """Keyword arguments of OnlineNodeLabeler."""
    method = draw.choice(methods)
    options = {"method": method, "seed": draw.below(100)}
    if not method.startswith("weighted"):
        options["kernel"] = draw.choice(NAMES)
        options |= parameters(draw, G, options["kernel"])
        if method not in ("adaptive", "perceptron"):
            options["trace"] = draw.choice(["estimate", "paper", "exact", 3.0]) if draw.chance(0.3) else "paper"
    if method.startswith(("adaptive", "fastonl", "perceptron")) and draw.chance(0.5):
        options["epsilon"] = inputs.parameter(draw, lambda: draw.log_uniform(-10, 1))
    if method in ("adaptive", "fastonl", "perceptron") and draw.chance(0.25):
        options["dtype"] = draw.choice(["float32", "float32", "float64", "float16", None])
    if method == "fastonl-fifo" and draw.chance(0.3):
        options["symmetrized"] = True
    if method == "approximate" and draw.chance(0.3):
        options["terms"] = inputs.parameter(draw, lambda: draw.between(1, 30), (0, -1, 1.5, "2", 10**400))
    if method == "weighted-tree" and draw.chance(0.3):
        options["trees"] = inputs.parameter(draw, lambda: draw.between(1, 9), (0, -1, 1.5, "2"))
    if draw.chance(0.15):
        options["predict"] = "sample"
    return options


def labeler(draw, G, methods=METHODS):
    """A labeler that has learned nothing."""
    options = options_of(draw, G, methods)
    classes = list(LABELS[: draw.between(1, 12)]) if draw.chance(0.4) else None
    draw.note(G=G, classes=classes, options=options)
    return fo.OnlineNodeLabeler(G, classes, **options)
