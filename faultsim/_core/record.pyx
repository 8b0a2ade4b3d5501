"""What record=True keeps; the contract is in record.pxd.

An event costs O(1); a stay costs one step per range of its nodes, or per 64 nodes where a range is longer.
"""

from cython.view cimport array
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free as c_free

import numpy as np

from faultsim._core.containers.memory cimport blocks_resize
from faultsim._core.state cimport EV_KILLED, record_event_t, record_stay_t, record_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport place_t, range_t
from faultsim._core.thresholds cimport thresholds


cdef int room_for(blocks_t *blocks, void *owner, void *field, int64_t *capacity, int64_t wanted,
                  size_t each) noexcept nogil:
    cdef int64_t larger = 2 * capacity[0] + min(1024, thresholds.first_room)
    if wanted <= capacity[0]:
        return OK
    if larger < wanted:
        larger = wanted
    if blocks_resize(blocks, owner, field, <size_t>larger * each) < 0:
        return NO_MEMORY
    capacity[0] = larger
    return OK


cdef int record_event(sim_t *s, int kind, int32_t job, int32_t node) noexcept nogil:
    cdef record_t *r = &s.record
    if room_for(&s.blocks, s, &r.event, &r.cap_events, r.n_events + 1, sizeof(record_event_t)) < 0:
        return NO_MEMORY
    r.event[r.n_events].time = s.now
    r.event[r.n_events].job = job
    r.event[r.n_events].node = node
    r.event[r.n_events].kind = <int8_t>kind
    r.n_events += 1
    return OK


cdef int record_told(sim_t *s, int kind, int32_t job, int32_t node) noexcept nogil:
    if not s.record.on:
        return OK
    return record_event(s, kind, job, node)


cdef int open_stays(sim_t *s, int32_t job) noexcept nogil:
    """A row for each box of the job."""
    cdef record_t *r = &s.record
    cdef place_t place = s.machine.placed.place_of(s.machine.state, job), box
    cdef record_stay_t *row
    cdef int32_t at = 0
    r.open_stay[job] = r.n_stays
    while s.machine.placed.next_box(s.machine.state, &place, &at, &box):
        if room_for(&s.blocks, s, &r.stay, &r.cap_stays, r.n_stays + 1, sizeof(record_stay_t)) < 0:
            return NO_MEMORY
        row = &r.stay[r.n_stays]
        row.begin, row.end, row.job, row.place, row.first = s.now, INFINITY, job, box, r.open_stay[job]
        r.n_stays += 1
    return OK


cdef int open_stay(sim_t *s, int32_t job) noexcept nogil:
    cdef record_t *r = &s.record
    cdef int32_t nodes = s.machine.shared.count(s.machine.state, job) if s.machine.shared else s.allocated[job]
    cdef int32_t others = s.nodes - nodes
    if room_for(&s.blocks, s, &r.stay, &r.cap_stays, r.n_stays + 1, sizeof(record_stay_t)) < 0:
        return NO_MEMORY
    r.stay[r.n_stays].begin = s.now
    r.stay[r.n_stays].end = INFINITY
    r.stay[r.n_stays].job = job
    if s.machine.boxes and s.machine.placed.next_box != NULL:
        return open_stays(s, job)
    if s.machine.boxes:
        r.stay[r.n_stays].place = s.machine.placed.place_of(s.machine.state, job)
        r.stay[r.n_stays].first = r.n_stays
    else:
        # Between two ranges there is a node of others.
        if room_for(&s.blocks, s, &r.range, &r.cap_ranges, r.n_ranges + min(nodes, others + 1), sizeof(range_t)) < 0:
            return NO_MEMORY
        r.stay[r.n_stays].first = r.n_ranges
        r.stay[r.n_stays].nodes = r.n_nodes
        r.n_ranges += s.machine.named.list_ranges(s.machine.state, job, &r.range[r.n_ranges])
        r.n_nodes += nodes
    r.open_stay[job] = r.n_stays
    r.n_stays += 1
    return OK


cdef void close_stay(sim_t *s, int32_t job) noexcept nogil:
    cdef int64_t first = s.record.open_stay[job], i
    s.record.stay[first].end = s.now
    if s.machine.boxes:
        for i in range(first + 1, s.record.n_stays):
            if s.record.stay[i].first != first:
                break
            s.record.stay[i].end = s.now


# ---------------------------------------------------------------------------------------------- columns for Python

cdef object recorded_events(const sim_t *s):
    cdef record_event_t none         # an array of nothing is none of Cython's
    cdef int64_t n = s.record.n_events
    rows = np.asarray(<record_event_t[:n + (n == 0)]>(s.record.event if n else &none))[:n]
    told = rows["kind"] >= <int>EV_KILLED
    if told.any():
        rows = rows[~told]
    return {name: rows[name].copy() for name in ("time", "kind", "job", "node")}


cdef object lend_ranges(sim_t *s):
    cdef array found
    blocks_resize(&s.blocks, s, &s.record.range, s.record.n_ranges * sizeof(range_t))
    s.record.cap_ranges = s.record.n_ranges
    found = <int32_t[:s.record.n_ranges, :2]> <int32_t *>s.record.range
    ranges = np.asarray(found)
    found.callback_free_data = c_free     # from here on it is the array's
    return ranges


cdef object recorded_ranges(const sim_t *s):
    if s.record.n_ranges == 0:
        return np.empty((0, 2), np.int32)
    return np.array(<int32_t[:s.record.n_ranges, :2]> <int32_t *>s.record.range)


cdef object recorded_stays(const sim_t *s, object ranges):
    """Boxes on a torus, ranges of nodes elsewhere."""
    cdef record_stay_t none
    cdef int64_t n = s.record.n_stays
    rows = np.asarray(<record_stay_t[:n + (n == 0)]>(s.record.stay if n else &none))[:n]
    out = {name: rows[name].copy() for name in ("job", "begin", "end")}
    if s.machine.boxes:
        out.update(zip("xyzabc", rows["place"]["part"].T.copy(), strict=True))
    else:
        out["node_offsets"] = np.append(rows["nodes"], s.record.n_nodes)
        out["range_offsets"], out["ranges"] = np.append(rows["first"], s.record.n_ranges), ranges
    return out
