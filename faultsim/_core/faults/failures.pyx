"""Failures, repairs, kills and holds; the contract is in failures.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.fars.ticks cimport ticks_before
from faultsim._core.faults.progress cimport life_book, life_kill, life_resume, set_expected
from faultsim._core.cluster.node_sets cimport nodes_have, rank_failed
from faultsim._core.record cimport record_event
from faultsim._core.containers.releases cimport releases_add, releases_remove
from faultsim._core.state cimport (
    EV_FAILURE, EV_REPAIR, JOB_HELD, JOB_RUNNING, LEAD_RESTART, NO_MEMORY, OK, disturb, enqueue, faults_t,
    leave_nodes, life_t,
)
from faultsim._core.torus.occupancy cimport box_t, occ_drop_node, occ_set_node

cdef extern from "contract.h" nogil:
    void fs_require(bint condition)


# ---------------------------------------------------------------------------------------------- nodes

cdef inline bint box_has(const sim_t *s, const box_t *b, int32_t x, int32_t y, int32_t z) noexcept nogil:
    # Boxes may run over the rim.
    return ((x - b.x if x >= b.x else x - b.x + s.torus.x) < b.a
            and (y - b.y if y >= b.y else y - b.y + s.torus.y) < b.b
            and (z - b.z if z >= b.z else z - b.z + s.torus.z) < b.c)


cdef bint box_has_node(const sim_t *s, const box_t *box, int32_t node) noexcept nogil:
    return box_has(s, box, node // (s.torus.z * s.torus.y), node // s.torus.z % s.torus.y, node % s.torus.z)


cdef int32_t job_on(const sim_t *s, int32_t node) noexcept nogil:
    cdef int32_t i, job, x, y, z
    if s.is_torus:
        z = node % s.torus.z
        y = node // s.torus.z % s.torus.y
        x = node // (s.torus.z * s.torus.y)
        for i in range(s.releases.n):
            job = s.releases.items[i].job
            if job >= 0 and box_has(s, &s.box[job], x, y, z):
                return job
        return -1
    if not (s.occ[node >> 6] >> (node & 63)) & 1:
        return -1
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if job >= 0 and nodes_have(s.held[job], node):
            return job
    return -1


cdef inline void block(sim_t *s, int32_t node) noexcept nogil:
    if s.is_torus:
        occ_set_node(&s.torus, s.occ, node)
        s.mfp = -1
    else:
        s.occ[node >> 6] |= (<uint64_t>1) << (node & 63)


cdef inline void unblock(sim_t *s, int32_t node) noexcept nogil:
    if s.is_torus:
        occ_drop_node(&s.torus, s.occ, node)
        s.mfp = -1
    else:
        s.occ[node >> 6] &= ~((<uint64_t>1) << (node & 63))


cdef int go_down(sim_t *s, int32_t node, double until) noexcept nogil:
    """A free node goes down, or a down one stays down longer; it is in no held job."""
    cdef faults_t *f = &s.faults
    if f.down[node]:
        if f.repairs_known:
            releases_remove(&s.releases, f.up_at[node], -1 - node)
    else:
        f.down[node] = 1
        f.n_down += 1
        s.free -= 1
        block(s, node)
    f.up_at[node] = until
    if f.repairs_known and releases_add(&s.releases, until, -1 - node, 1) < 0:
        return NO_MEMORY
    return OK if heap_push(&s.heap, until, EV_REPAIR, node) == 0 else NO_MEMORY


# ---------------------------------------------------------------------------------------------- jobs

cdef int kill(sim_t *s, int32_t job) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef life_t *life = s.life[job]
    cdef bint came = s.start[job] <= s.now       # not in its start delay
    fs_require(s.state[job] == JOB_RUNNING and s.finish[job] > s.now)
    f.n_hit += 1
    life_kill(s, job)
    s.started[job] |= came or f.hold
    if not came and s.restarts[job] > 1:
        s.failure_wait[job] -= s.start[job] - s.now      # that start did not come, or (held) came to be now
    if not f.hold:
        leave_nodes(s, job)
        life_book(s, job, False)
        return enqueue(s, job)
    if not came:                         # its start delay is broken off
        s.start[job] = s.now
        if s.first_start[job] > s.now:
            s.first_start[job] = s.now
    s.state[job] = JOB_HELD
    s.running -= 1
    life.hold_until = s.now
    life.down = 0
    remember_struck(s, job)
    return OK


cdef int stop_job(sim_t *s, int32_t job) noexcept nogil:
    fs_require(s.state[job] == JOB_RUNNING and s.finish[job] > s.now and s.start[job] <= s.now)
    life_kill(s, job)
    s.started[job] = True
    leave_nodes(s, job)
    life_book(s, job, False)
    return enqueue(s, job)


cdef inline void remember_struck(sim_t *s, int32_t job) noexcept nogil:
    if not s.life[job].struck:
        s.life[job].struck = True
        s.faults.struck[s.faults.n_struck] = job
        s.faults.n_struck += 1


cdef int end_hold(sim_t *s, int32_t job) noexcept nogil:
    """Its nodes are up: it pays the restart cost and goes on from its safe point."""
    cdef life_t *life = s.life[job]
    life.held += s.now - s.killed_at[job]
    s.failure_wait[job] += s.now - s.killed_at[job]
    s.state[job] = JOB_RUNNING
    s.running += 1
    return life_resume(s, job, <int>LEAD_RESTART, s.now + s.owed[job], s.saved[job], s.saved[job], 0.0)


cdef int settle_struck(sim_t *s) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef int32_t i, job
    cdef double end
    for i in range(f.n_struck):
        job = f.struck[i]
        s.life[job].struck = False
        if s.life[job].down == 0:
            if end_hold(s, job) < 0:
                return NO_MEMORY
            continue
        end = (s.life[job].hold_until + s.owed[job]) + s.ahead[job] if f.repairs_known else INFINITY
        if set_expected(s, job, end) < 0:
            return NO_MEMORY
    f.n_struck = 0
    return OK


# ---------------------------------------------------------------------------------------------- events

cdef int strike(sim_t *s, bint *wanted) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef int32_t node = f.node[f.next], job, victim = -1
    cdef double until = s.now + f.downtime[f.next]
    cdef bint lasts = until > s.now, effect = False
    f.next += 1
    f.n_handled += 1
    s.n_events += 1
    f.count[node] += 1
    if f.rank != NULL:
        rank_failed(s, node)
    job = job_on(s, node)
    if job >= 0 and s.state[job] == JOB_RUNNING:
        victim = job
        effect = True
        if kill(s, job) < 0:
            return NO_MEMORY
        if not f.hold:
            job = -1
    if job >= 0:
        if s.life[job].worst < f.count[node]:
            s.life[job].worst = f.count[node]
        if lasts and (not f.down[node] or until > f.up_at[node]):
            effect = True
            if not f.down[node]:
                f.down[node] = 1
                s.life[job].down += 1
            f.up_at[node] = until
            if until > s.life[job].hold_until:
                s.life[job].hold_until = until
            remember_struck(s, job)
            if heap_push(&s.heap, until, EV_REPAIR, node) < 0:
                return NO_MEMORY
    elif lasts and (not f.down[node] or until > f.up_at[node]):
        effect = True
        if go_down(s, node, until) < 0:
            return NO_MEMORY
    if effect:
        wanted[0] = True
        disturb(s)
    return record_event(s, EV_FAILURE, victim, node) if s.record.on else OK


cdef int repair(sim_t *s, int32_t node) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef int32_t job = job_on(s, node) if f.hold else -1
    fs_require(f.down[node] and f.up_at[node] == s.now)
    f.down[node] = 0
    s.n_events += 1
    disturb(s)
    if s.record.on and record_event(s, EV_REPAIR, -1, node) < 0:
        return NO_MEMORY
    if job >= 0:
        s.life[job].down -= 1
        return end_hold(s, job) if s.life[job].down == 0 else OK
    if f.repairs_known:
        releases_remove(&s.releases, f.up_at[node], -1 - node)
    f.n_down -= 1
    s.free += 1
    unblock(s, node)
    return OK


cdef int failures_before(sim_t *s) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef int32_t node
    cdef double until
    while f.next < f.n and f.time[f.next] < s.now:
        node = f.node[f.next]
        until = f.time[f.next] + f.downtime[f.next]
        f.next += 1
        f.count[node] += 1
        if f.rank != NULL:
            rank_failed(s, node)
        if until > s.now and (not f.down[node] or until > f.up_at[node]) and go_down(s, node, until) < 0:
            return NO_MEMORY
    while f.next_alarm < f.n_alarms and f.alarm_time[f.next_alarm] < s.now:
        f.next_alarm += 1
    ticks_before(s)
    disturb(s)
    return OK
