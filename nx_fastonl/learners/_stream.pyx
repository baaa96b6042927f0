"""The one online loop: a node arrives, its scores are read, a label is predicted, the true one is learned."""

from libc.stdint cimport int32_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.learners._history cimport LabelHistory


cdef class Engine:
    """What a learner does with one node, in compiled code.

    `read` finds out what is known of a node and keeps it in the engine. `predict`, `learn` and `forget` use that. The
    last two change the learner. They may not raise: memory for them is there once `reserve` was called, and what takes
    long is left to `settle`. If `settle` is interrupted, the change is made, and the owner of the engine finishes the
    work later.
    """

    def __init__(self, LabelHistory history):
        self.history = history

    cdef int read(self, node_t u, Py_ssize_t k) except -1 nogil:
        """Read what is known of node u about the first k labels. Changes nothing."""
        return 0

    cdef Py_ssize_t predict(self, double draw) noexcept nogil:
        """The best label of the node read, or the one that `draw` picks unless that is negative; -1 if none is known."""
        return -1

    cdef int reserve(self, node_t u) except -1 nogil:
        """Make sure that there is memory to learn or forget the label of node u."""
        return 0

    cdef void learn(self, node_t u, Py_ssize_t y) noexcept nogil:
        """Learn label y of the node read, in place of another that it had. There must be room for the label."""
        pass

    cdef void forget(self, node_t u) noexcept nogil:
        """Take the label of the node read out again."""
        pass

    cdef int settle(self, node_t u) except -1 nogil:
        """Do the work after a change at node u that takes long."""
        return 0


cdef int learn_step(Engine engine, node_t u, Py_ssize_t y) except -1 nogil:
    """Learn label y of the node read: all of it or, if it raises before `learn`, nothing."""
    engine.reserve(u)
    engine.learn(u, y)
    engine.settle(u)
    return 0


def run(
    Engine engine, const node_t[::1] nodes, const int32_t[::1] labels, const double[::1] draws, int32_t[::1] predicted,
):
    """Predict the label of each node, then learn it.

    A label beyond those of the history joins when it is learned; there must be room for it. Without `draws` the best
    label is predicted, otherwise one drawn from the distribution; -1 while no label is known. If this raises, `history.n_learned` tells how many nodes were learned.
    """
    cdef Py_ssize_t i
    with nogil:
        for i in range(nodes.shape[0]):
            engine.read(nodes[i], max(engine.history.k, labels[i] + 1))
            predicted[i] = <int32_t> engine.predict(draws[i] if draws.shape[0] > 0 else -1.0)
            learn_step(engine, nodes[i], labels[i])


def learn(Engine engine, node_t u, Py_ssize_t y):
    """Learn label y of node u, which the engine has read, in place of another label that it had."""
    with nogil:
        learn_step(engine, u, y)


def forget(Engine engine, node_t u):
    """Forget the label of node u, which the engine has read: all or nothing, as `learn_step`."""
    with nogil:
        engine.reserve(u)
        engine.forget(u)
        engine.settle(u)
