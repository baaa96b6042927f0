"""The mixture of experts, as compiled loops see it."""

cimport cython
from libc.stdint cimport int64_t

from nx_fastonl.learners._history cimport LabelHistory


@cython.final
cdef class Forecast:
    # What the experts, and then the mixture, say of one node.
    cdef double[:, ::1] features  # of each expert, for each label: the larger, the likelier
    cdef double[:, ::1] relative  # of each label: the features relative to their means
    cdef double[::1] scores  # minus the weighted sum of the features
    cdef double[::1] mixed  # proportional to exp(-scores)
    cdef double[::1] probabilities  # the same, calibrated
    cdef Py_ssize_t k  # labels known; the forecast is about these
    cdef Py_ssize_t top  # the label predicted; -1 if none is known
    cdef bint reached  # whether any learned label is near the node; otherwise the frequencies of labels are all


@cython.final
cdef class Mixture:
    cdef double[::1] weights, start
    cdef double[:, ::1] precision
    cdef double[::1] start_precision  # its diagonal at the start
    cdef double fading
    cdef double[::1] calibration  # offset and slope
    cdef double[:, ::1] calibration_precision
    cdef double[::1] nonconformity  # of the true label of each arrival: see `record`
    cdef double[::1] offsets  # added to the scores of labels whose prior is known; empty otherwise
    cdef readonly int64_t n_steps  # entries of it that are used
    cdef readonly int64_t n_fitted  # the first of them, which were left out in `fit`
    cdef double[:, ::1] factor  # scratch memory
    cdef double[::1] gradient


cdef void mix(
    Mixture mixture, Forecast forecast, const double[::1] frequencies, LabelHistory history,
) noexcept nogil
cdef void conform(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil
cdef void learn_confidence(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil
cdef void train(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil
