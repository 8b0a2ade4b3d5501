"""Fars: its ticks, its memory and its factory; the contract is in fars.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

import numpy as np

from faultsim._core.containers.bits cimport mask_count_without
from faultsim._core.tables.factory cimport factory
from faultsim._core.fars.fars cimport (
    GAIN_FAILURE_RATE, GAIN_SERVICE_UNITS, GAIN_SLOWDOWN, fars_t, suspect_t,
)
from faultsim._core.fars.knapsack cimport knapsack_free, knapsack_init
from faultsim._core.fars.moves cimport move_nodes, move_place
from faultsim._core.fars.selection cimport find_suspects, select_jobs
from faultsim._core.faults.progress cimport progress_move
from faultsim._core.inputs cimport check_ascending, check_nodes, column
from faultsim._core.record cimport open_stay, record_event
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.state cimport EV_MOVE, EV_RESCHEDULE, FROM_TICKS, add_source, disturb, sim_t, source_next
from faultsim._core.containers.memory cimport blocks_add, close_state, copy_state, open_state, own_block
from faultsim._core.status cimport NO_MEMORY, OK

_GAINS = {
    "service_unit_loss": <int>GAIN_SERVICE_UNITS, "job_failure_rate": <int>GAIN_FAILURE_RATE,
    "failure_slowdown": <int>GAIN_SLOWDOWN, "node_stealing": <int>GAIN_SERVICE_UNITS,
}


# ---------------------------------------------------------------------------------------------- ticks

cdef void suspect_nodes(sim_t *s, fars_t *f) noexcept nogil:
    """The nodes of the next tick, and no others, are suspicious from now on."""
    cdef int64_t i
    if f.some:
        for i in range(f.first[f.next - 1], f.first[f.next]):
            s.machine.unmark(s.machine.state, f.suspicious, f.node[i])
    for i in range(f.first[f.next], f.first[f.next + 1]):
        s.machine.mark(s.machine.state, f.suspicious, f.node[i])
    f.some = f.first[f.next + 1] > f.first[f.next]
    f.next += 1
    s.avoid = f.suspicious if f.some and f.last else NULL


cdef int64_t spare_nodes(sim_t *s, const fars_t *f) noexcept nogil:
    """The pool that jobs may move to ([li2009] section 3.2); or a status < 0."""
    cdef int32_t sound = s.free - mask_count_without(f.suspicious, s.machine.occ, s.machine.words)
    cdef int64_t spare = sound
    cdef promise_t promise
    if f.spares >= 0:
        spare = f.spares
    elif s.scheduler.spare != NULL and s.queue.head != s.queue.end:
        memset(&promise, 0, sizeof(promise))
        spare = s.scheduler.spare(s.scheduler.state, s, sound, &promise)
    return spare if spare < sound else sound


cdef int move(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil:
    cdef int32_t job = suspect.job
    cdef int code = f.move(s, f, suspect)
    if code <= 0:
        return code
    s.n_events += 1
    s.moves[job] += 1
    if progress_move(s, job, &f.cost) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    return 1


cdef int fire_tick(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef fars_t *f = <fars_t *>s.rescheduling.state
    cdef int64_t spare
    cdef int32_t i, n
    cdef bint moved = False
    cdef int code
    s.n_ticks += 1
    suspect_nodes(s, f)
    source_next(s, FROM_TICKS, f.time[f.next] if f.next < f.n else INFINITY)
    n = find_suspects(s, f) if f.some else 0
    if n == 0:
        return OK
    s.n_attempted += 1
    spare = spare_nodes(s, f)
    if spare < 0:
        return <int>spare
    code = select_jobs(s, f, n, spare)
    if code < 0:
        return code
    f.word = 0
    for i in range(n):
        if f.suspect[i].leaving == 0:
            continue
        code = move(s, f, &f.suspect[i])
        if code < 0:
            return code
        if code:
            moved = True
    if moved:
        s.n_successful += 1
        disturb(s)
        wanted[0] = True
    return OK


cdef void note_wait(void *state, void *sim, int32_t job, double waited) noexcept nogil:
    cdef fars_t *f = <fars_t *>state
    f.last_wait = waited
    f.sum_of_waits += waited
    f.n_waits += 1.0


# ---------------------------------------------------------------------------------------------- memory

cdef void close_fars(void *state) noexcept nogil:
    if state != NULL:
        knapsack_free(&(<fars_t *>state).sack)
        close_state(state)


cdef void *copy_fars(const void *state, const void *sim) noexcept nogil:
    cdef fars_t *f = <fars_t *>copy_state(state, sim)
    if f != NULL:
        knapsack_init(&f.sack)
    return f


cdef int open_fars(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef fars_t settings
    cdef fars_t *f
    cdef const double[::1] time
    cdef const int64_t[::1] first
    cdef const int32_t[::1] node
    memset(&settings, 0, sizeof(settings))
    strategy, spares = options["strategy"]["name"], options["spares"]
    settings.steals = strategy == "node_stealing"
    settings.spares = -1 if spares == "dynamic" else min(spares["k"], <object>s.nodes)
    if s.machine.placed and (settings.spares >= 0 or settings.steals):
        raise ValueError("static spares and node stealing are of single nodes")
    if settings.spares > 0:
        s.kept_back = settings.spares
    table = columns.get("ticks")
    if not table or len(table["time"]) == 0:
        return 0
    settings.strategy = _GAINS[strategy]
    settings.interval, settings.cost.live = options["interval"], options["live"]
    settings.cost.checkpoint_cost, settings.cost.restart_cost = options["checkpoint_cost"], options["restart_cost"]
    settings.last = options["suspicious"] == "last"
    settings.mean = options["queue_cost"] == "mean"
    settings.difference = options["residual"] == "difference"
    settings.move = move_place if s.machine.placed else move_nodes

    settings.n = len(table["time"])
    times = column(columns, table, "time", np.float64, settings.n)
    firsts = column(columns, table, "first", np.int64, settings.n + 1)
    nodes = column(columns, table, "node", np.int32, len(table["node"]))
    check_ascending("the times of ticks", times)
    check_nodes(s, nodes, 0)
    if firsts[0] != 0 or firsts[settings.n] != len(nodes) or (np.diff(firsts) < 0).any():
        raise ValueError("the rows of ticks must be consecutive")
    time, first, node = times, firsts, nodes
    settings.time, settings.first, settings.node = &time[0], &first[0], &node[0]

    f = <fars_t *>open_state(&s.rescheduling, sizeof(fars_t))
    f[0] = settings
    knapsack_init(&f.sack)
    s.rescheduling.copy, s.rescheduling.close, s.rescheduling.started = copy_fars, close_fars, note_wait
    own_block(f, &f.suspicious, s.machine.words, sizeof(uint64_t))
    own_block(f, &f.without, s.machine.words, sizeof(uint64_t))
    own_block(f, &f.forbidden, s.machine.words, sizeof(uint64_t))
    own_block(f, &f.suspect, s.nodes, sizeof(suspect_t))
    own_block(f, &f.gain, s.nodes, sizeof(double))
    own_block(f, &f.weight, s.nodes, sizeof(int64_t))
    own_block(f, &f.taken, s.nodes, 1)
    if f.last:
        blocks_add(&s.blocks, s, &s.hidden, s.machine.words, sizeof(uint64_t))
        if s.blocks.failed:
            raise MemoryError("no memory for rescheduling")
    # Ticks before the simulation begins only say which nodes are suspicious.
    while f.next < f.n and f.time[f.next] < s.now:
        suspect_nodes(s, f)
    add_source(s, FROM_TICKS, EV_RESCHEDULE, f.time[f.next] if f.next < f.n else INFINITY, fire_tick)
    return 0


FARS = factory(open_fars)
