"""Conservative backfilling where a job needs a place: each queued job has one reserved for a stretch of time
(model.md#conservative).

`mask` holds the reserved place (of queued jobs) or the place held (of running ones) as an occupancy, so that what is
taken over a stretch of time is a few ORs.  A hole at `now` is in nodes that are really free; releases that are expected
"now" count only for reservations that wait.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from faultsim._core.avoidance cimport choose_growing
from faultsim._core.containers.bits cimport mask_join
from faultsim._core.tables.factory cimport factory
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport nobody_waits, sort_queue
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t, same_place
from faultsim._core.scheduling.least_free cimport change_t, most_changes, least_free
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.state cimport JOB_RUNNING, end_if_started_at, promise_start, queue_t, sim_t
from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.status cimport NO_MEMORY, OK

cdef struct plan_t:
    int32_t max_growth
    double *begin            # of reservations, by job number; inf: none yet
    double *end
    int32_t *nodes
    place_t *place
    double gained            # the plan has become freer up to here since no job could move
    int32_t head             # the first job in the queue that still waited after the last sweep
    bint rebuild             # a disturbance since the last pass
    double last_pass
    uint64_t *masks          # of the jobs that wait or run, and spare ones
    int64_t n_masks, cap_masks
    int64_t *row             # of a job: where its mask begins; -1: it has none
    int64_t spare            # the first spare mask, whose first word leads to the next; -1: none
    # scratch
    uint64_t *window
    uint64_t *instant
    double *times
    change_t *changes


cdef inline uint64_t *mask_of(const plan_t *p, int32_t job) noexcept nogil:
    return p.masks + p.row[job]


cdef int new_mask(plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    cdef size_t words = s.machine.words
    if p.spare >= 0:
        p.row[job] = p.spare
        p.spare = <int64_t>p.masks[p.spare]
        return OK
    if p.n_masks == p.cap_masks:
        if resize_block(p, &p.masks, 2 * <size_t>p.cap_masks * words * sizeof(uint64_t)) < 0:
            return NO_MEMORY
        p.cap_masks *= 2
    p.row[job] = p.n_masks * <int64_t>words
    p.n_masks += 1
    return OK


cdef int reserve(plan_t *p, sim_t *s, int32_t job, const place_t *place) noexcept nogil:
    """Make the job's mask that of a place."""
    if p.row[job] < 0 and new_mask(p, s, job) < 0:
        return NO_MEMORY
    memset(mask_of(p, job), 0, <size_t>s.machine.words * sizeof(uint64_t))
    s.machine.put(s.machine.state, mask_of(p, job), place)
    return OK


cdef int ascending(const void *a, const void *b) noexcept nogil:
    cdef double p = (<const double *>a)[0], q = (<const double *>b)[0]
    return (p > q) - (p < q)


cdef int32_t release_times(plan_t *p, sim_t *s) noexcept nogil:
    """p.times: when nodes come back, from now on, ascending, each once; how many."""
    cdef int32_t i, n = 0, kept = 0
    cdef double t
    for i in range(s.releases.n):
        t = s.releases.items[i].end
        if t < INFINITY:
            p.times[n] = t if t > s.now else s.now
            n += 1
    for i in range(s.queue.head, s.queue.end):
        if p.begin[s.queue.job[i]] != INFINITY:
            p.times[n] = p.end[s.queue.job[i]]
            n += 1
    qsort(p.times, <size_t>n, sizeof(double), ascending)
    for i in range(n):
        if p.times[i] >= s.now and (kept == 0 or p.times[i] != p.times[kept - 1]):
            p.times[kept] = p.times[i]
            kept += 1
    return kept


cdef void find_taken(plan_t *p, sim_t *s, int32_t job, double t, double end, bint real) noexcept nogil:
    """p.window: nodes that `job` cannot have over all of [t, end); p.instant: what is taken at t.

    `real`: t is now and every running job counts, also one that has outlived its estimate.
    """
    cdef machine_t *m = &s.machine
    cdef size_t bytes = <size_t>m.words * sizeof(uint64_t)
    cdef int32_t i, other
    if real:
        memcpy(p.window, m.occ, bytes)
    else:
        memset(p.window, 0, bytes)
        for i in range(s.releases.n):
            other = s.releases.items[i].job
            if s.releases.items[i].end > t:
                if other >= 0:
                    mask_join(p.window, mask_of(p, other), m.words)
                else:
                    m.mark(m.state, p.window, -1 - other)
        if s.trace.n_down > 0 and not s.trace.repairs_known:
            for i in range(s.nodes):
                if s.trace.down[i]:
                    m.mark(m.state, p.window, i)
    memcpy(p.instant, p.window, bytes)
    for i in range(s.queue.head, s.queue.end):
        other = s.queue.job[i]
        # A reservation without length takes nothing from others.
        if other == job or s.state[other] == JOB_RUNNING or not p.begin[other] < p.end[other]:
            continue
        if p.begin[other] <= t and t < p.end[other]:
            mask_join(p.instant, mask_of(p, other), m.words)
            mask_join(p.window, mask_of(p, other), m.words)
        elif t < p.begin[other] and p.begin[other] < end:
            mask_join(p.window, mask_of(p, other), m.words)


cdef int try_at(plan_t *p, sim_t *s, int32_t job, bint head, double t, bint real, place_t *place) noexcept nogil:
    """The size of a place that `job` can have from t on, the smallest first; 0: none; < 0: a status code."""
    cdef permit_t permit
    find_taken(p, s, job, t, end_if_started_at(s, job, t), real)
    memset(&permit, 0, sizeof(permit))
    permit.forbidden = p.window
    return choose_growing(
        s, job, t, p.instant, s.nodes if head else s.need[job] + p.max_growth, &permit, real, place)


cdef int find_hole(plan_t *p, sim_t *s, int32_t job, bint head, double *begin, place_t *place,
                   bint *starts) noexcept nogil:
    """Earliest time from now on, then smallest size, with a place that is free all along; the size, or a status code.

    A job that has a reservation finds none better from p.gained on, unless as the new head of the queue it may take
    any size; and none later than its own is looked for (0).
    """
    cdef double old = p.begin[job], stop = old
    cdef int32_t n, i
    cdef int size
    if old != INFINITY and p.gained < stop and (not head or p.head == job):
        stop = p.gained
    starts[0] = True
    begin[0] = s.now
    if s.now < stop or old == s.now:
        size = try_at(p, s, job, head, s.now, True, place)
        if size != 0:
            return size
    # A hole at now that counts on nodes of an overrun job is not one to start in.
    starts[0] = False
    if s.now < stop:
        n = release_times(p, s)
        for i in range(n):
            if p.times[i] >= stop:
                break
            size = try_at(p, s, job, head, p.times[i], False, place)
            if size != 0:
                begin[0] = p.times[i]
                return size
    begin[0] = old
    return try_at(p, s, job, head, old, False, place) if old != INFINITY else 0


cdef int sweep(plan_t *p, sim_t *s, bint upset) noexcept nogil:
    """One reservation after another, in queue order, out of the plan and into its earliest hole."""
    cdef queue_t *q = &s.queue
    cdef int32_t i, keep, job, head = -1
    cdef double begin = INFINITY, vacated = -INFINITY
    cdef bint starts = False
    cdef place_t place
    cdef int size, code
    if upset:
        p.gained = -INFINITY
        for i in range(q.head, q.end):
            p.begin[q.job[i]] = INFINITY
    for i in range(q.head, q.end):
        job = q.job[i]
        size = find_hole(p, s, job, head < 0, &begin, &place, &starts)
        if size < 0:
            return size
        if size == 0:
            # It keeps its reservation.  Nothing as good is found only where a reservation without length stood beside
            # another one, or after a change of the queue order.
            begin = p.begin[job]
            if begin == INFINITY:
                head = job if head < 0 else head
                continue
            place = p.place[job]
            size = p.nodes[job]
            starts = begin == s.now and not s.machine.meets(s.machine.state, s.machine.occ, &place)
        if p.begin[job] != INFINITY and (begin != p.begin[job] or not same_place(&place, &p.place[job])):
            # What it leaves may serve those behind it now and those before it in the next pass.
            if p.end[job] > p.gained:
                p.gained = p.end[job]
            if p.end[job] > vacated:
                vacated = p.end[job]
        promise_start(s, job, begin)
        if reserve(p, s, job, &place) < 0:
            return NO_MEMORY
        if starts:
            p.begin[job] = INFINITY
            code = start_job(s, job, size, &place, head >= 0)
            if code < 0:
                return code
            continue
        head = job if head < 0 else head
        p.begin[job] = begin
        p.end[job] = end_if_started_at(s, job, begin)
        p.place[job] = place
        p.nodes[job] = size
    keep = q.head
    for i in range(q.head, q.end):
        if s.state[q.job[i]] != JOB_RUNNING:
            q.job[keep] = q.job[i]
            keep += 1
    q.end = keep
    p.head = head
    p.gained = vacated
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef bint upset = p.rebuild, adopted = False
    cdef int32_t i, job
    cdef place_t place
    cdef int code
    code = sort_queue(s)
    if code < 0:
        return code
    p.rebuild = False
    if s.releases.n > 0 and s.releases.items[0].end <= s.now:
        upset = True
    for i in range(q.head, q.end):
        if p.begin[q.job[i]] < s.now or p.begin[q.job[i]] == p.last_pass:
            upset = True
            s.epoch += 1
            break
    code = sweep(p, s, upset)
    if code < 0:
        return code
    if s.migration.rearrange != NULL:
        code = s.migration.rearrange(s.migration.state, s, &adopted)
        if code < 0:
            return code
        if adopted:
            for i in range(s.releases.n):
                job = s.releases.items[i].job
                if job < 0:
                    continue
                place = s.machine.place_of(s.machine.state, job)
                if reserve(p, s, job, &place) < 0:
                    return NO_MEMORY
            code = sweep(p, s, True)
            if code < 0:
                return code
    nobody_waits(q)
    p.last_pass = s.now
    return OK


cdef void queued(void *state, void *sim, int32_t job) noexcept nogil:
    (<plan_t *>state).begin[job] = INFINITY      # who was killed has no reservation until the next pass


cdef int adopt(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef place_t place = s.machine.place_of(s.machine.state, job)
    return reserve(<plan_t *>state, s, job, &place)


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    mask_of(p, job)[0] = <uint64_t>p.spare
    p.spare = p.row[job]
    p.row[job] = -1
    if s.expected[job] < s.now:
        p.rebuild = True         # it outlived its estimate: a disturbance
    elif s.expected[job] > p.gained:
        p.gained = s.expected[job]


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


# ---------------------------------------------------------------------------------------------- rescheduling

cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least
    if s.queue.head == s.queue.end:
        return sound
    least = least_free(s, p.begin, p.end, p.nodes, p.changes)
    return least if least < sound else sound


cdef int guard(void *state, void *sim, int32_t job, double end, uint64_t *forbidden, permit_t *permit) noexcept nogil:
    """The places of all reservations that begin before `end`."""
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i, other
    for i in range(s.queue.head, s.queue.end):
        other = s.queue.job[i]
        if p.begin[other] < p.end[other] and p.begin[other] < end:
            mask_join(forbidden, mask_of(p, other), s.machine.words)
    return OK


cdef int settled(void *state, void *sim, int32_t job, const place_t *place) noexcept nogil:
    return OK if place == NULL else reserve(<plan_t *>state, <sim_t *>sim, job, place)


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef size_t n = s.n
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    cdef int32_t i
    s.scheduler.schedule, s.scheduler.released = schedule, released
    s.scheduler.queued, s.scheduler.disturbed, s.scheduler.adopt = queued, disturbed, adopt
    s.scheduler.spare, s.scheduler.guard, s.scheduler.settled = spare, guard, settled
    p.max_growth = min(options["max_growth"], <object>s.nodes)
    p.cap_masks = 16
    p.spare = -1
    own_block(p, &p.begin, n, sizeof(double))
    own_block(p, &p.end, n, sizeof(double))
    own_block(p, &p.nodes, n, sizeof(int32_t))
    own_block(p, &p.place, n, sizeof(place_t))
    own_block(p, &p.row, n, sizeof(int64_t))
    own_block(p, &p.masks, <size_t>p.cap_masks * <size_t>s.machine.words, sizeof(uint64_t))
    own_block(p, &p.window, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.instant, s.machine.words, sizeof(uint64_t))
    # Ends of reservations, of running jobs and of outages (at most one a node).
    own_block(p, &p.times, n + <size_t>s.nodes + 1, sizeof(double))
    own_block(p, &p.changes, most_changes(s), sizeof(change_t))
    for i in range(s.n):
        p.begin[i] = INFINITY
        p.row[i] = -1
    p.last_pass = -INFINITY
    p.gained = -INFINITY
    p.head = -1
    return 0


CONSERVATIVE = factory(open_conservative)
