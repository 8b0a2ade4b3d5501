"""Conservative backfilling on counts (model.md#conservative): any free nodes serve."""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memmove

from faultsim._core.absences cimport (
    absences_of, closed_set, free_inside, free_outside, next_tried, open_room, set_covers, spare_none, spare_set,
)
from faultsim._core.containers.memory cimport open_state, own_block, own_jobs, resize_block, resize_jobs
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport any_fits, close_gap, is_empty, keep_range, queued_before, sort_queue
from faultsim._core.scheduling.gains cimport add_gain, gain_t, no_gain
from faultsim._core.signals cimport keep_interrupt
from faultsim._core.state cimport end_if_started_at, promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport place_t
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

include "counts.pxi"
include "timeline.pxi"
include "refusal.pxi"
include "counts_line.pxi"
include "views.pxi"

cdef enum logged_kind:
    LOGGED_ENTRY             # a job entered the queue
    LOGGED_RELEASE           # a job ended early and gave its nodes back
    LOGGED_START             # a job started, in that pass or the next one that is logged
    LOGGED_PASS              # a pass without a disturbance

cdef struct logged_t:
    logged_kind kind
    int32_t what             # the job; its nodes; the number of the pass
    double time
    double expected          # of a release: the expected end

cdef struct plan_t:
    timeline_t line
    refusal_t refused
    double *begin
    double *end
    gain_t gain, gains
    double soonest
    bint rebuild
    bint only_plans
    double last_pass
    uint8_t *examined        # since the job entered the queue
    bint replans             # in a sweep: all of them
    # The horizon, and what happened since the plan was made (horizon.pxi).
    double until             # inf: every job that there is room for has a reservation
    int32_t reach            # steps up to the horizon
    int32_t first_reach      # that of the first one
    bint defers              # this sweep may set a horizon
    bint deferred            # until < inf, and everything that follows is kept up to date
    bint replays
    double since             # the pass in which the plan was made
    int32_t number           # of the present or last pass
    int32_t since_number
    int32_t *started_in      # per job: the number of the pass in which it started
    double *base_at          # the timeline of that pass with the running jobs alone
    int32_t *base_free
    int32_t n_base, room_base
    logged_t *logged
    int32_t n_logged, room_logged
    int32_t *first_queue     # the queue of that pass
    int32_t n_first
    # Where nodes are closed to jobs at times, all reservations, in no order (views.pxi).
    promised_t *reservation
    int32_t n_reservations
    int32_t *at              # per job: where its reservation is
    int32_t *closed          # per job: the closed set of its reservation
    bint has_views           # there is room for these

cdef enum:
    PLANNED_WITHOUT_LOOK = 1048576

cdef inline void forget_ended(plan_t *p, const sim_t *s) noexcept nogil:
    forget(&p.line, s.now)


include "conservative.pxi"
include "conservative_search.pxi"
include "horizon.pxi"


# ---------------------------------------------------------------------------------------------- the plan

cdef int open_views(plan_t *p, const sim_t *s) noexcept nogil:
    """Room for reservations beside nodes that are closed to jobs, once there are such nodes."""
    cdef size_t n = s.n
    if (resize_jobs(p, &p.reservation, n, sizeof(promised_t)) < 0 or resize_jobs(p, &p.at, n, sizeof(int32_t)) < 0
            or resize_jobs(p, &p.closed, n, sizeof(int32_t)) < 0):
        return NO_MEMORY
    p.has_views = True
    return OK


cdef int base_plan(plan_t *p, sim_t *s) noexcept nogil:
    if line_of_running(p, &p.line, s) < 0:
        return NO_MEMORY
    p.until = INFINITY
    p.refused.until = -INFINITY
    p.n_reservations = 0
    if s.absences.state != NULL and not p.has_views and open_views(p, s) < 0:
        return NO_MEMORY
    # A replay needs the order of the queue; what is closed to a job depends on the time.
    p.defers = s.order.sort == NULL and not p.only_plans and s.absences.state == NULL
    p.deferred = False
    if p.defers:
        p.since, p.since_number = s.now, p.number
        p.n_logged = 0
        p.reach = p.first_reach
        return keep_base(p)
    return OK


cdef int give_nodes(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil:
    """`nodes` more are free in [begin, end), and jobs may move up to there.  OK or NO_MEMORY."""
    cdef timeline_t *f = &p.line
    cdef gain_t gain
    cdef int32_t i
    if not begin < end:
        return OK
    if give(p, f, begin, end, nodes) < 0:
        return NO_MEMORY
    refuse_from(&p.refused, begin)
    if not begin < p.until or end <= s.now:
        return OK
    if end >= p.until:
        draw_in(p)
        end = min(end, p.until)
        if not begin < end:
            return OK
    gain.begin, gain.end, gain.most = max(begin, s.now), end, 0
    i = index_at(f, gain.begin)
    while i < f.n and f.at[i] < end:
        gain.most = max(gain.most, f.free[i])
        i += 1
    add_gain(&p.gain, &gain)
    add_gain(&p.gains, &gain)
    return OK


cdef int reserve_at(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    """A job's reservation at `begin`, earlier than the one that it has.  OK or NO_MEMORY."""
    cdef double old = p.begin[job], old_end = p.end[job], end = end_if_started_at(s, job, begin)
    p.begin[job], p.end[job] = begin, end
    p.soonest = min(p.soonest, begin)
    if old == INFINITY:
        return take(p, &p.line, begin, end, s.need[job])
    # Nodes that the job has and keeps are not given back in between.
    if take(p, &p.line, begin, min(end, old), s.need[job]) < 0:
        return NO_MEMORY
    return give_nodes(p, s, max(end, old), old_end, s.need[job])


# ---------------------------------------------------------------------------------------------- a sweep

cdef inline void open_sweep(plan_t *p, const sim_t *s, bint replans) noexcept nogil:
    cdef int32_t i
    p.replans = replans
    if replans:
        # Where no job can start, whatever its reservation, all reservations lie behind the horizon.
        p.until = s.now if p.defers and not p.replays and not any_fits(s) else INFINITY
        for i in range(s.queue.head, s.queue.end):
            p.examined[s.queue.job[i]] = 1


cdef inline void close_sweep(plan_t *p) noexcept nogil:
    pass


cdef inline bint stays(const plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Whether it is certain that a job keeps its reservation, or has none, in this sweep."""
    cdef double begin = p.begin[job]
    if not p.examined[job] or begin <= s.now:
        return False
    if s.need[job] > p.gains.most:
        return True
    # Without a reservation, a job finds earlier room only before a horizon.
    return begin == p.until == INFINITY


cdef inline bint refused_to_horizon(const plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Whether a new job has no room up to the horizon, by the last search."""
    return (p.until <= p.refused.until and p.until < INFINITY and covers(p.refused.ask, s.need[job])
            and s.remaining[job] >= p.refused.least)


cdef int32_t next_to_plan(plan_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef const queue_t *q = &s.queue
    if s.absences.state != NULL:
        return at                # what is closed to a job depends on the time
    if p.replans and p.until <= s.now:
        return q.end
    while at < q.end and (refused_to_horizon(p, s, q.job[at]) if p.replans else stays(p, s, q.job[at])):
        at += 1
    return at


cdef int32_t joined_room(plan_t *p, double begin, int32_t need) noexcept nogil:
    """The first step from which on `need` nodes are free up to a reservation that begins at `begin`; -1: there is none.

    With the nodes of this reservation, its job has room from there on.
    """
    cdef timeline_t *f = &p.line
    cdef int32_t i, found = -1
    i = index_at(f, begin)
    if f.at[i] == begin:
        i -= 1
    while i >= 0 and f.free[i] >= need:
        f.looked += 1
        found = i
        i -= 1
    return found


cdef void drop_reservation(plan_t *p, int32_t job) noexcept nogil:
    cdef int32_t i = p.at[job]
    p.n_reservations -= 1
    p.reservation[i] = p.reservation[p.n_reservations]
    p.at[p.reservation[i].job] = i


cdef int plan_beside(plan_t *p, sim_t *s, int32_t job, bint behind) noexcept nogil:
    """`plan_job` where nodes may be closed to jobs: the job is planned again beside all other reservations."""
    cdef promised_t *r
    cdef double old = p.begin[job], start = -INFINITY, begin = INFINITY, end = INFINITY, longest = 0.0
    cdef int32_t need = s.need[job], closed = 0, i
    cdef int code
    cdef window_t w
    w.need = need
    p.examined[job] = 1
    s.work.looked += 1
    if p.replans:
        old = INFINITY
    if old < INFINITY:
        if give(p, &p.line, old, p.end[job], need) < 0:
            return NO_MEMORY
        drop_reservation(p, job)
    # Invariant: no time before `start` that is tried has room.
    while start < INFINITY and start <= old:
        if earliest(&p.line, &w, s, job, start, INFINITY, &longest, &begin) < 0:
            begin = INFINITY
            break
        end = end_if_started_at(s, job, begin)
        closed = fits_views(s, job, p.reservation, p.n_reservations, begin, end)
        if closed == NO_MEMORY:
            return NO_MEMORY
        if closed >= 0:
            break
        start = next_after(s, p.reservation, p.n_reservations, begin)
        begin = INFINITY
    if begin > old:
        begin, end = old, p.end[job]             # never later than it was
        closed = p.closed[job]
    p.begin[job] = INFINITY
    if begin == s.now and need <= open_room(s, job) and not p.only_plans:
        promise_start(s, job, begin)
        for i in range(p.n_reservations):
            spare_set(s, p.reservation[i].closed)
        code = start_job(s, job, need, NULL, behind)
        spare_none(s)
        if code == OK:
            code = take(p, &p.line, begin, s.expected[job], need)
        return STARTED if code == OK else code
    if begin == INFINITY:
        return OK
    p.begin[job], p.end[job], p.closed[job] = begin, end, closed
    p.soonest = min(p.soonest, begin)
    r = &p.reservation[p.n_reservations]
    r.begin, r.end, r.need, r.closed, r.job = begin, end, need, closed, job
    p.at[job] = p.n_reservations
    p.n_reservations += 1
    if not p.only_plans:
        promise_start(s, job, begin)
    return take(p, &p.line, begin, end, need)


cdef int plan_job(plan_t *p, sim_t *s, int32_t job, bint behind) noexcept nogil:
    cdef double begin = p.begin[job], stop = min(begin, p.until)
    cdef int32_t need = s.need[job], i = -1
    cdef bint starts
    cdef double known, longest = 0.0
    cdef window_t w
    w.need = need
    if s.absences.state != NULL:
        return plan_beside(p, s, job, behind)
    if p.replans:
        if p.replays and p.started_in[job] == p.number:
            # It began now; its expected duration may be another one since.
            return STARTED if reserve_at(p, s, job, s.now) == OK else NO_MEMORY
        if p.defers and p.until == INFINITY:
            set_horizon(p, s)
            stop = p.until
    elif not p.examined[job]:
        p.examined[job] = 1
    elif begin <= s.now:
        stop = -INFINITY         # it is due
    else:
        stop = min(stop, p.gains.end)            # earlier room meets what was given back
    # Room that ends before its reservation, or else reaches into it.
    if s.now < stop and (begin == INFINITY or (p.gains.begin < begin and end_if_started_at(s, job, s.now) <= begin)):
        known = refused_until(&p.refused, need, s.remaining[job], &longest)
        if known < stop:
            s.work.looked += 1
            i = earliest(&p.line, &w, s, job, known, stop, &longest, &begin)
            refuse(&p.refused, need, longest, stop if i < 0 else begin)
    if i < 0 and p.gains.begin < begin <= p.gains.end and s.now < stop:
        i = joined_room(p, begin, need)
        if i >= 0:
            begin = max(p.line.at[i], s.now)
    if i >= 0:
        if reserve_at(p, s, job, begin) < 0:
            return NO_MEMORY
        if p.until <= s.now and not p.replans:
            return COLLAPSED
        if not p.replays and not p.only_plans:
            promise_start(s, job, begin)
    if (p.replays or p.deferred) and p.started_in[job] == p.number:
        return STARTED           # when this pass was made before
    if p.replays:
        return OK
    starts = begin == s.now and need <= usable(s) and not p.only_plans
    if not starts:
        return OK
    if p.defers or p.deferred:
        p.started_in[job] = p.number
        if log_event(p, LOGGED_START, job, s.now, 0.0) < 0:
            return NO_MEMORY
    i = start_job(s, job, need, NULL, behind)
    return STARTED if i == OK else i


# ---------------------------------------------------------------------------------------------- a pass

cdef inline void open_pass(plan_t *p) noexcept nogil:
    p.number += 1


cdef inline int close_pass(plan_t *p, sim_t *s, bint upset) noexcept nogil:
    s.work.steps = p.line.looked
    if upset and p.until <= s.now:
        p.reach = 0
    if p.deferred and not upset and log_event(p, LOGGED_PASS, p.number, s.now, 0.0) < 0:
        return NO_MEMORY
    if s.queue.head == s.queue.end:
        p.until = INFINITY       # nothing lies behind it
    p.deferred = p.until < INFINITY
    p.defers = False
    return OK


cdef inline int extend(plan_t *p, sim_t *s) noexcept nogil:
    return settle(p, s, False) if p.until <= s.now else OK


cdef inline int complete(plan_t *p, sim_t *s) noexcept nogil:
    p.deferred = False
    return settle(p, s, True) if p.until < INFINITY else OK


cdef inline int give_back(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    cdef int32_t nodes = s.allocated[job]
    if p.deferred and log_event(p, LOGGED_RELEASE, nodes, s.now, s.expected[job]) < 0:
        return NO_MEMORY
    return give_nodes(p, s, s.now, s.expected[job], nodes)


cdef inline void entered(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    p.examined[job] = 0
    if p.deferred and not p.rebuild and log_event(p, LOGGED_ENTRY, job, s.now, 0.0) < 0:
        p.rebuild = True


cdef inline int migrate_jobs(sim_t *s, bint *again) noexcept nogil:
    return OK


cdef inline int64_t least_planned(const plan_t *p, const sim_t *s) noexcept nogil:
    if s.absences.state == NULL:
        return least_on_line(p, s)
    return least_beside(s, p.reservation, p.n_reservations, least_on_line(p, s))


cdef inline void store_place(const plan_t *p, int32_t job, place_t *place) noexcept nogil:
    pass


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef plan_t *p = open_plan(s)
    open_plan_line(p, s, 64)
    p.first_reach = thresholds.horizon_steps
    own_jobs(p, &p.examined, s.n, sizeof(uint8_t))
    own_jobs(p, &p.started_in, s.n, sizeof(int32_t))
    own_jobs(p, &p.first_queue, s.n, sizeof(int32_t))
    p.room_base = p.room_logged = min(16, thresholds.first_room)
    own_block(p, &p.base_at, p.room_base, sizeof(double))
    own_block(p, &p.base_free, p.room_base, sizeof(int32_t))
    own_block(p, &p.logged, p.room_logged, sizeof(logged_t))
    p.until = INFINITY
    own_block(p, &p.reservation, 0, sizeof(promised_t))
    own_block(p, &p.at, 0, sizeof(int32_t))
    own_block(p, &p.closed, 0, sizeof(int32_t))
    return 0


CONSERVATIVE = factory(open_conservative)
