"""What holds for a labeler at any time, whatever has happened to it."""

from collections import Counter

import numpy as np

from tests.fuzz.verdicts import check
from tests.seams import catch_up, dense, learner_of, store_of


def check_whole(model):
    """Labels, classes and counts agree, and so do the sources and the diffusion of a labeler that has one."""
    catch_up(model)
    learner, labels, classes = learner_of(model), model.labels.copy(), model.classes
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
    store, kernel = store_of(model), learner_of(model).kernel
    rows = np.arange(len(H))
    s, c = kernel.s(rows)[:, None], kernel.c(rows)[:, None]
    # An addition and a push round once each, relative to what Z was then. Labels that were forgotten or overwritten
    # may have left little of it, so the present Z says nothing. As H 1 = c, no Z is larger than max(|B| / c), and
    # a node without stored gradient had at most s times 1.
    largest_Z = (np.maximum(np.abs(B), s) / c).max()
    # A push adds and subtracts a self-loop's weight, so |H| Z would be too small: its diagonal lacks these weights.
    size = (c + 2.0 * kernel.graph.degrees[:, None]) * largest_Z + np.abs(B).max()
    unit = 2.0**-22 if store.single else 2.0**-51
    roundings = store.n_additions + store.n_pushes + 32
    off = np.abs(H @ Z + R - B)
    check((off <= unit * roundings * size).all(), "H Z + R is off by {:.3g} of {:.3g}", off.max(), size.max())
    mass = np.abs(B).max(axis=1).sum()
    rounding = 2.0**-51 * store.n_additions * float(s.sum())  # of masses that may have been taken away again
    check(abs(store.mass - mass) <= 1e-9 * mass + rounding, "the mass is {} instead of {}", store.mass, mass)
