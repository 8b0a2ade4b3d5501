"""Oliner's finder ([oliner2004] appendix 9): the shapes of a size follow from its divisors.  A row of finders.pxd.

Bases are taken in increasing order of x, y, z and the nodes of a box likewise; the first busy node ends the look at a
base, and all further bases along z whose box would hold the same node are passed over ("no need to search in any of
the dimensions further").  The largest free box is found by asking for one size after the other, from the number of
free nodes downwards.
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus.occupancy cimport box_t, boxes_t


# The state is bytes_open's of finder_naive.pxd.
cdef int divisor_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil
cdef int divisor_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil
