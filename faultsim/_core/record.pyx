"""What record=True keeps; the contract is in record.pxd.

An event costs O(1); a stay costs one step per range of its nodes, or per 64 nodes where a range is longer.
"""

from cython.view cimport array
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free as c_free

import numpy as np

from faultsim._core.containers.memory cimport blocks_resize
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.state cimport EV_KILLED, record_event_t, record_stay_t, record_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport place_t, range_t
from faultsim._core.thresholds cimport thresholds


cdef inline record_stay_t *stay_at(const record_t *r, int64_t i) noexcept nogil:
    return &r.stay[i - r.from_stay]


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
    cdef int64_t at = r.n_events - r.from_event
    if room_for(&s.blocks, s, &r.event, &r.cap_events, at + 1, sizeof(record_event_t)) < 0:
        return NO_MEMORY
    r.event[at].time = s.now
    r.event[at].job = job
    r.event[at].node = node
    r.event[at].kind = <int8_t>kind
    r.n_events += 1
    return OK


cdef int record_told(sim_t *s, int kind, int32_t job, int32_t node) noexcept nogil:
    if not s.record.on:
        return OK
    return record_event(s, kind, job, node)


cdef inline int room_for_stay(sim_t *s) noexcept nogil:
    cdef record_t *r = &s.record
    return room_for(&s.blocks, s, &r.stay, &r.cap_stays, r.n_stays - r.from_stay + 1, sizeof(record_stay_t))


cdef int open_stays(sim_t *s, int32_t job) noexcept nogil:
    """A row for each box of the job."""
    cdef record_t *r = &s.record
    cdef place_t place = s.machine.placed.place_of(s.machine.state, job), box
    cdef record_stay_t *row
    cdef int32_t at = 0
    r.open_stay[job] = r.n_stays
    while s.machine.placed.next_box(s.machine.state, &place, &at, &box):
        if room_for_stay(s) < 0:
            return NO_MEMORY
        row = stay_at(r, r.n_stays)
        row.begin, row.end, row.job, row.place, row.first = s.now, INFINITY, job, box, r.open_stay[job]
        r.n_stays += 1
    return OK


cdef int open_stay(sim_t *s, int32_t job) noexcept nogil:
    cdef record_t *r = &s.record
    cdef int32_t nodes = s.machine.shared.count(s.machine.state, job) if s.machine.shared else s.allocated[job]
    cdef int32_t others = s.nodes - nodes
    cdef int64_t at = r.n_ranges - r.from_range
    cdef record_stay_t *row
    if s.machine.boxes and s.machine.placed.next_box != NULL:
        return open_stays(s, job)
    if room_for_stay(s) < 0:
        return NO_MEMORY
    row = stay_at(r, r.n_stays)
    row.begin, row.end, row.job = s.now, INFINITY, job
    if s.machine.boxes:
        row.place = s.machine.placed.place_of(s.machine.state, job)
        row.first = r.n_stays
    else:
        # Between two ranges there is a node of others.
        if room_for(&s.blocks, s, &r.range, &r.cap_ranges, at + min(nodes, others + 1), sizeof(range_t)) < 0:
            return NO_MEMORY
        row.first = r.n_ranges
        row.nodes = r.n_nodes
        r.n_ranges += s.machine.named.list_ranges(s.machine.state, job, &r.range[at])
        r.n_nodes += nodes
    r.open_stay[job] = r.n_stays
    r.n_stays += 1
    return OK


cdef void close_stay(sim_t *s, int32_t job) noexcept nogil:
    cdef record_t *r = &s.record
    cdef int64_t first = r.open_stay[job], i
    stay_at(r, first).end = s.now
    if s.machine.boxes:
        for i in range(first + 1, r.n_stays):
            if stay_at(r, i).first != first:
                break
            stay_at(r, i).end = s.now


# ---------------------------------------------------------------------------------------------- columns for Python

class Chunks:
    """Rows of columns that simulations share.  They never change: adding rows makes another object.

    Invariant: each part has fewer rows than the part before it, so a row is copied O(log n) times.
    """

    def __init__(self, parts=()):
        self.parts = parts

    def and_then(self, dict columns):
        """These rows and further ones."""
        parts = [*self.parts]
        while parts:
            last = parts.pop()
            if _rows_of(last) > _rows_of(columns):
                parts.append(last)
                break
            columns = _joined([last, columns])
        return Chunks((*parts, columns))

    def fill(self, dict columns, int32_t n):
        """Write the first n rows to columns."""
        first = 0
        for part in self.parts:
            end = min(first + _rows_of(part), n)
            for name, column in columns.items():
                column[first:end] = part[name][:end - first]
            first = end

    def and_last(self, dict columns):
        """The columns of all rows and of further ones."""
        return _joined([*self.parts, columns]) if self.parts else columns


def _rows_of(columns):
    return len(next(iter(columns.values())))


def _joined(parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


cdef dict events_between(const sim_t *s, int64_t first, int64_t end):
    """Events, without those that only `Decision.changes` shows."""
    cdef record_event_t none         # an array of nothing is none of Cython's
    cdef int64_t n = end - first
    cdef record_event_t *at = &s.record.event[first - s.record.from_event] if n else &none
    rows = np.asarray(<record_event_t[:n + (n == 0)]>at)[:n]
    told = rows["kind"] >= <int>EV_KILLED
    if told.any():
        rows = rows[~told]
    return {name: rows[name].copy() for name in ("time", "kind", "job", "node")}


cdef dict ranges_between(const sim_t *s, int64_t first, int64_t end):
    if end == first:
        return {"ranges": np.empty((0, 2), np.int32)}
    return {"ranges": np.array(
        <int32_t[:end - first, :2]> <int32_t *>&s.record.range[first - s.record.from_range])}


cdef dict stays_between(const sim_t *s, int64_t first, int64_t end):
    cdef record_stay_t none
    cdef int64_t n = end - first
    cdef record_stay_t *at = &s.record.stay[first - s.record.from_stay] if n else &none
    rows = np.asarray(<record_stay_t[:n + (n == 0)]>at)[:n]
    out = {name: rows[name].copy() for name in ("job", "begin", "end")}
    if s.machine.boxes:
        out.update(zip("xyzabc", rows["place"]["part"].T.copy(), strict=True))
    else:
        out.update({name: rows[name].copy() for name in ("nodes", "first")})
    return out


cdef int share_records(sim_t *s, Shared shared, int64_t event, int64_t stay) except -1:
    cdef record_t *r = &s.record
    cdef const release_t *items = releases_all(&s.releases)
    cdef int64_t range_ = r.n_ranges
    cdef int32_t i
    if event - r.shared_events >= s.limit.shared_rows:
        shared.events = shared.events.and_then(events_between(s, r.shared_events, event))
        r.shared_events = event
    for i in range(s.releases.n):
        if items[i].job >= 0:
            stay = min(stay, r.open_stay[items[i].job])
    if stay - r.shared_stays >= s.limit.shared_rows:
        if not s.machine.boxes:
            if stay < r.n_stays:
                range_ = stay_at(r, stay).first
            shared.ranges = shared.ranges.and_then(ranges_between(s, r.shared_ranges, range_))
            r.shared_ranges = range_
        shared.stays = shared.stays.and_then(stays_between(s, r.shared_stays, stay))
        r.shared_stays = stay
    return 0


cdef class Shared:
    def __init__(self):
        self.events, self.stays, self.ranges, self.jobs = Chunks(), Chunks(), Chunks(), Chunks()

    cdef Shared copy(self):
        cdef Shared other = Shared.__new__(Shared)
        other.events, other.stays, other.ranges, other.jobs = self.events, self.stays, self.ranges, self.jobs
        return other


cdef object recorded_events(const sim_t *s, Shared shared):
    return shared.events.and_last(events_between(s, s.record.shared_events, s.record.n_events))


cdef object lend_ranges(sim_t *s):
    cdef array found
    blocks_resize(&s.blocks, s, &s.record.range, s.record.n_ranges * sizeof(range_t))
    s.record.cap_ranges = s.record.n_ranges
    found = <int32_t[:s.record.n_ranges, :2]> <int32_t *>s.record.range
    ranges = np.asarray(found)
    found.callback_free_data = c_free     # from here on it is the array's
    return ranges


cdef object recorded_ranges(const sim_t *s, Shared shared):
    return shared.ranges.and_last(ranges_between(s, s.record.shared_ranges, s.record.n_ranges))["ranges"]


cdef object recorded_stays(const sim_t *s, Shared shared, object ranges):
    """Boxes on a torus, ranges of nodes elsewhere."""
    out = shared.stays.and_last(stays_between(s, s.record.shared_stays, s.record.n_stays))
    if not s.machine.boxes:
        out = {**out}
        out["node_offsets"] = np.append(out.pop("nodes"), s.record.n_nodes)
        out["range_offsets"], out["ranges"] = np.append(out.pop("first"), s.record.n_ranges), ranges
    return out
