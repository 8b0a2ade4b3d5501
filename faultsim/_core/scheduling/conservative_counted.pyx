"""Conservative backfilling on a cluster (MODEL 6); the contract is in conservative.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, malloc, realloc
from libc.string cimport memmove

from faultsim._core.state cimport (
    NO_MEMORY, OK, end_if_started_at, plan_t, promise_start, sim_t, start_job, usable, wait_t,
)


cdef int plan_alloc_cluster(sim_t *s) noexcept nogil:
    cdef plan_t *p = &s.plan
    cdef int32_t i
    p.capacity = 256
    p.begin = <double *>malloc(<size_t>s.n * sizeof(double))
    p.end = <double *>calloc(<size_t>s.n, sizeof(double))
    p.at = <double *>malloc(<size_t>p.capacity * sizeof(double))
    p.level = <int64_t *>malloc(<size_t>p.capacity * sizeof(int64_t))
    if p.begin == NULL or p.end == NULL or p.at == NULL or p.level == NULL:
        return NO_MEMORY
    for i in range(s.n):
        p.begin[i] = INFINITY
    p.n = 1
    p.at[0] = -INFINITY
    p.level[0] = s.nodes - s.policy.kept_back
    p.rebuild = False
    p.gained = -INFINITY
    p.last_pass = -INFINITY
    return OK


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
    cdef void *a
    cdef void *b
    if p.at[i] == t:
        return i
    if p.n == p.capacity:
        capacity = 2 * p.capacity
        a = realloc(p.at, <size_t>capacity * sizeof(double))
        if a == NULL:
            return -1
        p.at = <double *>a
        b = realloc(p.level, <size_t>capacity * sizeof(int64_t))
        if b == NULL:
            return -1
        p.level = <int64_t *>b
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


cdef double hole(const sim_t *s, int32_t job, double stop) noexcept nogil:
    """Earliest time from now on and before `stop` at which `job` fits for all of its expected duration; inf: none.

    What `job` itself has reserved is as good as free for it, so its own reservation need not be taken out first.
    Nodes of a job that outlives its estimate count from now on, yet cannot be had now (MODEL 3): such a hole is at
    `now` and waits.
    """
    cdef const plan_t *p = &s.plan
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


cdef int rebuild(sim_t *s) noexcept nogil:
    """The plan with the running jobs alone; the queue's reservations are dropped."""
    cdef plan_t *p = &s.plan
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
    for i in range(s.wait.head, s.wait.end):
        p.begin[s.wait.job[i]] = INFINITY
    return OK


cdef void forget_past(plan_t *p, double now) noexcept nogil:
    cdef int32_t i = step_at(p, now)
    if i > 0:
        p.n -= i
        memmove(p.at, &p.at[i], <size_t>p.n * sizeof(double))
        memmove(p.level, &p.level[i], <size_t>p.n * sizeof(int64_t))


cdef void released_conservative_cluster(sim_t *s, int32_t job) noexcept nogil:
    cdef plan_t *p = &s.plan
    if s.expected[job] > s.now:
        if s.expected[job] > p.gained:
            p.gained = s.expected[job]
        if add(p, s.now, s.expected[job], s.allocated[job]) < 0:
            p.rebuild = True     # no memory now: the next pass builds the plan anew, or fails there
    elif s.expected[job] < s.now:
        p.rebuild = True         # it outlived its estimate: a disturbance


cdef int schedule_conservative_cluster(sim_t *s) noexcept nogil:
    cdef wait_t *w = &s.wait
    cdef plan_t *p = &s.plan
    cdef int32_t i, keep, job
    cdef double begin, old, vacated = -INFINITY
    cdef bint waits = False, disturbed = p.rebuild
    cdef int code
    if s.policy.order != NULL:
        code = s.policy.order(s)
        if code < 0:
            return code
    if s.releases.n > 0 and s.releases.items[0].end <= s.now:
        disturbed = True         # somebody outlives its estimate
    if not disturbed:
        for i in range(w.head, w.end):
            begin = p.begin[w.job[i]]
            if begin < s.now or begin == p.last_pass:
                disturbed = True         # a reservation was missed
                s.epoch += 1
                break
    if disturbed:
        if rebuild(s) < 0:
            return NO_MEMORY
        p.gained = -INFINITY
    else:
        forget_past(p, s.now)
    p.rebuild = False
    keep = w.head
    for i in range(w.head, w.end):
        job = w.job[i]
        old = p.begin[job]
        # Only [now, plan.gained) has become freer since no job could move: a better hole begins there.
        begin = hole(s, job, old if old == INFINITY or old < p.gained else p.gained)
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
        w.job[keep] = job
        keep += 1
    p.gained = vacated
    w.end = keep
    if w.head == w.end:
        w.head = 0
        w.end = 0
    p.last_pass = s.now
    return OK
