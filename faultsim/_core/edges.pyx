"""When nodes become reserved, and are open again (model.md#absences); the contract is in edges.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from faultsim._core.absences cimport (
    absence_t, absences_of, absences_t, ends_at, is_active, is_open_to, last_begun, next_end, occurrence_begin,
)
from faultsim._core.containers.bits cimport mask_join
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.faults.progress cimport progress_kill
from faultsim._core.inputs cimport check_nodes, input_column
from faultsim._core.jobs cimport end_for_good
from faultsim._core.record cimport record_told
from faultsim._core.state cimport (
    BY_RESERVATION, CHANGED_ALL, EV_DRAINED, EV_REPAIR, EV_RESUMED, FROM_EDGES, JOB_RUNNING, add_source, disturb,
    log_row, sim_t, source_next,
)
from faultsim._core.status cimport OK

cdef enum:
    IDLE_EDGES = 10_000      # begins and ends without a start, where nothing else is to come, before that is a deadlock


cdef void update_active(sim_t *s) noexcept nogil:
    """What follows from the absences that are active, and from the next begin."""
    cdef absences_t *a = absences_of(s)
    cdef double begin
    cdef int32_t i
    memset(a.active, 0, <size_t>a.words * sizeof(uint64_t))
    memcpy(a.ahead, a.drained, <size_t>a.words * sizeof(uint64_t))
    a.any_active = False
    a.open_from, a.open_until = s.now, INFINITY
    for i in range(a.n):
        a.row[i].latest = last_begun(&a.row[i], s.now)
        if is_active(&a.row[i], s.now):
            mask_join(a.active, a.nodes + <int64_t>i * a.words, a.words)
            a.any_active = True
            begin = -INFINITY
        else:
            begin = occurrence_begin(&a.row[i], last_begun(&a.row[i], s.now) + 1.0)
        if begin < a.open_until:
            a.open_until = begin
            memcpy(a.ahead, a.drained, <size_t>a.words * sizeof(uint64_t))
        if begin == a.open_until and not a.row[i].for_users:
            mask_join(a.ahead, a.nodes + <int64_t>i * a.words, a.words)
    for i in range(a.words):
        a.active[i] &= ~a.drained[i]


cdef double first_edge(const sim_t *s) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    cdef double first = INFINITY
    cdef int32_t i
    for i in range(a.n):
        first = min(first, next_end(&a.row[i], s.now))
        first = min(first, occurrence_begin(&a.row[i], last_begun(&a.row[i], s.now) + 1.0))
    return first


cdef int kill_holders(sim_t *s, int32_t i, bint *wanted) noexcept nogil:
    """Running jobs that hold nodes of absence i and are not its users' are killed for good, by number."""
    cdef const absences_t *a = absences_of(s)
    cdef const release_t *items
    cdef int32_t k, job, least, before = -1
    cdef int code
    while True:
        items = releases_all(&s.releases)
        least = s.n
        for k in range(s.releases.n):
            job = items[k].job
            if (before < job < least and s.state[job] == JOB_RUNNING and not is_open_to(a, i, log_row(s, job))
                    and s.machine.named.overlap(s.machine.state, job, a.nodes + <int64_t>i * a.words, NULL, 0) > 0):
                least = job
        if least == s.n:
            return OK
        before = least
        wanted[0] = True
        progress_kill(s, least)
        disturb(s)
        code = end_for_good(s, least, <int>BY_RESERVATION)
        if code != OK:
            return code


cdef bint only_edges(const sim_t *s) noexcept nogil:
    """Whether no other source has anything to come."""
    cdef int i
    for i in range(s.n_sources):
        if s.source[i].rank != FROM_EDGES and s.source[i].time < INFINITY:
            return False
    return True


cdef int fire_edge(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef absences_t *a = absences_of(s)
    cdef int32_t i
    cdef int code
    cdef double k
    update_active(s)
    a.idle_edges = a.idle_edges + 1 if s.heap.n == 0 and only_edges(s) else 0
    source_next(s, <int>FROM_EDGES, first_edge(s) if a.idle_edges <= IDLE_EDGES else INFINITY)
    if ends_at(s, s.now):
        wanted[0] = True
    for i in range(a.n):
        k = last_begun(&a.row[i], s.now)
        if a.row[i].kills and k >= 0.0 and occurrence_begin(&a.row[i], k) == s.now:
            code = kill_holders(s, i, wanted)
            if code != OK:
                return code
    if wanted[0]:
        s.change = CHANGED_ALL
    return OK


cdef int open_rows(sim_t *s, int32_t n) except -1:
    cdef absences_t *a = <absences_t *>open_state(&s.absences, sizeof(absences_t))
    a.n, a.words = n, s.machine.words
    a.n_sets, a.room_sets = 1, 4
    own_block(a, &a.row, n, sizeof(absence_t))
    own_block(a, &a.nodes, <size_t>n * a.words, sizeof(uint64_t))
    own_block(a, &a.sets, <size_t>a.room_sets * a.words, sizeof(uint64_t))
    own_block(a, &a.active, a.words, sizeof(uint64_t))
    own_block(a, &a.ahead, a.words, sizeof(uint64_t))
    own_block(a, &a.drained, a.words, sizeof(uint64_t))
    own_block(a, &a.spared, a.words, sizeof(uint64_t))
    own_block(a, &a.closed, a.words, sizeof(uint64_t))
    own_block(a, &a.joined, a.words, sizeof(uint64_t))
    own_block(a, &a.hidden, a.words, sizeof(uint64_t))
    own_block(a, &a.part, a.words, sizeof(uint64_t))
    return 0


cdef bint is_drained(const sim_t *s, int32_t node) noexcept nogil:
    return s.absences.state != NULL and s.machine.named.marked(s.machine.state, absences_of(s).drained, node)


cdef int set_drained(sim_t *s, int32_t node, bint drained) except -1:
    cdef absences_t *a
    cdef uint64_t *alone
    cdef int32_t i
    if s.absences.state == NULL:
        open_rows(s, 0)
    a = absences_of(s)
    alone = a.closed
    memset(alone, 0, <size_t>a.words * sizeof(uint64_t))
    s.machine.named.mark(s.machine.state, alone, node)
    for i in range(a.words):
        a.drained[i] = a.drained[i] | alone[i] if drained else a.drained[i] & ~alone[i]
    a.n_drained += 1 if drained else -1
    update_active(s)
    disturb(s)
    if record_told(s, EV_DRAINED if drained else EV_RESUMED, -1, node) < 0:
        raise MemoryError("no memory for the record")
    return 0


cdef int open_absences(sim_t *s, dict columns) except -1:
    cdef const double[::1] begin, end, every
    cdef const int64_t[::1] first
    cdef const int32_t[::1] node, group
    cdef const uint8_t[::1] kills
    cdef const uint8_t[:, ::1] permits
    cdef absences_t *a
    cdef Py_ssize_t i, k
    table = columns["world"].absences
    cdef Py_ssize_t n = len(table.begin)
    begin = input_column(columns, table.begin, "begin", np.float64, n)
    end = input_column(columns, table.end, "end", np.float64, n)
    every = input_column(columns, table.every, "every", np.float64, n)
    kills = input_column(columns, table.kills, "kills", np.uint8, n)
    first = input_column(columns, table.first, "first", np.int64, n + 1)
    node = input_column(columns, table.node, "node", np.int32, len(table.node))
    permits = np.ascontiguousarray(table.permits, dtype=np.uint8)
    columns["kept"].append(permits)
    check_nodes(s, np.asarray(node), 0)
    if first[0] != 0 or first[n] != len(node) or (np.diff(first) < 0).any():
        raise ValueError("each absence has its nodes")
    if permits.shape[1] != n:
        raise ValueError("a group of users has a permit per absence")
    open_rows(s, <int32_t>n)
    a = absences_of(s)
    some = np.asarray(permits).any(axis=0)
    if columns["world"].user_group is not None:
        group = input_column(columns, columns["world"].user_group, "user_group", np.int32, s.n_rows)
        if np.min(group) < 0 or np.max(group) >= permits.shape[0]:
            raise ValueError("a group of users has a row of permits")
        a.group = &group[0]
    a.permits = &permits[0, 0]
    for i in range(n):
        a.row[i].begin, a.row[i].end, a.row[i].every, a.row[i].kills = begin[i], end[i], every[i], kills[i]
        a.row[i].for_users = some[i]
        for k in range(first[i], first[i + 1]):
            s.machine.named.mark(s.machine.state, a.nodes + i * a.words, node[k])
    update_active(s)
    add_source(s, <int>FROM_EDGES, EV_REPAIR, first_edge(s), fire_edge)
    return 0
