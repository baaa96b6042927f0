"""Random numbers in compiled loops. A state is any 64 bits, drawn by numpy from the caller's seed."""

from libc.stdint cimport uint64_t


cdef inline uint64_t next_bits(uint64_t* state) noexcept nogil:
    """SplitMix64: a Weyl sequence, scrambled."""
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline double next_fraction(uint64_t* state) noexcept nogil:
    """A number from 0 up to, but not including, 1."""
    return <double> (next_bits(state) >> 11) * (1.0 / 9007199254740992.0)
