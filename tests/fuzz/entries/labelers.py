"""Labelers with random options, and what must hold for any of them."""

from collections import Counter

import numpy as np

import nx_fastonl as fo
from tests.fuzz import inputs
from tests.fuzz.entries.kernels import NAMES, parameters
from tests.fuzz.verdicts import check
from tests.seams import dense, learner_of, store_of

METHODS = ("fastonl", "fastonl", "fastonl-fifo", "relaxation", "approximate", "weighted-majority", "weighted-tree")
LABELS = ("a", "b", "c", 3, ("d",), "e", "f", 7.5, "h", "i", "j", "k")


def options_of(draw, G, methods=METHODS):
    """Keyword arguments of OnlineNodeLabeler."""
    method = draw.choice(methods)
    options = {"method": method, "seed": draw.below(100)}
    if not method.startswith("weighted"):
        options["kernel"] = draw.choice(NAMES)
        options |= parameters(draw, G, options["kernel"])
        options["trace"] = draw.choice(["estimate", "paper", "exact", 3.0]) if draw.chance(0.3) else "paper"
    if method.startswith("fastonl") and draw.chance(0.5):
        options["epsilon"] = inputs.parameter(draw, lambda: draw.log_uniform(-10, 1))
    if method == "fastonl" and draw.chance(0.25):
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


def check_whole(model):
    """What holds for a labeler at any time, whatever has happened to it."""
    learner, labels, classes = learner_of(model), model.labels, model.classes
    check(model.n_learned == len(labels), "n_learned {} and labels {}", model.n_learned, labels)
    check(len(set(classes)) == len(classes), "classes {}", classes)
    check(set(labels.values()) <= set(classes), "labels {} of classes {}", labels, classes)
    counts = Counter(labels.values())
    found = learner.history.label_counts.tolist()
    check([counts[label] for label in classes] == found[: len(classes)], "counted {} of {}", found, labels)
    check(learner.history.n_learned == len(labels), "counted {}, learned {}", learner.history.n_learned, labels)
    if hasattr(learner, "diffusion"):
        check_diffusion(model)


def check_diffusion(model):
    """H Z + R = B up to rounding, and no mass is lost."""
    H, Z, R, B = dense(model)
    if not B.size:
        return
    store = store_of(model)
    unit = 2.0**-22 if store.single else 2.0**-51
    size = np.abs(H) @ np.abs(Z) + np.abs(R) + np.abs(B)
    # An addition and a push round once each; Z was up to as large as its sources over c before it shrank.
    steps = store.n_additions + store.n_pushes + 16
    scale = np.maximum(size.max(axis=0, keepdims=True), np.abs(B).max())
    off = np.abs(H @ Z + R - B)
    check(
        (off <= unit * (16 * size + steps * scale)).all(), "H Z + R is off by {:.3g} of {:.3g}", off.max(), size.max()
    )
    mass = np.abs(B).max(axis=1).sum()
    check(abs(store.mass - mass) <= 1e-9 * mass, "the mass is {} instead of {}", store.mass, mass)
