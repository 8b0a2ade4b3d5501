"""Placement rules on a torus: which free box a job of `size` nodes gets.  The contract.

A candidate is a free box of exactly `size` nodes that the permit allows; "first" is by ``order`` (occupancy.pxd).
"""

from libc.stdint cimport uint64_t

from faultsim._core.tables.machine cimport permit_t
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.axis_sets cimport family_t
from faultsim._core.torus.occupancy cimport EXTENTS_DESCENDING, base_before, box_t, shape_t, torus_t


# Each: False = no candidate.  permit may be NULL.
cdef bint choose_first_fit(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                           box_t *out) noexcept nogil

# The candidate that leaves the largest free box in (occ | B), forbidden nodes counted as they are in occ; ties to the
# first.
cdef bint choose_max_free(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                          box_t *out) noexcept nogil

# All candidates in order, into a buffer that grows (`*buf` may be NULL, with *cap 0; the caller frees it with free()).
# How many, or -1: no memory.
cdef long list_permitted(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                         box_t **buf, long *cap) noexcept nogil

# -- the same without a permit ---------------------------------------------------------------------------------------

# The size of the largest free box, 0 = none; `out` (may be NULL) is the first of that size in contract order.
cdef int largest_free(finder_t *f, const uint64_t *occ, box_t *out) noexcept nogil


cdef inline bint first_free(finder_t *f, const uint64_t *occ, int size, int order, box_t *out) noexcept nogil:
    """The first free box of exactly `size` nodes."""
    return choose_first_fit(f, occ, size, order, NULL, out)


cdef inline long all_free(finder_t *f, const uint64_t *occ, int size, int order, box_t **buf, long *cap) noexcept nogil:
    return list_permitted(f, occ, size, order, NULL, buf, cap)


# -- for other rules -------------------------------------------------------------------------------------------------

cdef inline const shape_t *choose_shape(const torus_t *t, int size, int order, int k) noexcept nogil:
    """The k-th shape of a size; by bases: ascending."""
    if order == EXTENTS_DESCENDING:
        return &t.shapes[t.first_shape[size + 1] - 1 - k]
    return &t.shapes[t.first_shape[size] + k]


cdef inline void choose_keep(const shape_t *s, const box_t *base, bint first, box_t *out) noexcept nogil:
    """A box that was found: it is taken if it is the first, or its base lies before that of `out`."""
    if first or base_before(base, out):
        out[0] = base[0]
        out.a, out.b, out.c = s.a, s.b, s.c


# Three families, one an axis: empty them; add the bases of a map; f.set = the coordinates at which a box of a shape
# keeps clear of some box of theirs.
cdef void choose_clear(family_t *three) noexcept nogil
cdef void choose_add(finder_t *f, family_t *three, const shape_t *s, const uint64_t *map) noexcept nogil
cdef void choose_apart(finder_t *f, const family_t *three, const shape_t *s) noexcept nogil

# Prepares the view of the occupancy in which the permit's candidates are found; -1: there are none.
cdef int choose_open(finder_t *f, const uint64_t *occ, int size, permit_t *permit, bint *guarded) noexcept nogil
# The candidates of one shape; False = none, map undefined.
cdef bint choose_candidates(finder_t *f, int which, bint guarded, const shape_t *s, uint64_t *map) noexcept nogil
# Stores that no shape of this size had a candidate.
cdef void choose_none(finder_t *f, int which, bint guarded, int size) noexcept nogil
# Make f.room the free boxes of this size.  Overwrites f.map.
cdef void choose_level(finder_t *f, int size) noexcept nogil
