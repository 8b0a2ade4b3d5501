"""Fars: at ticks of its own, running jobs leave nodes that are predicted to fail (model.md#rescheduling, [li2009]
section 4).  Masks are those of the machine.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

import numpy as np

from faultsim._core.absences cimport absences_of, any_closed, claimed_of_others, closed_to_mover
from faultsim._core.avoidance cimport free_of
from faultsim._core.cluster.named cimport change_node, free_nodes, named_of, named_t
from faultsim._core.cluster.node_sets cimport nodes_lowest_in, node_set_t
from faultsim._core.containers.bits cimport fs_lowest, mask_join
from faultsim._core.containers.memory cimport blocks_add, close_state, copy_state, open_state, own_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.contract cimport fs_require
from faultsim._core.fars.knapsack cimport knapsack_free, knapsack_init, knapsack_solve, knapsack_t
from faultsim._core.faults.progress cimport last_safe_time, move_t, progress_move, progress_moved_end
from faultsim._core.inputs cimport check_ascending, check_nodes, input_column
from faultsim._core.jobs cimport stop_job
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.state cimport (
    BY_RESCHEDULING, EV_MOVE, EV_RESCHEDULE, FROM_TICKS, JOB_RUNNING, add_source, disturb, sim_t, source_next,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport call_factory, factory
from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.tables.scheduler cimport promise_t

cdef struct fars_t

# A suspicious job at a tick; if `leaving` > 0 it moves that many of its suspicious nodes, the lowest (on placed
# machines: the whole job).
cdef struct suspect_t:
    int32_t job
    int32_t nodes            # that are suspicious
    int32_t leaving
    double gain

cdef struct fars_t:
    uint64_t *suspicious     # nodes; sim_t.avoid may be this: the first field
    # ticks, by time (the arrays are the caller's): from time[i] on nodes node[first[i]:first[i + 1]] are suspicious
    int64_t n, next
    const double *time
    const int64_t *first
    const int32_t *node
    bint some                # is any node suspicious now?
    double interval
    move_t cost              # of a move
    double (*gain_of)(const sim_t *s, const fars_t *f, int32_t job, double chance) noexcept nogil
    int32_t spares           # static; -1: dynamic
    bint last, mean, difference, steals
    double last_wait, sum_of_waits, n_waits      # between queueing and decision
    int32_t word             # named clusters: words before it have no sound free node left at this tick
    # scratch: of placed machines; of at most one job a node
    uint64_t *without        # what is occupied but for one job
    uint64_t *forbidden      # where a move must not lead to
    suspect_t *suspect
    double *gain
    int64_t *weight
    uint8_t *taken
    knapsack_t sack


# ------------------------------------------------------------------------------------------- suspicious jobs

cdef int suspects_by_job(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const suspect_t *>a).job, q = (<const suspect_t *>b).job
    return (p > q) - (p < q)


cdef inline bint may_move(const sim_t *s, int32_t job) noexcept nogil:
    return job >= 0 and s.state[job] == JOB_RUNNING and s.start[job] <= s.now and s.finish[job] > s.now


cdef inline int32_t suspicious_nodes(const sim_t *s, const fars_t *f, int32_t job) noexcept nogil:
    cdef int64_t first = f.first[f.next - 1]
    return s.machine.named.overlap(s.machine.state, job, f.suspicious, &f.node[first], f.first[f.next] - first)


cdef int32_t find_suspects(sim_t *s, fars_t *f) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef suspect_t *found = f.suspect
    cdef int32_t i, job, nodes, n = 0
    for i in range(s.releases.n):
        job = items[i].job
        if not may_move(s, job):
            continue
        nodes = suspicious_nodes(s, f, job)
        if nodes > 0:
            found[n].job = job
            found[n].nodes = nodes
            found[n].leaving = 0
            n += 1
    qsort(found, <size_t>n, sizeof(suspect_t), suspects_by_job)
    return n


# ---------------------------------------------------------------------------------------------- what a move is worth

cdef inline double risk(const sim_t *s, int32_t nodes) noexcept nogil:
    """That one of so many nodes fails."""
    cdef double survives = 1.0
    cdef int32_t _k
    for _k in range(nodes):
        survives *= 1.0 - s.predictions.p
    return 1.0 - survives


cdef inline double overhead(const fars_t *f) noexcept nogil:
    return f.cost.restart_cost if f.cost.live else f.cost.checkpoint_cost + f.cost.restart_cost


cdef inline double redone(const sim_t *s, const fars_t *f, int32_t job) noexcept nogil:
    return (s.now + f.interval / 2.0) - last_safe_time(s, job)


# [li2009] equations 2, 3 and 4 (model.md#gains)
cdef double service_units(const sim_t *s, const fars_t *f, int32_t job, double chance) noexcept nogil:
    return (chance * s.size[job]) * (redone(s, f, job) - overhead(f))


cdef double failure_rate(const sim_t *s, const fars_t *f, int32_t job, double chance) noexcept nogil:
    return chance


cdef double slowdown(const sim_t *s, const fars_t *f, int32_t job, double chance) noexcept nogil:
    cdef double waits = 0.0, length = s.estimate[job] if s.estimate[job] > 10.0 else 10.0
    if f.n_waits > 0.0:
        waits = f.sum_of_waits / f.n_waits if f.mean else f.last_wait
    return (chance * (((redone(s, f, job) + waits) + f.cost.restart_cost) - overhead(f))) / length


cdef int fill_knapsack(sim_t *s, fars_t *f, int32_t n, int64_t spare, int64_t *left) noexcept nogil:
    """The chosen jobs leave all their suspicious nodes; `left`: spare nodes that no job took."""
    cdef suspect_t *suspect
    cdef double total
    cdef int32_t i
    for i in range(n):
        suspect = &f.suspect[i]
        suspect.gain = f.gain_of(s, f, suspect.job, risk(s, suspect.nodes))
        f.gain[i] = suspect.gain
        f.weight[i] = s.allocated[suspect.job] if s.machine.placed else suspect.nodes
    if knapsack_solve(&f.sack, f.gain, f.weight, n, spare, f.taken, &total) < 0:
        return NO_MEMORY
    left[0] = spare
    for i in range(n):
        if f.taken[i]:
            f.suspect[i].leaving = f.suspect[i].nodes
            left[0] -= f.weight[i]
    return OK


cdef void use_residual(const sim_t *s, fars_t *f, int32_t n, int64_t left) noexcept nogil:
    """One more job leaves as many of its nodes as there is room for ([li2009] section 4.4)."""
    cdef suspect_t *found = f.suspect
    cdef int32_t i, best = -1
    cdef double lower, value, most = 0.0
    for i in range(n):
        if found[i].leaving > 0 or found[i].nodes <= left:
            continue
        lower = risk(s, found[i].nodes - <int32_t>left)
        if f.difference:
            lower = risk(s, found[i].nodes) - lower
        value = f.gain_of(s, f, found[i].job, lower)
        if value > most:
            best = i
            most = value
    if best >= 0:
        found[best].leaving = <int32_t>left


# ---------------------------------------------------------------------------------------------- stealing

cdef int32_t find_victim(const sim_t *s, const fars_t *f, const suspect_t *winner, int64_t missing) noexcept nogil:
    """The smaller job, not suspicious, with nodes enough, that loses least, and less than the gain; -1: none."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i, job, best = -1
    cdef double loss, least = winner.gain
    for i in range(s.releases.n):
        job = items[i].job
        if not may_move(s, job) or s.size[job] >= s.size[winner.job] or s.allocated[job] < missing:
            continue
        loss = s.size[job] * (s.now - last_safe_time(s, job))
        if (loss < least or (loss == least and best >= 0 and job < best)) and suspicious_nodes(s, f, job) == 0:
            best = job
            least = loss
    return best


cdef int steal_nodes(sim_t *s, fars_t *f, int32_t n, int64_t left) noexcept nogil:
    """Victims are stopped now; the jobs that get their nodes move with the others."""
    cdef suspect_t *found = f.suspect
    cdef int32_t i, best, victim
    cdef int code
    while True:
        best = -1
        for i in range(n):
            # gain becomes 0 once a job has had its turn
            if found[i].leaving == 0 and found[i].gain > 0.0 and (best < 0 or found[i].gain > found[best].gain):
                best = i
        if best < 0:
            return OK
        if found[best].nodes > left:
            victim = find_victim(s, f, &found[best], found[best].nodes - left)
            if victim < 0:
                found[best].gain = 0.0
                continue
            left += s.allocated[victim]
            if s.record.on and record_event(s, EV_RESCHEDULE, victim, -1) < 0:
                return NO_MEMORY
            code = stop_job(s, victim, <int>BY_RESCHEDULING)
            if code < 0:
                return code
        left -= found[best].nodes
        found[best].leaving = found[best].nodes


cdef int select_jobs(sim_t *s, fars_t *f, int32_t n, int64_t spare) noexcept nogil:
    cdef int64_t left = 0
    cdef int code = fill_knapsack(s, f, n, spare, &left)
    if code < 0:
        return code
    if f.steals:
        return steal_nodes(s, f, n, left)
    if left > 0 and not s.machine.placed:
        use_residual(s, f, n, left)
    return OK


# ---------------------------------------------------------------------------------------------- moves

# Both: 1 moved, 0 it has to stay, < 0 a code.

cdef int move_nodes(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil:
    """The lowest suspicious nodes of the job for the lowest that are free and not suspicious."""
    cdef int32_t job = suspect.job, _i, out, into
    cdef named_t *m = named_of(&s.machine)
    cdef const node_set_t *mine = m.held[job]
    cdef uint64_t bits
    cdef const uint64_t *avoided = f.suspicious
    cdef const uint64_t *closed = closed_to_mover(s, job, progress_moved_end(s, job, &f.cost))
    if s.absences.state != NULL:
        f.word = 0
    if closed != NULL:
        memcpy(f.forbidden, f.suspicious, <size_t>m.words * sizeof(uint64_t))
        mask_join(f.forbidden, closed, m.words)
        avoided = f.forbidden
        if s.free - free_of(s, avoided) < suspect.leaving:
            return 0
    if s.record.on:
        close_stay(s, job)
    for _i in range(suspect.leaving):
        out = nodes_lowest_in(mine, f.suspicious)
        fs_require(out >= 0)
        while True:
            bits = free_nodes(m, f.word) & ~avoided[f.word]
            if bits:
                break
            f.word += 1
        into = (f.word << 6) + fs_lowest(bits)
        fs_require(into < s.nodes)
        if change_node(m, job, out, into) < 0:
            return NO_MEMORY
    if s.migration.failed != NULL:
        s.migration.failed(s.migration.state, s, job, -1)
    return 1


cdef int move_place(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil:
    """Into a place of its size without a suspicious node, if the scheduler lets it."""
    cdef size_t bytes = <size_t>s.machine.words * sizeof(uint64_t)
    cdef int32_t job = suspect.job
    cdef double end = progress_moved_end(s, job, &f.cost)
    cdef place_t place = s.machine.placed.place_of(s.machine.state, job)
    cdef const uint64_t *closed = closed_to_mover(s, job, end)
    cdef permit_t permit
    cdef int found, code
    if end < s.now:
        end = s.now
    memset(&permit, 0, sizeof(permit))
    memcpy(f.without, s.machine.occ, bytes)
    s.machine.placed.lift(s.machine.state, f.without, &place)
    memcpy(f.forbidden, f.suspicious, bytes)
    if closed != NULL:
        mask_join(f.forbidden, closed, s.machine.words)
    permit.forbidden = f.forbidden
    if s.absences.state != NULL:
        permit.used = claimed_of_others(s, job, end)
    if s.scheduler.guard != NULL and s.queue.head != s.queue.end:
        code = s.scheduler.guard(s.scheduler.state, s, job, end, f.forbidden, &permit)
        if code < 0:
            return code
    s.predictions.window_from = s.now
    s.predictions.window_to = end
    found = s.placement.choose(s.placement.state, s, job, f.without, s.allocated[job], &permit, &place)
    if found < 0:
        return found
    if found:
        if s.record.on:
            close_stay(s, job)
        s.machine.named.return_nodes(s.machine.state, job)
        s.machine.placed.occupy(s.machine.state, job, &place)
    if s.scheduler.settled != NULL:
        code = s.scheduler.settled(s.scheduler.state, s, job, &place if found else NULL)
        if code < 0:
            return code
    return found


# ---------------------------------------------------------------------------------------------- ticks

cdef void suspect_nodes(sim_t *s, fars_t *f) noexcept nogil:
    """The nodes of the next tick, and no others, are suspicious from now on."""
    cdef int64_t i
    if f.some:
        for i in range(f.first[f.next - 1], f.first[f.next]):
            s.machine.named.unmark(s.machine.state, f.suspicious, f.node[i])
    for i in range(f.first[f.next], f.first[f.next + 1]):
        s.machine.named.mark(s.machine.state, f.suspicious, f.node[i])
    f.some = f.first[f.next + 1] > f.first[f.next]
    f.next += 1
    s.avoid = f.suspicious if f.some and f.last else NULL


cdef int32_t sound_nodes(const sim_t *s, const fars_t *f) noexcept nogil:
    """How many free nodes are not suspicious, nor reserved or drained now."""
    if s.absences.state == NULL or not any_closed(absences_of(s)):
        return s.free - free_of(s, f.suspicious)
    memcpy(f.without, f.suspicious, <size_t>s.machine.words * sizeof(uint64_t))
    mask_join(f.without, absences_of(s).active, s.machine.words)
    mask_join(f.without, absences_of(s).drained, s.machine.words)
    return s.free - free_of(s, f.without)


cdef int64_t spare_nodes(sim_t *s, const fars_t *f) noexcept nogil:
    """The pool that jobs may move to ([li2009] section 3.2); or a status < 0."""
    cdef int32_t sound = sound_nodes(s, f)
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
    cdef int code = move_place(s, f, suspect) if s.machine.placed else move_nodes(s, f, suspect)
    if code <= 0:
        return code
    s.n_events += 1
    s.moves[job] += 1
    if progress_move(s, job, &f.cost) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    return 1


cdef int fire_fars_tick(void *sim, bint *wanted) noexcept nogil:
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
    spares = options["spares"]
    call_factory(columns["parts"]["strategy"], &settings, options["strategy"], columns)
    settings.spares = -1 if spares == "dynamic" else min(spares["nodes"], <object>s.nodes)
    if s.machine.placed and (settings.spares >= 0 or settings.steals):
        raise ValueError("static spares and node stealing are of single nodes")
    if settings.spares > 0:
        s.kept_back = settings.spares
    table = columns["world"].ticks
    if table is None or len(table.time) == 0:
        return 0
    settings.interval, settings.cost.live = options["interval"], options["live"]
    settings.cost.checkpoint_cost, settings.cost.restart_cost = options["checkpoint_cost"], options["restart_cost"]
    settings.last = options["suspicious"] == "last"
    settings.mean = options["queue_cost"] == "mean"
    settings.difference = options["residual"] == "difference"

    settings.n = len(table.time)
    times = input_column(columns, table.time, "time", np.float64, settings.n)
    firsts = input_column(columns, table.first, "first", np.int64, settings.n + 1)
    nodes = input_column(columns, table.node, "node", np.int32, len(table.node))
    check_ascending("the times of ticks", times)
    check_nodes(s, nodes, 0)
    if firsts[0] != 0 or firsts[settings.n] != len(nodes) or (np.diff(firsts) < 0).any():
        raise ValueError("the rows of ticks must be consecutive")
    time, first, node = times, firsts, nodes
    settings.time, settings.first, settings.node = &time[0], &first[0], &node[0]

    f = <fars_t *>open_state(&s.rescheduling, sizeof(fars_t))
    f[0] = settings
    knapsack_init(&f.sack)
    s.rescheduling.copy, s.rescheduling.close, s.rescheduling.wait_ended = copy_fars, close_fars, note_wait
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
    # Ticks before the simulation begins only mark suspicious nodes.
    while f.next < f.n and f.time[f.next] < s.now:
        suspect_nodes(s, f)
    add_source(s, FROM_TICKS, EV_RESCHEDULE, f.time[f.next] if f.next < f.n else INFINITY, fire_fars_tick)
    return 0


# The strategies, parts of it: their target is the fars_t.

cdef int open_service_units(void *fars, dict options, dict columns) except -1:
    (<fars_t *>fars).gain_of = service_units
    return 0


cdef int open_failure_rate(void *fars, dict options, dict columns) except -1:
    (<fars_t *>fars).gain_of = failure_rate
    return 0


cdef int open_slowdown(void *fars, dict options, dict columns) except -1:
    (<fars_t *>fars).gain_of = slowdown
    return 0


cdef int open_stealing(void *fars, dict options, dict columns) except -1:
    (<fars_t *>fars).gain_of, (<fars_t *>fars).steals = service_units, True
    return 0


FARS = factory(open_fars)
SERVICE_UNIT_LOSS = factory(open_service_units)
JOB_FAILURE_RATE = factory(open_failure_rate)
FAILURE_SLOWDOWN = factory(open_slowdown)
NODE_STEALING = factory(open_stealing)
