"""Random pairs of nodes, each with a probability that depends on the labels of the two."""

from libc.math cimport log1p
from libc.stdint cimport int64_t, uint64_t

from nx_fastonl._lib.random cimport next_fraction
from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t


cdef int64_t next_drawn(int64_t pair, int64_t pairs, double log_left_out, uint64_t* state) noexcept nogil:
    """The first pair from `pair` on that is drawn, or `pairs` if none is; `log_left_out` is log(1 - probability).

    Instead of a draw for each pair, one draw says how many are left out before the next: their number is geometric.
    """
    cdef double left_out = log1p(-next_fraction(state)) / log_left_out
    if left_out >= <double> (pairs - pair):  # before it is made an integer, which may have no room for it
        return pairs
    return min(pair + <int64_t> left_out, pairs)


def draw_pairs(
    const int64_t[::1] starts, const double[:, ::1] probabilities, bint directed, uint64_t seed,
    node_t[::1] sources, node_t[::1] targets,
):
    """Draw each pair of nodes with the probability of their labels; return how many were drawn.

    Label i has the nodes from `starts[i]` to `starts[i + 1]`. As many pairs are written as there is room for. If not
    `directed`, a pair is drawn once, and its source is larger than its target.
    """
    cdef Py_ssize_t k = probabilities.shape[0], i, j
    cdef int64_t count = 0, room = sources.shape[0], rows, columns, pairs, pair, u, v, before
    cdef uint64_t state = seed
    cdef double log_left_out
    if probabilities.shape[1] != k or starts.shape[0] != k + 1 or targets.shape[0] != room:
        raise ValueError("arrays of different lengths")
    with nogil:
        for i in range(k):
            for j in range(k if directed else i + 1):
                if probabilities[i, j] == 0.0:
                    continue
                log_left_out = log1p(-probabilities[i, j])
                rows, columns = starts[i + 1] - starts[i], starts[j + 1] - starts[j]
                # Pairs are numbered row by row. Row u of a label with itself leaves out u, or all nodes from u on.
                if i != j:
                    pairs = rows * columns
                else:
                    columns -= 1
                    pairs = rows * columns if directed else rows * columns // 2
                u = before = 0  # the row, and the pairs in the rows before it
                pair = next_drawn(0, pairs, log_left_out, &state)
                while pair < pairs:
                    if i == j and not directed:
                        while pair - before >= u:  # all in all, as many steps as there are rows
                            before += u
                            u += 1
                        v = pair - before
                    else:
                        u, v = pair // columns, pair % columns
                        if i == j and v >= u:
                            v += 1
                    if count < room:
                        sources[count], targets[count] = <node_t> (starts[i] + u), <node_t> (starts[j] + v)
                    count += 1
                    if is_poll_due(count - 1, count):
                        poll_signals()
                    pair = next_drawn(pair + 1, pairs, log_left_out, &state)
    return count
