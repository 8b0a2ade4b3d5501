# Sets of a cluster's nodes: runs of words of a mask, ascending.  A job of many nodes has most of them in few runs of
# whole words, so what is done with all of its nodes takes a step a run.  No run goes on past a multiple of 64 words, so
# that its words have their bits in one word of a mask of words.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport range_t

cdef struct run_t:
    int32_t word, end        # the words [word, end)
    uint64_t bits            # of each of them, not 0; all 64 where there are several

cdef struct node_set_t:
    int32_t n, capacity
    run_t *run
    node_set_t *next            # in a list of spare ones

# Functions of type int: OK, or NO_MEMORY.
cdef node_set_t *nodes_new() noexcept nogil                                         # empty; NULL: no memory
cdef node_set_t *nodes_copy(const node_set_t *source) noexcept nogil                   # NULL: no memory
cdef void nodes_free(node_set_t *set_) noexcept nogil
cdef int nodes_reserve(node_set_t *set_, int32_t runs) noexcept nogil                # room for so many
cdef bint nodes_have(const node_set_t *set_, int32_t node) noexcept nogil
cdef int nodes_insert(node_set_t *set_, int32_t word, uint64_t bits) noexcept nogil
# All nodes of the words [first, end), of the same 64, none of which it has.
cdef int nodes_add_range(node_set_t *set_, int32_t first, int32_t end) noexcept nogil
cdef int nodes_remove(node_set_t *set_, int32_t node) noexcept nogil                 # which it has
# The word of a run of several becomes one of its own.
cdef int nodes_split(node_set_t *set_, int32_t i, int32_t word) noexcept nogil
cdef int nodes_swap(node_set_t *set_, int32_t out, int32_t into) noexcept nogil
# The lowest of its nodes that is in the mask, too; -1: none is.
cdef int32_t nodes_lowest_in(const node_set_t *set_, const uint64_t *mask) noexcept nogil
# Node numbers, ascending; how many.
cdef int32_t nodes_list(const node_set_t *set_, int32_t *out) noexcept nogil
# The same as ranges, in time linear in their number and that of the runs.
cdef int32_t nodes_ranges(const node_set_t *set_, range_t *out) noexcept nogil


# The nodes of a word into the set as well.
cdef inline int nodes_add(node_set_t *set_, int32_t word, uint64_t bits) noexcept nogil:
    cdef run_t *last = set_.run + set_.n
    if set_.n == set_.capacity or (set_.n > 0 and last[-1].end > word):
        return nodes_insert(set_, word, bits)
    last.word = word
    last.end = word + 1
    last.bits = bits
    set_.n += 1
    return 0


# These nodes of each of the words [word, end), of the same 64, which follow all that it has.
cdef inline int nodes_append(node_set_t *set_, int32_t word, int32_t end, uint64_t bits) noexcept nogil:
    cdef run_t *last
    if set_.n == set_.capacity and nodes_reserve(set_, set_.n + 1) < 0:
        return NO_MEMORY
    last = set_.run + set_.n
    last.word = word
    last.end = end
    last.bits = bits
    set_.n += 1
    return OK
