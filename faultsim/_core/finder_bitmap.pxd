"""The bitmap finder (ours, the default): the contract.

A finder answers questions about free boxes of one occupancy; ``order`` is a box_order_t of torus.pxd.  It owns its scratch
memory, so one finder serves one thread; nothing it remembers changes an answer.
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus cimport box_t, torus_t


cdef struct finder_t:
    const torus_t *torus
    uint64_t *scratch               # words


cdef int finder_init(finder_t *f, const torus_t *torus) noexcept nogil          # 0; -1 no memory (f is then empty)
cdef void finder_free(finder_t *f) noexcept nogil

# The size of the largest free box, 0 = none; `out` (may be NULL) is the first of that size in contract order.
cdef int largest_free(finder_t *f, const uint64_t *occ, box_t *out) noexcept nogil

# Is there a free box of at least `at_least` nodes?  `witness` (may be NULL) is some such box.
cdef bint has_free(finder_t *f, const uint64_t *occ, int at_least, box_t *witness) noexcept nogil

# The first free box of exactly `size` nodes.
cdef bint first_free(finder_t *f, const uint64_t *occ, int size, int order, box_t *out) noexcept nogil

# All free boxes of exactly `size` nodes, in order, into a buffer that grows (`*buf` may be NULL, with *cap 0; the caller
# frees it with free()).  How many, or -1: no memory.
cdef long all_free(finder_t *f, const uint64_t *occ, int size, int order, box_t **buf, long *cap) noexcept nogil
