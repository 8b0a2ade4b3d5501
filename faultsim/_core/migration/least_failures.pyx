"""Migration (migration.pxd): jobs move to nodes of a cluster that failed less ([zhang2004] section 5.2.3)
(model.md#least-failures-migration).

When a job has finished and its nodes are free, jobs that started after it move away from nodes that failed more.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport qsort

from faultsim._core.absences cimport closed_to_mover, hide_nodes, show_nodes
from faultsim._core.cluster.least_failed cimport find_least_failed, least_failed_open, levels_t
from faultsim._core.cluster.named cimport change_node, named_of, named_t, update_occ
from faultsim._core.cluster.node_sets cimport nodes_list, node_set_t, run_t
from faultsim._core.containers.bits cimport fs_lowest, mask_has
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.tables.factory cimport factory
from faultsim._core.faults.outages cimport counts_open, rank_open
from faultsim._core.faults.own_clock cimport own_time
from faultsim._core.faults.progress cimport at_t, move_t, progress_lead, progress_locate, progress_moved_end
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.state cimport EV_MOVE, JOB_RUNNING, LEAD_MIGRATION, disturb, sim_t
from faultsim._core.containers.memory cimport open_state, own_block, own_jobs
from faultsim._core.status cimport NO_MEMORY, OK

cdef struct later_start_t:
    double start
    int32_t job

cdef struct least_failures_t:
    double threshold, cost
    int32_t *worst           # per job on nodes: most failures of any of them
    later_start_t *later           # scratch, as the next: one a node
    int32_t *mine
    int32_t hidden           # free nodes that are closed to the job that moves
    levels_t *levels         # on large machines


cdef int by_start(const void *a, const void *b) noexcept nogil:
    cdef const later_start_t *p = <const later_start_t *>a
    cdef const later_start_t *q = <const later_start_t *>b
    if p.start != q.start:
        return -1 if p.start < q.start else 1
    return (p.job > q.job) - (p.job < q.job)


cdef int32_t best_idle(sim_t *s, least_failures_t *p, int32_t *spot) noexcept nogil:
    """The free node that failed least, the lowest on ties; -1: none.  No node that ranks before `spot` is free.

    Of the nodes that a job gives up none ranks before the idle one that it takes, so `spot` only grows while jobs move.
    """
    cdef named_t *m = named_of(&s.machine)
    if s.free == p.hidden:
        return -1
    if p.levels != NULL:
        return find_least_failed(m, p.levels, s.trace.count, &s.work.ranked)
    while spot[0] < s.nodes:
        if not mask_has(m.occ, s.trace.rank[spot[0]]):
            return s.trace.rank[spot[0]]
        spot[0] += 1
    return -1


cdef int move_away(sim_t *s, least_failures_t *p, int32_t job, int32_t *spot, bint *moved) noexcept nogil:
    """Swap its worst node for the best idle one while the difference exceeds the threshold.

    Nodes of equal count go in order of number, so one look at all of them does for a count.  A node that came in is not
    read: the next idle one has failed as often or more.
    """
    cdef named_t *m = named_of(&s.machine)
    cdef const int32_t *count = s.trace.count
    cdef int32_t n = nodes_list(m.held[job], p.mine), i, node, idle, most = 0, below, came = 0
    for i in range(n):
        if count[p.mine[i]] > most:
            most = count[p.mine[i]]
    while most >= 0:
        below = -1
        for i in range(n):
            node = p.mine[i]
            if count[node] != most:
                if count[node] > below and count[node] < most:
                    below = count[node]
                continue
            idle = best_idle(s, p, spot)
            if idle < 0 or not most - count[idle] > p.threshold:
                p.worst[job] = most if most > came else came
                return OK
            if not moved[0] and s.record.on:
                close_stay(s, job)
            moved[0] = True
            if change_node(m, job, node, idle) < 0:
                return NO_MEMORY
            came = count[idle]
        most = below
    p.worst[job] = came
    return OK


cdef int move_to_open(sim_t *s, least_failures_t *p, int32_t job, int32_t *spot, bint *moved) noexcept nogil:
    """`move_away`, to nodes that are not closed to the job until its new expected end (model.md#absences)."""
    cdef move_t cost
    cdef const uint64_t *closed
    cdef int32_t first = 0
    cdef int code
    if s.absences.state == NULL:
        return move_away(s, p, job, spot, moved)
    cost.live, cost.checkpoint_cost, cost.restart_cost = False, 0.0, p.cost
    closed = closed_to_mover(s, job, progress_moved_end(s, job, &cost))
    if closed == NULL:
        return move_away(s, p, job, &first, moved)
    p.hidden = hide_nodes(s, closed)
    code = move_away(s, p, job, &first, moved)
    p.hidden = 0
    show_nodes(s)
    return code


cdef int32_t find_candidates(sim_t *s, least_failures_t *p, int32_t finished, int32_t idle, bint *some) noexcept nogil:
    """Jobs that started later and have a node bad enough to leave it for `idle`; `some`: any that started later."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i, job, n = 0
    for i in range(s.releases.n):
        job = items[i].job
        if (job >= 0 and s.state[job] == JOB_RUNNING and s.start[job] > s.start[finished] and s.start[job] <= s.now
                and s.finish[job] > s.now):
            some[0] = True
            # While jobs move, the best idle node only gets worse: a job without a reason to move now has none later.
            if idle >= 0 and p.worst[job] - s.trace.count[idle] > p.threshold:
                p.later[n].start = s.start[job]
                p.later[n].job = job
                n += 1
    qsort(p.later, <size_t>n, sizeof(later_start_t), by_start)
    return n


cdef int finished(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef least_failures_t *p = <least_failures_t *>state
    cdef int32_t i, spot = 0, n
    cdef bint moved, any_moved = False, some = False
    cdef at_t at
    if p.levels == NULL:
        update_occ(named_of(&s.machine))
    n = find_candidates(s, p, job, best_idle(s, p, &spot), &some)
    s.n_attempted += some
    if n == 0:
        return OK
    for i in range(n):
        job = p.later[i].job
        moved = False
        if move_to_open(s, p, job, &spot, &moved) < 0:
            return NO_MEMORY
        if not moved:
            continue
        if not any_moved:
            any_moved = True
            s.n_successful += 1
            disturb(s)
        s.moves[job] += 1
        progress_locate(s, job, s.now, &at)
        if progress_lead(
                s, job, <int>LEAD_MIGRATION, own_time(s, job, s.now) + p.cost, at.safe, at.progress, at.unsaved) < 0:
            return NO_MEMORY
        if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
            return NO_MEMORY
    return OK


cdef void started(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef const node_set_t *mine = named_of(&s.machine).held[job]
    cdef const run_t *run = mine.run
    cdef const run_t *end = run + mine.n
    cdef int32_t word, count, most = 0
    cdef uint64_t bits
    while run < end:
        for word in range(run.word, run.end):
            bits = run.bits
            while bits:
                count = s.trace.count[(word << 6) + fs_lowest(bits)]
                if count > most:
                    most = count
                bits &= bits - 1
        run += 1
    (<least_failures_t *>state).worst[job] = most


cdef void failed(void *state, void *sim, int32_t job, int32_t node) noexcept nogil:
    cdef least_failures_t *p = <least_failures_t *>state
    cdef int32_t count
    if node < 0:
        started(state, sim, job)
        return
    count = (<sim_t *>sim).trace.count[node]
    if p.worst[job] < count:
        p.worst[job] = count


cdef int open_least_failures(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef least_failures_t *p
    if s.machine.placed or not s.machine.named:
        raise ValueError("migration to the nodes that failed least needs a cluster whose nodes have numbers")
    p = <least_failures_t *>open_state(&s.migration, sizeof(least_failures_t))
    own_jobs(p, &p.worst, s.n, sizeof(int32_t))
    own_block(p, &p.later, s.nodes, sizeof(later_start_t))
    own_block(p, &p.mine, s.nodes, sizeof(int32_t))
    if (counts_open(s) if s.nodes > s.limit.ranked_nodes else rank_open(s)) < 0:
        raise MemoryError("no memory for migration")
    if s.nodes > s.limit.ranked_nodes:
        least_failed_open(named_of(&s.machine), p, &p.levels)
    p.threshold, p.cost = options["threshold"], options["cost"]
    s.migration.finished, s.migration.started, s.migration.failed = finished, started, failed
    return 0


LEAST_FAILURES = factory(open_least_failures)
