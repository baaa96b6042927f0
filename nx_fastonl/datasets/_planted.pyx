"""Random pairs of nodes, each with a probability that depends on the labels and the weights of the two."""

from libc.math cimport log, log1p
from libc.stdint cimport int64_t, uint64_t

from nx_fastonl._lib.random cimport next_fraction
from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t


cdef inline int64_t next_drawn(int64_t pair, int64_t pairs, double log_left_out, uint64_t* state) noexcept nogil:
    """The first pair from `pair` on that is drawn, or `pairs` if none is; `log_left_out` is log(1 - probability).

    Instead of a draw for each pair, one draw says how many are left out before the next: their number is geometric.
    """
    cdef double left_out = log(1.0 - next_fraction(state)) / log_left_out
    if left_out >= <double> (pairs - pair):  # before it is made an integer, which may have no room for it
        return pairs
    return min(pair + <int64_t> left_out, pairs)


def draw_pairs(
    const int64_t[::1] starts, const node_t[::1] labels, const double[:, ::1] factors, const double[::1] weights,
    const node_t[::1] nodes, bint directed, uint64_t seed, node_t[::1] sources, node_t[::1] targets,
):
    """Draw each pair of nodes by itself; return how many were drawn.

    The node at place u is `nodes[u]`. Places u and v, of labels i and j, are joined with probability
    ``factors[i, j] * weights[u] * weights[v]``, or 1 if that is more. Block a has the places from `starts[a]` to
    `starts[a + 1]`, all of label `labels[a]`, and its first weight is its largest.

    As many pairs are written as there is room for. If not `directed`, a pair is drawn once, and its source has the
    larger place.
    """
    cdef Py_ssize_t blocks = labels.shape[0], a, b
    cdef int64_t count = 0, steps = 0, room = sources.shape[0], rows, columns, pairs, pair, u, v, before
    cdef uint64_t state = seed
    cdef double factor, bound, log_left_out
    if starts.shape[0] != blocks + 1 or nodes.shape[0] != weights.shape[0] or targets.shape[0] != room:
        raise ValueError("arrays of different lengths")
    # Pairs of two blocks are drawn with one probability, the largest among them. Those drawn are then left out again
    # by chance, as far as their own probability is smaller.
    with nogil:
        for a in range(blocks):
            for b in range(blocks if directed else a + 1):
                steps += 1
                if is_poll_due(steps - 1, steps):
                    poll_signals()
                factor = factors[labels[a], labels[b]]
                bound = min(1.0, factor * weights[starts[a]] * weights[starts[b]])
                if bound <= 0.0:
                    continue
                log_left_out = log1p(-bound)
                rows, columns = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
                # Pairs are numbered row by row. Row u of a block with itself leaves out u, or all places from u on.
                if a != b:
                    pairs = rows * columns
                else:
                    columns -= 1
                    pairs = rows * columns if directed else rows * columns // 2
                u = before = 0  # the row, and the pairs in the rows before it
                pair = next_drawn(0, pairs, log_left_out, &state)
                while pair < pairs:
                    if a == b and not directed:
                        while pair - before >= u:  # all in all, as many steps as there are rows
                            before += u
                            u += 1
                        v = pair - before
                    else:
                        u, v = pair // columns, pair % columns
                        if a == b and v >= u:
                            v += 1
                    if is_kept(factor * weights[starts[a] + u] * weights[starts[b] + v], bound, &state):
                        if count < room:
                            sources[count], targets[count] = nodes[starts[a] + u], nodes[starts[b] + v]
                        count += 1
                    steps += 1
                    if is_poll_due(steps - 1, steps):
                        poll_signals()
                    pair = next_drawn(pair + 1, pairs, log_left_out, &state)
    return count


cdef inline bint is_kept(double probability, double bound, uint64_t* state) noexcept nogil:
    """Whether a pair that was drawn with probability `bound` stays, so that all in all it has its own."""
    return probability >= bound or next_fraction(state) * bound < probability


def expected_pairs(const double[::1] row_weights, const double[::1] column_weights, double factor, bint same):
    """What to expect of the pairs of two labels: how many are certain, and the sum of the weights of the others.

    Weights u and v are joined with probability ``factor * u * v``, or 1 if that is more. Both arrays decrease. If they
    are the `same`, no node is paired with itself. The sum of weights is that of ``u * v``.
    """
    cdef Py_ssize_t u, v = column_weights.shape[0]
    cdef double certain = 0.0, others = 0.0, weight, smaller = 0.0
    # Invariant: the pairs of row u with the first v columns are certain; `smaller` sums up the columns from v on. As
    # rows decrease, so does v.
    with nogil:
        for u in range(row_weights.shape[0]):
            weight = row_weights[u]
            while v > 0 and factor * weight * column_weights[v - 1] <= 1.0:
                v -= 1
                smaller += column_weights[v]
            certain += v
            others += weight * smaller
            if same:
                if u < v:
                    certain -= 1
                else:
                    others -= weight * weight
    return certain, others
