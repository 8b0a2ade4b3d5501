"""Moves of Fars on a torus; the contract is in fars_torus.pxd."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.torus.choose cimport permit_t
from faultsim._core.scheduling.conservative_placed cimport remask
from faultsim._core.faults.progress cimport life_move, life_moved_end
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.state cimport EV_MOVE, NO_MEMORY, OK, aim, plan_t
from faultsim._core.torus.occupancy cimport box_t, next_feasible, occ_drop, occ_fill


cdef inline void join(uint64_t *into, const uint64_t *more, int words) noexcept nogil:
    cdef int k
    for k in range(words):
        into[k] |= more[k]


cdef int promised_box(sim_t *s, const promised_t *promised) noexcept nogil:
    cdef int32_t head = s.wait.job[s.wait.head], size = promised.need
    cdef box_t box
    cdef int code
    memset(s.fars.wary, 0, <size_t>s.torus.words * sizeof(uint64_t))
    aim(s, head, promised.time)
    while size != 0:
        code = s.policy.place(s, head, s.fars.later, size, NULL, &box)
        if code < 0:
            return code
        if code:
            occ_fill(&s.torus, s.fars.wary, &box)
            break
        size = next_feasible(&s.torus, size + 1)
    return OK


cdef void forbid_reserved(sim_t *s, double until) noexcept nogil:
    """Conservative backfilling: the boxes of all reservations that begin before `until`."""
    cdef const plan_t *p = &s.plan
    cdef int32_t i, job
    for i in range(s.wait.head, s.wait.end):
        job = s.wait.job[i]
        if p.begin[job] < p.end[job] and p.begin[job] < until:
            join(s.fars.forbidden, p.mask[job], s.torus.words)


cdef int move_box(sim_t *s, int32_t job, const promised_t *promised) noexcept nogil:
    cdef size_t bytes = <size_t>s.torus.words * sizeof(uint64_t)
    cdef double end = life_moved_end(s, job)
    cdef bint was_later = promised.any and s.expected[job] > promised.time
    cdef bint outlives = promised.any and end > promised.time
    cdef permit_t permit
    cdef box_t box
    cdef int code
    if end < s.now:
        end = s.now
        outlives = promised.any and end > promised.time
    memset(&permit, 0, sizeof(permit))
    memcpy(s.fars.without, s.occ, bytes)
    occ_drop(&s.torus, s.fars.without, &s.box[job])
    memcpy(s.fars.forbidden, s.fars.suspicious, bytes)
    permit.forbidden = s.fars.forbidden
    if was_later:
        occ_drop(&s.torus, s.fars.later, &s.box[job])
    if s.plan.begin != NULL:
        forbid_reserved(s, end)
    elif outlives and s.policy.fixed:
        join(s.fars.forbidden, s.fars.wary, s.torus.words)
    elif outlives:
        permit.later = s.fars.later
        permit.need = promised.need
    s.window_from = s.now
    s.window_to = end
    code = s.policy.place(s, job, s.fars.without, s.allocated[job], &permit, &box)
    if code <= 0:
        if was_later:
            occ_fill(&s.torus, s.fars.later, &s.box[job])
        return code
    if s.record.on:
        close_stay(s, job)
    occ_drop(&s.torus, s.occ, &s.box[job])
    occ_fill(&s.torus, s.occ, &box)
    s.mfp = -1
    s.box[job] = box
    if outlives:
        occ_fill(&s.torus, s.fars.later, &box)
    if s.plan.begin != NULL and remask(s, job, &box) < 0:
        return NO_MEMORY
    s.moves[job] += 1
    if life_move(s, job) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    return 1
