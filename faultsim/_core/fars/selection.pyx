"""Which suspicious jobs leave their nodes; the contract is in selection.pxd."""

from libc.stdlib cimport qsort

from faultsim._core.fars.fars cimport GAIN_FAILURE_RATE, GAIN_SERVICE_UNITS, suspect_t
from faultsim._core.fars.knapsack cimport knapsack_solve
from faultsim._core.faults.progress cimport last_safe_time
from faultsim._core.jobs cimport stop_job
from faultsim._core.record cimport record_event
from faultsim._core.state cimport EV_RESCHEDULE, JOB_RUNNING
from faultsim._core.status cimport NO_MEMORY, OK


# ---------------------------------------------------------------------------------------------- who is in danger

cdef int by_job(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const suspect_t *>a).job, q = (<const suspect_t *>b).job
    return (p > q) - (p < q)


cdef inline bint may_move(const sim_t *s, int32_t job) noexcept nogil:
    return job >= 0 and s.state[job] == JOB_RUNNING and s.start[job] <= s.now and s.finish[job] > s.now


cdef inline int32_t suspicious_nodes(const sim_t *s, const fars_t *f, int32_t job) noexcept nogil:
    cdef int64_t first = f.first[f.next - 1]
    return s.machine.overlap(s.machine.state, job, f.suspicious, &f.node[first], f.first[f.next] - first)


cdef int32_t find_suspects(sim_t *s, fars_t *f) noexcept nogil:
    cdef suspect_t *found = f.suspect
    cdef int32_t i, job, nodes, n = 0
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if not may_move(s, job):
            continue
        nodes = suspicious_nodes(s, f, job)
        if nodes > 0:
            found[n].job = job
            found[n].nodes = nodes
            found[n].leaving = 0
            n += 1
    qsort(found, <size_t>n, sizeof(suspect_t), by_job)
    return n


# ---------------------------------------------------------------------------------------------- what a move is worth

cdef inline double risk(const sim_t *s, int32_t nodes) noexcept nogil:
    """That one of so many nodes fails."""
    cdef double survives = 1.0
    cdef int32_t _k
    for _k in range(nodes):
        survives *= 1.0 - s.predictions.p
    return 1.0 - survives


cdef double gain(const sim_t *s, const fars_t *f, int32_t job, double chance) noexcept nogil:
    """[li2009] equations 2, 3 and 4 (model.md#gains)."""
    cdef double overhead = f.cost.restart_cost if f.cost.live else f.cost.checkpoint_cost + f.cost.restart_cost
    cdef double redone, waits = 0.0, length
    if f.strategy == GAIN_FAILURE_RATE:
        return chance
    redone = (s.now + f.interval / 2.0) - last_safe_time(s, job)
    if f.strategy == GAIN_SERVICE_UNITS:
        return (chance * s.size[job]) * (redone - overhead)
    if f.n_waits > 0.0:
        waits = f.sum_of_waits / f.n_waits if f.mean else f.last_wait
    length = s.estimate[job] if s.estimate[job] > 10.0 else 10.0
    return (chance * (((redone + waits) + f.cost.restart_cost) - overhead)) / length


cdef int fill_knapsack(sim_t *s, fars_t *f, int32_t n, int64_t spare, int64_t *left) noexcept nogil:
    """The chosen jobs leave all their suspicious nodes; `left`: spare nodes that nobody got."""
    cdef suspect_t *suspect
    cdef double total
    cdef int32_t i
    for i in range(n):
        suspect = &f.suspect[i]
        suspect.gain = gain(s, f, suspect.job, risk(s, suspect.nodes))
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
        value = gain(s, f, found[i].job, lower)
        if value > most:
            best = i
            most = value
    if best >= 0:
        found[best].leaving = <int32_t>left


# ---------------------------------------------------------------------------------------------- stealing

cdef int32_t find_victim(const sim_t *s, const fars_t *f, const suspect_t *winner, int64_t missing) noexcept nogil:
    """The smaller job, not suspicious, with nodes enough, that loses least, and less than the gain; -1: none."""
    cdef int32_t i, job, best = -1
    cdef double loss, least = winner.gain
    for i in range(s.releases.n):
        job = s.releases.items[i].job
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
            code = stop_job(s, victim)
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
