"""Conservative backfilling where any free nodes serve: every queued job has a reservation (model.md#conservative).

The plan is a profile of free nodes, the running jobs held until their expected ends and every reservation counted.  A
pass looks only at jobs that may move (reservations.pxd).  Nobody could when the last one ended, but where nodes have
come back since, or were left by a job that moved: a job moves up where the nodes just before its reservation have
become free, or it jumps into a gap that has grown (gaps.pxd).  A pass costs a comparison for every four waiting jobs
(waiting.pxd; a few for each where the queue is not in order of arrival) and, for each that moves, the logarithm of the
number of steps and the steps between its old place and its new one.  As long as few wait all of them are looked at,
which costs less.

After a disturbance the queue is planned again, but only as far as anybody may start, and of those before whoever may,
only who could be in its way.  Both are found by comparisons: with what is free from now on, and with the stretches that
earlier searches for holes found too short, by which all are refused who ask for as many nodes and for longer.  The
reservations of the others are found, as of that pass, when somebody asks for them: the next pass, unless there has been
another disturbance, which often follows.  Then nobody ever asks.

Where many wait the plan is made and kept right only up to a horizon, since most of what lies behind it is dropped by
the next disturbance as well (horizon.pxd).
"""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport close_gap, keep_range, nobody_waits, open_scan, sort_queue
from faultsim._core.scheduling.gaps cimport gaps_none, rounded_up
from faultsim._core.scheduling.horizon cimport (
    begin_recall, begin_turn, find_left, forget_horizon, keep_arrival, keep_release, settle,
)
from faultsim._core.scheduling.least_free cimport change_t, least_free, most_changes
from faultsim._core.scheduling.profile cimport (
    at_of, block_at, level_of, profile_add, profile_append, profile_forget, profile_open, profile_reset, profile_t,
    spot_t, step_on, steps_t,
)
from faultsim._core.scheduling.reservations cimport (
    back_t, begin_lists, came_t, comes, drop_all, first_hole, gave_t, give_back, hope_t, leaves, next_hopeful,
    past_t, plan_line, plan_t, reserve,
)
from faultsim._core.scheduling.sweeps cimport MANY, is_missed, sweep, sweep_few, sweep_listed
from faultsim._core.scheduling.waiting cimport (
    STAIRS, job_at, line_t, next_place, next_short, place_of, stairs_t, waiting_open,
)
from faultsim._core.state cimport end_if_started, end_if_started_at, promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t


# ---------------------------------------------------------------------------------------------- a new plan

cdef int rebuild(plan_t *p, sim_t *s) noexcept nogil:
    """The plan with the running jobs alone; the queue's reservations are dropped."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i = 0, level = usable(s)
    cdef double end
    drop_all(p, s)
    # What is expected "now" comes back from now on.
    while i < s.releases.n and items[i].end <= s.now:
        level += items[i].nodes
        i += 1
    profile_reset(&p.free, s.now, level)
    while i < s.releases.n and items[i].end < INFINITY:
        end = items[i].end
        while i < s.releases.n and items[i].end == end:
            level += items[i].nodes
            i += 1
        if profile_append(&p.free, p, end, level) < 0:
            return NO_MEMORY
    p.n_found = p.n_back = 0
    gaps_none(&p.gaps)
    p.gained = p.soonest = -INFINITY
    p.listed = p.left = False
    forget_horizon(p)
    if s.queue.end - s.queue.head > MANY:
        begin_lists(p, s)
    return OK


cdef enum:
    FAR = 128                # steps that are looked at


cdef void look_down(stairs_t *to, const profile_t *f, double now, int32_t most) noexcept nogil:
    """So many nodes, at most `most`, are free from now on, for so long; on the last stair perhaps for less."""
    cdef int32_t low = min(most, block_at(f, 0).level[0]), steps = 0, b, i = 1
    cdef const steps_t *of
    to.n = 0
    for b in range(f.n):
        of = block_at(f, b)
        while i < of.n and low > 0 and to.n < STAIRS - 1 and steps < FAR:
            if of.level[i] < low:
                to.level[to.n], to.until[to.n] = low, of.at[i]
                to.length[to.n] = <float>min(rounded_up(now, of.at[i]), FLT_MAX)
                to.n += 1
                low = of.level[i]
            steps += 1
            i += 1
        if i < of.n:
            break
        i = 0
    if low > 0:
        to.level[to.n], to.length[to.n], to.until[to.n] = low, FLT_MAX, INFINITY
        to.n += 1


cdef bint starts_now(const plan_t *p, const stairs_t *stairs, int32_t need, double end) noexcept nogil:
    """Whether a job for which there are nodes, and that would end then, would start if nobody else were in its way."""
    cdef const profile_t *f = &p.free
    cdef int32_t i = stairs.n - 1
    cdef spot_t spot
    while i >= 0 and stairs.level[i] < need:
        i -= 1
    if i < 0 or end > stairs.until[i]:
        return False
    if stairs.until[i] < INFINITY:
        return True
    spot.b = spot.i = 0
    while level_of(f, spot) >= need:
        if not step_on(f, &spot) or at_of(f, spot) >= end:
            return True
    return False


cdef int plan_again(plan_t *p, sim_t *s) noexcept nogil:
    """A pass after a disturbance.

    Until `sure` the plan is that of all jobs that were looked at; those that are left begin then or later.  Whoever
    ends by then is not in their way, nor they in its, so that they may be found after it.
    """
    cdef queue_t *q = &s.queue
    cdef line_t line
    cdef int32_t keep = q.head, stays = keep, at, next, job, place, hopeful
    cdef double begin, end = 0.0, sure = s.now, stop
    cdef hope_t hope
    cdef stairs_t stairs
    cdef bint looked = False
    cdef int code
    if rebuild(p, s) < 0 or begin_recall(p, s) < 0:
        return NO_MEMORY
    p.epoch = s.epoch
    line = plan_line(p, s)
    at = next = line.begin
    hope.group = -1
    while True:
        at = next_place(&line, at, line.end)
        if at == line.end:
            break
        # `next`: the first that would start if nobody else got a reservation.  Whoever would not never will.
        if next < at:
            next = at
            looked = False
        while not looked:
            look_down(&stairs, &p.free, s.now, usable(s))
            while True:
                next = next_short(&line, &stairs, next, line.end)
                if next == line.end:
                    break
                s.work.looked += 1
                end = end_if_started(s, job_at(&line, next))
                if starts_now(p, &stairs, line.need[next], end):
                    break
                next += 1
            looked = next == line.end or not p.left or (s.now < end and end <= sure)
            if not looked and find_left(p, s, &line, at) < 0:
                return NO_MEMORY
        if next == line.end:
            p.left = True
            break
        if not p.left:
            sure = end
        stop = sure if s.now < sure and sure < p.until else p.until
        hopeful = next_hopeful(p, &hope, &line, at, next, stop)
        if at < hopeful:
            p.left = True
            at = hopeful
            continue
        job = job_at(&line, at)
        s.work.looked += 1
        if at == next:
            promise_start(s, job, s.now)
            if profile_add(&p.free, p, s.now, end, -s.need[job]) < 0:
                return NO_MEMORY
            leaves(p, s, job)
            place = place_of(q, &line, stays, at)
            code = start_job(s, job, s.need[job], NULL, keep + place - stays > q.head)
            if code < 0:
                return code
            keep = keep_range(q, keep, stays, place)
            stays = place + 1
            q.least[place] = INFINITY        # nobody waits there, if the line is of places
            at += 1
            continue
        begin = first_hole(p, s, job, stop)
        if begin < INFINITY and p.left and end_if_started_at(s, job, begin) > sure:
            if find_left(p, s, &line, at) < 0:
                return NO_MEMORY
            looked = False
            sure = s.now
            begin = first_hole(p, s, job, p.until)
        if begin < INFINITY:
            if reserve(p, s, job, begin) < 0:
                return NO_MEMORY
            promise_start(s, job, begin)
            looked = looked and begin >= end and begin > s.now       # one of no length needs room at its instant
        else:
            p.left = True
        at += 1
    close_gap(q, keep_range(q, keep, stays, q.end), q.end)
    return OK


# ---------------------------------------------------------------------------------------------- passes

cdef int take_back(plan_t *p, sim_t *s) noexcept nogil:
    """What came back since reservations were left to be found comes into the plan."""
    cdef int32_t i
    for i in range(p.n_back):
        if give_back(p, s, p.back[i].time, p.back[i].expected, p.back[i].nodes) < 0:
            return NO_MEMORY
    p.n_back = 0
    return OK


cdef int look_for_upsets(plan_t *p, sim_t *s, bint *upset, bint *missed) noexcept nogil:
    """Whether the plan has to be made again; `missed`: because a start was.  If not, all reservations are found."""
    cdef line_t line
    missed[0] = False
    # Somebody may outlive its estimate.
    upset[0] = p.rebuild or (s.releases.n > 0 and s.releases.first[0].end <= s.now)
    if not upset[0]:
        if not p.left and p.until <= s.now and settle(p, s, sweep, False) < 0:
            return NO_MEMORY
        missed[0] = is_missed(p, s)
        if not missed[0] and p.left:
            line = plan_line(p, s)
            if find_left(p, s, &line, line.end) < 0 or take_back(p, s) < 0:
                return NO_MEMORY
            if p.until <= s.now and settle(p, s, sweep, False) < 0:
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
        # Those who run are as they are in the plan, or the next one who comes finds it upset.
        p.last_pass = s.now
        nobody_waits(q)
        return OK
    if look_for_upsets(p, s, &upset, &missed) < 0:
        return NO_MEMORY
    # Who is left is found in the order of that pass.
    code = sort_queue(s)
    if code < 0:
        return code
    s.epoch += missed
    p.rebuild = False
    p.number += 1
    if p.listed:
        begin_turn(p, s)
    if upset:
        code = plan_again(p, s)
    else:
        profile_forget(&p.free, s.now)
        code = sweep_listed(p, s) if p.listed else sweep_few(p, s)
    if code < 0:
        return code
    if nobody_waits(q):
        forget_horizon(p)        # nothing lies behind it, and who is stopped now may come back
    p.last_pass = s.now
    s.work.steps = p.free.looked
    return OK


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef back_t *back
    if s.expected[job] < s.now:
        p.rebuild = True         # it outlived its estimate: a disturbance
    if p.rebuild:
        return
    if p.recalls and keep_release(p, s, job) < 0:
        p.rebuild = True
    if p.rebuild or s.expected[job] == s.now:
        return
    if not p.left:
        if give_back(p, s, s.now, s.expected[job], s.allocated[job]) < 0:
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
    cdef plan_t *p = <plan_t *>state
    comes(p, <const sim_t *>sim, job)        # who was killed has no reservation until the next pass
    if p.recalls and not p.rebuild:
        keep_arrival(p, job)


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


cdef int renew(plan_t *p, sim_t *s) noexcept nogil:
    """The reservations of a pass in which no job starts; the next pass makes them again."""
    cdef int32_t i, job
    cdef double begin
    cdef int code = sort_queue(s)
    if code < 0:
        return code
    if rebuild(p, s) < 0:
        return NO_MEMORY
    for i in range(s.queue.head, s.queue.end):
        job = s.queue.job[i]
        begin = first_hole(p, s, job, INFINITY)
        if begin < INFINITY and reserve(p, s, job, begin) < 0:
            return NO_MEMORY
    p.rebuild = True
    return OK


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
    elif p.until < INFINITY and settle(p, s, sweep, True) < 0:
        return NO_MEMORY
    least = least_free(s, p.begin, p.end, s.need, p.changes)
    return least if least < sound else sound


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    cdef int32_t i
    s.scheduler.schedule, s.scheduler.spare = schedule, spare
    s.scheduler.released, s.scheduler.queued, s.scheduler.disturbed = released, queued, disturbed
    profile_open(&p.free, p)
    own_block(p, &p.begin, s.n, sizeof(double))
    own_block(p, &p.end, s.n, sizeof(double))
    own_block(p, &p.next, s.n, sizeof(int32_t))
    own_block(p, &p.before, s.n, sizeof(int32_t))
    own_block(p, &p.marked, s.n // 64 + 1, sizeof(uint64_t))
    p.room = 16
    waiting_open(&p.waiting, p, s)
    p.gaps.classes = p.gaps.admitting = p.waiting.classes
    own_block(p, &p.back, p.room, sizeof(back_t))
    p.room_pasts = p.room_gave = 16
    p.until = INFINITY
    own_block(p, &p.pasts, p.room_pasts, sizeof(past_t))
    own_block(p, &p.gave, p.room_gave, sizeof(gave_t))
    # For all jobs once a horizon may be set.
    own_block(p, &p.started, 1, sizeof(int32_t))
    own_block(p, &p.came, 1, sizeof(came_t))
    own_block(p, &p.gone, 1, sizeof(int32_t))
    own_block(p, &p.then, 1, sizeof(int32_t))
    own_block(p, &p.then_need, 1, sizeof(int32_t))
    own_block(p, &p.then_least, 1, sizeof(float))
    own_block(p, &p.changes, most_changes(s), sizeof(change_t))
    for i in range(s.n):
        p.begin[i] = INFINITY
    p.rebuild = True
    p.last_pass = -INFINITY
    return open_scan(s)


CONSERVATIVE = factory(open_conservative)
