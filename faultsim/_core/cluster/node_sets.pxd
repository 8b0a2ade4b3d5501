# Sets of a cluster's nodes: the non-zero words of a mask, ascending.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.tables.machine cimport range_t

cdef struct nodes_t:
    int32_t n, capacity
    int32_t *word
    uint64_t *bits
    nodes_t *next            # in a list of spare ones

# Functions of type int: OK, or NO_MEMORY.
cdef nodes_t *nodes_new() noexcept nogil                                         # empty; NULL: no memory
cdef nodes_t *nodes_copy(const nodes_t *source) noexcept nogil                   # NULL: no memory
cdef void nodes_free(nodes_t *set_) noexcept nogil
cdef bint nodes_have(const nodes_t *set_, int32_t node) noexcept nogil
cdef int nodes_insert(nodes_t *set_, int32_t word, uint64_t bits) noexcept nogil
# All nodes of the words [first, end), none of which it has.
cdef int nodes_add_range(nodes_t *set_, int32_t first, int32_t end) noexcept nogil
cdef void nodes_remove(nodes_t *set_, int32_t node) noexcept nogil                # which it has
cdef int nodes_swap(nodes_t *set_, int32_t out, int32_t into) noexcept nogil
# Node numbers, ascending; how many.
cdef int32_t nodes_list(const nodes_t *set_, int32_t *out) noexcept nogil
# The same as ranges, in time linear in their number and that of the words.
cdef int32_t nodes_ranges(const nodes_t *set_, range_t *out) noexcept nogil


# The nodes of a word into the set as well.
cdef inline int nodes_add(nodes_t *set_, int32_t word, uint64_t bits) noexcept nogil:
    cdef int32_t n = set_.n
    if n == set_.capacity or (n > 0 and set_.word[n - 1] >= word):
        return nodes_insert(set_, word, bits)
    set_.word[n] = word
    set_.bits[n] = bits
    set_.n += 1
    return 0
