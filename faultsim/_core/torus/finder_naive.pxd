"""The exhaustive finder ([krevat2002] section 2, O(M^9)): every box of every shape is looked at node by node.  A row of
finders.pxd.
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus.occupancy cimport box_t, boxes_t, torus_t


cdef struct bytes_t:                # a finder that looks at nodes one by one (naive, divisor): a byte a node
    const torus_t *torus
    unsigned char *busy             # [nodes]


cdef void *bytes_open(const torus_t *torus) noexcept nogil
cdef void bytes_close(void *state) noexcept nogil
cdef int naive_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil
cdef int naive_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil
