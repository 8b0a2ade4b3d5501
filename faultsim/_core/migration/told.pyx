"""Moves that somebody outside asks for; the contract is in told.pxd."""

from faultsim._core.cluster.named cimport change_node, named_of
from faultsim._core.faults.progress cimport progress_move
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.state cimport EV_MOVE, disturb
from faultsim._core.status cimport NO_MEMORY, OK


cdef int go_on(sim_t *s, int32_t job, const move_t *cost) noexcept nogil:
    s.n_events += 1
    s.moves[job] += 1
    if progress_move(s, job, cost) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    disturb(s)
    return OK


cdef int move_to_nodes(sim_t *s, int32_t job, const int32_t *out, const int32_t *into, int32_t n,
                       const move_t *cost) noexcept nogil:
    cdef int32_t i
    if s.record.on:
        close_stay(s, job)
    for i in range(n):
        if change_node(named_of(&s.machine), job, out[i], into[i]) < 0:
            return NO_MEMORY
    if s.migration.failed != NULL:
        s.migration.failed(s.migration.state, s, job, -1)
    return go_on(s, job, cost)


cdef int move_to_place(sim_t *s, int32_t job, const place_t *place, const move_t *cost) noexcept nogil:
    cdef int code = OK
    if s.record.on:
        close_stay(s, job)
    s.machine.give(s.machine.state, job)
    s.machine.take(s.machine.state, job, place)
    if s.scheduler.adopt != NULL:
        code = s.scheduler.adopt(s.scheduler.state, s, job)
    return go_on(s, job, cost) if code == OK else code
