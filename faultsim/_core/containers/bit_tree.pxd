# A set of whole numbers below n, walked in order: one bit per number, and above it, level by level, a bit for each word
# that is not empty.  Adding, removing and finding the next take a step a level: at most six.
#
# Invariant: bit i of level k + 1 is set iff word i of level k is not 0.

from libc.stdint cimport int32_t, uint64_t

cdef enum:
    BIT_TREE_LEVELS = 6

cdef struct bit_tree_t:
    uint64_t *level[6]       # level[0] has one bit per number; owned, in one block at level[0]
    int levels

# 0, or -1 when memory is out.
cdef int bit_tree_init(bit_tree_t *tree, int32_t n) noexcept nogil
cdef void bit_tree_free(bit_tree_t *tree) noexcept nogil
cdef void bit_tree_add(bit_tree_t *tree, int32_t i) noexcept nogil
cdef void bit_tree_drop(bit_tree_t *tree, int32_t i) noexcept nogil

# The smallest number >= i in the set, -1 when there is none.  i <= n.
cdef int32_t bit_tree_next(const bit_tree_t *tree, int32_t i) noexcept nogil
