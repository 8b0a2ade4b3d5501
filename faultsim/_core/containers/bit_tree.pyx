"""A set of whole numbers, walked in order; the contract is in bit_tree.pxd."""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free as c_free

from faultsim._core.containers.bits cimport fs_lowest


cdef int bit_tree_init(bit_tree_t *tree, int32_t n) noexcept nogil:
    cdef int64_t words[BIT_TREE_LEVELS]
    cdef int64_t size = n, total = 0
    cdef int k
    tree.levels = 0
    while True:
        # One word more than the numbers need, so that looking from n on finds an empty one.
        words[tree.levels] = (size >> 6) + 1
        total += words[tree.levels]
        size = words[tree.levels]
        tree.levels += 1
        if size == 1:
            break
    tree.level[0] = <uint64_t *>calloc(<size_t>total, sizeof(uint64_t))
    if tree.level[0] == NULL:
        return -1
    for k in range(1, tree.levels):
        tree.level[k] = tree.level[k - 1] + words[k - 1]
    return 0


cdef void bit_tree_free(bit_tree_t *tree) noexcept nogil:
    c_free(tree.level[0])
    tree.level[0] = NULL


cdef void bit_tree_add(bit_tree_t *tree, int32_t i) noexcept nogil:
    cdef int k
    for k in range(tree.levels):
        tree.level[k][i >> 6] |= (<uint64_t>1) << (i & 63)
        i >>= 6


cdef void bit_tree_drop(bit_tree_t *tree, int32_t i) noexcept nogil:
    cdef int k
    for k in range(tree.levels):
        tree.level[k][i >> 6] &= ~((<uint64_t>1) << (i & 63))
        if tree.level[k][i >> 6]:
            return
        i >>= 6


cdef int32_t bit_tree_next(const bit_tree_t *tree, int32_t i) noexcept nogil:
    cdef uint64_t bits
    cdef int k = 0
    while True:
        bits = tree.level[k][i >> 6] >> (i & 63)
        if bits:
            i += fs_lowest(bits)
            break
        i = (i >> 6) + 1
        k += 1
        if k == tree.levels:
            return -1
    while k > 0:
        k -= 1
        i = (i << 6) | fs_lowest(tree.level[k][i])
    return i
