"""The integers that arrays of graphs hold."""

from libc.stdint cimport int32_t, int64_t

ctypedef int32_t node_t
ctypedef int64_t offset_t
