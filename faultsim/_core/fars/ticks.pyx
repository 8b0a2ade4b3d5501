"""Ticks of Fars; the contract is in fars.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort

from faultsim._core.faults.failures cimport stop_job
from faultsim._core.fars.spares cimport promised_t, spare_nodes
from faultsim._core.fars.box_moves cimport move_box, promised_box
from faultsim._core.fars.knapsack cimport knapsack_solve
from faultsim._core.faults.progress cimport life_last_safe, life_move
from faultsim._core.cluster.node_sets cimport most_failures, nodes_swap
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.state cimport (
    EV_MOVE, EV_RESCHEDULE, GAIN_FAILURE_RATE, GAIN_SERVICE_UNITS, JOB_RUNNING, NO_MEMORY, OK, disturb, fars_t,
    nodes_t, suspect_t,
)
from faultsim._core.fars.suspicion cimport healthy, suspect_nodes, suspicious_nodes

cdef extern from "contract.h" nogil:
    void fs_require(bint condition)

cdef extern from * nogil:
    """
    #if defined(__GNUC__)
    #define fs_first(w) __builtin_ctzll(w)
    #else
    static int fs_first(unsigned long long w) { int n = 0; while (!(w & 1)) { w >>= 1; n++; } return n; }
    #endif
    """
    int fs_first(unsigned long long w)


# ---------------------------------------------------------------------------------------------- who is in danger

cdef int by_job(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const suspect_t *>a).job, q = (<const suspect_t *>b).job
    return (p > q) - (p < q)


cdef inline bint may_move(const sim_t *s, int32_t job) noexcept nogil:
    return job >= 0 and s.state[job] == JOB_RUNNING and s.start[job] <= s.now and s.finish[job] > s.now


cdef int32_t find_suspects(sim_t *s) noexcept nogil:
    """fars.suspect: running jobs with suspicious nodes, by job; how many."""
    cdef suspect_t *found = s.fars.suspect
    cdef int32_t i, job, nodes, n = 0
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if not may_move(s, job):
            continue
        nodes = suspicious_nodes(s, job)
        if nodes > 0:
            found[n].job = job
            found[n].nodes = nodes
            found[n].leaving = 0
            n += 1
    qsort(found, <size_t>n, sizeof(suspect_t), by_job)
    return n


# ---------------------------------------------------------------------------------------------- what a move is worth

cdef inline double risk(const sim_t *s, int32_t nodes) noexcept nogil:
    """f: that one of so many nodes fails."""
    cdef double survives = 1.0
    cdef int32_t _k
    for _k in range(nodes):
        survives *= 1.0 - s.faults.p
    return 1.0 - survives


cdef double gain(const sim_t *s, int32_t job, double f) noexcept nogil:
    """Equations 2, 3 and 4 of Li 2009."""
    cdef const fars_t *fars = &s.fars
    cdef double overhead = fars.restart_cost if fars.live else fars.checkpoint_cost + fars.restart_cost
    cdef double redone, waits = 0.0, length
    if fars.strategy == GAIN_FAILURE_RATE:
        return f
    redone = (s.now + fars.interval / 2.0) - life_last_safe(s, job)
    if fars.strategy == GAIN_SERVICE_UNITS:
        return (f * s.size[job]) * (redone - overhead)
    if fars.n_waits > 0.0:
        waits = fars.sum_of_waits / fars.n_waits if fars.mean else fars.last_wait
    length = s.estimate[job] if s.estimate[job] > 10.0 else 10.0
    return (f * (((redone + waits) + fars.restart_cost) - overhead)) / length


cdef int select_jobs(sim_t *s, int32_t n, int64_t spare, int64_t *left) noexcept nogil:
    """The knapsack: the chosen jobs leave all their suspicious nodes; `left`: spare nodes that nobody got."""
    cdef fars_t *fars = &s.fars
    cdef suspect_t *job
    cdef double total
    cdef int32_t i
    for i in range(n):
        job = &fars.suspect[i]
        job.gain = gain(s, job.job, risk(s, job.nodes))
        fars.gain[i] = job.gain
        fars.weight[i] = s.allocated[job.job] if s.is_torus else job.nodes
    if knapsack_solve(&fars.sack, fars.gain, fars.weight, n, spare, fars.taken, &total) < 0:
        return NO_MEMORY
    left[0] = spare
    for i in range(n):
        if fars.taken[i]:
            fars.suspect[i].leaving = fars.suspect[i].nodes
            left[0] -= fars.weight[i]
    return OK


cdef void use_residual(sim_t *s, int32_t n, int64_t left) noexcept nogil:
    """One more job leaves as many of its nodes as there is room for (Li 2009, section 4.4)."""
    cdef suspect_t *found = s.fars.suspect
    cdef int32_t i, best = -1
    cdef double f, v, most = 0.0
    for i in range(n):
        if found[i].leaving > 0 or found[i].nodes <= left:
            continue
        f = risk(s, found[i].nodes - <int32_t>left)
        if s.fars.difference:
            f = risk(s, found[i].nodes) - f
        v = gain(s, found[i].job, f)
        if v > most:
            best = i
            most = v
    if best >= 0:
        found[best].leaving = <int32_t>left


# ---------------------------------------------------------------------------------------------- stealing

cdef int32_t find_victim(const sim_t *s, const suspect_t *thief, int64_t missing) noexcept nogil:
    """The smaller job, not suspicious, with nodes enough, that loses least, and less than the gain; -1: none."""
    cdef int32_t i, job, best = -1
    cdef double loss, least = thief.gain
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if not may_move(s, job) or s.size[job] >= s.size[thief.job] or s.allocated[job] < missing:
            continue
        loss = s.size[job] * (s.now - life_last_safe(s, job))
        if (loss < least or (loss == least and best >= 0 and job < best)) and suspicious_nodes(s, job) == 0:
            best = job
            least = loss
    return best


cdef int steal_nodes(sim_t *s, int32_t n, int64_t left) noexcept nogil:
    """Victims are stopped now; the jobs that get their nodes move with the others."""
    cdef suspect_t *found = s.fars.suspect
    cdef int32_t i, best, victim
    while True:
        best = -1
        for i in range(n):
            # gain becomes 0 once a job has had its turn
            if found[i].leaving == 0 and found[i].gain > 0.0 and (best < 0 or found[i].gain > found[best].gain):
                best = i
        if best < 0:
            return OK
        if found[best].nodes > left:
            victim = find_victim(s, &found[best], found[best].nodes - left)
            if victim < 0:
                found[best].gain = 0.0
                continue
            left += s.allocated[victim]
            if s.record.on and record_event(s, EV_RESCHEDULE, victim, -1) < 0:
                return NO_MEMORY
            if stop_job(s, victim) < 0:
                return NO_MEMORY
        left -= found[best].nodes
        found[best].leaving = found[best].nodes


# ---------------------------------------------------------------------------------------------- moves

cdef int change_nodes(sim_t *s, const suspect_t *moving, int32_t *word) noexcept nogil:
    """The lowest suspicious nodes of a job for the lowest that are free and not suspicious, from word[0] on."""
    cdef nodes_t *mine = s.held[moving.job]
    cdef uint64_t *suspicious = s.fars.suspicious
    cdef int32_t _i, k, out, into
    cdef uint64_t bits
    for _i in range(moving.leaving):
        k = 0
        while not mine.bits[k] & suspicious[mine.word[k]]:
            k += 1
            fs_require(k < mine.n)
        out = (mine.word[k] << 6) + fs_first(mine.bits[k] & suspicious[mine.word[k]])
        while True:
            bits = ~(s.occ[word[0]] | suspicious[word[0]])
            if bits:
                break
            word[0] += 1
        into = (word[0] << 6) + fs_first(bits)
        fs_require(into < s.nodes)
        s.occ[out >> 6] &= ~((<uint64_t>1) << (out & 63))
        s.occ[into >> 6] |= (<uint64_t>1) << (into & 63)
        if nodes_swap(mine, out, into) < 0:
            return NO_MEMORY
    return OK


cdef int move_nodes(sim_t *s, const suspect_t *moving, int32_t *word) noexcept nogil:
    cdef int32_t job = moving.job
    if s.record.on:
        close_stay(s, job)
    if change_nodes(s, moving, word) < 0:
        return NO_MEMORY
    if s.faults.evades:
        s.life[job].worst = most_failures(s, job)
    s.moves[job] += 1
    if life_move(s, job) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    return 1


cdef int tick(sim_t *s, bint *wanted) noexcept nogil:
    cdef fars_t *fars = &s.fars
    cdef promised_t promised
    cdef int64_t spare, left = 0
    cdef int32_t i, n, word = 0
    cdef bint moved = False, asked = False
    cdef int code
    fars.next += 1
    suspect_nodes(s, fars.next - 1)
    if not fars.some:
        return OK
    n = find_suspects(s)
    if n == 0:
        return OK
    s.n_attempted += 1
    spare = spare_nodes(s, healthy(s), &promised)
    if spare < 0:
        return <int>spare
    if select_jobs(s, n, spare, &left) < 0:
        return NO_MEMORY
    if fars.steals:
        if steal_nodes(s, n, left) < 0:
            return NO_MEMORY
    elif left > 0 and not s.is_torus:
        use_residual(s, n, left)
    for i in range(n):
        if fars.suspect[i].leaving == 0:
            continue
        if not s.is_torus:
            code = move_nodes(s, &fars.suspect[i], &word)
        else:
            if s.policy.fixed and promised.any and not asked:
                asked = True
                code = promised_box(s, &promised)
                if code < 0:
                    return code
            code = move_box(s, fars.suspect[i].job, &promised)
        if code < 0:
            return code
        if code:
            moved = True
            s.n_events += 1
    if moved:
        s.n_successful += 1
        disturb(s)
        wanted[0] = True
    return OK


cdef void ticks_before(sim_t *s) noexcept nogil:
    cdef fars_t *fars = &s.fars
    while fars.next < fars.n and fars.time[fars.next] < s.now:
        suspect_nodes(s, fars.next)
        fars.next += 1
