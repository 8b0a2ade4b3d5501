"""Conservative backfilling where any free nodes serve: every queued job has a reservation (model.md#conservative).

The plan is a step function of free nodes: level[i] of them from at[i] until at[i + 1] (the last for ever), the running
jobs held until their expected ends and every reservation counted; at[0] <= now.  A pass takes one job's reservation out
after another, in queue order, and puts it at the earliest hole; after a disturbance all are dropped first.  No job can
move to a hole that begins at or after `gained`: up to there nodes have come back, or were left by a job that moved,
since the last sweep in which nothing could move.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove

from faultsim._core.tables.factory cimport factory
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport nobody_waits, sort_queue
from faultsim._core.scheduling.least_free cimport change_t, most_changes, least_free
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.state cimport end_if_started_at, promise_start, queue_t, sim_t, usable
from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.status cimport NO_MEMORY, OK

cdef struct plan_t:
    double *begin            # of reservations, by job number; inf: none yet
    double *end
    double *at
    int64_t *level
    int32_t n, capacity      # steps
    double gained
    bint rebuild             # a disturbance since the last pass
    double last_pass
    change_t *changes        # scratch


cdef inline int32_t step_at(const plan_t *p, double t) noexcept nogil:
    # Index of the step that holds at time t: the last one with at <= t.
    cdef int32_t low = 0, high = p.n, mid
    while high - low > 1:
        mid = (low + high) >> 1
        if p.at[mid] <= t:
            low = mid
        else:
            high = mid
    return low


cdef int32_t cut(plan_t *p, double t) noexcept nogil:
    """Make `t` a step of its own; its index, or -1 without memory."""
    cdef int32_t i = step_at(p, t), capacity
    if p.at[i] == t:
        return i
    if p.n == p.capacity:
        capacity = 2 * p.capacity
        if (resize_block(p, &p.at, <size_t>capacity * sizeof(double)) < 0
                or resize_block(p, &p.level, <size_t>capacity * sizeof(int64_t)) < 0):
            return -1
        p.capacity = capacity
    i += 1
    memmove(&p.at[i + 1], &p.at[i], <size_t>(p.n - i) * sizeof(double))
    memmove(&p.level[i + 1], &p.level[i], <size_t>(p.n - i) * sizeof(int64_t))
    p.at[i] = t
    p.level[i] = p.level[i - 1]
    p.n += 1
    return i


cdef inline void join(plan_t *p, int32_t i) noexcept nogil:
    # Take step i out when it changes nothing.
    if i > 0 and i < p.n and p.level[i] == p.level[i - 1]:
        p.n -= 1
        memmove(&p.at[i], &p.at[i + 1], <size_t>(p.n - i) * sizeof(double))
        memmove(&p.level[i], &p.level[i + 1], <size_t>(p.n - i) * sizeof(int64_t))


cdef int add(plan_t *p, double begin, double end, int64_t nodes) noexcept nogil:
    """`nodes` more (or fewer) are free in [begin, end)."""
    cdef int32_t i, j, k
    if not begin < end:
        return OK
    i = cut(p, begin)
    if i < 0:
        return NO_MEMORY
    j = cut(p, end)
    if j < 0:
        return NO_MEMORY
    for k in range(i, j):
        p.level[k] += nodes
    join(p, j)
    join(p, i)
    return OK


cdef double hole(const plan_t *p, const sim_t *s, int32_t job, double stop) noexcept nogil:
    """Earliest time from now on and before `stop` at which `job` fits for all of its expected duration; inf: none.

    What `job` itself has reserved is as good as free for it, so its own reservation need not be taken out first.
    Nodes of a job that outlives its estimate count from now on, yet cannot be had now (model.md#overrun): such a
    hole is at `now` and waits.
    """
    cdef int64_t need = s.need[job]
    cdef double own = p.begin[job], t = s.now, end
    cdef int32_t i, k
    if not t < stop:
        return INFINITY
    i = step_at(p, t)
    while True:
        end = end_if_started_at(s, job, t)
        if end > own:
            end = own
        k = i
        while k < p.n and (k == i or p.at[k] < end) and p.level[k] >= need:
            k += 1
        if k == p.n or (k > i and p.at[k] >= end):
            return t
        i = k + 1
        while i < p.n and p.level[i] < need:
            i += 1
        if i >= p.n or p.at[i] >= stop:
            return INFINITY
        t = p.at[i]


cdef int rebuild(plan_t *p, sim_t *s) noexcept nogil:
    """The plan with the running jobs alone; the queue's reservations are dropped."""
    cdef int32_t i
    cdef int code
    p.n = 1
    p.at[0] = s.now
    p.level[0] = usable(s)
    for i in range(s.releases.n):
        # What is expected "now" comes back from now on.
        if s.releases.items[i].end <= s.now:
            p.level[0] += s.releases.items[i].nodes
        elif s.releases.items[i].end < INFINITY:
            code = cut(p, s.releases.items[i].end)
            if code < 0:
                return NO_MEMORY
            p.level[code] += s.releases.items[i].nodes
    for i in range(s.queue.head, s.queue.end):
        p.begin[s.queue.job[i]] = INFINITY
    return OK


cdef void forget_past(plan_t *p, double now) noexcept nogil:
    cdef int32_t i = step_at(p, now)
    if i > 0:
        p.n -= i
        memmove(p.at, &p.at[i], <size_t>p.n * sizeof(double))
        memmove(p.level, &p.level[i], <size_t>p.n * sizeof(int64_t))


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    if s.expected[job] > s.now:
        if s.expected[job] > p.gained:
            p.gained = s.expected[job]
        if add(p, s.now, s.expected[job], s.allocated[job]) < 0:
            p.rebuild = True     # no memory now: the next pass builds the plan again, or fails there
    elif s.expected[job] < s.now:
        p.rebuild = True         # it outlived its estimate: a disturbance


cdef void queued(void *state, void *sim, int32_t job) noexcept nogil:
    (<plan_t *>state).begin[job] = INFINITY      # who was killed has no reservation until the next pass


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef int32_t i, keep, job
    cdef double begin, old, vacated = -INFINITY
    cdef bint waits = False, upset = p.rebuild
    cdef int code
    code = sort_queue(s)
    if code < 0:
        return code
    if s.releases.n > 0 and s.releases.items[0].end <= s.now:
        upset = True             # somebody outlives its estimate
    if not upset:
        for i in range(q.head, q.end):
            begin = p.begin[q.job[i]]
            if begin < s.now or begin == p.last_pass:
                upset = True     # a reservation was missed
                s.epoch += 1
                break
    if upset:
        if rebuild(p, s) < 0:
            return NO_MEMORY
        p.gained = -INFINITY
    else:
        forget_past(p, s.now)
    p.rebuild = False
    keep = q.head
    for i in range(q.head, q.end):
        job = q.job[i]
        old = p.begin[job]
        # Only [now, gained) has become freer since no job could move: a better hole begins there.
        begin = hole(p, s, job, old if old == INFINITY or old < p.gained else p.gained)
        if begin < old:
            if old != INFINITY:
                if add(p, old, p.end[job], s.need[job]) < 0:
                    return NO_MEMORY
                # What it leaves may serve those behind it now and those before it in the next pass.
                if p.end[job] > p.gained:
                    p.gained = p.end[job]
                if p.end[job] > vacated:
                    vacated = p.end[job]
            p.begin[job] = begin
            p.end[job] = end_if_started_at(s, job, begin)
            if add(p, begin, p.end[job], -<int64_t>s.need[job]) < 0:
                return NO_MEMORY
        begin = p.begin[job]
        promise_start(s, job, begin)
        if begin == s.now and s.need[job] <= usable(s):
            code = start_job(s, job, s.need[job], NULL, waits)
            if code < 0:
                return code
            continue
        waits = True
        q.job[keep] = job
        keep += 1
    p.gained = vacated
    q.end = keep
    nobody_waits(q)
    p.last_pass = s.now
    return OK


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least
    if s.queue.head == s.queue.end:
        return sound
    least = least_free(s, p.begin, p.end, s.need, p.changes)
    return least if least < sound else sound


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    cdef int32_t i
    s.scheduler.schedule, s.scheduler.spare = schedule, spare
    s.scheduler.released, s.scheduler.queued, s.scheduler.disturbed = released, queued, disturbed
    p.capacity = 256
    own_block(p, &p.begin, s.n, sizeof(double))
    own_block(p, &p.end, s.n, sizeof(double))
    own_block(p, &p.at, p.capacity, sizeof(double))
    own_block(p, &p.level, p.capacity, sizeof(int64_t))
    own_block(p, &p.changes, most_changes(s), sizeof(change_t))
    for i in range(s.n):
        p.begin[i] = INFINITY
    p.rebuild = True
    p.gained = -INFINITY
    p.last_pass = -INFINITY
    return 0


CONSERVATIVE = factory(open_conservative)
