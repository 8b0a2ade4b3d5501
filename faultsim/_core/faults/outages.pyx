"""Failures of nodes, and their repairs; the contract is in outages.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.event_queue cimport push_known
from faultsim._core.containers.releases cimport release_t, releases_add, releases_all, releases_remove
from faultsim._core.contract cimport fs_require
from faultsim._core.faults.progress cimport progress_kill
from faultsim._core.questions cimport pose_question
from faultsim._core.record cimport record_event, record_told
from faultsim._core.state cimport (
    ASK_FAILURE, EV_FAILURE, EV_PART_DOWN, EV_PART_FAILED, EV_PART_UP, EV_REPAIR, FROM_TRACE, JOB_HELD, JOB_RUNNING,
    disturb, source_next, trace_t,
)
from faultsim._core.containers.memory cimport blocks_add
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport hit_t, packed_part
from faultsim._core.tables.recovery cimport RELIEVED_SPARE, UNRELIEVED


# ---------------------------------------------------------------------------------------------- nodes by failures

cdef int counts_open(sim_t *s) noexcept nogil:
    if s.trace.count == NULL:
        blocks_add(&s.blocks, s, &s.trace.count, s.nodes, sizeof(int32_t))
    return NO_MEMORY if s.blocks.failed else OK


cdef int rank_open(sim_t *s) noexcept nogil:
    cdef int32_t i
    if counts_open(s) < 0:
        return NO_MEMORY
    if s.trace.rank == NULL:
        blocks_add(&s.blocks, s, &s.trace.rank, s.nodes, sizeof(int32_t))
        if s.blocks.failed:
            return NO_MEMORY
        for i in range(s.nodes):
            s.trace.rank[i] = i
    return OK


cdef void count_failure(sim_t *s, int32_t node) noexcept nogil:
    cdef int32_t *rank = s.trace.rank
    cdef int32_t *count = s.trace.count
    cdef int32_t i = 0, other
    if count == NULL:
        return
    count[node] += 1
    if rank == NULL:
        return
    while rank[i] != node:
        i += 1
    while i + 1 < s.nodes:
        other = rank[i + 1]
        if count[other] > count[node] or (count[other] == count[node] and other > node):
            break
        rank[i] = other
        i += 1
    rank[i] = node


# ---------------------------------------------------------------------------------------------- failures

cdef int32_t job_on(sim_t *s, int32_t node) noexcept nogil:
    cdef const release_t *items
    cdef int32_t i, job
    if not s.machine.named.marked(s.machine.state, s.machine.occ, node):
        return -1
    if s.machine.named.job_at != NULL:
        return s.machine.named.job_at(s.machine.state, node, &s.releases, &s.work.asked)
    items = releases_all(&s.releases)
    for i in range(s.releases.n):
        job = items[i].job
        if job >= 0 and s.machine.named.holds(s.machine.state, job, node):
            return job
    return -1


cdef inline int32_t capacity_of(const sim_t *s, int32_t node) noexcept nogil:
    """What goes down with a node that no running job has: 1, or the cores that no held job has."""
    return s.machine.shared.left(s.machine.state, node) if s.machine.shared else 1


cdef int go_down(sim_t *s, int32_t node, double until) noexcept nogil:
    """A free node goes down, or a down one stays down longer; it is in no held job."""
    cdef trace_t *f = &s.trace
    cdef int32_t amount
    if f.down[node]:
        if f.repairs_known:
            releases_remove(&s.releases, f.up_at[node], -1 - node)
    else:
        amount = capacity_of(s, node)
        f.down[node] = 1
        f.n_down += amount
        s.free -= amount
        s.machine.named.block(s.machine.state, node)
    f.up_at[node] = until
    if f.repairs_known and releases_add(&s.releases, until, -1 - node, 1) < 0:
        return NO_MEMORY
    return OK if push_known(&s.heap, until, EV_REPAIR, node) == 0 else NO_MEMORY


cdef void roll_back(sim_t *s, int32_t job) noexcept nogil:
    cdef bint came = s.start[job] <= s.now       # not in its start delay
    fs_require(s.state[job] == JOB_RUNNING and s.finish[job] > s.now)
    progress_kill(s, job)
    s.track.started[job] |= came
    if not came and s.restarts[job] > 1:
        s.failure_wait[job] -= s.start[job] - s.now      # that start did not come, or (held) came to be now


cdef int fire_failure(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef trace_t *f = &s.trace
    cdef int64_t row = f.next
    f.next += 1
    source_next(s, <int>FROM_TRACE, f.time[f.next] if f.next < f.n else INFINITY)
    if f.part != NULL and f.part[3 * row] + f.part[3 * row + 1] + f.part[3 * row + 2] > 0:
        return fail_part(s, row, wanted)
    return fail_node(s, f.node[row], s.now + f.downtime[row], wanted)


cdef int fail_part(sim_t *s, int64_t row, bint *wanted) noexcept nogil:
    """A part of a node fails: jobs that hold some of it are hit, and it is down (model.md#site-parts)."""
    cdef trace_t *f = &s.trace
    cdef const hit_t *found
    cdef double until = s.now + f.downtime[row]
    cdef int64_t fails = 0, down
    cdef int32_t i, n = 0, node = f.node[row], part
    cdef bint effect = False
    cdef int code
    f.n_handled += 1
    s.n_events += 1
    count_failure(s, node)
    found = s.machine.shared.jobs_hit(s.machine.state, node, &s.releases, &f.part[3 * row], f.unit[row], &fails, &n)
    if found == NULL:
        return NO_MEMORY
    down = fails if until > s.now else 0
    part = packed_part(down, 0 if f.part[3 * row] > 0 else 1 if f.part[3 * row + 1] > 0 else 2)
    if record_told(s, EV_PART_DOWN, part, node) < 0:
        return NO_MEMORY
    for i in range(n):
        if s.state[found[i].job] != JOB_RUNNING:
            continue
        effect = True
        code = hit_job(s, node, found[i].job)
        if code < 0:
            return code
    f.n_hit += effect
    if not effect and s.record.on and record_event(s, EV_FAILURE, -1, node) < 0:
        return NO_MEMORY
    if record_told(s, EV_PART_FAILED, part, node) < 0:
        return NO_MEMORY
    if down > 0:
        effect = True
        if part_down(s, row, until, fails, found, n) < 0:
            return NO_MEMORY
    if effect:
        wanted[0] = True
        disturb(s)
    return OK


cdef int part_down(sim_t *s, int64_t row, double until, int64_t fails, const hit_t *hit, int32_t n) noexcept nogil:
    """A part of a node is down; held jobs have some of it, and no job the rest."""
    cdef trace_t *f = &s.trace
    cdef const int64_t *part = &f.part[3 * row]
    cdef int32_t i, number
    cdef int64_t free = fails
    for i in range(n):
        if s.state[hit[i].job] == JOB_HELD:
            free -= hit[i].units
    number = s.machine.shared.lose(s.machine.state, f.node[row], part, free, until, &s.free, &f.n_down)
    for i in range(n):
        if s.state[hit[i].job] != JOB_HELD:
            continue
        if (s.machine.shared.hold_units(s.machine.state, number, part, &hit[i]) < 0
                or s.recovery.share_down(s.recovery.state, s, hit[i].job, True, until) < 0):
            return NO_MEMORY
    return foresee_part(s, number, until)


cdef int foresee_part(sim_t *s, int32_t number, double until) noexcept nogil:
    """A part of a node that is down will be up again."""
    cdef int32_t serial = s.nodes + number
    if s.trace.repairs_known and releases_add(&s.releases, until, -1 - serial, 1) < 0:
        return NO_MEMORY
    return OK if push_known(&s.heap, until, EV_REPAIR, serial) == 0 else NO_MEMORY


cdef int repair_part(sim_t *s, int32_t number) noexcept nogil:
    """A part of a node that was down is up again."""
    cdef const int32_t *jobs
    cdef int32_t i, n = 0, node, part
    fs_require(s.machine.shared.lost_until(s.machine.state, number) == s.now)
    if s.trace.repairs_known:
        releases_remove(&s.releases, s.now, -1 - s.nodes - number)
    part = s.machine.shared.lost_part(s.machine.state, number)
    node = s.machine.shared.regain(s.machine.state, number, &s.free, &s.trace.n_down, &jobs, &n)
    s.n_events += 1
    disturb(s)
    if s.record.on and (record_told(s, EV_PART_UP, part, node) < 0 or record_event(s, EV_REPAIR, -1, node) < 0):
        return NO_MEMORY
    for i in range(n):
        if s.recovery.node_up(s.recovery.state, s, jobs[i]) < 0:
            return NO_MEMORY
    return OK


cdef int fail_shared(sim_t *s, int32_t node, double until, bint *wanted) noexcept nogil:
    """A failure of a node that jobs share: each of them that is not held is hit (model.md#site-failures)."""
    s.trace.n_handled += 1
    s.n_events += 1
    count_failure(s, node)
    return hit_jobs(s, node, until, -1, wanted)


cdef int hit_jobs(sim_t *s, int32_t node, double until, int32_t last, bint *wanted) noexcept nogil:
    """Hits the jobs of a node after `last` (-1: none has been hit), one by one, as an answer may stop each."""
    cdef const int32_t *found
    cdef int32_t i, job, n = 0
    cdef int code
    found = s.machine.shared.jobs_on(s.machine.state, node, &s.releases, &n)
    if found == NULL:
        return NO_MEMORY
    for i in range(n):
        job = found[i]
        if job <= last or s.state[job] != JOB_RUNNING:
            continue
        s.trace.n_hit += last < 0
        last = job
        if s.asked.on[<int>ASK_FAILURE]:
            s.asked.node, s.asked.until = node, until
            return pose_question(s, <int>ASK_FAILURE, job, after_shared_answer)
        code = hit_job(s, node, job)
        if code < 0:
            return code
    return end_shared_failure(s, node, until, last >= 0, wanted)


cdef int hit_job(sim_t *s, int32_t node, int32_t job) noexcept nogil:
    """What becomes of a job on a node that fails, unless an act has stopped or held it."""
    if s.record.on and record_event(s, EV_FAILURE, job, node) < 0:
        return NO_MEMORY
    if s.state[job] != JOB_RUNNING:
        return OK
    roll_back(s, job)
    return s.recovery.killed(s.recovery.state, s, job)


cdef int after_shared_answer(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t job = s.asked.job
    cdef int code = hit_job(s, s.asked.node, job)
    return code if code < 0 else hit_jobs(s, s.asked.node, s.asked.until, job, wanted)


cdef int end_shared_failure(sim_t *s, int32_t node, double until, bint effect, bint *wanted) noexcept nogil:
    """All jobs of the node have been hit: it goes down."""
    cdef trace_t *f = &s.trace
    cdef const int32_t *found
    cdef int32_t i, n = 0
    cdef int code
    cdef bint more = until > s.now and (not f.down[node] or until > f.up_at[node])
    if not effect and s.record.on and record_event(s, EV_FAILURE, -1, node) < 0:
        return NO_MEMORY
    if more:
        if s.recovery.keeps_nodes:
            found = s.machine.shared.jobs_on(s.machine.state, node, &s.releases, &n)
            if found == NULL:
                return NO_MEMORY
            for i in range(n):
                code = s.recovery.share_down(s.recovery.state, s, found[i], not f.down[node], until)
                if code < 0:
                    return code
        if go_down(s, node, until) < 0:
            return NO_MEMORY
    if effect or more:
        wanted[0] = True
        disturb(s)
    return OK


cdef int fail_node(sim_t *s, int32_t node, double until, bint *wanted) noexcept nogil:
    cdef int32_t job, victim
    cdef int relieved
    if s.machine.shared:
        return fail_shared(s, node, until, wanted)
    job = job_on(s, node)
    victim = job if job >= 0 and s.state[job] == JOB_RUNNING else -1
    s.trace.n_handled += 1
    s.n_events += 1
    count_failure(s, node)
    if victim >= 0:
        s.trace.n_hit += 1
        if s.asked.on[<int>ASK_FAILURE]:
            s.asked.node, s.asked.until = node, until
            return pose_question(s, <int>ASK_FAILURE, victim, after_failure_answer)
    if victim >= 0 and s.recovery.relieve != NULL:
        relieved = s.recovery.relieve(s.recovery.state, s, victim, node)
        if relieved < 0:
            return relieved
        if relieved != UNRELIEVED:
            s.trace.n_hit -= relieved == RELIEVED_SPARE
            return apply_failure(s, node, until, -1, -1, True, wanted)
    return apply_failure(s, node, until, job, victim, victim >= 0, wanted)


cdef int after_failure_answer(void *sim, bint *wanted) noexcept nogil:
    """An act has stopped or held the job; without one, the recovery rule of the run decides."""
    cdef sim_t *s = <sim_t *>sim
    return apply_failure(s, s.asked.node, s.asked.until, job_on(s, s.asked.node), s.asked.job, True, wanted)


cdef int apply_failure(sim_t *s, int32_t node, double until, int32_t job, int32_t victim, bint effect,
                       bint *wanted) noexcept nogil:
    """`job` has the node; `victim` is hit."""
    cdef trace_t *f = &s.trace
    cdef int code = OK
    if job >= 0 and s.state[job] == JOB_RUNNING:
        roll_back(s, job)
        code = s.recovery.killed(s.recovery.state, s, job)
        if code < 0:
            return code
    if job >= 0 and s.state[job] != JOB_HELD:
        job = -1
    if job >= 0 and s.migration.failed != NULL:
        s.migration.failed(s.migration.state, s, job, node)
    if until > s.now and (not f.down[node] or until > f.up_at[node]):
        effect = True
        if job >= 0:
            code = s.recovery.node_down(s.recovery.state, s, job, node, until)
        else:
            code = go_down(s, node, until)
        if code < 0:
            return code
    if effect:
        wanted[0] = True
        disturb(s)
    return record_event(s, EV_FAILURE, victim, node) if s.record.on else OK


cdef int repair(sim_t *s, int32_t node) noexcept nogil:
    cdef trace_t *f = &s.trace
    cdef const int32_t *found
    cdef int32_t job = -1, i, n = 0, amount
    if node >= s.nodes:
        return repair_part(s, node - s.nodes)
    if s.recovery.keeps_nodes and not s.machine.shared:
        job = job_on(s, node)
    fs_require(f.down[node] and f.up_at[node] == s.now)
    f.down[node] = 0
    s.n_events += 1
    disturb(s)
    if s.record.on and record_event(s, EV_REPAIR, -1, node) < 0:
        return NO_MEMORY
    if job >= 0:
        return s.recovery.node_up(s.recovery.state, s, job)
    if f.repairs_known:
        releases_remove(&s.releases, f.up_at[node], -1 - node)
    amount = capacity_of(s, node)
    f.n_down -= amount
    s.free += amount
    s.machine.named.unblock(s.machine.state, node)
    if s.machine.shared and s.recovery.keeps_nodes:
        found = s.machine.shared.jobs_on(s.machine.state, node, &s.releases, &n)
        if found == NULL:
            return NO_MEMORY
        for i in range(n):
            if s.recovery.node_up(s.recovery.state, s, found[i]) < 0:
                return NO_MEMORY
    return OK


cdef int repair_now(sim_t *s, int32_t node) noexcept nogil:
    cdef trace_t *f = &s.trace
    if f.repairs_known and (s.machine.shared or not (s.recovery.keeps_nodes and job_on(s, node) >= 0)):
        releases_remove(&s.releases, f.up_at[node], -1 - node)
        if releases_add(&s.releases, s.now, -1 - node, 1) < 0:
            return NO_MEMORY
    f.up_at[node] = s.now
    return repair(s, node)


cdef int outages_before(sim_t *s) noexcept nogil:
    cdef trace_t *f = &s.trace
    cdef const int64_t *part = f.part
    cdef int32_t node, i
    cdef double until, time
    while f.next < f.n and f.time[f.next] < s.now:
        node, time = f.node[f.next], f.time[f.next]
        until = time + f.downtime[f.next]
        f.next += 1
        count_failure(s, node)
        if part != NULL:
            part = &f.part[3 * (f.next - 1)]
            if part[0] + part[1] + part[2] > 0:
                s.machine.shared.lose_early(s.machine.state, node, part, time, until)
                continue
        if until > s.now and (not f.down[node] or until > f.up_at[node]) and go_down(s, node, until) < 0:
            return NO_MEMORY
    if f.part != NULL:
        s.machine.shared.keep_early(s.machine.state, s.now, &s.free, &f.n_down)
        for i in range(s.machine.shared.lost(s.machine.state)):
            if foresee_part(s, i, s.machine.shared.lost_until(s.machine.state, i)) < 0:
                return NO_MEMORY
    disturb(s)
    return OK
