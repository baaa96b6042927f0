"""Names of both ends of edges -> rows: pair by pair, the source first, so that names are numbered as they appear."""

from libc.stdint cimport int64_t

from nx_fastonl._lib.signals cimport is_poll_due, poll_signals
from nx_fastonl._lib.typedefs cimport node_t
from nx_fastonl.graph._names cimport IntegerTable, TextTable


def number_texts(
    TextTable table, const unsigned char[::1] source_data, const int64_t[::1] source_offsets,
    const unsigned char[::1] target_data, const int64_t[::1] target_offsets, node_t[::1] sources, node_t[::1] targets,
):
    """Write the rows of texts, in UTF-8: text i is ``data[offsets[i]:offsets[i + 1]]``. New texts get new rows."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(sources.shape[0]):
            sources[i] = table.number(source_data, source_offsets[i], source_offsets[i + 1])
            targets[i] = table.number(target_data, target_offsets[i], target_offsets[i + 1])
            if is_poll_due(i, i + 1):
                poll_signals()


def find_texts(TextTable table, const unsigned char[::1] data, const int64_t[::1] offsets, node_t[::1] rows):
    """Write the rows of texts, -1 for those that have none."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.shape[0]):
            rows[i] = table.find(data, offsets[i], offsets[i + 1])
            if is_poll_due(i, i + 1):
                poll_signals()


def number_integers(
    IntegerTable table, const int64_t[::1] source_values, const int64_t[::1] target_values,
    node_t[::1] sources, node_t[::1] targets,
):
    """Write the rows of integers. New integers get new rows."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(sources.shape[0]):
            sources[i] = table.number(source_values[i])
            targets[i] = table.number(target_values[i])
            if is_poll_due(i, i + 1):
                poll_signals()
