"""Asks the processor for memory ahead of its use."""

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    /* Without the empty asm, the compiler drops a function that only prefetches, as it has no effect. */
    #define nx_fastonl_prefetch(address) \\
        do { __builtin_prefetch((const void*) (address)); __asm__ volatile(""); } while (0)
    #else
    #define nx_fastonl_prefetch(address) ((void) 0)
    #endif
    """
    void prefetch "nx_fastonl_prefetch" (const void* address) noexcept nogil
