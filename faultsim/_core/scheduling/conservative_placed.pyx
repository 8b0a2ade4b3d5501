"""Conservative backfilling on masks (model.md#conservative): a job needs a place."""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from faultsim._core.absences cimport closed_to, next_tried
from faultsim._core.avoidance cimport choose_growing
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.containers.memory cimport open_state, own_block, own_jobs, resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.contract cimport fs_require
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport close_gap, is_empty, keep_range, sort_queue
from faultsim._core.scheduling.gains cimport add_gain, gain_t, no_gain
from faultsim._core.signals cimport keep_interrupt
from faultsim._core.state cimport ask_of, end_if_started_at, promise_start, queue_t, sim_t
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport (
    machine_t, outline_grows, outline_join, outline_lift, outline_t, permit_t, place_t, same_place,
)
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

include "masks.pxi"
include "timeline.pxi"
include "refusal.pxi"
include "masks_line.pxi"

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
    int32_t max_growth
    int32_t *nodes           # of the reservation of a job
    place_t *place
    int64_t *seen            # timeline_t.changes when its place was chosen last, or found to be the same
    bint sure                # the placement rule gives the same answer to the same question
    int64_t trusted          # choices up to this number of changes are made again
    int32_t head             # the first job in the queue that still waited after the last sweep
    int32_t new_head         # the same of this sweep, so far; -1: none
    int32_t epoch            # of the promises that were made in the last sweep
    bint again               # all promises are made again in this sweep
    window_t window
    # scratch: masks
    uint64_t *others         # of the window
    uint64_t *alone          # of a grant
    uint64_t *own            # the place that the job in question has reserved
    uint64_t *instant

cdef enum:
    PLANNED_WITHOUT_LOOK = 1024

cdef inline void forget_ended(plan_t *p, const sim_t *s) noexcept nogil:
    forget(&p.line, s.now)


include "conservative.pxi"
include "conservative_search.pxi"


# ---------------------------------------------------------------------------------------------- the plan

cdef inline int base_plan(plan_t *p, sim_t *s) noexcept nogil:
    p.refused.until = -INFINITY
    return line_of_running(p, &p.line, s)


cdef inline int take_place(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil:
    cdef granted_t grant
    if not begin < end or end <= s.now:
        return OK
    grant = granted(&p.line, &s.machine, place, p.alone)
    p.line.changes += 1
    return take(p, &p.line, begin, end, &grant)


cdef int give_place(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil:
    """A place is free again in [begin, end), and jobs may move there."""
    cdef granted_t grant
    cdef gain_t gain
    if not begin < end or end <= s.now:
        return OK
    grant = granted(&p.line, &s.machine, place, p.alone)
    p.line.changes += 1
    if give(p, &p.line, begin, end, &grant) < 0:
        return NO_MEMORY
    refuse_from(&p.refused, begin)
    no_gain(&gain)
    gain.begin, gain.end = begin, end
    add_gain(&p.gain, &gain)
    add_gain(&p.gains, &gain)
    return OK


# ---------------------------------------------------------------------------------------------- a sweep

cdef inline void open_sweep(plan_t *p, sim_t *s, bint replans) noexcept nogil:
    p.again = p.epoch != s.epoch
    p.epoch = s.epoch
    p.sure = s.placement.stable and not (s.live and s.predictions.n > 0)
    p.new_head = -1
    s.work.looked += s.queue.end - s.queue.head


cdef inline void close_sweep(plan_t *p) noexcept nogil:
    p.head = p.new_head
    if not p.sure:
        p.trusted = p.line.changes


cdef bint is_touched(const plan_t *p, int32_t job) noexcept nogil:
    """Whether something has changed where a job has its reservation, since its place was chosen last."""
    cdef const timeline_t *f = &p.line
    cdef double begin = p.begin[job], end = p.end[job]
    cdef int32_t i
    if not p.sure or p.seen[job] <= p.trusted:
        return True
    if p.seen[job] == f.changes:
        return False
    i = index_at(f, begin)
    while f.stamp[i] <= p.seen[job]:
        i += 1
        if i == f.n or f.at[i] >= end:
            return False
    return True


cdef inline bint gains_meet(const plan_t *p, double begin, double end) noexcept nogil:
    """Whether capacity was given back in [begin, end), or at `begin` if that is empty."""
    return begin < p.gains.end and (p.gains.begin < end or p.gains.begin <= begin)


cdef int32_t next_to_plan(plan_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef const queue_t *q = &s.queue
    cdef int32_t job
    if s.absences.state != NULL:
        return at                # what is closed to a job depends on the time
    while at < q.end:
        job = q.job[at]
        # A reservation stays as it is if it is not due, if nothing was given back before its end, and if nothing has
        # changed where it is.  As the first of the queue, a job may have larger places than before.
        if not (s.now < p.begin[job] < INFINITY and (p.new_head >= 0 or p.head == job)
                and not (p.gains.end > s.now and gains_meet(p, s.now, p.end[job])) and not is_touched(p, job)):
            return at
        if p.again and not p.only_plans:
            promise_start(s, job, p.begin[job])
        if p.new_head < 0:
            p.new_head = job
        at += 1
    return at


cdef int choose_at(plan_t *p, sim_t *s, int32_t job, double t, bint starts, place_t *place) noexcept nogil:
    """The size of the place that the rule gives a job from t on, clear of the window; 0: there is none; < 0: a code."""
    cdef window_t *w = &p.window
    cdef permit_t permit
    cdef uint64_t *joined = w.mask
    cdef bint by_parts = w.by_parts
    memset(&permit, 0, sizeof(permit))
    w.mask, w.by_parts = p.instant, False
    clear_window(w, &p.line)
    join_step(w, &p.line, index_at(&p.line, t))
    w.mask, w.by_parts = joined, by_parts
    if starts:
        mask_join(p.instant, s.machine.occ, p.line.words)
        mask_join(w.mask, s.machine.occ, p.line.words)
    permit.forbidden = w.mask
    return choose_growing(s, job, t, p.instant, w.limit, &permit, starts, place)


cdef inline double stay_of(const sim_t *s, int32_t job) noexcept nogil:
    """Expected seconds from the decision to start a job to its end."""
    return s.start_delay + (s.track.owed[job] if s.track.on and s.restarts[job] > 0 else 0.0) + s.remaining[job]


cdef int find_place(plan_t *p, sim_t *s, int32_t job, bint head, double *begin, place_t *place,
                    bint *starts) noexcept nogil:
    """The earliest time with a place that is free for the whole stay, and the smallest size; the size, or a code.

    The job may start there if `starts`.  0: it keeps its reservation, or there is no place.
    """
    cdef window_t *w = &p.window
    cdef timeline_t *f = &p.line
    cdef double old = p.begin[job], stop = old
    cdef double start = -INFINITY, longest = 0.0
    cdef bint new_head = head and p.head != job
    cdef int32_t i = -1
    cdef int size
    w.s, w.ask, w.need, w.limit = s, ask_of(s, job), s.need[job], s.nodes if head else s.need[job] + p.max_growth
    w.own_begin, w.own_end, w.own = old, p.end[job], p.own
    w.mask = p.others
    w.by_parts = s.machine.part > 0 and w.need >= s.machine.part
    w.any_full = False
    memset(&w.own_parts, 0, sizeof(outline_t))
    if old != INFINITY:
        granted(f, &s.machine, &p.place[job], p.own)
        if w.by_parts:
            s.machine.outlined.trace(s.machine.state, p.own, 0, f.words, &w.own_parts)
        if not new_head:
            stop = min(stop, p.gains.end)        # elsewhere nothing was given back
    if old == s.now:
        join_steps(w, f, s.now, end_if_started_at(s, job, s.now))
        begin[0], i = s.now, 0
    elif s.now < stop:
        if not head:
            # A refusal is beside all reservations: room may be only with what the job itself has reserved.
            start = refused_until(&p.refused, w.ask, s.remaining[job], &longest)
            start = min(start, surely_before(old, stay_of(s, job)) if old < INFINITY else INFINITY)
        if start < stop:
            i = earliest(f, w, s, job, start, stop, &longest, begin)
            if not head:
                refuse(&p.refused, w.ask, longest, stop if i < 0 else begin[0])
        if i >= 0:
            fill_window(w, f)
    if i >= 0:
        if begin[0] == s.now:
            starts[0] = True
            size = choose_at(p, s, job, s.now, True, place)
            if size != 0:
                return size
            # Room at now that counts on nodes with an overdue release is not room to start in.
            join_steps(w, f, s.now, end_if_started_at(s, job, s.now))
        starts[0] = False
        return choose_at(p, s, job, begin[0], False, place)
    starts[0] = False
    begin[0] = old
    if old == INFINITY or not (new_head or is_touched(p, job)):
        return 0
    join_steps(w, f, old, end_if_started_at(s, job, old))
    if p.sure and old < p.end[job] and s.nodes - mask_count(w.mask, f.words) == p.nodes[job]:
        return 0                 # nothing is free but its own place
    return choose_at(p, s, job, old, False, place)


cdef double next_after_ends(const plan_t *p, const sim_t *s, double t) noexcept nogil:
    """The first time after t that is tried, beside all reservations."""
    cdef const queue_t *q = &s.queue
    cdef double first = INFINITY, last = s.now
    cdef int32_t i
    for i in range(q.head, q.end):
        if p.begin[q.job[i]] < INFINITY:
            last = max(last, p.end[q.job[i]])
            if p.end[q.job[i]] > t:
                first = min(first, p.end[q.job[i]])
    return next_tried(s, t, first, last)


cdef void close_nodes(plan_t *p, sim_t *s, int32_t job, double t, double end) noexcept nogil:
    """The window, with what is closed to a job from t to `end`."""
    fill_window(&p.window, &p.line)
    closed_to(s, job, t, end, p.own)
    mask_join(p.others, p.own, p.line.words)


cdef int find_open_place(plan_t *p, sim_t *s, int32_t job, bint head, double stop, double *begin, place_t *place,
                         bint *starts) noexcept nogil:
    """`find_place` of a job that has no reservation, where nodes may be closed to jobs; up to and with `stop`."""
    cdef window_t *w = &p.window
    cdef double start = -INFINITY, longest = 0.0, end
    cdef int size
    w.s, w.ask, w.need, w.limit = s, ask_of(s, job), s.need[job], s.nodes if head else s.need[job] + p.max_growth
    w.own_begin = w.own_end = INFINITY
    w.mask = p.others
    w.by_parts = s.machine.part > 0 and w.need >= s.machine.part
    w.any_full = False
    # Invariant: no time before `start` that is tried has a place.
    while start < INFINITY:
        if earliest(&p.line, w, s, job, start, INFINITY, &longest, begin) < 0 or begin[0] > stop:
            return 0
        end = end_if_started_at(s, job, begin[0])
        starts[0] = begin[0] == s.now
        close_nodes(p, s, job, begin[0], end)
        size = choose_at(p, s, job, begin[0], starts[0], place)
        if size == 0 and starts[0]:
            # Room at now that counts on nodes with an overdue release is not room to start in.
            starts[0] = False
            join_steps(w, &p.line, s.now, end)
            close_nodes(p, s, job, s.now, end)
            size = choose_at(p, s, job, s.now, False, place)
        if size != 0:
            return size
        start = next_after_ends(p, s, begin[0])
    return 0


cdef int plan_beside(plan_t *p, sim_t *s, int32_t job, bint behind) noexcept nogil:
    """`plan_job` where nodes may be closed to jobs: the job is planned again beside all other reservations."""
    cdef double begin = INFINITY, old = p.begin[job], end = p.end[job]
    cdef bint starts = False
    cdef place_t place
    cdef granted_t grant
    cdef int code, size
    p.begin[job] = INFINITY
    if old < end and end > s.now and old < INFINITY:
        grant = granted(&p.line, &s.machine, &p.place[job], p.alone)
        p.line.changes += 1
        if give(p, &p.line, old, end, &grant) < 0:
            return NO_MEMORY
    size = find_open_place(p, s, job, not behind, old, &begin, &place, &starts)
    if size < 0:
        return size
    if size == 0:
        begin = old
        if old == INFINITY:
            return OK
        place, size = p.place[job], p.nodes[job]
        starts = old == s.now and not s.machine.placed.meets(s.machine.state, s.machine.occ, &place)
    if not p.only_plans:
        promise_start(s, job, begin)
    if starts and not p.only_plans:
        code = start_job(s, job, size, &place, behind)
        if code == OK:
            code = take_place(p, s, s.now, s.expected[job], &place)
        return STARTED if code == OK else code
    p.begin[job], p.end[job] = begin, end_if_started_at(s, job, begin)
    p.place[job], p.nodes[job] = place, size
    p.soonest = min(p.soonest, begin)
    return take_place(p, s, begin, p.end[job], &place)


cdef int plan_job(plan_t *p, sim_t *s, int32_t job, bint behind) noexcept nogil:
    cdef bint head = not behind, starts = False, moves
    cdef double begin = INFINITY, old = p.begin[job], end = p.end[job]
    cdef place_t place
    cdef int code, size
    if s.absences.state != NULL:
        return plan_beside(p, s, job, behind)
    size = find_place(p, s, job, head, &begin, &place, &starts)
    if size < 0:
        return size
    if size == 0:
        # It keeps its reservation.  Nothing as good is found only where a reservation without length stood beside
        # another one, or after a change of the queue order.
        begin = old
        place = p.place[job]
        size = p.nodes[job]
        starts = begin == s.now and not s.machine.placed.meets(s.machine.state, s.machine.occ, &place)
    starts = starts and not p.only_plans
    if begin < INFINITY:
        moves = begin != old or not same_place(&place, &p.place[job])
        if old != INFINITY and (moves or starts) and give_place(p, s, old, end, &p.place[job]) < 0:
            return NO_MEMORY
        if not p.only_plans:
            promise_start(s, job, begin)
        if starts:
            p.begin[job] = INFINITY
            code = start_job(s, job, size, &place, behind)
            if code == OK:
                code = take_place(p, s, s.now, s.expected[job], &place)
            return STARTED if code == OK else code
        p.begin[job], p.end[job] = begin, end_if_started_at(s, job, begin)
        p.place[job], p.nodes[job] = place, size
        p.soonest = min(p.soonest, begin)
        if moves and take_place(p, s, begin, p.end[job], &place) < 0:
            return NO_MEMORY
        p.seen[job] = p.line.changes
    if head:
        p.new_head = job
    return OK


# ---------------------------------------------------------------------------------------------- a pass

cdef inline void open_pass(plan_t *p) noexcept nogil:
    pass


cdef inline int close_pass(plan_t *p, sim_t *s, bint upset) noexcept nogil:
    s.work.steps = p.line.looked
    return OK


cdef inline int extend(plan_t *p, sim_t *s) noexcept nogil:
    return OK


cdef inline int complete(plan_t *p, sim_t *s) noexcept nogil:
    return OK


cdef inline int give_back(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    cdef place_t place = s.machine.placed.place_of(s.machine.state, job)
    forget(&p.line, s.now)
    return give_place(p, s, s.now, s.expected[job], &place)


cdef inline void entered(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    pass


cdef inline int migrate_jobs(sim_t *s, bint *again) noexcept nogil:
    return OK if s.migration.rearrange == NULL else s.migration.rearrange(s.migration.state, s, again)


cdef inline int64_t least_planned(const plan_t *p, const sim_t *s) noexcept nogil:
    return least_on_line(p, s)


cdef inline void store_place(const plan_t *p, int32_t job, place_t *place) noexcept nogil:
    place[0] = p.place[job]


cdef int guard(void *state, void *sim, int32_t job, double end, uint64_t *forbidden, permit_t *permit) noexcept nogil:
    """The places of all reservations that begin before `end`."""
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i, other
    for i in range(s.queue.head, s.queue.end):
        other = s.queue.job[i]
        if p.begin[other] < p.end[other] and p.begin[other] < end:
            s.machine.placed.put(s.machine.state, forbidden, &p.place[other])
    return OK


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef size_t n = s.n, words = s.machine.words
    cdef plan_t *p = open_plan(s)
    open_plan_line(p, s, 64)
    s.scheduler.guard = guard
    p.max_growth = min(options["max_growth"], <object>s.nodes)
    own_jobs(p, &p.nodes, n, sizeof(int32_t))
    own_jobs(p, &p.place, n, sizeof(place_t))
    own_jobs(p, &p.seen, n, sizeof(int64_t))
    own_block(p, &p.others, words, sizeof(uint64_t))
    own_block(p, &p.alone, words, sizeof(uint64_t))
    own_block(p, &p.own, words, sizeof(uint64_t))
    own_block(p, &p.instant, words, sizeof(uint64_t))
    p.trusted = p.epoch = p.head = -1
    return 0


CONSERVATIVE = factory(open_conservative)
