"""Reservations in places, and the times that are tried; the contract is in placed_claims.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from faultsim._core.containers.bits cimport mask_join
from faultsim._core.containers.memory cimport resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.state cimport ask_of, end_if_started_at, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport outline_t, permit_t, place_t


cdef int32_t first_time(const plan_t *p, double t) noexcept nogil:
    cdef int32_t low = 0, high = p.n_times, mid
    if high > 0 and p.time[high - 1] < t:
        return high
    while low < high:
        mid = (low + high) >> 1
        if p.time[mid] < t:
            low = mid + 1
        else:
            high = mid
    return low


cdef int add_time(plan_t *p, double t) noexcept nogil:
    cdef int32_t low = first_time(p, t)
    if low < p.n_times and p.time[low] == t:
        return OK
    if p.n_times == p.time_capacity:
        if resize_block(p, &p.time, 2 * <size_t>p.time_capacity * sizeof(double)) < 0:
            return NO_MEMORY
        p.time_capacity *= 2
    if low < p.n_times:
        memmove(&p.time[low + 1], &p.time[low], <size_t>(p.n_times - low) * sizeof(double))
    p.time[low] = t
    p.n_times += 1
    return OK


cdef int clear_plan(plan_t *p, sim_t *s) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i
    p.n = 0
    p.open = False
    p.n_times = 0
    p.epoch += 1
    forget_gone(p)
    for i in range(s.releases.n):
        if items[i].end == INFINITY:
            break
        if add_time(p, items[i].end if items[i].end > s.now else s.now) < 0:
            return NO_MEMORY
    return OK


cdef int add_claim(plan_t *p, sim_t *s, int32_t job, double begin, const place_t *place) noexcept nogil:
    cdef size_t bytes = <size_t>s.machine.words * sizeof(uint64_t)
    cdef size_t capacity = 2 * <size_t>p.capacity
    if p.n == p.capacity:
        if (resize_block(p, &p.claim, capacity * sizeof(claim_t)) < 0
                or resize_block(p, &p.mask, capacity * bytes) < 0
                or (p.outline != NULL and resize_block(p, &p.outline, capacity * sizeof(outline_t)) < 0)):
            return NO_MEMORY
        p.capacity *= 2
    p.claim[p.n].begin = begin
    p.claim[p.n].end = end_if_started_at(s, job, begin)
    p.claim[p.n].need, p.claim[p.n].ask = s.need[job], ask_of(s, job)
    memset(mask_of(p, s, p.n), 0, bytes)
    if place == NULL:
        p.open = True
        memset(p.beside, 0, bytes)
    else:
        s.machine.put(s.machine.state, mask_of(p, s, p.n), place)
        if p.outline != NULL:
            memset(&p.outline[p.n], 0, sizeof(outline_t))
            s.machine.trace(s.machine.state, mask_of(p, s, p.n), 0, s.machine.words, &p.outline[p.n])
        if p.open and meets(&p.claim[0], begin, p.claim[p.n].end):
            mask_join(p.beside, mask_of(p, s, p.n), s.machine.words)
    p.n += 1
    return add_time(p, p.claim[p.n - 1].end)


cdef void spare_head(plan_t *p, sim_t *s, permit_t *permit) noexcept nogil:
    memcpy(p.around, p.later.mask, <size_t>s.machine.words * sizeof(uint64_t))
    mask_join(p.around, p.beside, s.machine.words)
    permit.later = p.around
    permit.need = p.claim[0].ask
