"""Migration to nodes that failed less; the contract is in least_failures.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free as c_free, malloc, qsort

from faultsim._core.faults.progress cimport life_lead, life_locate, place_t
from faultsim._core.cluster.node_sets cimport nodes_list, nodes_swap
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.state cimport EV_MOVE, JOB_RUNNING, LEAD_MIGRATION, NO_MEMORY, OK, disturb

cdef struct later_t:
    double start
    int32_t job


cdef int by_start(const void *a, const void *b) noexcept nogil:
    cdef const later_t *p = <const later_t *>a
    cdef const later_t *q = <const later_t *>b
    if p.start != q.start:
        return -1 if p.start < q.start else 1
    return (p.job > q.job) - (p.job < q.job)


cdef int32_t best_idle(const sim_t *s, int32_t *spot) noexcept nogil:
    """The free node that failed least, the lowest on ties; -1: none.  No node that ranks before `spot` is free.

    Of the nodes that a job gives up none ranks before the idle one that it takes, so `spot` only grows while jobs move.
    """
    cdef int32_t node
    if s.free == 0:
        return -1
    while spot[0] < s.nodes:
        node = s.faults.rank[spot[0]]
        if not (s.occ[node >> 6] >> (node & 63)) & 1:
            return node
        spot[0] += 1
    return -1


cdef int move_away(sim_t *s, int32_t job, int32_t *mine, int32_t *spot, bint *moved) noexcept nogil:
    """Swap its worst node for the best idle one while the difference exceeds the threshold.

    Nodes of equal count go in order of number, so one look at all of them does for a count.  A node that came in is not
    looked at: the next idle one has failed as often or more.
    """
    cdef const int32_t *count = s.faults.count
    cdef int32_t n = nodes_list(s.held[job], mine), i, node, idle, most = 0, below, came = 0
    for i in range(n):
        if count[mine[i]] > most:
            most = count[mine[i]]
    while most >= 0:
        below = -1
        for i in range(n):
            node = mine[i]
            if count[node] != most:
                if count[node] > below and count[node] < most:
                    below = count[node]
                continue
            idle = best_idle(s, spot)
            if idle < 0 or not most - count[idle] > s.faults.threshold:
                s.life[job].worst = most if most > came else came
                return OK
            if not moved[0] and s.record.on:
                close_stay(s, job)
            moved[0] = True
            s.occ[node >> 6] &= ~((<uint64_t>1) << (node & 63))
            s.occ[idle >> 6] |= (<uint64_t>1) << (idle & 63)
            if nodes_swap(s.held[job], node, idle) < 0:
                return NO_MEMORY
            came = count[idle]
        most = below
    s.life[job].worst = came
    return OK


cdef int32_t candidates(sim_t *s, int32_t finished, int32_t idle, later_t *out, bint *some) noexcept nogil:
    """Jobs that started later and have a node bad enough to leave it for `idle`; `some`: any that started later."""
    cdef int32_t i, job, n = 0
    some[0] = False
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if (job >= 0 and s.state[job] == JOB_RUNNING and s.start[job] > s.start[finished] and s.start[job] <= s.now
                and s.finish[job] > s.now):
            some[0] = True
            # While jobs move, the best idle node only gets worse: who has no reason now will have none.
            if idle >= 0 and s.life[job].worst - s.faults.count[idle] > s.faults.threshold:
                if out != NULL:
                    out[n].start = s.start[job]
                    out[n].job = job
                n += 1
    return n


cdef int evade(sim_t *s, int32_t finished) noexcept nogil:
    cdef int32_t i, job, spot = 0, idle = best_idle(s, &spot), n
    cdef later_t *later
    cdef int32_t *mine
    cdef bint moved, some
    cdef place_t at
    cdef int code = OK
    n = candidates(s, finished, idle, NULL, &some)
    s.n_attempted += some
    if n == 0:
        return OK
    s.n_successful += 1
    disturb(s)
    later = <later_t *>malloc(<size_t>n * sizeof(later_t))
    mine = <int32_t *>malloc(<size_t>s.nodes * sizeof(int32_t))
    if later == NULL or mine == NULL:
        c_free(later)
        c_free(mine)
        return NO_MEMORY
    candidates(s, finished, idle, later, &some)
    qsort(later, <size_t>n, sizeof(later_t), by_start)
    for i in range(n):
        job = later[i].job
        moved = False
        code = move_away(s, job, mine, &spot, &moved)
        if code < 0:
            break
        if not moved:
            continue
        s.moves[job] += 1
        life_locate(s, job, s.now, &at)
        code = life_lead(s, job, <int>LEAD_MIGRATION, s.now + s.faults.move_cost, at.safe, at.progress, at.unsaved)
        if code < 0:
            break
        if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
            code = NO_MEMORY
            break
    c_free(later)
    c_free(mine)
    return code
