"""FirstFit on a pod (pod/choosing.pxd) as the engine calls it (placement.pxd)."""

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.pod.choosing cimport pod_choose
from faultsim._core.pod.slices cimport pod_t
from faultsim._core.state cimport sim_t
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport RANK_AT, permit_t, place_t


cdef int choose_first(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                      place_t *out) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    if s.rank != NULL:
        size |= s.rank[job] << RANK_AT       # who asks for a shape has this size and no other
    return pod_choose(<pod_t *>s.machine.state, occ, size, permit, out)


cdef int open_first_fit(void *sim, dict options, dict columns) except -1:
    (<sim_t *>sim).placement.choose, (<sim_t *>sim).placement.stable = choose_first, True
    return 0


FIRST_FIT = factory(open_first_fit)
