"""Asking for memory ahead of its use."""

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    /* The empty asm keeps the compiler from judging a function that only prefetches to be without effect. */
    #define nx_fastonl_prefetch(address) \\
        do { __builtin_prefetch((const void*) (address)); __asm__ volatile(""); } while (0)
    #else
    #define nx_fastonl_prefetch(address) ((void) 0)
    #endif
    """
    void prefetch "nx_fastonl_prefetch" (const void* address) noexcept nogil
