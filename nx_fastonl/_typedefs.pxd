from libc.stdint cimport int32_t, int64_t

ctypedef int32_t node_t

ctypedef fused offset_t:
    int32_t
    int64_t
