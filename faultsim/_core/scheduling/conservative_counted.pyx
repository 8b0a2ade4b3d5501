"""Conservative backfilling where any free nodes serve: every queued job has a reservation (model.md#conservative).

The plan (counted_plan.pxd) is kept between passes.  A pass examines, in queue order, the jobs that are new, those whose
reservation is due, and those that may move up because nodes were given back.  After a disturbance the plan is made from
nothing.

The horizon.  Where many jobs wait, most reservations of a new plan are dropped by the next disturbance before anything
depends on them.  Such a plan is made only up to a time `until`, just before which no nodes are free.  No hole that
begins before `until` reaches beyond it, since a job needs at least one node just before `until`, too; so nothing behind
the horizon has an influence on a hole before it, and the plan before `until` is exact without it.  When nodes are given
back just before the horizon, it moves to the end of an earlier step without free nodes.  When it is no longer later
than now, the plan is needed further on: it is made again as of its first pass, with a later horizon, and everything
that has happened since (jobs that came, nodes that were given back, passes and the jobs that they started) is replayed.
The replay computes what a plan without a horizon would have been, because each of its steps is the same function of the
same inputs, up to the later horizon.
"""

from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport (
    TOGETHER, close_gap, keep_range, next_fitting, nobody_waits, open_scan, queued_before, set_scan, sort_queue,
)
from faultsim._core.scheduling.counted_plan cimport (
    CAME, GAVE, PASSED, add_gain, earliest_hole, gain_t, happened, happening_t, joined_hole, no_gain, not_refused,
    plan_give, plan_reserve, plan_reset, plan_t,
)
from faultsim._core.scheduling.least_free cimport change_t, least_free, most_changes
from faultsim._core.scheduling.profile cimport (
    block_at, end_of, level_of, profile_append, profile_forget, profile_open, profile_reset,
    profile_t, spot_t, step_back, steps_t,
)
from faultsim._core.state cimport end_if_started, promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport place_t
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

cdef enum:
    COLLAPSED = 1             # the horizon is no longer later than now


# ---------------------------------------------------------------------------------------------- a new plan

cdef bint may_defer(const plan_t *p, const sim_t *s) noexcept nogil:
    """Whether a horizon pays; and the order of the queue must be known for a replay."""
    return s.order.sort == NULL and s.queue.end - s.queue.head > p.limit.deferred_queue


cdef void set_horizon(plan_t *p, const sim_t *s) noexcept nogil:
    """At most `reach` steps ahead, at the end of the last step without free nodes, if there is one."""
    cdef profile_t *f = &p.free
    cdef spot_t spot
    spot.b, spot.i = p.reach // f.room, p.reach % f.room
    if spot.b >= f.n or (spot.b == f.n - 1 and spot.i >= block_at(f, spot.b).n):
        return
    spot.i = min(spot.i, block_at(f, spot.b).n - 1)
    while level_of(f, spot) > 0:
        if not step_back(f, &spot):
            return
    if s.now < end_of(f, spot):
        p.until = end_of(f, spot)


cdef int remember_start(plan_t *p, int32_t job) noexcept nogil:
    p.started_in[job] = p.number
    if p.n_started == p.room_started:
        if resize_block(p, &p.started, 2 * <size_t>p.room_started * sizeof(int32_t)) < 0:
            return NO_MEMORY
        p.room_started *= 2
    p.started[p.n_started] = job
    p.n_started += 1
    return OK


cdef int plan_all(plan_t *p, sim_t *s, bint defers, bint replays, bint starts) noexcept nogil:
    """A reservation for every job in the queue, in its order; jobs whose hole is now start.

    `replays`: exactly those jobs start that started in this pass when it was made for the first time.
    """
    cdef queue_t *q = &s.queue
    cdef int32_t group = q.head, keep = q.head, stays = q.head, n, at, job, placed = 0
    cdef uint32_t bits
    cdef double begin
    cdef bint goes
    cdef int code
    for at in range(q.head, q.end):
        p.begin[q.job[at]] = INFINITY
        p.examined[q.job[at]] = 1
    p.n_new = 0
    # Invariant: every job before `group` has its reservation, or none that begins before `until`.
    while group < q.end:
        if defers and starts and next_fitting(q.need, group, q.end, usable(s)) == q.end:
            p.until = s.now      # no further job can start in this pass, whatever its reservation
            break
        n = min(<int32_t>TOGETHER, q.end - group)
        bits = not_refused(p, q, group, n, p.until)
        while bits:
            at = group + fs_lowest(bits)
            bits &= bits - 1
            job = q.job[at]
            if defers and p.until == INFINITY and placed % p.limit.horizon_every == 0:
                set_horizon(p, s)
            placed += 1
            s.work.looked += 1
            goes = replays and p.started_in[job] == p.number
            begin = s.now if goes else earliest_hole(p, s, job, p.until)
            if begin == INFINITY:
                continue
            if plan_reserve(p, s, job, begin) < 0:
                return NO_MEMORY
            if starts:
                promise_start(s, job, begin)
            if goes or (starts and begin == s.now and s.need[job] <= usable(s)):
                if not goes:
                    if defers and remember_start(p, job) < 0:
                        return NO_MEMORY
                    code = start_job(s, job, s.need[job], NULL, (keep - q.head) + (at - stays) > 0)
                    if code < 0:
                        return code
                keep = keep_range(q, keep, stays, at)
                stays = at + 1
        group += n
    close_gap(q, keep_range(q, keep, stays, q.end), q.end)
    return OK


cdef int keep_base(plan_t *p) noexcept nogil:
    """The profile of the running jobs alone, for replays."""
    cdef const profile_t *f = &p.free
    cdef const steps_t *steps
    cdef int32_t b, n = 0
    for b in range(f.n):
        n += block_at(f, b).n
    if n > p.room_base:
        if (resize_block(p, &p.base_at, 2 * <size_t>n * sizeof(double)) < 0
                or resize_block(p, &p.base_level, 2 * <size_t>n * sizeof(int32_t)) < 0):
            return NO_MEMORY
        p.room_base = 2 * n
    p.n_base = 0
    for b in range(f.n):
        steps = block_at(f, b)
        memcpy(&p.base_at[p.n_base], steps.at, <size_t>steps.n * sizeof(double))
        memcpy(&p.base_level[p.n_base], steps.level, <size_t>steps.n * sizeof(int32_t))
        p.n_base += steps.n
    return OK


cdef int plan_again(plan_t *p, sim_t *s) noexcept nogil:
    """A pass after a disturbance."""
    cdef bint defers = may_defer(p, s)
    cdef int code
    if plan_reset(p, s) < 0 or (defers and keep_base(p) < 0):
        return NO_MEMORY
    p.since, p.since_number = s.now, p.number
    p.n_started = p.n_happenings = 0
    p.reach = p.limit.horizon_steps
    code = plan_all(p, s, defers, False, True)
    if p.until <= s.now:
        p.reach = 0
    p.deferred = p.until < INFINITY
    return code


# ---------------------------------------------------------------------------------------------- passes

cdef int sweep(plan_t *p, sim_t *s, bint replays) noexcept nogil:
    """A pass without a disturbance.  OK, COLLAPSED (the pass must be made again after `settle`), or a status."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head, keep = q.head, stays = q.head, scan = q.end, job, need
    cdef double begin, found, soonest = INFINITY
    cdef gain_t before = p.gain, gain = p.gain
    cdef bint all_ = p.soonest <= s.now, goes
    cdef int code = OK
    no_gain(&p.gain)
    # From position `scan` on every job is examined, before that only jobs for which a gain has enough nodes.
    if all_:
        scan = q.head
    elif p.n_new > 0:
        scan = q.end - p.n_new if s.queue.key == NULL and s.queue.entry == NULL and s.order.sort == NULL else q.head
    while at < q.end:
        if at < scan:
            at = next_fitting(q.need, at, scan, gain.peak)
            if at == q.end:
                break
        job, need = q.job[at], q.need[at]
        begin = p.begin[job]
        found = INFINITY
        if not p.examined[job]:
            p.examined[job] = 1
            p.n_new -= 1
            s.work.looked += 1
            found = earliest_hole(p, s, job, p.until)
        elif begin <= s.now:
            pass                 # it is due
        elif need > gain.peak:
            pass
        elif begin < p.until:
            # An earlier hole ends before the reservation, or reaches into it.  The first is possible only if the job
            # could end by then; the second only if nodes were given back just before the reservation.
            s.work.looked += 1
            if gain.begin < begin and end_if_started(s, job) <= begin:
                found = earliest_hole(p, s, job, min(begin, gain.end))
            if found == INFINITY and gain.begin < begin <= gain.end:
                found = joined_hole(p, s, job)
        elif p.until < INFINITY and q.least[at] <= gain.longest:
            s.work.looked += 1
            found = earliest_hole(p, s, job, min(p.until, gain.end))
        if found < begin:
            if plan_reserve(p, s, job, found) < 0:
                return NO_MEMORY
            begin = found
            if p.until <= s.now:
                code = COLLAPSED
                break
            gain = before
            add_gain(&gain, &p.gain)
            if not replays:
                promise_start(s, job, begin)
        goes = p.started_in[job] == p.number and p.deferred
        if goes or (begin == s.now and not replays and need <= usable(s)):
            if not goes:
                if p.deferred and remember_start(p, job) < 0:
                    return NO_MEMORY
                code = start_job(s, job, need, NULL, (keep - q.head) + (at - stays) > 0)
                if code < 0:
                    return code
            keep = keep_range(q, keep, stays, at)
            stays = at + 1
        elif begin < p.until:
            soonest = min(soonest, begin)
        at += 1
    if all_ and code == OK:
        p.soonest = soonest
    close_gap(q, keep_range(q, keep, stays, q.end), q.end)
    return code


cdef bint is_missed(const plan_t *p, const sim_t *s) noexcept nogil:
    """Whether the time of a reservation has passed without a start."""
    cdef int32_t i
    cdef double begin
    if p.soonest > s.now:
        return False
    for i in range(s.queue.head, s.queue.end):
        begin = p.begin[s.queue.job[i]]
        if begin < s.now or begin == p.last_pass:
            return True
    return False


# ---------------------------------------------------------------------------------------------- replays

cdef int note(plan_t *p, happened kind, int32_t job, double time, double expected) noexcept nogil:
    cdef happening_t *h
    if p.n_happenings == p.room_happenings:
        if resize_block(p, &p.happening, 2 * <size_t>p.room_happenings * sizeof(happening_t)) < 0:
            return NO_MEMORY
        p.room_happenings *= 2
    h = &p.happening[p.n_happenings]
    h.kind, h.job, h.time, h.expected = kind, job, time, expected
    p.n_happenings += 1
    return OK


cdef int32_t position_of(const sim_t *s, int32_t job) noexcept nogil:
    """The position of a job in the queue, or the one at which it belongs."""
    cdef const queue_t *q = &s.queue
    cdef int32_t low = q.head, high = q.end, mid
    while low < high:
        mid = (low + high) >> 1
        if queued_before(s, q.job[mid], job):
            low = mid + 1
        else:
            high = mid
    return low


cdef void insert_in_queue(sim_t *s, int32_t job) noexcept nogil:
    cdef queue_t *q = &s.queue
    cdef int32_t at = position_of(s, job), i
    for i in range(q.end, at, -1):
        q.job[i], q.need[i], q.least[i] = q.job[i - 1], q.need[i - 1], q.least[i - 1]
    q.job[at] = job
    q.end += 1
    set_scan(s, at)


cdef void queue_of_then(plan_t *p, sim_t *s) noexcept nogil:
    """`then`: the queue as it was when the plan was made."""
    cdef queue_t *q = &s.queue
    cdef int32_t i
    if q.head > 0:
        for i in range(q.head, q.end):
            q.job[i - q.head], q.need[i - q.head], q.least[i - q.head] = q.job[i], q.need[i], q.least[i]
        q.end -= q.head
        q.head = 0
    for i in range(p.n_started):
        insert_in_queue(s, p.started[i])
    for i in range(p.n_happenings):
        if p.happening[i].kind == CAME:
            close_gap(q, position_of(s, p.happening[i].job), position_of(s, p.happening[i].job) + 1)
    p.n_then = q.end
    memcpy(p.then, q.job, <size_t>p.n_then * sizeof(int32_t))


cdef int replay(plan_t *p, sim_t *s, bint defers) noexcept nogil:
    """The plan from its first pass on.  OK, COLLAPSED or a status."""
    cdef queue_t *q = &s.queue
    cdef const happening_t *h
    cdef int32_t i
    cdef int code
    q.head, q.end = 0, p.n_then
    for i in range(p.n_then):
        q.job[i] = p.then[i]
        set_scan(s, i)
    s.now, p.number = p.since, p.since_number
    profile_reset(&p.free, p.base_at[0], p.base_level[0])
    for i in range(1, p.n_base):
        if profile_append(&p.free, p, p.base_at[i], p.base_level[i]) < 0:
            return NO_MEMORY
    p.n_refusals = p.next_refusal = 0
    p.held_at = -INFINITY
    p.soonest = p.until = INFINITY
    no_gain(&p.gain)
    code = plan_all(p, s, defers, True, False)
    if code < 0:
        return code
    for i in range(p.n_happenings):
        h = &p.happening[i]
        s.now = h.time
        if h.kind == CAME:
            insert_in_queue(s, h.job)
            p.begin[h.job] = INFINITY
            p.examined[h.job] = 0
            p.n_new += 1
        elif h.kind == GAVE:
            if plan_give(p, s, h.time, h.expected, h.job) < 0:
                return NO_MEMORY
        else:
            if p.until <= s.now:
                return COLLAPSED
            p.number = h.job
            profile_forget(&p.free, s.now)
            code = sweep(p, s, True)
            if code != OK:
                return code
    return OK


cdef int settle(plan_t *p, sim_t *s, bint whole) noexcept nogil:
    """The horizon becomes later than now, or there is none any more: that if `whole`."""
    cdef double now = s.now
    cdef int32_t number = p.number
    cdef int code = COLLAPSED
    queue_of_then(p, s)
    while code == COLLAPSED:
        p.reach = min(max(p.reach, p.limit.horizon_steps // p.limit.horizon_growth + 1), INT32_MAX // 64)
        p.reach *= p.limit.horizon_growth
        code = replay(p, s, not whole)
        if code == OK and p.until <= now:
            code = COLLAPSED
    s.now, p.number = now, number
    return code


# ---------------------------------------------------------------------------------------------- the scheduler

cdef int look_for_upsets(plan_t *p, sim_t *s, bint *upset, bint *missed) noexcept nogil:
    """Whether the plan has to be made from nothing; `missed`: because a reservation was."""
    missed[0] = False
    # A running job is at its expected end or past it.
    upset[0] = p.rebuild or (s.releases.n > 0 and s.releases.first[0].end <= s.now)
    if not upset[0]:
        if p.until <= s.now and settle(p, s, False) < 0:
            return NO_MEMORY
        missed[0] = is_missed(p, s)
        upset[0] = missed[0]
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef bint upset = False, missed = False
    cdef int code
    if q.head == q.end:
        p.last_pass = s.now
        nobody_waits(q)
        return OK
    if look_for_upsets(p, s, &upset, &missed) < 0:
        return NO_MEMORY
    code = sort_queue(s)
    if code < 0:
        return code
    s.epoch += missed
    p.rebuild = False
    p.number += 1
    if upset:
        code = plan_again(p, s)
    else:
        profile_forget(&p.free, s.now)
        code = sweep(p, s, False)
        while code == COLLAPSED:
            code = settle(p, s, False)
            if code < 0:
                return code
            profile_forget(&p.free, s.now)
            code = sweep(p, s, False)
        if code == OK and p.deferred and note(p, PASSED, p.number, s.now, 0.0) < 0:
            return NO_MEMORY
    if code < 0:
        return code
    if nobody_waits(q):
        p.until = INFINITY       # nothing lies behind it
    p.deferred = p.until < INFINITY
    p.last_pass = s.now
    s.work.steps = p.free.looked
    return OK


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    if s.expected[job] < s.now:
        p.rebuild = True         # the job was past its expected end: a disturbance
    if p.rebuild or s.expected[job] == s.now:
        return
    # No memory now: the next pass makes the plan from nothing, or fails there.
    if p.deferred and note(p, GAVE, s.allocated[job], s.now, s.expected[job]) < 0:
        p.rebuild = True
    if plan_give(p, s, s.now, s.expected[job], s.allocated[job]) < 0:
        p.rebuild = True


cdef void queued(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    p.begin[job] = INFINITY
    p.examined[job] = 0
    p.n_new += 1
    if p.deferred and not p.rebuild and note(p, CAME, job, s.now, 0.0) < 0:
        p.rebuild = True


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


cdef int renew(plan_t *p, sim_t *s) noexcept nogil:
    """The reservations of a pass in which no job starts; the next pass makes them again."""
    cdef int code = sort_queue(s)
    if code < 0:
        return code
    if plan_reset(p, s) < 0:
        return NO_MEMORY
    p.deferred = False
    p.rebuild = True
    return plan_all(p, s, False, False, False)


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least
    cdef bint upset = False, missed = False
    cdef int code
    if s.queue.head == s.queue.end:
        return sound
    if look_for_upsets(p, s, &upset, &missed) < 0:
        return NO_MEMORY
    if upset:
        s.epoch += missed        # the next pass will not see it any more
        code = renew(p, s)
        if code < 0:
            return code
    elif p.until < INFINITY:
        code = settle(p, s, True)
        if code < 0:
            return code
        p.deferred = False
    least = least_free(s, p.begin, p.end, s.need, p.changes)
    return least if least < sound else sound


cdef int reserved_at(void *state, void *sim, int32_t job, double *begin, place_t *place) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    if p.rebuild:
        return 0
    if p.until < INFINITY:
        if settle(p, <sim_t *>sim, True) < 0:
            return NO_MEMORY
        p.deferred = False
    begin[0] = p.begin[job]
    return p.begin[job] < INFINITY


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    cdef int32_t i
    s.scheduler.schedule, s.scheduler.spare, s.scheduler.reserved_at = schedule, spare, reserved_at
    s.scheduler.released, s.scheduler.queued, s.scheduler.disturbed = released, queued, disturbed
    p.limit = thresholds
    profile_open(&p.free, p)
    own_block(p, &p.begin, s.n, sizeof(double))
    own_block(p, &p.end, s.n, sizeof(double))
    own_block(p, &p.examined, s.n, sizeof(uint8_t))
    own_block(p, &p.started_in, s.n, sizeof(int32_t))
    own_block(p, &p.then, s.n, sizeof(int32_t))
    own_block(p, &p.changes, most_changes(s), sizeof(change_t))
    p.room_base = p.room_started = p.room_happenings = min(16, p.limit.first_room)
    own_block(p, &p.base_at, p.room_base, sizeof(double))
    own_block(p, &p.base_level, p.room_base, sizeof(int32_t))
    own_block(p, &p.started, p.room_started, sizeof(int32_t))
    own_block(p, &p.happening, p.room_happenings, sizeof(happening_t))
    for i in range(s.n):
        p.begin[i] = INFINITY
    p.until = INFINITY
    p.rebuild = True
    p.last_pass = -INFINITY
    return open_scan(s)


CONSERVATIVE = factory(open_conservative)
