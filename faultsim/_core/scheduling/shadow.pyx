"""The shadow time of placed machines; the contract is in shadow.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from faultsim._core.containers.bits cimport mask_count
from faultsim._core.status cimport OK
from faultsim._core.tables.machine cimport machine_t


cdef double placed_shadow(const sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                          uint64_t *there) noexcept nogil:
    cdef const machine_t *m = &s.machine
    cdef size_t bytes = <size_t>m.words * sizeof(uint64_t)
    cdef int32_t low = -1, high, mid, n, free = m.nodes - mask_count(occ, m.words)
    cdef double shadow
    if count == 0:
        return INFINITY
    # Fewer than `need` nodes are free before items[low] has gone.
    while low + 1 < count and free < need:
        low += 1
        free += items[low].nodes
    if free < need:
        return INFINITY
    # The head could not start, so with nothing released there is no place; `low` releases at least are needed.
    low = low - 1 if low > 0 else -1
    high = count - 1
    # Free places only grow as jobs leave: bisect for the first release that is enough.
    while high - low > 1:
        mid = (low + high) >> 1
        memcpy(there, occ, bytes)
        m.release(m.state, items, mid + 1, there)
        if m.has_free(m.state, there, need):
            high = mid
        else:
            low = mid
    shadow = items[high].end if items[high].end > s.now else s.now
    n = 0
    while n < count and items[n].end <= shadow:
        n += 1
    memcpy(there, occ, bytes)
    m.release(m.state, items, n, there)
    return shadow if m.has_free(m.state, there, need) else INFINITY


cdef double shadow_from_now(sim_t *s, int32_t need, uint64_t *there) noexcept nogil:
    cdef machine_t *m = &s.machine
    cdef int32_t n = 0
    if not m.has_free(m.state, m.occ, need):
        return placed_shadow(s, s.releases.items, s.releases.n, m.occ, need, there)
    memcpy(there, m.occ, <size_t>m.words * sizeof(uint64_t))
    while n < s.releases.n and s.releases.items[n].end <= s.now:
        n += 1
    m.release(m.state, s.releases.items, n, there)
    return s.now


cdef void lift_mover(later_t *later, const sim_t *s, int32_t job, double end, double time) noexcept nogil:
    cdef place_t now = s.machine.place_of(s.machine.state, job)
    later.was_there = s.expected[job] > time
    later.outlives = end > time
    if later.was_there:
        s.machine.lift(s.machine.state, later.mask, &now)


cdef int settle_mover(void *state, void *sim, int32_t job, const place_t *place) noexcept nogil:
    cdef later_t *later = <later_t *>state
    cdef machine_t *m = &(<sim_t *>sim).machine
    cdef place_t stays
    if place == NULL and later.was_there:
        stays = m.place_of(m.state, job)
        m.put(m.state, later.mask, &stays)
    elif place != NULL and later.outlives:
        m.put(m.state, later.mask, place)
    return OK
