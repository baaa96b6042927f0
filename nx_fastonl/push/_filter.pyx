"""NodeFilter: which nodes may be in an answer."""

cimport cython

import numpy as np

_NO_MARKS = np.empty(0, dtype=np.uint8)


@cython.final
cdef class NodeFilter:
    """Nodes with a certain mark are allowed; without marks, all nodes.

    `exclude_neighbors` is for rows of a matrix: in each, its source and the neighbours of this are not allowed either.
    """

    def __init__(
        self, const unsigned char[::1] marks=_NO_MARKS, unsigned char allowed_mark=0, *, bint exclude_neighbors=False,
    ):
        self.marks = marks
        self.allowed_mark = allowed_mark
        self.exclude_neighbors = exclude_neighbors

    def allows(self, rows):
        """Whether each of these rows is allowed, whatever its neighbours are."""
        if self.marks.shape[0] == 0:
            return np.ones(len(rows), dtype=bool)
        return np.asarray(self.marks)[rows] == self.allowed_mark
