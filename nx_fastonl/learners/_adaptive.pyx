"""The engine of the adaptive learner: what each expert says of a node, their mixture, and what learning changes."""

cimport cython
from libc.math cimport fabs, log, sqrt
from libc.stdint cimport int32_t

import numpy as np

from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._arrows cimport IN, OUT
from nx_fastonl.graph._view cimport GraphView
from nx_fastonl.learners._diffusion cimport DiffusionRun
from nx_fastonl.learners._history cimport LabelHistory, drop_label, record_label
from nx_fastonl.learners._mixture cimport Forecast, Mixture, conform, learn_confidence, mix, train
from nx_fastonl.learners._neighbors cimport (
    ALL_EDGES, IN_ARCS, LANES, N_VIEWS, OUT_ARCS, NeighborCounts, cell_of, count, read_counts, rebase, reserve_for, stamp_of,
)
from nx_fastonl.learners._stream cimport Engine
from nx_fastonl.push._system cimport SystemView, degree_of, pivot_of

# The share of the label frequencies in each expert's votes: no label is ruled out.
FREQUENCY_SHARE = 0.2
cdef double frequency_share = FREQUENCY_SHARE
cdef double log_frequency_share = log(FREQUENCY_SHARE)
# How many nodes, or edges of the mean weight, the label frequencies count as: beside pairs of labels, the labels around
# a node, and those of a like degree.
cdef double PAIR_SMOOTHING = 10.0
cdef double PROFILE_SMOOTHING = 2.0
cdef double DEGREE_SMOOTHING = 4.0
# The experts that need no diffusion, in the order of their places.
cdef enum:
    VOTE = 0
    COMPATIBILITY = 1
    PROFILE = 2
    DEGREE = 3
    FREQUENCY = 4
# Ratios of counts are multiplied, at most this many before the logarithm is taken, and none is larger than this.
cdef enum:
    MAX_FACTORS = 16
cdef double LARGEST_FACTOR = 1e18
# Votes smaller than this fraction of their sum, or of what a node's own label would give it, are rounding errors.
ROUNDING = 1e-13
cdef double rounding = ROUNDING


@cython.final
cdef class DiffusionExpert:
    """Labels that spread from learned nodes, which absorb what comes from others: two experts, raw and centred.

    `label_mass` says how much of all votes goes to each label: a node that is learned adds 1. Further diffusions follow
    as `others`.
    """

    cdef DiffusionRun run
    cdef SystemView unlearned  # the system while no node is learned
    cdef double absorption
    cdef double[::1] label_mass
    cdef DiffusionExpert others

    def __init__(
        self, DiffusionRun run, SystemView unlearned, double absorption, double[::1] label_mass, DiffusionExpert others,
    ):
        self.run, self.unlearned, self.absorption = run, unlearned, absorption
        self.label_mass, self.others = label_mass, others

    def n_features(self):
        """How many features it has, with those of the others."""
        return 2 + (0 if self.others is None else self.others.n_features())

    cdef int read(
        self, node_t u, Forecast forecast, const double[::1] frequencies, const double[::1] log_frequencies, Py_ssize_t e,
    ) except -1 nogil:
        """Write the features of node u as rows e and e + 1, and so on."""
        cdef Py_ssize_t j, k = forecast.k
        cdef double total = 0.0, mass = 0.0, size = 0.0, least
        self.run.read(u)
        for j in range(k):
            total += self.run.row[j]
            size += fabs(self.run.row[j])
            mass += self.label_mass[j]
        for j in range(k):
            forecast.features[e, j] = self.run.row[j]
            forecast.features[e + 1, j] = self.run.row[j]
            if mass > 0.0:
                forecast.features[e + 1, j] -= total * self.label_mass[j] / mass
        least = rounding * max(size, self.run.own)
        forecast.reached |= to_log_shares(forecast.features[e], k, frequencies, log_frequencies, least)
        to_log_shares(forecast.features[e + 1], k, frequencies, log_frequencies, least)
        return self.others.read(u, forecast, frequencies, log_frequencies, e + 2) if self.others is not None else 0

    cdef int reserve(self) except -1 nogil:
        self.run.reserve()
        return self.others.reserve() if self.others is not None else 0

    cdef void place(self, node_t u, Py_ssize_t y, double n_label, double sign) noexcept nogil:
        """Add label y, which n_label nodes have, as a source at node u, or take it away."""
        self.label_mass[y] += sign if sign > 0.0 else -self.label_mass[y] / n_label
        self.run.place(u, y, sign)
        if self.others is not None:
            self.others.place(u, y, n_label, sign)

    cdef void absorb(self, node_t u, bint learned) noexcept nogil:
        """Let node u absorb what comes from others, or no longer."""
        cdef double pivot = pivot_of(self.unlearned, u, self.unlearned.stops[u] - self.unlearned.starts[u])
        if self.absorption > 0.0:
            self.run.absorb(u, pivot + (self.absorption * degree_of(self.unlearned, u) if learned else 0.0))
        self.run.weigh(not learned, learned)
        if self.others is not None:
            self.others.absorb(u, learned)

    cdef int settle(self, node_t u) except -1 nogil:
        self.run.settle(u)
        return self.others.settle(u) if self.others is not None else 0


cdef bint to_log_shares(
    double[::1] votes, Py_ssize_t k, const double[::1] frequencies, const double[::1] log_frequencies, double least,
) noexcept nogil:
    """Replace votes by the logarithms of their shares, mixed with the label frequencies; return if there are any votes.

    Votes below `least` count as 0.
    """
    cdef double total = 0.0
    cdef Py_ssize_t j
    for j in range(k):
        votes[j] = votes[j] if votes[j] > least else 0.0
        total += votes[j]
    for j in range(k):
        if votes[j] > 0.0:
            votes[j] = log((1.0 - frequency_share) * votes[j] / total + frequency_share * frequencies[j])
        else:
            votes[j] = log_frequencies[j] + (log_frequency_share if total > 0.0 else 0.0)
    return total > 0.0


cdef inline double log_smoothed(double counted, double smoothing, double frequency, double log_frequency) noexcept nogil:
    """log(counted + smoothing * frequency), where only what was counted needs a logarithm of its own."""
    return log(counted + smoothing * frequency) if counted > 0.0 else log_frequency + log(smoothing)


@cython.final
cdef class AdaptiveEngine(Engine):
    """A mixture of experts. Their features stand in the order of the arguments; a place of -1 means: not asked.

    Parameters
    ----------
    history : LabelHistory
    graph : GraphView
    counts : NeighborCounts
    mixture : Mixture
    diffusions : DiffusionExpert or None
        Their features come first.
    places : array of int
        For each view of the counts, the rows of features of the experts vote, compatibility, profile, degree and
        frequency. Those of arcs say what they add to those of edges.
    joining : bool, default False
        The rows of `graph` are not nodes of the graph that was counted: they have weighted edges, or arcs out, to its
        nodes, which do not see them.
    """

    cdef GraphView graph
    cdef NeighborCounts counts
    cdef Mixture mixture
    cdef DiffusionExpert diffusions
    cdef Forecast forecast
    cdef Py_ssize_t n_diffused
    cdef const Py_ssize_t[:, ::1] places
    cdef double[::1] frequencies, log_frequencies  # of the labels, each counted once more
    cdef bint joining
    # Of the node read, in one view: weights of the edges to neighbours with each label, the sum of their magnitudes,
    # the number of these neighbours.
    cdef double[::1] around
    cdef double learned_weight
    cdef int32_t witnesses
    cdef double[::1] factors  # of the labels of a block
    cdef Py_ssize_t predicted
    cdef double[:, ::1] told  # probabilities of the label predicted and of the true one, of each node learned
    cdef Py_ssize_t n_told

    def __init__(
        self, LabelHistory history, GraphView graph, NeighborCounts counts, Mixture mixture,
        DiffusionExpert diffusions, const Py_ssize_t[:, ::1] places, bint joining=False,
    ):
        super().__init__(history)
        self.joining = joining
        self.graph, self.counts, self.mixture, self.diffusions = graph, counts, mixture, diffusions
        self.forecast = Forecast(mixture.n_experts, counts.lanes)
        self.n_diffused = 0 if diffusions is None else diffusions.n_features()
        self.places = places
        cdef double[:, ::1] memory = np.zeros((4, counts.lanes))
        self.frequencies, self.log_frequencies, self.around, self.factors = memory[0], memory[1], memory[2], memory[3]
        self.predicted, self.learned_weight, self.witnesses = -1, 0.0, 0
        self.told, self.n_told = np.zeros((0, 2)), 0

    def tell(self, double[:, ::1] probabilities):
        """Write down, from now on, the probabilities of the label predicted and of the true one."""
        self.told, self.n_told = probabilities, 0

    def forecasts(
        self, const node_t[::1] nodes, double[:, ::1] probabilities, int32_t[::1] labels, unsigned char[::1] reached,
    ):
        """Write the probabilities of the labels of these nodes, the labels predicted, and if any label was in reach."""
        cdef Py_ssize_t i, j
        with nogil:
            for i in range(nodes.shape[0]):
                self.read(nodes[i], self.history.k)
                labels[i] = <int32_t> self.forecast.top
                reached[i] = self.forecast.reached
                for j in range(min(probabilities.shape[1], self.forecast.k)):
                    probabilities[i, j] = self.forecast.probabilities[j]

    def forecasts_joining(
        self, double[:, :, ::1] features, double[:, ::1] probabilities, int32_t[::1] labels, unsigned char[::1] reached,
    ):
        """The same for each row of the graph, where rows are joining.

        Features of diffusions are given, with whether their labels are in reach. The others are written beside them.
        """
        cdef Py_ssize_t i, e, j, k
        with nogil:
            k = min(features.shape[2], self.history.k)  # a label that has just joined has no features yet
            self.forecast.k = k
            for i in range(features.shape[0]):
                self.forecast.reached = reached[i]
                for e in range(features.shape[1]):
                    for j in range(k):
                        self.forecast.features[e, j] = features[i, e, j]
                self.read_frequencies()
                self.read_neighbors(<node_t> i)
                for e in range(features.shape[1]):
                    for j in range(k):
                        features[i, e, j] = self.forecast.features[e, j]
                mix(self.mixture, self.forecast, self.frequencies, self.history)
                labels[i] = <int32_t> self.forecast.top
                reached[i] = self.forecast.reached
                for j in range(min(probabilities.shape[1], k)):
                    probabilities[i, j] = self.forecast.probabilities[j]

    def features_of(self, node_t u):
        """What each expert says of node u."""
        self.read(u, self.history.k)
        return np.array(self.forecast.features[:, : self.forecast.k])

    def features_without(self, const node_t[::1] nodes, double[:, :, ::1] features):
        """What experts say of learned nodes, as if the labels of these alone were not known; diffusions are not asked.

        The frequencies of labels are those with these nodes.
        """
        cdef Py_ssize_t i, e, j
        cdef int32_t[::1] marks = np.zeros(nodes.shape[0], dtype=np.int32)
        with nogil:
            self.forecast.k = self.history.k
            self.read_frequencies()
            for i in range(nodes.shape[0]):
                marks[i] = self.history.marks[nodes[i]]
                count(self.counts, self.graph, self.history, nodes[i], marks[i] - 1, -1.0)
                self.history.marks[nodes[i]] = 0  # so that the edge to a later one of these is not taken away twice
            for i in range(nodes.shape[0]):
                self.read_neighbors(nodes[i])
                for e in range(self.n_diffused, features.shape[1]):
                    for j in range(features.shape[2]):
                        features[i, e, j] = self.forecast.features[e, j]
            for i in range(nodes.shape[0]):
                self.history.marks[nodes[i]] = marks[i]
                count(self.counts, self.graph, self.history, nodes[i], marks[i] - 1, 1.0)

    cdef int read(self, node_t u, Py_ssize_t k) except -1 nogil:
        self.forecast.k = self.history.k
        self.forecast.reached = False
        if self.forecast.k > 0:
            self.read_frequencies()
            if self.diffusions is not None:
                self.diffusions.read(u, self.forecast, self.frequencies, self.log_frequencies, 0)
            self.read_neighbors(u)
        mix(self.mixture, self.forecast, self.frequencies, self.history)
        return 0

    cdef void read_frequencies(self) noexcept nogil:
        cdef Py_ssize_t j, k = self.forecast.k
        cdef double one = stamp_of(self.counts, self.history.n_arrivals), total = max(self.counts.n_labels, 0.0) + k * one
        for j in range(k):
            self.frequencies[j] = (max(self.counts.labels[j], 0.0) + one) / total
            self.log_frequencies[j] = log(self.frequencies[j])
            if self.places[ALL_EDGES, FREQUENCY] >= 0:
                self.forecast.features[self.places[ALL_EDGES, FREQUENCY], j] = self.log_frequencies[j]

    cdef void read_neighbors(self, node_t u) noexcept nogil:
        """Write the features of the experts that need no diffusion."""
        cdef int view
        cdef Py_ssize_t kind, e, edges, j
        for view in range(<int> self.places.shape[0]):
            self.read_view(u, view)
        if self.places[ALL_EDGES, PROFILE] >= 0:
            self.read_profile(u)
        for view in range(1, <int> self.places.shape[0]):
            for kind in range(FREQUENCY):
                e, edges = self.places[view, kind], self.places[ALL_EDGES, kind]
                if e >= 0:
                    for j in range(self.forecast.k):
                        self.forecast.features[e, j] -= self.forecast.features[edges, j]

    cdef void read_view(self, node_t u, int view) noexcept nogil:
        """The same for edges alone, or for arcs out or in; without the profile."""
        cdef Py_ssize_t j, k = self.forecast.k
        cdef Py_ssize_t vote = self.places[view, VOTE], degree = self.places[view, DEGREE]
        cdef double one = stamp_of(self.counts, self.history.n_arrivals), least
        cdef int cell
        if self.joining:
            self.read_row_counts(u, view)
        else:
            self.read_node_counts(u, view)
        if view == ALL_EDGES:
            self.forecast.reached |= self.witnesses > 0
        if vote >= 0:
            for j in range(k):
                self.forecast.features[vote, j] = self.around[j]
            least = rounding * self.learned_weight
            to_log_shares(self.forecast.features[vote], k, self.frequencies, self.log_frequencies, least)
        if self.places[view, COMPATIBILITY] >= 0:
            self.read_compatibility(view, self.forecast.features[self.places[view, COMPATIBILITY]], one)
        if degree >= 0:
            cell = cell_of(self.graph, u, view)
            for j in range(k):
                self.forecast.features[degree, j] = log_smoothed(
                    self.counts.cells[view, cell, j], one * DEGREE_SMOOTHING,
                    self.frequencies[j], self.log_frequencies[j],
                )

    cdef void read_node_counts(self, node_t u, int view) noexcept nogil:
        """Find what was counted at node u in one view."""
        cdef Py_ssize_t side
        read_counts(self.counts, u, self.forecast.k, view, self.around)
        self.witnesses, self.learned_weight = self.counts.learned_neighbors[u, view], 0.0
        for side in range(self.counts.learned_weight.shape[1]):
            if view == ALL_EDGES or view == side + 1:
                self.learned_weight += self.counts.learned_weight[u, side]

    cdef void read_row_counts(self, node_t u, int view) noexcept nogil:
        """Count the same along a row that joins. It has no arcs in."""
        cdef Py_ssize_t e, j, v
        cdef double weight
        self.witnesses, self.learned_weight = 0, 0.0
        for j in range(self.forecast.k):
            self.around[j] = 0.0
        for e in range(self.graph.starts[u], self.graph.starts[u] if view == IN_ARCS else self.graph.stops[u]):
            v = self.graph.indices[e]
            if self.history.marks[v] != 0:
                weight = stamp_of(self.counts, self.history.arrivals[v]) * self.graph.weights[e] / self.counts.unit
                self.around[self.history.marks[v] - 1] += weight
                self.learned_weight += weight
                self.witnesses += 1

    cdef void read_compatibility(self, int view, double[::1] feature, double one) noexcept nogil:
        """Naive Bayes on the learned neighbours: the mean of log C[y, their label], times the root of their number.

        C[y, j] is the share of label j around nodes of label y. Each neighbour is one witness, but witnesses agree more
        often than independent ones would: so the root.
        """
        cdef Py_ssize_t j, y, k = self.forecast.k
        cdef double witnesses = sqrt(<double> self.witnesses), total = 0.0, share
        for y in range(k):
            feature[y] = 0.0
            total += max(self.around[y], 0.0)
        if witnesses == 0.0 or total == 0.0:
            return
        for j in range(k):
            share = witnesses * self.around[j] / total
            if share > rounding:
                for y in range(k):
                    feature[y] += share * log(
                        max(self.counts.pairs[view, j, y], 0.0) + one * PAIR_SMOOTHING * self.frequencies[j],
                    )
        for y in range(k):
            feature[y] -= witnesses * log(max(self.counts.pair_sums[view, y], 0.0) + one * PAIR_SMOOTHING)

    cdef void read_profile(self, node_t u) noexcept nogil:
        """Naive Bayes on siblings: what labels the other neighbours of each neighbour of u have.

        The sum over neighbours v of log(counts_v[y] + smoothing[y]), over the root of their number, up to a constant
        that all labels share. That is log(smoothing[y]) for each v, and the logarithm of a product of
        1 + counts_v[y] / smoothing[y]. With arcs out, siblings are nodes that point to the same nodes as u; with arcs
        in, nodes that the same nodes point to.
        """
        cdef Py_ssize_t view, j, y, block, k = self.forecast.k, n_views = self.places.shape[0]
        cdef Py_ssize_t width = self.counts.counts.shape[1]
        cdef double smoothing = PROFILE_SMOOTHING * stamp_of(self.counts, self.history.n_arrivals)
        cdef double[::1] feature
        cdef Py_ssize_t n_known[N_VIEWS]
        self.count_known(u, n_known)
        self.forecast.reached |= n_known[ALL_EDGES] > 0
        for view in range(n_views):
            feature = self.forecast.features[self.places[view, PROFILE]]
            for j in range(k):
                feature[j] = n_known[view] * self.log_frequencies[j]
        for block in range((k + width - 1) // width if n_known[ALL_EDGES] > 0 else 0):
            for j in range(width):
                y = block * width + j
                self.factors[j] = 1.0 / (smoothing * self.frequencies[y]) if y < k else 0.0
            self.add_profile(u, block)
        for view in range(n_views):
            feature = self.forecast.features[self.places[view, PROFILE]]
            for j in range(k if n_known[view] > 0 else 0):
                feature[j] /= sqrt(<double> n_known[view])

    cdef void count_known(self, node_t u, Py_ssize_t* n_known) noexcept nogil:
        """Write how many neighbours of u, in each view, have learned neighbours of their own that look at them alike."""
        cdef Py_ssize_t e, v, view, own = -1 if self.joining else u
        for view in range(N_VIEWS):
            n_known[view] = 0
        for e in range(self.graph.starts[u], self.graph.stops[u]):
            v = self.graph.indices[e]
            if v != own and self.counts.learned_neighbors[v, ALL_EDGES] > 0:
                n_known[ALL_EDGES] += 1
                if self.places.shape[0] > 1:
                    n_known[OUT_ARCS] += self.leads(e, OUT) and self.counts.learned_neighbors[v, IN_ARCS] > 0
                    n_known[IN_ARCS] += self.leads(e, IN) and self.counts.learned_neighbors[v, OUT_ARCS] > 0

    cdef inline bint leads(self, Py_ssize_t e, unsigned char way) noexcept nogil:
        """Whether there is an arc this way."""
        return (self.graph.arrows.codes[e] & way) != 0

    cdef void add_profile(self, node_t u, Py_ssize_t block) noexcept nogil:
        """Add the logarithms of products of 1 + counts times factors for one block of labels, in all views."""
        cdef double products[N_VIEWS][LANES]
        cdef double edges, scale = self.counts.scale
        cdef Py_ssize_t e, v, j, view, n_factors = 0, width = self.counts.counts.shape[1], own = -1 if self.joining else u
        cdef bint pointed = self.counts.slots.shape[1] > 1
        cdef const double[:, ::1] counts = self.counts.counts
        cdef const double[::1] factors = self.factors
        cdef int32_t first, second = 0
        for view in range(N_VIEWS):
            for j in range(LANES):
                products[view][j] = 1.0
        for e in range(self.graph.starts[u], self.graph.stops[u]):
            v = self.graph.indices[e]
            if v == own:
                continue
            first = self.counts.slots[v, 0, block]
            if pointed:
                second = self.counts.slots[v, 1, block]
            if first == 0 and second == 0:
                continue
            for j in range(width):
                edges = scale * max(counts[first, j] + counts[second, j], 0.0)
                products[ALL_EDGES][j] *= min(1.0 + factors[j] * edges, LARGEST_FACTOR)
            if pointed and second != 0 and self.leads(e, OUT):  # others point to v as well
                for j in range(width):
                    products[OUT_ARCS][j] *= min(1.0 + factors[j] * max(counts[second, j], 0.0), LARGEST_FACTOR)
            if pointed and first != 0 and self.leads(e, IN):
                for j in range(width):
                    products[IN_ARCS][j] *= min(1.0 + factors[j] * max(counts[first, j], 0.0), LARGEST_FACTOR)
            n_factors += 1
            if n_factors == MAX_FACTORS:
                n_factors = 0
                self.multiply_out(block, products)
        if n_factors > 0:
            self.multiply_out(block, products)

    cdef void multiply_out(self, Py_ssize_t block, double (*products)[LANES]) noexcept nogil:
        """Add the logarithms of products, and begin with 1 again."""
        cdef Py_ssize_t view, e, j, first = block * self.counts.counts.shape[1]
        for view in range(self.places.shape[0]):
            e = self.places[view, PROFILE]
            for j in range(min(self.counts.counts.shape[1], self.forecast.k - first)):
                if products[view][j] != 1.0:
                    self.forecast.features[e, first + j] += log(products[view][j])
                    products[view][j] = 1.0

    cdef Py_ssize_t predict(self, double draw) noexcept nogil:
        cdef Py_ssize_t j
        cdef double below = 0.0
        self.predicted = self.forecast.top
        if draw >= 0.0:
            for j in range(self.forecast.k):
                below += self.forecast.probabilities[j]
                if draw < below:
                    self.predicted = j
                    break
        return self.predicted

    cdef int reserve(self, node_t u) except -1 nogil:
        reserve_for(self.counts, self.graph, u)
        if self.mixture.n_steps == self.mixture.nonconformity.shape[0]:
            with gil:
                self.mixture.reserve(1)
        return self.diffusions.reserve() if self.diffusions is not None else 0

    cdef void learn(self, node_t u, Py_ssize_t y) noexcept nogil:
        cdef Py_ssize_t old = self.history.marks[u] - 1
        if old < 0:
            self.write_down(y)
            train(self.mixture, self.forecast, y)
            if self.diffusions is not None:
                self.diffusions.absorb(u, True)
            rebase(self.counts, self.history.n_arrivals)
        else:
            self.change(u, old, -1.0)
        self.change(u, y, 1.0)
        record_label(self.history, u, y)

    cdef void forget(self, node_t u) noexcept nogil:
        self.change(u, self.history.marks[u] - 1, -1.0)
        if self.diffusions is not None:
            self.diffusions.absorb(u, False)
        drop_label(self.history, u)

    cdef void change(self, node_t u, Py_ssize_t y, double sign) noexcept nogil:
        """Add label y of node u to what is counted and spread, or take it away."""
        count(self.counts, self.graph, self.history, u, y, sign)
        if self.diffusions is not None:
            self.diffusions.place(u, y, <double> self.history.counts[y], sign)

    cdef void write_down(self, Py_ssize_t y) noexcept nogil:
        if self.n_told < self.told.shape[0]:
            self.told[self.n_told, 0] = self.forecast.probabilities[self.predicted] if self.predicted >= 0 else 0.0
            self.told[self.n_told, 1] = self.forecast.probabilities[y] if y < self.forecast.k else 0.0
            self.n_told += 1

    cdef int settle(self, node_t u) except -1 nogil:
        return self.diffusions.settle(u) if self.diffusions is not None else 0


def calibrate(AdaptiveEngine engine, const double[:, :, ::1] features, const int32_t[::1] labels, bint told):
    """Learn how sure the mixture may be from what experts say of nodes whose labels were left out.

    Or, if that was told before, record how little the labels are expected. They are known at once: none fades before
    another.
    """
    cdef Py_ssize_t i, e, j
    cdef Forecast forecast = engine.forecast
    cdef double fading = engine.mixture.fading
    engine.mixture.reserve(labels.shape[0])
    with nogil:
        forecast.k, forecast.reached = engine.history.k, True
        engine.mixture.fading = 1.0
        engine.read_frequencies()
        for i in range(labels.shape[0]):
            for e in range(features.shape[1]):
                for j in range(forecast.k):
                    forecast.features[e, j] = features[i, e, j]
            mix(engine.mixture, forecast, engine.frequencies, engine.history)
            if told:
                conform(engine.mixture, forecast, labels[i])
            else:
                learn_confidence(engine.mixture, forecast, labels[i])
        engine.mixture.fading = fading


def take_back(AdaptiveEngine engine, const node_t[::1] nodes, Mixture mixture, Py_ssize_t k):
    """Forget these nodes, the last that were learned; the mixture and the number of labels become what they were."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(nodes.shape[0] - 1, -1, -1):
            engine.forget(nodes[i])
    engine.mixture.take(mixture)
    engine.history.k = k
    engine.history.n_arrivals -= nodes.shape[0]
