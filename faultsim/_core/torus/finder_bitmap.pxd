"""The bitmap finder (ours, the default): the contract.

A finder searches for free boxes of one occupancy (further searches: choose.pxd).  It owns its scratch memory, so one
finder serves one thread.  It stores the last occupancies and the results of searches in them.  That never changes a
result, and makes the same search, or one in an occupancy with more busy nodes, cheap.
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus.axis_sets cimport family_t
from faultsim._core.torus.finder cimport FUTURE, finder_t
from faultsim._core.torus.row_maps cimport row_map_shape
from faultsim._core.torus.occupancy cimport box_t, boxes_t, shape_t, torus_t


cdef int finder_init(finder_t *f, const torus_t *torus) noexcept nogil          # 0; -1 no memory (f is then empty)
cdef void finder_free(finder_t *f) noexcept nogil
cdef void finder_forget(finder_t *f) noexcept nogil                             # drop all that is stored

# Changes of the mask f.own: nodes became busy, a box became free, or anything.
cdef void finder_note_taken(finder_t *f) noexcept nogil
cdef void finder_note_given(finder_t *f, const box_t *box) noexcept nogil
cdef void finder_note_replaced(finder_t *f) noexcept nogil

# Is there a free box of at least `at_least` nodes?  `witness` (may be NULL) is some such box.
cdef bint has_free_in(finder_t *f, int which, const uint64_t *occ, int at_least, box_t *witness) noexcept nogil


cdef inline bint finder_has_free(finder_t *f, const uint64_t *occ, int at_least, box_t *witness) noexcept nogil:
    return has_free_in(f, FUTURE, occ, at_least, witness)


# -- for choose.pyx: maps (row_maps.pxd) whatever their kind ---------------------------------------------------------

cdef void finder_load(finder_t *f, int which, const uint64_t *occ) noexcept nogil
cdef int finder_largest(finder_t *f, int which) noexcept nogil
cdef bint finder_absent(const finder_t *f, int which, int size) noexcept nogil  # known to have no free box of this size
cdef void finder_note_absent(finder_t *f, int which, int size) noexcept nogil

# The size of the largest free box above `best` that keeps clear of some box of `mine` (NULL: any), else `best`.  A
# box of `enough` nodes ends the search.
cdef int finder_search(finder_t *f, int which, int best, int enough, const family_t *mine,
                       box_t *witness) noexcept nogil


cdef inline bint map_shape(finder_t *f, int which, const shape_t *s, uint64_t *map) noexcept nogil:
    """False = empty, map undefined"""
    if f.is_small:
        return map_shape_words(f, which, s, map)
    return row_map_shape(&f.row_maps, &f.view[which], s.a, s.b, s.c, map)


cdef bint map_shape_words(const finder_t *f, int which, const shape_t *s, uint64_t *map) noexcept nogil
cdef void map_canonical(finder_t *f, const shape_t *s, uint64_t *map) noexcept nogil
cdef void map_project(finder_t *f, const uint64_t *map, uint64_t **sets) noexcept nogil
cdef bint map_pick(finder_t *f, const uint64_t *map, uint64_t **sets, box_t *base) noexcept nogil       # sets NULL: any
cdef bint map_filter(finder_t *f, uint64_t *map, uint64_t **sets) noexcept nogil
cdef bint map_next(finder_t *f, const uint64_t *map, long *at, box_t *base) noexcept nogil
# Append the boxes of a shape at these bases: 0; -1 no memory
cdef int map_list(const finder_t *f, const uint64_t *map, const shape_t *s, boxes_t *list) noexcept nogil
