"""Backfilling with reservations for the first k waiting jobs, where any free nodes serve (model.md#backfill).

The plan is a step function of free nodes, rebuilt in every pass in which a job behind the head is small enough to
start.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove, memset

from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_heads, start_job
from faultsim._core.queue cimport (
    begin_pass, close_gap, keep_range, next_fitting, nobody_waits, open_scan, sort_queue,
)
from faultsim._core.state cimport (
    CHANGED_ALL, end_if_started, end_if_started_at, promise_start, queue_t, sim_t, usable,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t

cdef struct step_t:
    double at
    int64_t level            # nodes free from `at` until the next step
    int64_t pinned           # of them, needed at `at` by a reservation of no length: the largest one
    bint begins              # a reservation begins here: starting jobs must leave it its room

cdef struct plan_t:
    int32_t depth
    int32_t examined         # so many jobs from the head on were refused under the present reservations
    double soonest           # of which this is the first to begin; inf: nobody was refused on their account
    step_t *step             # step[0].at is now
    int32_t n, capacity


cdef int make_room(plan_t *p, int32_t n) noexcept nogil:
    while p.capacity < n:
        if resize_block(p, &p.step, 2 * <size_t>p.capacity * sizeof(step_t)) < 0:
            return NO_MEMORY
        p.capacity *= 2
    return OK


cdef int32_t cut(plan_t *p, double t) noexcept nogil:
    """The step that begins at t >= now, made if need be; or NO_MEMORY."""
    cdef int32_t low = 0, high = p.n, mid
    while high - low > 1:
        mid = (low + high) >> 1
        if p.step[mid].at <= t:
            low = mid
        else:
            high = mid
    if p.step[low].at == t:
        return low
    if make_room(p, p.n + 1) < 0:
        return NO_MEMORY
    low += 1
    memmove(&p.step[low + 1], &p.step[low], <size_t>(p.n - low) * sizeof(step_t))
    p.n += 1
    p.step[low].at = t
    p.step[low].level = p.step[low - 1].level
    p.step[low].pinned = 0
    p.step[low].begins = False
    return low


cdef int hold(plan_t *p, double begin, double end, int64_t nodes, bint reserved) noexcept nogil:
    """The nodes are a job's in [begin, end)."""
    cdef int32_t i = cut(p, begin), j
    if i < 0:
        return i
    if reserved:
        p.step[i].begins = True
        if begin == end and p.step[i].pinned < nodes:
            p.step[i].pinned = nodes
    j = cut(p, end)
    if j < 0:
        return j
    while i < j:
        p.step[i].level -= nodes
        i += 1
    return OK


cdef int lay_out(plan_t *p, const sim_t *s) noexcept nogil:
    """The plan with the running jobs alone."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i
    cdef double t
    if make_room(p, s.releases.n + 1) < 0:
        return NO_MEMORY
    memset(p.step, 0, <size_t>(s.releases.n + 1) * sizeof(step_t))
    p.n = 1
    p.step[0].at = s.now
    p.step[0].level = usable(s)
    for i in range(s.releases.n):
        t = items[i].end
        if t == INFINITY:
            break
        if t > p.step[p.n - 1].at:
            p.step[p.n].at = t
            p.step[p.n].level = p.step[p.n - 1].level
            p.n += 1
        p.step[p.n - 1].level += items[i].nodes
    return OK


cdef bint delays_nobody(const plan_t *p, int64_t need, double end) noexcept nogil:
    cdef int32_t i = 0
    while i < p.n and p.step[i].at < end:
        if p.step[i].begins and p.step[i].level - p.step[i].pinned < need:
            return False
        i += 1
    return True


cdef int reserve(plan_t *p, sim_t *s, int32_t job, double *begin) noexcept nogil:
    """The job's reservation, at the earliest hole, into the plan; `begin` is inf where there is none."""
    cdef int64_t need = s.need[job]
    cdef double end
    cdef int32_t i = 0, k
    begin[0] = INFINITY
    while i < p.n:
        k = i
        if p.step[i].level >= need:
            end = end_if_started_at(s, job, p.step[i].at)
            k = i + 1
            while k < p.n and p.step[k].at < end and p.step[k].level - p.step[k].pinned >= need:
                k += 1
            if k == p.n or p.step[k].at >= end:
                begin[0] = p.step[i].at
                return hold(p, begin[0], end, need, True)
        # Whatever begins before step k covers it.
        i = k if k > i and p.step[k].level >= need else k + 1
    return OK


cdef int backfill(plan_t *p, sim_t *s) noexcept nogil:
    """One sweep of the queue; jobs already examined do not start, yet have their reservations."""
    cdef queue_t *q = &s.queue
    cdef int32_t fresh_from = q.head + p.examined, fits = next_fitting(q.need, fresh_from, q.end, usable(s))
    cdef int32_t at = q.head, keep = at, stays = at, reserved = 0, job
    cdef double begin = INFINITY, end
    cdef int code
    if fits == q.end:
        return OK
    if lay_out(p, s) < 0:
        return NO_MEMORY
    p.soonest = INFINITY
    while fits < q.end:
        if reserved == p.depth:
            at = fits
        job = q.job[at]
        if at == fits:
            end = end_if_started(s, job)
            if delays_nobody(p, s.need[job], end):
                code = start_job(s, job, s.need[job], NULL, True)
                if code == OK:
                    code = hold(p, s.now, end, s.need[job], False)
                if code < 0:
                    return code
                # It leaves: what stayed since the last one that left moves up.
                keep = keep_range(q, keep, stays, at)
                at += 1
                stays = at
                fits = next_fitting(q.need, at, q.end, usable(s))
                continue
            fits = next_fitting(q.need, at + 1, q.end, usable(s))
        if reserved < p.depth:
            reserved += 1
            code = reserve(p, s, job, &begin)
            if code < 0:
                return code
            if begin < p.soonest:
                p.soonest = begin
            if at == q.head:
                promise_start(s, job, begin)
        at += 1
    keep = keep_range(q, keep, stays, at)
    close_gap(q, keep, at)
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef int code = begin_pass(s)
    if code < 0:
        return code
    # After arrivals alone all reservations stay where they are, and what was refused stays refused, unless an overrun
    # moves one.
    if s.change == CHANGED_ALL or p.examined <= 0 or s.now > p.soonest:
        p.soonest = INFINITY
        code = start_heads(s)
        if code < 0:
            return code
        p.examined = 1
    if nobody_waits(q):
        p.examined = 0
        return OK
    code = backfill(p, s)
    p.examined = q.end - q.head
    return code


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    """The least room beside the reservations that a pass would make if nobody could start."""
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least = sound
    cdef double begin
    cdef int32_t i
    cdef int code = sort_queue(s)
    if code < 0:
        return code
    if lay_out(p, s) < 0:
        return NO_MEMORY
    for i in range(s.queue.head, s.queue.end):
        if i - s.queue.head == p.depth:
            break
        code = reserve(p, s, s.queue.job[i], &begin)
        if code < 0:
            return code
    for i in range(p.n):
        if p.step[i].begins and p.step[i].level - p.step[i].pinned < least:
            least = p.step[i].level - p.step[i].pinned
    return least if least > 0 else 0


cdef int open_backfill(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    s.scheduler.schedule, s.scheduler.spare = schedule, spare
    p.depth = s.n if options["depth"] == "unlimited" else min(options["depth"], <object>s.n)
    p.soonest = INFINITY
    p.capacity = min(256, s.limit.first_room)
    own_block(p, &p.step, p.capacity, sizeof(step_t))
    return open_scan(s)


BACKFILL = factory(open_backfill)
