"""The table of partition finders: the contract.

One row an algorithm; all answer the same two questions and agree to the box.  `open` makes the scratch memory that
one thread needs (NULL: no memory), `close` gives it back.  `largest` returns the size of the largest free box, 0 =
none, with the first such box in contract order; `all` appends every free box of a size to the list, sorted by a
box_order_t, and returns 0, or -1: no memory.  Both return PYTHON_ERROR where they were stopped (signals.pxd).  A new
finder is a line in finders.pyx.
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus.occupancy cimport box_t, boxes_t, torus_t

ctypedef void *(*finder_open_t)(const torus_t *torus) noexcept nogil
ctypedef void (*finder_close_t)(void *state) noexcept nogil
ctypedef int (*finder_largest_t)(void *state, const uint64_t *occ, box_t *out) noexcept nogil
ctypedef int (*finder_all_t)(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil


cdef struct finder_row_t:
    const char *name
    const char *complexity          # of the largest free box of an M x M x M torus
    const char *source
    finder_open_t open
    finder_close_t close
    finder_largest_t largest
    finder_all_t all


cdef const finder_row_t *finder_row(int number) noexcept nogil      # NULL past the end
