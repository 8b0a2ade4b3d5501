"""Recovery (recovery.pxd): the fate of a job that a failure hits.

It leaves its nodes and waits again; or holds them until they are up, and goes on (model.md#hold); or has spare ones,
and goes on with one of them (model.md#hot-spares); or a caller or a policy in Python decides (model.md#decisions).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.event_queue cimport push_known
from faultsim._core.containers.memory cimport blocks_add_jobs, open_jobs_state, open_state, own_block, own_jobs
from faultsim._core.containers.releases cimport release_t, releases_add, releases_all, releases_remove
from faultsim._core.faults.own_clock cimport own_time
from faultsim._core.faults.progress cimport (
    at_t, progress_book, progress_held, progress_lead, progress_locate, progress_resume, set_expected,
)
from faultsim._core.jobs cimport leave_nodes
from faultsim._core.questions cimport open_questions
from faultsim._core.queue cimport enqueue
from faultsim._core.record cimport close_stay, open_stay, record_event, record_told
from faultsim._core.state cimport (
    ACC_GROWTH, ASK_FAILURE, BY_FAILURE, EV_CONTINUED, EV_FAILURE, EV_HELD, EV_KILLED, EV_MOVE, EV_REPAIR, EV_REQUEUED,
    FROM_HOLDS, JOB_HELD, JOB_RUNNING, LEAD_RESTART, add_source, progress_of, sim_t, source_next,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.recovery cimport RELIEVED_SPARE, RELIEVED_WORKING, UNRELIEVED

# ---------------------------------------------------------------------------------------------------- it waits again

cdef int requeue_job(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    leave_nodes(s, job)
    progress_book(s, job, False)
    if record_told(s, EV_KILLED, job, <int>BY_FAILURE) < 0 or record_told(s, EV_REQUEUED, job, -1) < 0:
        return NO_MEMORY
    return enqueue(s, job)


cdef int open_requeue(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i
    s.track.restart_cost = options["restart_cost"]
    s.recovery.killed = requeue_job
    if options.get("place") == "tail":
        s.queue.keeps_entry = False
        blocks_add_jobs(&s.blocks, s, &s.queue.entry, s.n, sizeof(int64_t))
        if s.blocks.failed:
            raise MemoryError("no memory for the queue")
        for i in range(s.n):
            s.queue.entry[i] = i
        s.queue.next_entry = s.n
    return 0


# ------------------------------------------------------------------------------------------------ it keeps its nodes

# One row per job; the state is these rows.
cdef struct hold_t:
    double until             # held: latest known repair of its nodes
    int32_t down             # held: how many of its nodes are down
    bint is_hit              # by a failure of this instant
    int32_t hit              # of row i: the i-th job that is hit
    int32_t n_hit            # of row 0: how many are


cdef void remember_hit(sim_t *s, hold_t *row, int32_t job) noexcept nogil:
    if not row[job].is_hit:
        row[job].is_hit = True
        row[row.n_hit].hit = job
        row.n_hit += 1
        source_next(s, <int>FROM_HOLDS, s.now)


cdef int foresee_end(sim_t *s, const hold_t *row, int32_t job) noexcept nogil:
    """The expected end of a held job (model.md#hold)."""
    if not s.trace.repairs_known:
        return set_expected(s, job, INFINITY)
    if row[job].down == 0:
        return OK                # as it was
    return set_expected(s, job, (row[job].until + s.track.owed[job]) + s.remaining[job])


cdef inline int show_end(sim_t *s, const hold_t *row, int32_t job) noexcept nogil:
    """At once, if a caller or policy is asked at the other failures of this instant; else settle_holds does it."""
    return foresee_end(s, row, job) if s.asked.on[<int>ASK_FAILURE] else OK


cdef int hold_job(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef hold_t *row = <hold_t *>state
    s.track.started[job] = True
    if s.start[job] > s.now:             # its start delay is broken off
        s.start[job] = s.now
        if s.first_start[job] > s.now:
            s.first_start[job] = s.now
    s.state[job] = JOB_HELD
    s.running -= 1
    row[job].until = s.now
    row[job].down = 0
    remember_hit(s, row, job)
    if record_told(s, EV_KILLED, job, <int>BY_FAILURE) < 0 or record_told(s, EV_HELD, job, -1) < 0:
        return NO_MEMORY
    return show_end(s, row, job)


cdef int node_down(void *state, void *sim, int32_t job, int32_t node, double until) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef hold_t *row = <hold_t *>state
    if not s.trace.down[node]:
        s.trace.down[node] = 1
        row[job].down += 1
    s.trace.up_at[node] = until
    if until > row[job].until:
        row[job].until = until
    remember_hit(s, row, job)
    if show_end(s, row, job) < 0:
        return NO_MEMORY
    return OK if push_known(&s.heap, until, EV_REPAIR, node) == 0 else NO_MEMORY


cdef int share_down(void *state, void *sim, int32_t job, bint newly, double until) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef hold_t *row = <hold_t *>state
    row[job].down += newly
    if until > row[job].until:
        row[job].until = until
    remember_hit(s, row, job)
    return show_end(s, row, job)


cdef int end_hold(sim_t *s, int32_t job) noexcept nogil:
    """Its nodes are up: it pays the restart cost and goes on from its safe point."""
    cdef double saved = s.track.saved[job]
    s.failure_wait[job] += progress_held(s, job)
    s.state[job] = JOB_RUNNING
    s.running += 1
    if record_told(s, EV_CONTINUED, job, -1) < 0:
        return NO_MEMORY
    return progress_resume(
        s, job, <int>LEAD_RESTART, own_time(s, job, s.now) + s.track.owed[job], saved, saved, 0.0)


cdef int node_up(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef hold_t *row = <hold_t *>state
    cdef double until = s.now
    cdef int32_t node
    row[job].down -= 1
    if row[job].down == 0:
        return end_hold(s, job)
    for node in range(s.nodes):
        if s.trace.down[node] and s.trace.up_at[node] > until and s.machine.named.holds(s.machine.state, job, node):
            until = s.trace.up_at[node]
    if s.machine.shared:
        until = max(until, s.machine.shared.kept_until(s.machine.state, job))
    if until < row[job].until:           # a caller has repaired the last of its nodes early
        row[job].until = until
        remember_hit(s, row, job)
    return OK


cdef int settle_holds(void *sim, bint *wanted) noexcept nogil:
    """After the last failure of an instant: holds with nothing to wait for end, others have a new expected end."""
    cdef sim_t *s = <sim_t *>sim
    cdef hold_t *row = <hold_t *>s.recovery.state
    cdef int32_t i, job
    source_next(s, <int>FROM_HOLDS, INFINITY)
    for i in range(row.n_hit):
        job = row[i].hit
        row[job].is_hit = False
        if row[job].down == 0:
            if end_hold(s, job) < 0:
                return NO_MEMORY
            continue
        if foresee_end(s, row, job) < 0:
            return NO_MEMORY
    row.n_hit = 0
    return OK


cdef const char *check_holds(void *state, void *sim) noexcept nogil:
    cdef const sim_t *s = <const sim_t *>sim
    cdef int32_t i
    for i in range(s.n):
        if s.state[i] == JOB_HELD and (<hold_t *>state)[i].down < 1 and not (<hold_t *>state)[i].is_hit:
            return b"a job is held although its nodes are up"
    return NULL


cdef int open_hold(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    open_jobs_state(&s.recovery, s.n, sizeof(hold_t))
    s.track.restart_cost = options["restart_cost"]
    s.recovery.keeps_nodes = True
    s.recovery.killed, s.recovery.node_down, s.recovery.node_up = hold_job, node_down, node_up
    s.recovery.share_down = share_down
    s.recovery.check = check_holds
    add_source(s, <int>FROM_HOLDS, EV_FAILURE, INFINITY, settle_holds)
    return 0


# ------------------------------------------------------------------------------------------------ it has spare nodes

cdef struct hot_spares_t:
    int32_t unit             # nodes that are exchanged at once: 1, or the hosts of a cube
    int32_t *working         # per job: nodes that are at work
    int32_t *nodes           # those of a job, while they are counted


cdef int go_back(sim_t *s, int32_t job) noexcept nogil:
    """It loses what is not safe, and goes on in place."""
    cdef at_t at
    s.moves[job] += 1
    if s.start[job] > s.now:
        return OK                # nothing has begun
    progress_locate(s, job, s.now, &at)
    progress_of(s, job).lost += at.unsaved
    s.lost_work[job] += s.size[job] * at.unsaved
    return progress_lead(
        s, job, <int>LEAD_RESTART, own_time(s, job, s.now) + s.track.restart_cost, at.safe, at.safe, 0.0)


cdef int relieve(void *state, void *sim, int32_t job, int32_t node) noexcept nogil:
    cdef const hot_spares_t *p = <const hot_spares_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i, lower = 0, gone, first = node - node % p.unit
    cdef bint works
    if s.allocated[job] == p.working[job]:
        return UNRELIEVED
    for i in range(s.machine.named.list_nodes(s.machine.state, job, p.nodes)):
        lower += p.nodes[i] < first
    works = lower < p.working[job]
    if works and go_back(s, job) < 0:
        return NO_MEMORY
    if s.record.on:
        close_stay(s, job)
    gone = s.machine.named.drop(s.machine.state, job, node)
    if gone < 0:
        return NO_MEMORY
    # What the job had too many, for as long as it had it.
    s.ledger[<int>ACC_GROWTH] += gone * (s.now - s.decision[job])
    releases_remove(&s.releases, s.expected[job], job)
    s.allocated[job] -= gone
    s.free += gone
    if releases_add(&s.releases, s.expected[job], job, s.allocated[job]) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    return RELIEVED_WORKING if works else RELIEVED_SPARE


cdef const char *check_working(void *state, void *sim) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef const hot_spares_t *p = <const hot_spares_t *>state
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i, job
    for i in range(s.releases.n):
        job = items[i].job
        if job >= 0 and not (p.working[job] <= s.allocated[job] <= s.need[job]):
            return b"a job has fewer nodes than are at work, or more than it needs"
    return NULL


cdef int open_hot_spares(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef hot_spares_t *p = <hot_spares_t *>open_state(&s.recovery, sizeof(hot_spares_t))
    cdef int32_t count = options["count"], per = options["per"], i, units
    open_requeue(sim, options, columns)
    p.unit = columns["unit"]
    own_jobs(p, &p.working, s.n, sizeof(int32_t))
    own_block(p, &p.nodes, s.nodes, sizeof(int32_t))
    for i in range(s.n):
        p.working[i] = s.need[i]
        units = s.need[i] // p.unit
        if units > 0:
            s.need[i] += count * (units // per if per > 0 else 1) * p.unit
    s.recovery.relieve, s.recovery.check = relieve, check_working
    return 0


# ------------------------------------------------------------------------------------------------------- it is asked

cdef int open_either(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    open_hold(sim, options, columns)
    open_requeue(sim, options, columns)
    # The default where no decision is made; only Requeue, and a policy in Python, has a place.
    s.recovery.killed = requeue_job if "place" in options else hold_job
    return open_questions(s, <int>ASK_FAILURE, options.get("object"))


REQUEUE = factory(open_requeue)
HOLD = factory(open_hold)
HOT_SPARES = factory(open_hot_spares)
EITHER = factory(open_either)
