# Placement rules of a torus as the engine calls them (sim_t.policy.place), and what passes share about free boxes.
#
# 1: found, `out` is the box; 0: no free, permitted box of exactly `size` nodes; < 0: a status code.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.torus.choose cimport permit_t
from faultsim._core.state cimport sim_t
from faultsim._core.torus.occupancy cimport box_t

cdef int place_first_fit(
    sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil
cdef int place_max_free(
    sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil
# These two ask for predictions in the window (s.window_from, s.window_to): see sim.pxd's `aim`.
cdef int place_balancing(
    sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil
cdef int place_tie_breaking(
    sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil
cdef int place_python(
    sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil

# Size of the largest free box of the machine as it is now; kept in s.mfp until the occupancy changes.
cdef int32_t current_mfp(sim_t *s) noexcept nogil


cdef inline bint same_box(const box_t *p, const box_t *q) noexcept nogil:
    return p.x == q.x and p.y == q.y and p.z == q.z and p.a == q.a and p.b == q.b and p.c == q.c
