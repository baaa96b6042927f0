"""A log-linear mixture of experts: its weights follow the log loss, and its probabilities are calibrated."""

cimport cython
from libc.math cimport INFINITY, ceil, exp, fabs, isfinite, log, sqrt

import numpy as np

from nx_fastonl._lib.arrays import restored_array, restored_count, restored_number, shape_of

from nx_fastonl.learners._history cimport LabelHistory, best_label

# The precision that the offset and the slope of the calibration start with, and the smallest distance of a confidence
# from 0 and 1 that is told apart.
cdef double CALIBRATION_PRECISION = 30.0
cdef double LEAST_DOUBT = 1e-6
# The most that one label may change a weight.
cdef double LARGEST_STEP = 0.1
# The nonconformity of a label that was not known yet: no threshold of a prediction set is as large.
cdef double UNKNOWN_LABEL = 1e300
# The step of the thresholds of prediction sets. After T arrivals of labels that were seen before, the coverage is at
# least as asked for, up to (1 + step) / (step T).
STEP = 0.05


@cython.final
cdef class Forecast:
    """Scratch memory for what `experts` experts say of one node, with room for `lanes` labels."""

    def __init__(self, Py_ssize_t experts, Py_ssize_t lanes):
        self.features, self.relative = np.zeros((experts, max(lanes, 1))), np.zeros((max(lanes, 1), experts))
        cdef double[:, ::1] memory = np.zeros((3, max(lanes, 1)))
        self.scores, self.mixed, self.probabilities = memory[0], memory[1], memory[2]
        self.k, self.top = 0, -1


@cython.final
cdef class Mixture:
    """The distribution ``q ~ exp(sum of w_e x_e)`` over labels, where expert e gives label j the feature ``x_e[j]``.

    The weights w follow the log loss by online Newton steps: ``A += X (diag(q) - q q^T) X^T``, then
    ``w -= inv(A) X (q - e_y)``. The probability of the best label is then calibrated: its logit is mapped by an offset
    and a slope, which learn in the same way whether the best label was right. The others share what is left.

    Parameters
    ----------
    start : sequence of float
        The weights at the start.
    precision : sequence of float
        The diagonal of A at the start. The larger, the slower a weight moves.
    half_life : float
        After this many arrivals a loss counts half as much as a new one.
    """

    def __init__(self, start, precision, double half_life):
        cdef Py_ssize_t n = len(start)
        self.start = np.array(start, dtype=np.float64)
        self.weights = np.array(start, dtype=np.float64)
        self.start_precision, self.fading = np.array(precision, dtype=np.float64), 0.5 ** (1.0 / half_life)
        self.precision = np.diag(self.start_precision)
        self.calibration = np.array([0.0, 1.0])
        self.calibration_precision = CALIBRATION_PRECISION * np.eye(2)
        self.nonconformity = np.zeros(64)
        self.offsets = np.empty(0)
        self.n_steps = self.n_fitted = 0
        self.factor, self.gradient = np.zeros((n, n)), np.zeros(n)

    @property
    def n_experts(self):
        return self.weights.shape[0]

    @property
    def expert_weights(self):
        """How much each expert counts."""
        return np.array(self.weights)

    def fit(self, weights, precision):
        """Take weights that were learned otherwise, and the second derivative of the loss there."""
        self.weights, self.precision, self.n_fitted = np.array(weights), np.array(precision), self.n_steps

    def label_offsets(self, Py_ssize_t k):
        """What is added to the scores of k labels."""
        offsets = np.zeros(k)
        offsets[: min(k, self.offsets.shape[0])] = self.offsets[:k]
        return offsets

    def know_prior(self, const double[::1] offsets):
        """Add these numbers to the scores of the first labels."""
        self.offsets = np.array(offsets)

    def reserve(self, Py_ssize_t count):
        """Make room for this many more arrivals."""
        cdef Py_ssize_t room = self.nonconformity.shape[0]
        if self.n_steps + count > room:
            nonconformity = np.zeros(max(self.n_steps + count, 2 * room))
            nonconformity[: self.n_steps] = self.nonconformity[: self.n_steps]
            self.nonconformity = nonconformity

    def threshold(self, double coverage, double start, Py_ssize_t first):
        """The largest nonconformity of a label in prediction sets that cover the truth at this rate.

        It follows the arrivals from `first` on: after one whose label was not in its set it grows by
        ``STEP * coverage``, after others it falls by ``STEP * (1 - coverage)``, down to 0. `start` is what it was.
        Nodes that were left out in `fit` come first. They have no order: at most a fraction of 1 - coverage of them,
        and of one node more, has a larger nonconformity than the threshold that they give.
        """
        cdef double threshold = start, step = STEP
        cdef Py_ssize_t i, rank
        if first < self.n_fitted:
            first = self.n_fitted
            rank = min(<Py_ssize_t> ceil((first + 1) * coverage), first)
            threshold = np.sort(self.nonconformity[:first])[rank - 1]
        for i in range(first, self.n_steps):
            if self.nonconformity[i] > threshold:
                threshold += step * coverage
            else:
                threshold = max(threshold - step * (1.0 - coverage), 0.0)
        return threshold

    def take(self, Mixture other):
        """Become as the other one, which has as many experts."""
        self.weights[:] = other.weights
        self.precision[:] = other.precision
        self.calibration[:] = other.calibration
        self.calibration_precision[:] = other.calibration_precision
        self.n_steps, self.n_fitted = other.n_steps, other.n_fitted

    def copy(self):
        return _made(*self.__reduce__()[1])

    def __reduce__(self):
        settings = (np.array(self.start), np.array(self.start_precision), self.fading)
        weights = (np.array(self.weights), np.array(self.precision))
        calibration = (np.array(self.calibration), np.array(self.calibration_precision))
        told = (np.array(self.nonconformity[: self.n_steps]), self.n_fitted, np.array(self.offsets))
        return restored, (settings, (*weights, *calibration), *told)


def restored(settings, arrays, nonconformity, n_fitted, offsets):
    """What a pickle or a snapshot holds, checked."""
    start, precision, fading = settings
    weights, precisions, calibration, calibration_precision = arrays
    (n,), (n_steps,), (k,) = (shape_of(array, "mixture", 1) for array in (start, nonconformity, offsets))
    settings = (
        restored_array(start, "mixture", np.float64, (n,)),
        restored_array(precision, "mixture", np.float64, (n,)),
        restored_number(fading, "mixture", 0.0, 1.0),
    )
    arrays = (
        restored_array(weights, "mixture", np.float64, (n,)),
        restored_array(precisions, "mixture", np.float64, (n, n)),
        restored_array(calibration, "mixture", np.float64, (2,)),
        restored_array(calibration_precision, "mixture", np.float64, (2, 2)),
    )
    nonconformity = restored_array(nonconformity, "mixture", np.float64, (n_steps,), 0.0, UNKNOWN_LABEL)
    n_fitted = restored_count(n_fitted, "mixture", 0, n_steps)
    return _made(settings, arrays, nonconformity, n_fitted, restored_array(offsets, "mixture", np.float64, (k,)))


def _made(settings, arrays, nonconformity, n_fitted, offsets):
    """The mixture that has these numbers and arrays, which nobody else has."""
    start, precision, fading = settings
    cdef Mixture mixture = Mixture(start, precision, 1.0)
    mixture.fading = fading
    mixture.weights, mixture.precision, mixture.calibration, mixture.calibration_precision = arrays
    mixture.nonconformity, mixture.n_steps, mixture.n_fitted = nonconformity, len(nonconformity), n_fitted
    mixture.offsets = offsets
    return mixture


cdef void mix(
    Mixture mixture, Forecast forecast, const double[::1] frequencies, LabelHistory history,
) noexcept nogil:
    """From features to the label predicted and the labels' probabilities.

    The mixture is about the labels that some node has. Others are as probable as their frequencies say.
    """
    cdef Py_ssize_t e, j, k = forecast.k
    cdef double magnitude = 0.0, total = 0.0, unseen = 0.0
    cdef bint any_seen = history.n_learned > 0, finite = True
    for j in range(k):
        forecast.scores[j] = 0.0 if forecast.reached else -log(frequencies[j])
    for e in range(mixture.weights.shape[0] if forecast.reached else 0):
        for j in range(k):
            forecast.scores[j] -= mixture.weights[e] * forecast.features[e, j]
    for j in range(min(k, mixture.offsets.shape[0])):
        forecast.scores[j] -= mixture.offsets[j]
    for j in range(k):
        finite &= isfinite(forecast.scores[j])
        magnitude = max(magnitude, fabs(forecast.scores[j]))
    if not finite:  # numbers too large for the experts: only the frequencies are left
        forecast.reached = False
        magnitude = 0.0
        for j in range(k):
            forecast.scores[j] = -log(frequencies[j])
    for j in range(k):
        if any_seen and history.counts[j] == 0:
            forecast.scores[j] = INFINITY
            unseen += frequencies[j]
    forecast.top = best_label(forecast.scores, k, magnitude, history.counts, history.first_seen) if k > 0 else -1
    for j in range(k):
        forecast.mixed[j] = exp(forecast.scores[forecast.top] - forecast.scores[j])
        total += forecast.mixed[j]
    for j in range(k):
        forecast.mixed[j] /= total
    if k > 0:
        calibrate(mixture, forecast)
    for j in range(k):
        if any_seen and history.counts[j] == 0:
            forecast.probabilities[j] = frequencies[j]
        else:
            forecast.probabilities[j] *= 1.0 - unseen


cdef inline double logit_of_top(Forecast forecast) noexcept nogil:
    cdef double confidence = min(max(forecast.mixed[forecast.top], LEAST_DOUBT), 1.0 - LEAST_DOUBT)
    return log(confidence / (1.0 - confidence))


cdef inline double calibrated(Mixture mixture, double logit) noexcept nogil:
    return 1.0 / (1.0 + exp(-mixture.calibration[0] - mixture.calibration[1] * logit))


cdef void calibrate(Mixture mixture, Forecast forecast) noexcept nogil:
    """Write the calibrated probabilities. The label predicted keeps the largest."""
    cdef Py_ssize_t j, k = forecast.k
    cdef double others = 0.0, second = 0.0, confidence
    for j in range(k):
        if j != forecast.top:
            others += forecast.mixed[j]
            second = max(second, forecast.mixed[j])
    if others == 0.0 or not forecast.reached:
        for j in range(k):
            forecast.probabilities[j] = forecast.mixed[j]
        return
    confidence = max(calibrated(mixture, logit_of_top(forecast)), second / (others + second))
    for j in range(k):
        forecast.probabilities[j] = forecast.mixed[j] / others * (1.0 - confidence)
    forecast.probabilities[forecast.top] = confidence


cdef void train(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil:
    """Learn from the label revealed after a forecast. There must be room for one more arrival."""
    judge(mixture, forecast, y)
    # Of a label that no node has, no expert could know.
    if 1 < forecast.k and y < forecast.k and forecast.reached and forecast.mixed[y] > 0.0:
        train_weights(mixture, forecast, y)


cdef void judge(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil:
    """Learn from a label how sure the forecast might have been. There must be room for one more arrival."""
    conform(mixture, forecast, y)
    learn_confidence(mixture, forecast, y)


cdef void learn_confidence(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil:
    """Learn from a label how sure the forecast might have been of the best one."""
    if y < forecast.k and forecast.k > 1 and forecast.reached:
        train_calibration(mixture, logit_of_top(forecast), y == forecast.top)


cdef void conform(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil:
    """Record how little the true label was expected. There must be room for one more arrival."""
    if y >= forecast.k:  # no expert could have known it
        record(mixture, UNKNOWN_LABEL)
        return
    record(mixture, 0.0 if y == forecast.top else 1.0 - forecast.probabilities[y])


cdef void record(Mixture mixture, double nonconformity) noexcept nogil:
    """Record how little the true label was expected: 1 minus its probability, and 0 for the label predicted."""
    mixture.nonconformity[mixture.n_steps] = nonconformity
    mixture.n_steps += 1


cdef void train_weights(Mixture mixture, Forecast forecast, Py_ssize_t y) noexcept nogil:
    """One Newton step on the log loss of label y."""
    cdef Py_ssize_t e, f, j, k = forecast.k, n = mixture.weights.shape[0]
    cdef double mean, value, fading = mixture.fading
    cdef double[:, ::1] precision = mixture.precision, relative = forecast.relative
    for e in range(n):  # features relative to their means: a shift changes nothing
        mean = 0.0
        for j in range(k):
            mean += forecast.mixed[j] * forecast.features[e, j]
        for j in range(k):
            relative[j, e] = forecast.features[e, j] - mean
        mixture.gradient[e] = -relative[y, e]
    if fading != 1.0:
        for e in range(n):
            for f in range(e, n):
                value = mixture.start_precision[e] if e == f else 0.0
                precision[e, f] += (1.0 - fading) * (value - precision[e, f])
    for j in range(k):  # so that the innermost loop writes a row, and no sum waits for the one before
        for e in range(n):
            value = forecast.mixed[j] * relative[j, e]
            for f in range(e, n):
                precision[e, f] += value * relative[j, f]
    for e in range(n):
        for f in range(e):
            precision[e, f] = precision[f, e]
    descend(mixture.weights, mixture.precision, mixture.gradient, mixture.factor)


cdef void train_calibration(Mixture mixture, double logit, bint right) noexcept nogil:
    """The same for the logistic loss of whether the label predicted was right."""
    cdef double confidence = calibrated(mixture, logit), curvature = confidence * (1.0 - confidence)
    cdef double fading = mixture.fading, error = confidence - right, determinant, offset, slope
    cdef double[:, ::1] A = mixture.calibration_precision
    A[0, 0] = fading * A[0, 0] + (1.0 - fading) * CALIBRATION_PRECISION + curvature
    A[1, 1] = fading * A[1, 1] + (1.0 - fading) * CALIBRATION_PRECISION + curvature * logit * logit
    A[0, 1] = A[1, 0] = fading * A[0, 1] + curvature * logit
    determinant = A[0, 0] * A[1, 1] - A[0, 1] * A[0, 1]
    offset = (A[1, 1] * error - A[0, 1] * error * logit) / determinant
    slope = (A[0, 0] * error * logit - A[0, 1] * error) / determinant
    mixture.calibration[0] -= offset
    mixture.calibration[1] -= slope


cdef void descend(
    double[::1] weights, const double[:, ::1] precision, double[::1] gradient, double[:, ::1] factor,
) noexcept nogil:
    """weights -= inv(precision) gradient, by Cholesky's factor; nothing where rounding leaves no such factor.

    A step is shortened to `LARGEST_STEP`: a few surprising labels do not turn the mixture upside down. The factor is
    upper: the innermost loops go along its rows.
    """
    cdef Py_ssize_t e, f, i, n = weights.shape[0]
    cdef double value, largest = LARGEST_STEP
    for e in range(n):
        for f in range(e, n):
            factor[e, f] = precision[e, f]
    for i in range(n):
        if not (factor[i, i] > 0.0 and isfinite(factor[i, i])):
            return
        value = 1.0 / sqrt(factor[i, i])
        for f in range(i, n):
            factor[i, f] *= value
        for e in range(i + 1, n):
            value = factor[i, e]
            for f in range(e, n):
                factor[e, f] -= value * factor[i, f]
    for i in range(n):
        value = gradient[i] / factor[i, i]
        gradient[i] = value
        for f in range(i + 1, n):
            gradient[f] -= value * factor[i, f]
    for e in range(n - 1, -1, -1):
        value = gradient[e]
        for i in range(e + 1, n):
            value -= factor[e, i] * gradient[i]
        gradient[e] = value / factor[e, e]
        if not isfinite(gradient[e]):
            return
    for e in range(n):
        largest = max(largest, fabs(gradient[e]))
    for e in range(n):
        weights[e] -= gradient[e] * min(1.0, LARGEST_STEP / largest)
