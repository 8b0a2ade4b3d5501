"""Conservative backfilling where any free nodes serve: every queued job has a reservation (model.md#conservative).

The plan is a step function of free nodes: level[i] of them from at[i] until at[i + 1] (the last for ever), the running
jobs held until their expected ends and every reservation counted; at[0] <= now.  A pass takes one job's reservation out
after another, in queue order, and puts it at the earliest hole; after a disturbance all are dropped first.  No job can
move to a hole that begins at or after `gained`: up to there nodes have come back, or were left by a job that moved,
since the last sweep in which nothing could move.

After a disturbance the queue is planned again only as far as anybody may start.  The reservations of the others are
found, as of that pass, when somebody asks for them: the next pass, unless there has been another disturbance, which is
what often follows.  Then nobody ever asks.

While all are planned again the plan only fills.  So nobody finds a hole before that of a job which asked for no more
nodes and no more time, and what the last few jobs found saves most of each search.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove

from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.tables.factory cimport factory
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport close_gap, nobody_waits, sort_queue
from faultsim._core.scheduling.least_free cimport change_t, most_changes, least_free
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.state cimport end_if_started, end_if_started_at, promise_start, queue_t, sim_t, usable
from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.status cimport NO_MEMORY, OK

cdef enum:
    FOUND = 16               # so many jobs are remembered

cdef struct back_t:          # nodes that came back before they were expected, at `time`
    double time
    double expected
    int32_t nodes

cdef struct plan_t:
    double *begin            # of reservations, by job number; inf: none yet
    double *end
    double *at
    int64_t *level
    int32_t n, capacity      # steps
    double gained
    bint rebuild             # a disturbance since the last pass
    double last_pass
    # Whose reservations of the last pass are still to be found: left[0..n_left), in queue order.  The plan is as of it.
    int32_t *left
    int32_t n_left
    int32_t epoch            # of the promises that they get
    back_t *back             # what came back since
    int32_t n_back, room
    # Of the jobs that were planned last, since a disturbance: what they ask for, and when their holes begin.
    int32_t need[16]
    double remaining[16]
    double found[16]
    int32_t n_found
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


cdef inline bint is_restarted(const sim_t *s, int32_t job) noexcept nogil:
    """Whether more than its remaining time decides when it ends."""
    return s.track.on and s.restarts[job] > 0


cdef double not_before(const plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    cdef double t = p.at[0]
    cdef int32_t need = s.need[job], i
    cdef double remaining = s.remaining[job]
    if not is_restarted(s, job):
        for i in range(min(p.n_found, <int32_t>FOUND)):
            if p.need[i] <= need and p.remaining[i] <= remaining and p.found[i] > t:
                t = p.found[i]
    return t


cdef inline void remember(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    cdef int32_t i = p.n_found % FOUND
    if is_restarted(s, job):
        return
    p.need[i], p.remaining[i], p.found[i] = s.need[job], s.remaining[job], begin
    p.n_found = p.n_found + 1 if p.n_found < 2 * FOUND - 1 else <int32_t>FOUND


cdef double hole(const plan_t *p, sim_t *s, int32_t job, double t, double stop) noexcept nogil:
    """Earliest time from `t` on and before `stop` at which `job` fits for all of its expected duration; inf: none.

    What `job` itself has reserved is as good as free for it, so its own reservation need not be taken out first.
    Nodes of a job that outlives its estimate count from now on, yet cannot be had now (model.md#overrun): such a
    hole is at `now` and waits.
    """
    cdef int64_t need = s.need[job]
    cdef double own = p.begin[job], end
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
        s.work.steps += k - i + 1
        if k == p.n or (k > i and p.at[k] >= end):
            return t
        i = k + 1
        while i < p.n and p.level[i] < need:
            i += 1
        s.work.steps += i - k
        if i >= p.n or p.at[i] >= stop:
            return INFINITY
        t = p.at[i]


cdef int reserve(plan_t *p, sim_t *s, int32_t job, double begin) noexcept nogil:
    p.begin[job] = begin
    p.end[job] = end_if_started_at(s, job, begin)
    return add(p, begin, p.end[job], -<int64_t>s.need[job])


cdef int rebuild(plan_t *p, sim_t *s) noexcept nogil:
    """The plan with the running jobs alone; the queue's reservations are dropped."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i
    cdef int code
    p.n = 1
    p.at[0] = s.now
    p.level[0] = usable(s)
    for i in range(s.releases.n):
        # What is expected "now" comes back from now on.
        if items[i].end <= s.now:
            p.level[0] += items[i].nodes
        elif items[i].end < INFINITY:
            code = cut(p, items[i].end)
            if code < 0:
                return NO_MEMORY
            p.level[code] += items[i].nodes
    for i in range(s.queue.head, s.queue.end):
        p.begin[s.queue.job[i]] = INFINITY
    p.n_found = p.n_left = p.n_back = 0
    p.gained = -INFINITY
    return OK


cdef void forget_past(plan_t *p, double now) noexcept nogil:
    cdef int32_t i = step_at(p, now)
    if i > 0:
        p.n -= i
        memmove(p.at, &p.at[i], <size_t>p.n * sizeof(double))
        memmove(p.level, &p.level[i], <size_t>p.n * sizeof(int64_t))


cdef int take_back(plan_t *p, double now, double expected, int32_t nodes) noexcept nogil:
    """So many nodes have come back at `now`, and not when they were expected."""
    if expected > p.gained:
        p.gained = expected
    return add(p, now, expected, nodes)


cdef int find_left(plan_t *p, sim_t *s) noexcept nogil:
    """The reservations that the last pass has left to be found; then what came back since comes into the plan."""
    cdef int32_t i, job
    cdef double begin
    for i in range(p.n_left):
        job = p.left[i]
        begin = hole(p, s, job, not_before(p, s, job), INFINITY)
        remember(p, s, job, begin)
        if reserve(p, s, job, begin) < 0:
            return NO_MEMORY
        if s.epoch == p.epoch:
            promise_start(s, job, begin)
    p.n_left = 0
    for i in range(p.n_back):
        if take_back(p, p.back[i].time, p.back[i].expected, p.back[i].nodes) < 0:
            return NO_MEMORY
    p.n_back = 0
    return OK


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef back_t *back
    if s.expected[job] < s.now:
        p.rebuild = True         # it outlived its estimate: a disturbance
    if p.rebuild or s.expected[job] == s.now:
        return
    if p.n_left == 0:
        if take_back(p, s.now, s.expected[job], s.allocated[job]) < 0:
            p.rebuild = True     # no memory now: the next pass builds the plan again, or fails there
        return
    if p.n_back == p.room:
        if resize_block(p, &p.back, 2 * <size_t>p.room * sizeof(back_t)) < 0:
            p.rebuild = True
            return
        p.room *= 2
    back = &p.back[p.n_back]
    back.time, back.expected, back.nodes = s.now, s.expected[job], s.allocated[job]
    p.n_back += 1


cdef void queued(void *state, void *sim, int32_t job) noexcept nogil:
    (<plan_t *>state).begin[job] = INFINITY      # who was killed has no reservation until the next pass


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


cdef bint is_missed(const plan_t *p, const sim_t *s) noexcept nogil:
    """Whether the time of a reservation has passed without a start."""
    cdef int32_t i
    cdef double begin
    for i in range(s.queue.head, s.queue.end):
        begin = p.begin[s.queue.job[i]]
        if begin < s.now or begin == p.last_pass:
            return True
    return False


cdef bint starts_now(const plan_t *p, const sim_t *s, int32_t job, double end) noexcept nogil:
    """Whether a job that has no reservation, and would end then, would start in the plan as it is, just made again."""
    cdef int64_t need = s.need[job]
    cdef int32_t k = 0
    if need > usable(s):
        return False
    while p.level[k] >= need:
        k += 1
        if k == p.n or p.at[k] >= end:
            return True
    return False


cdef void leave(plan_t *p, sim_t *s, int32_t keep, int32_t at) noexcept nogil:
    """The jobs at `at` and behind wait, and nobody has looked when; those at [keep, at) have started."""
    cdef queue_t *q = &s.queue
    p.n_left = q.end - at
    p.epoch = s.epoch
    memmove(p.left, &q.job[at], <size_t>p.n_left * sizeof(int32_t))
    close_gap(q, keep, at)


cdef int plan_again(plan_t *p, sim_t *s) noexcept nogil:
    """A pass after a disturbance."""
    cdef queue_t *q = &s.queue
    cdef int32_t i, keep = q.head, next = q.head, job
    cdef double begin, end = 0.0
    cdef bint looked = False
    cdef int code
    if rebuild(p, s) < 0:
        return NO_MEMORY
    for i in range(q.head, q.end):
        # `next`: the first that would start if nobody else got a reservation.  Whoever would not never will.
        if next < i:
            next = i
            looked = False
        if not looked:
            while next < q.end:
                end = end_if_started(s, q.job[next])
                if starts_now(p, s, q.job[next], end):
                    break
                next += 1
            if next == q.end:
                leave(p, s, keep, i)
                return OK
        job = q.job[i]
        if i == next:
            begin = s.now
        else:
            begin = hole(p, s, job, not_before(p, s, job), INFINITY)
            remember(p, s, job, begin)
            looked = begin >= end and begin > s.now      # one of no length needs room at its instant
        if reserve(p, s, job, begin) < 0:
            return NO_MEMORY
        promise_start(s, job, begin)
        if i == next:
            code = start_job(s, job, s.need[job], NULL, keep > q.head)
            if code < 0:
                return code
        else:
            q.job[keep] = job
            keep += 1
    q.end = keep
    return OK


cdef int compress(plan_t *p, sim_t *s) noexcept nogil:
    """A pass in which each reservation can only move up."""
    cdef queue_t *q = &s.queue
    cdef int32_t i, keep = q.head, job
    cdef double begin, old, vacated = -INFINITY
    cdef int code
    forget_past(p, s.now)
    for i in range(q.head, q.end):
        job = q.job[i]
        old = p.begin[job]
        # Only [now, gained) has become freer since no job could move: a better hole begins there.
        begin = hole(p, s, job, s.now, old if old == INFINITY or old < p.gained else p.gained)
        if begin < old:
            if old != INFINITY:
                if add(p, old, p.end[job], s.need[job]) < 0:
                    return NO_MEMORY
                # What it leaves may serve those behind it now and those before it in the next pass.
                if p.end[job] > p.gained:
                    p.gained = p.end[job]
                if p.end[job] > vacated:
                    vacated = p.end[job]
            if reserve(p, s, job, begin) < 0:
                return NO_MEMORY
        begin = p.begin[job]
        promise_start(s, job, begin)
        if begin == s.now and s.need[job] <= usable(s):
            code = start_job(s, job, s.need[job], NULL, keep > q.head)
            if code < 0:
                return code
            continue
        q.job[keep] = job
        keep += 1
    p.gained = vacated
    q.end = keep
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef bint upset = p.rebuild
    cdef int code = sort_queue(s)
    if code < 0:
        return code
    if s.releases.n > 0 and s.releases.first[0].end <= s.now:
        upset = True             # somebody outlives its estimate
    if not upset:
        upset = is_missed(p, s)
        if not upset and p.n_left > 0:
            if find_left(p, s) < 0:
                return NO_MEMORY
            upset = is_missed(p, s)
        s.epoch += upset
    p.rebuild = False
    code = plan_again(p, s) if upset else compress(p, s)
    if code < 0:
        return code
    nobody_waits(&s.queue)
    p.last_pass = s.now
    return OK


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least
    if s.queue.head == s.queue.end:
        return sound
    if find_left(p, s) < 0:
        return NO_MEMORY
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
    p.room = 16
    own_block(p, &p.left, s.n, sizeof(int32_t))
    own_block(p, &p.back, p.room, sizeof(back_t))
    own_block(p, &p.changes, most_changes(s), sizeof(change_t))
    for i in range(s.n):
        p.begin[i] = INFINITY
    p.rebuild = True
    p.gained = -INFINITY
    p.last_pass = -INFINITY
    return 0


CONSERVATIVE = factory(open_conservative)
