"""Krevat's projection of partitions ([krevat2002] appendix A: O(M^5)), the baseline of our measurements.

Tables hold the runs of free nodes that begin at each node.  For a base (i, j, k), planes are taken in one after the
other along z; least[x] is the shortest y-run at (i + x, j) over the planes so far, and the largest box on them is
found in one walk along x: (x + 1) * min(least[0 .. x]) * planes.  A run of 0 ends the walk, and no later plane goes
beyond it.  A base whose runs along the three axes cannot make up a larger box than the best so far is left early (not
in K; it is free).
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus.occupancy cimport box_t, boxes_t, torus_t


cdef void *pop_open(const torus_t *torus) noexcept nogil
cdef void pop_close(void *state) noexcept nogil
cdef int pop_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil
cdef int pop_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil
