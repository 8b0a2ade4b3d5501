"""What record=True keeps; the contract is in record.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int64_t
from libc.stdlib cimport realloc

from faultsim._core.state cimport record_event_t, record_stay_t, record_t
from faultsim._core.status cimport NO_MEMORY, OK


cdef int room_for(void **block, int64_t *capacity, int64_t wanted, size_t each) noexcept nogil:
    """Make room for `wanted` items; amortised."""
    cdef int64_t larger = 2 * capacity[0] + 1024
    cdef void *moved
    if wanted <= capacity[0]:
        return OK
    if larger < wanted:
        larger = wanted
    moved = realloc(block[0], <size_t>larger * each)
    if moved == NULL:
        return NO_MEMORY
    block[0] = moved
    capacity[0] = larger
    return OK


cdef int record_event(sim_t *s, int kind, int32_t job, int32_t node) noexcept nogil:
    cdef record_t *r = &s.record
    if room_for(<void **>&r.event, &r.cap_events, r.n_events + 1, sizeof(record_event_t)) < 0:
        return NO_MEMORY
    r.event[r.n_events].time = s.now
    r.event[r.n_events].job = job
    r.event[r.n_events].node = node
    r.event[r.n_events].kind = <int8_t>kind
    r.n_events += 1
    return OK


cdef int open_stay(sim_t *s, int32_t job) noexcept nogil:
    cdef record_t *r = &s.record
    cdef int32_t nodes = s.allocated[job]
    if room_for(<void **>&r.stay, &r.cap_stays, r.n_stays + 1, sizeof(record_stay_t)) < 0:
        return NO_MEMORY
    r.stay[r.n_stays].begin = s.now
    r.stay[r.n_stays].end = INFINITY
    r.stay[r.n_stays].job = job
    if s.machine.placed:
        r.stay[r.n_stays].place = s.machine.place_of(s.machine.state, job)
    else:
        if room_for(<void **>&r.node, &r.cap_nodes, r.n_nodes + nodes, sizeof(int32_t)) < 0:
            return NO_MEMORY
        r.stay[r.n_stays].first = r.n_nodes
        s.machine.list_nodes(s.machine.state, job, &r.node[r.n_nodes])
        r.n_nodes += nodes
    r.open_stay[job] = r.n_stays
    r.n_stays += 1
    return OK


cdef void close_stay(sim_t *s, int32_t job) noexcept nogil:
    s.record.stay[s.record.open_stay[job]].end = s.now
