"""What tests look at inside of a labeler: the one place that knows where it is."""

import numpy as np

from nx_fastonl.push._workspace import Workspace


def catch_up(model):
    """Let a labeler catch up with its graph, as it does when it is asked."""
    with model._present():
        pass


def learner_of(model):
    return model._knowledge.learner


def store_of(model):
    """The store of a diffusion: Z, R and what was counted."""
    return learner_of(model).diffusion.store


def allowances(model):
    """The residual that may stay at each node of a diffusion, in units of theta."""
    neighbours = np.diff(learner_of(model).kernel.graph.indptr)
    return np.where(neighbours > 0, np.maximum(neighbours, store_of(model).least_allowance), 0.0)


def dense(model):
    """H, and Z, R and B with a column for each label, of a labeler on a diffusion."""
    learner = learner_of(model)
    kernel = learner.kernel
    W = kernel.graph.whole().to_scipy().toarray()
    H = np.diag(kernel.c(np.arange(len(W))) + W.sum(axis=1)) - W
    Z, R = learner.diffusion.dense(learner.k)
    return H, Z, R, learner.stored_gradients()


def stored_gradients(model):
    """The gradients that a labeler stores, without their s, a column for each node."""
    learner = learner_of(model)
    stored = learner.stored_gradients()
    s = np.array([learner.gradients.scale(u) for u in range(len(stored))])
    return (stored / np.where(s > 0.0, s, 1.0)[:, None]).T


def scores_of(model):
    """The scores that a labeler on a diffusion reads at each node."""
    learner = learner_of(model)
    rows = np.arange(len(learner.kernel.graph), dtype=np.int32)
    return learner._scores(rows, learner.kernel.s(rows))[0]


def idle_workspaces(graph):
    return len(graph._pools.get(Workspace, ()))
