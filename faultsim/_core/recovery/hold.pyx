"""Recovery (recovery.pxd): a job that was killed holds its nodes until they are up, and goes on (model.md#hold)."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from faultsim._core.containers.event_queue cimport push_known
from faultsim._core.tables.factory cimport factory
from faultsim._core.faults.own_clock cimport own_time
from faultsim._core.faults.progress cimport progress_held, progress_resume, set_expected
from faultsim._core.state cimport (
    EV_FAILURE, EV_REPAIR, FROM_HOLDS, JOB_HELD, JOB_RUNNING, LEAD_RESTART, add_source, sim_t, source_next,
)
from faultsim._core.containers.memory cimport open_state
from faultsim._core.status cimport NO_MEMORY, OK

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
    return OK


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
    return OK if push_known(&s.heap, until, EV_REPAIR, node) == 0 else NO_MEMORY


cdef int end_hold(sim_t *s, int32_t job) noexcept nogil:
    """Its nodes are up: it pays the restart cost and goes on from its safe point."""
    cdef double saved = s.track.saved[job]
    s.failure_wait[job] += progress_held(s, job)
    s.state[job] = JOB_RUNNING
    s.running += 1
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
        if s.trace.down[node] and s.trace.up_at[node] > until and s.machine.holds(s.machine.state, job, node):
            until = s.trace.up_at[node]
    if until < row[job].until:           # somebody said that the last of its nodes is up before its time
        row[job].until = until
        remember_hit(s, row, job)
    return OK


cdef int settle_holds(void *sim, bint *wanted) noexcept nogil:
    """After the last failure of an instant: holds with nothing to wait for end, others have a new expected end."""
    cdef sim_t *s = <sim_t *>sim
    cdef hold_t *row = <hold_t *>s.recovery.state
    cdef int32_t i, job
    cdef double end
    source_next(s, <int>FROM_HOLDS, INFINITY)
    for i in range(row.n_hit):
        job = row[i].hit
        row[job].is_hit = False
        if row[job].down == 0:
            if end_hold(s, job) < 0:
                return NO_MEMORY
            continue
        end = (row[job].until + s.track.owed[job]) + s.remaining[job] if s.trace.repairs_known else INFINITY
        if set_expected(s, job, end) < 0:
            return NO_MEMORY
    row.n_hit = 0
    return OK


cdef const char *check(void *state, void *sim) noexcept nogil:
    cdef const sim_t *s = <const sim_t *>sim
    cdef int32_t i
    for i in range(s.n):
        if s.state[i] == JOB_HELD and (<hold_t *>state)[i].down < 1 and not (<hold_t *>state)[i].is_hit:
            return b"a job is held although its nodes are up"
    return NULL


cdef int open_hold(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    open_state(&s.recovery, <size_t>s.n * sizeof(hold_t))
    s.track.restart_cost = options["restart_cost"]
    s.recovery.keeps_nodes = True
    s.recovery.killed, s.recovery.node_down, s.recovery.node_up = hold_job, node_down, node_up
    s.recovery.check = check
    add_source(s, <int>FROM_HOLDS, EV_FAILURE, INFINITY, settle_holds)
    return 0


HOLD = factory(open_hold)
