"""The one online loop: a node arrives, its scores are read, a label is predicted, the true one is learned."""

from libc.stdint cimport int32_t

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.learners._history cimport LabelHistory
from nx_fastonl.learners._relaxation cimport (
    Evidence, GradientStore, ScoreBuffers, forget_gradient, predict, store_gradient,
)


cdef class Engine:
    """Computes scores, and updates what learning or forgetting a label changes beside the stored gradients.

    Both call `reserve`, change the stored gradient, then call `add` and `settle`. `reserve` and `settle` do what takes
    memory or time, and may raise. `add` may not raise. If `settle` is interrupted, the change is made, and the owner
    of the engine finishes the work later.
    """

    def __init__(self, GradientStore gradients):
        self.gradients = gradients

    cdef int read(self, node_t u, Py_ssize_t k, ScoreBuffers buffers, Evidence* evidence) except -1 nogil:
        """Write the scores of the first k labels at node u, and the evidence, whose s is given. Changes nothing."""
        return 0

    cdef int reserve(self) except -1 nogil:
        """Make sure that there is memory for `add`."""
        return 0

    cdef void add(self, node_t u, Py_ssize_t k, ScoreBuffers buffers) noexcept nogil:
        """Update the engine: what is stored of node u has changed by `buffers.change`."""
        pass

    cdef int settle(self, node_t u, Py_ssize_t k, ScoreBuffers buffers) except -1 nogil:
        """Do the work after `add` that takes long."""
        return 0


cdef int learn_step(
    Engine engine, LabelHistory history, ScoreBuffers buffers, node_t u, Py_ssize_t y, const Evidence* evidence,
    bint independent,
) except -1 nogil:
    """Learn label y of node u, whose scores are in the buffers: all of it or, if it raises before `add`, nothing."""
    engine.reserve()
    store_gradient(engine.gradients, history, buffers, u, y, evidence, independent)
    engine.add(u, history.k, buffers)
    engine.settle(u, history.k, buffers)
    return 0


def run(
    Engine engine, LabelHistory history, const node_t[::1] nodes, const double[::1] scales, const int32_t[::1] labels,
    const double[::1] draws, int32_t[::1] predicted,
):
    """Predict the label of each node, then learn it.

    `scales` are the nodes' s. A label beyond those of the history joins when it is learned; there must be room for it,
    and for a dense gradient for each node. Without `draws` the best label is predicted, otherwise one drawn from the
    distribution; -1 while no label is known. If this raises, `history.n_learned` tells how many nodes were learned.
    """
    cdef ScoreBuffers buffers = ScoreBuffers(engine.gradients.lanes)
    cdef Evidence evidence
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(nodes.shape[0]):
            evidence = Evidence(scales[i], 0.0, 0.0)
            k = max(history.k, labels[i] + 1)
            engine.read(nodes[i], k, buffers, &evidence)
            predicted[i] = <int32_t> predict(
                engine.gradients, history, buffers, &evidence, draws[i] if draws.shape[0] > 0 else -1.0,
            )
            learn_step(engine, history, buffers, nodes[i], labels[i], &evidence, False)


def learn(
    Engine engine, LabelHistory history, const double[::1] scores, node_t u, Py_ssize_t y, *,
    double s, double diagonal, bint independent,
):
    """Learn label y of node u, whose scores were read before, in place of another label that it had."""
    cdef ScoreBuffers buffers = ScoreBuffers(engine.gradients.lanes)
    cdef Evidence evidence = Evidence(s, diagonal, 0.0)
    cdef Py_ssize_t j
    for j in range(scores.shape[0]):
        buffers.scores[j] = scores[j]
    with nogil:
        learn_step(engine, history, buffers, u, y, &evidence, independent)


def forget(Engine engine, LabelHistory history, const double[::1] scores, node_t u, *, double diagonal):
    """Forget the label of node u, whose scores were read before: all or nothing, as `learn_step`."""
    cdef ScoreBuffers buffers = ScoreBuffers(engine.gradients.lanes)
    cdef Py_ssize_t j
    for j in range(scores.shape[0]):
        buffers.scores[j] = scores[j]
    with nogil:
        engine.reserve()
        forget_gradient(engine.gradients, history, buffers, u, diagonal)
        engine.add(u, history.k, buffers)
        engine.settle(u, history.k, buffers)
