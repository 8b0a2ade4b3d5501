"""Conservative backfilling where a job needs a place: each queued job has one reserved for a stretch of time
(model.md#conservative).

What the running jobs and all reservations take is a step function of masks (steps.pxd), so that what is taken over a
stretch of time is an OR a step.  A hole at `now` is in nodes that are really free; releases that are expected "now"
count only for reservations that wait.

A pass leaves those alone that cannot gain: a job finds a better hole than its own only where nodes were given back
since no job could move (`freed`), and its own place is chosen again only where something changed.  So a pass looks once
at each waiting job, and searches (placed_plan.pxd) for those that something happened to: after an arrival for the new
job, after an early end for whom it serves, after a disturbance for all.  There are at most two steps a reservation.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport nobody_waits, sort_queue
from faultsim._core.scheduling.least_free cimport change_t, least_free, most_changes
from faultsim._core.scheduling.placed_plan cimport (
    build, empty, find_hole, give, is_touched, meet, plan_t, stretch_t, take, widen,
)
from faultsim._core.scheduling.refusals cimport refusals_open
from faultsim._core.scheduling.steps cimport steps_forget, steps_open
from faultsim._core.state cimport JOB_RUNNING, end_if_started_at, promise_start, queue_t, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport permit_t, place_t, same_place
from faultsim._core.tables.scheduler cimport promise_t


cdef inline bint stays(const plan_t *p, const sim_t *s, int32_t job, bint head) noexcept nogil:
    """Whether it is plain that a job keeps its reservation as it is."""
    return (s.now < p.begin[job] and p.begin[job] < INFINITY and (not head or p.head == job)
            and not (p.freed.end > s.now and meet(&p.freed, s.now, p.end[job])) and not is_touched(p, job))


cdef int plan_job(plan_t *p, sim_t *s, int32_t job, bint head, stretch_t *vacated) noexcept nogil:
    """Put a job into its earliest hole: OK, or a status code.  It may start."""
    cdef double begin = INFINITY, old = p.begin[job], end = p.end[job]
    cdef bint starts = False, moves
    cdef place_t place
    cdef int size = find_hole(p, s, job, head, &begin, &place, &starts), code
    if size < 0:
        return size
    if size == 0:
        # It keeps its reservation.  Nothing as good is found only where a reservation without length stood beside
        # another one, or after a change of the queue order.
        begin = old
        if begin == INFINITY:
            return OK
        place = p.place[job]
        size = p.nodes[job]
        starts = begin == s.now and not s.machine.meets(s.machine.state, s.machine.occ, &place)
    moves = begin != old or not same_place(&place, &p.place[job])
    if old != INFINITY and (moves or starts):
        give(p, s, old, end, &p.place[job])
        if moves:
            # What it leaves may serve those behind it now and those before it in the next pass.
            widen(&p.freed, old, end)
            widen(vacated, old, end)
    promise_start(s, job, begin)
    if starts:
        p.begin[job] = INFINITY
        code = start_job(s, job, size, &place, not head)
        return take(p, s, s.now, s.expected[job], &place) if code == OK else code
    p.begin[job] = begin
    p.end[job] = end_if_started_at(s, job, begin)
    p.place[job] = place
    p.nodes[job] = size
    if moves and take(p, s, begin, p.end[job], &place) < 0:
        return NO_MEMORY
    p.seen[job] = p.steps.stamp
    return OK


cdef int sweep(plan_t *p, sim_t *s, bint upset) noexcept nogil:
    """One reservation after another, in queue order, out of the plan and into its earliest hole."""
    cdef queue_t *q = &s.queue
    cdef int32_t i, keep = q.head, job, head = -1
    cdef bint again
    cdef stretch_t vacated
    cdef int code
    empty(&vacated)
    if upset and build(p, s) < 0:
        return NO_MEMORY
    again = p.epoch != s.epoch
    p.epoch = s.epoch
    p.sure = s.placement.stable and not (s.live and s.predictions.n > 0)
    p.changed_before = p.changed
    empty(&p.changed)
    s.work.looked += q.end - q.head
    for i in range(q.head, q.end):
        job = q.job[i]
        if stays(p, s, job, head < 0):
            if again:
                promise_start(s, job, p.begin[job])
        else:
            code = plan_job(p, s, job, head < 0, &vacated)
            if code < 0:
                return code
            if s.state[job] == JOB_RUNNING:
                continue
        head = job if head < 0 else head
        q.job[keep] = job
        keep += 1
    q.end = keep
    p.head = head
    p.freed = vacated
    if not p.sure:
        p.trusted = p.steps.stamp
    return OK


cdef bint is_missed(const plan_t *p, const sim_t *s) noexcept nogil:
    """Whether the time of a reservation has passed without a start."""
    cdef const queue_t *q = &s.queue
    cdef int32_t i
    for i in range(q.head, q.end):
        if p.begin[q.job[i]] < s.now or p.begin[q.job[i]] == p.last_pass:
            return True
    return False


cdef bint is_upset(const plan_t *p, const sim_t *s, bint missed) noexcept nogil:
    return p.rebuild or missed or (s.releases.n > 0 and s.releases.first[0].end <= s.now)


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef bint missed, upset, adopted = False
    cdef int code
    code = sort_queue(s)
    if code < 0:
        return code
    missed = is_missed(p, s)
    upset = is_upset(p, s, missed)
    p.rebuild = False
    s.epoch += missed
    if not upset:
        steps_forget(&p.steps, s.now)
    code = sweep(p, s, upset)
    if code < 0:
        return code
    if s.migration.rearrange != NULL:
        code = s.migration.rearrange(s.migration.state, s, &adopted)
        if code < 0:
            return code
        if adopted:
            code = sweep(p, s, True)
            if code < 0:
                return code
    nobody_waits(q)
    p.last_pass = s.now
    return OK


cdef void queued(void *state, void *sim, int32_t job) noexcept nogil:
    (<plan_t *>state).begin[job] = INFINITY      # who was killed has no reservation until the next pass


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef place_t place
    if s.expected[job] < s.now:
        p.rebuild = True         # it outlived its estimate: a disturbance
    elif s.expected[job] > s.now and not p.rebuild:
        steps_forget(&p.steps, s.now)
        place = s.machine.place_of(s.machine.state, job)
        give(p, s, s.now, s.expected[job], &place)
        widen(&p.freed, s.now, s.expected[job])


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


# ---------------------------------------------------------------------------------------------- rescheduling

cdef int renew(plan_t *p, sim_t *s) noexcept nogil:
    """The reservations of a pass in which no job starts; the next pass makes them again."""
    cdef int32_t i, job
    cdef double begin = INFINITY
    cdef bint starts = False
    cdef place_t place
    cdef int size = sort_queue(s)
    if size < 0:
        return size
    if build(p, s) < 0:
        return NO_MEMORY
    for i in range(s.queue.head, s.queue.end):
        job = s.queue.job[i]
        size = find_hole(p, s, job, i == s.queue.head, &begin, &place, &starts)
        if size < 0:
            return size
        if size == 0:
            continue
        p.begin[job] = begin
        p.end[job] = end_if_started_at(s, job, begin)
        p.place[job] = place
        p.nodes[job] = size
        if take(p, s, begin, p.end[job], &place) < 0:
            return NO_MEMORY
    p.rebuild = True
    return OK


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least
    cdef bint missed
    cdef int code
    if s.queue.head == s.queue.end:
        return sound
    missed = is_missed(p, s)
    if is_upset(p, s, missed):
        s.epoch += missed        # the next pass will not see it any more
        code = renew(p, s)
        if code < 0:
            return code
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
            s.machine.put(s.machine.state, forbidden, &p.place[other])
    return OK


cdef int reserved_at(void *state, void *sim, int32_t job, double *begin, place_t *place) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    if p.rebuild or p.begin[job] == INFINITY:
        return 0
    begin[0], place[0] = p.begin[job], p.place[job]
    return 1


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef size_t n = s.n
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    cdef int32_t i
    s.scheduler.schedule, s.scheduler.released = schedule, released
    s.scheduler.queued, s.scheduler.disturbed = queued, disturbed
    s.scheduler.spare, s.scheduler.guard, s.scheduler.reserved_at = spare, guard, reserved_at
    p.max_growth = min(options["max_growth"], <object>s.nodes)
    own_block(p, &p.begin, n, sizeof(double))
    own_block(p, &p.end, n, sizeof(double))
    own_block(p, &p.nodes, n, sizeof(int32_t))
    own_block(p, &p.place, n, sizeof(place_t))
    own_block(p, &p.seen, n, sizeof(int64_t))
    refusals_open(p, &p.refused)
    steps_open(p, &p.steps, &s.machine)
    own_block(p, &p.window, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.instant, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.own, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.changes, most_changes(s), sizeof(change_t))
    for i in range(s.n):
        p.begin[i] = INFINITY
    p.rebuild = True
    p.last_pass = -INFINITY
    empty(&p.freed)
    empty(&p.changed)
    p.trusted = -1
    p.epoch = -1
    p.head = -1
    return 0


CONSERVATIVE = factory(open_conservative)
