"""Placement rules on a torus: which free box a job of `size` nodes gets.  The contract.

A candidate is a free box of exactly `size` nodes that the permit allows; "first" is by ``order`` (torus.pxd).
"""

from libc.stdint cimport uint64_t

from faultsim._core.finder_bitmap cimport finder_t
from faultsim._core.torus cimport box_t


cdef struct permit_t:               # which free boxes are candidates at all; all-zero allows every one
    const uint64_t *forbidden       # NULL, or nodes that a candidate must not touch
    const uint64_t *later           # NULL, or the occupancy at the shadow time: a candidate B is permitted iff
    int need                        # a free box of at least `need` nodes remains in (later | B); need < 1 asks nothing


# Each: False = no candidate.  permit may be NULL.
cdef bint choose_first_fit(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                           box_t *out) noexcept nogil

# The candidate that leaves the largest free box in (occ | B), forbidden nodes counted as they are in occ; ties to the
# first.
cdef bint choose_max_free(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                          box_t *out) noexcept nogil

# All candidates in order, into a growing buffer as all_free does.  How many, or -1: no memory.
cdef long list_permitted(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                         box_t **buf, long *cap) noexcept nogil
