# Bits of a 64-bit word (bits.h), and of masks: arrays of words in which a bit is a node.

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from "bits.h" nogil:
    int fs_popcount(uint64_t w)
    int fs_lowest(uint64_t w)            # index of the lowest set bit; w != 0
    int fs_highest(uint64_t w)           # of the highest
    uint64_t fs_lowest_bits(uint64_t w, int n)       # the n lowest set bits; 1 <= n <= fs_popcount(w)
    uint64_t fs_pack(const unsigned char *bytes)     # bit i: is the i-th of 8 bytes not 0?
    void fs_unpack(uint64_t w, unsigned char *bytes)     # the lowest 8 bits as bytes of 0 or 1
    int FS_LITTLE_ENDIAN                 # the low byte of a word comes first in memory


cdef inline uint64_t ones(int n) noexcept nogil:
    """The lowest n bits, 0 <= n <= 64."""
    return (~<uint64_t>0) >> (64 - n) if n > 0 else 0


cdef inline bint mask_has(const uint64_t *mask, int64_t i) noexcept nogil:
    return (mask[i >> 6] >> (i & 63)) & 1


cdef inline void mask_join(uint64_t *into, const uint64_t *more, int32_t words) noexcept nogil:
    cdef int32_t i
    for i in range(words):
        into[i] |= more[i]


cdef inline int32_t mask_count_without(const uint64_t *mask, const uint64_t *without, int32_t words) noexcept nogil:
    """Bits of `mask` that `without` lacks."""
    cdef int32_t i, n = 0
    for i in range(words):
        n += fs_popcount(mask[i] & ~without[i])
    return n


cdef inline int32_t mask_count(const uint64_t *mask, int32_t words) noexcept nogil:
    cdef int32_t i, n = 0
    for i in range(words):
        n += fs_popcount(mask[i])
    return n


cdef inline bint mask_equal(const uint64_t *a, const uint64_t *b, int32_t words) noexcept nogil:
    cdef int32_t i
    for i in range(words):
        if a[i] != b[i]:
            return False
    return True
