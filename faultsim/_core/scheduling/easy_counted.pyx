"""FCFS, EASY and preemptive scheduling on counts (model.md#easy, model.md#preemptive): any free nodes serve."""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

from faultsim._core.absences cimport (
    absences_of, find_open_time, none_closed, open_room, open_shadow_t, room_ahead, spare_none, spare_set,
    taken_outside,
)
from faultsim._core.containers.memory cimport open_state, own_jobs
from faultsim._core.containers.releases cimport releases_shadow
from faultsim._core.jobs cimport start_heads, start_job
from faultsim._core.queue cimport (
    TOGETHER, any_fits, begin_pass, close_last_gap, is_empty, keep_range, next_fitting, open_scan, open_slopes,
    sort_now, sort_queue,
)
from faultsim._core.orders.by_slope cimport first_candidate, first_job, remove_at
from faultsim._core.scheduling.preemption cimport preempt, victim_t
from faultsim._core.state cimport (
    CHANGED_ALL, ask_of, end_if_started, end_if_started_at, promise_start, queue_t, sim_t, usable,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t

cdef struct easy_t:
    bint backfills
    int32_t examined
    bint valid
    double time
    int64_t extra            # nodes free at the shadow time that the head does not need
    int32_t closed           # the closed set of the head then (absences.pxd)
    int64_t beside           # nodes outside of it that are free then and that the head does not need
    float longest            # expected time of a job that ends by the shadow time, at most
    float open_for           # that of a job that ends before the next absence begins, at most
    int32_t ahead            # nodes that are free to jobs that end later, at most; < 0: not counted yet
    victim_t *victim         # scratch of preemption; NULL: heads do not stop other jobs


cdef inline bint starts_afresh(const easy_t *p, const sim_t *s) noexcept nogil:
    # After arrivals alone only an overrun moves the shadow.  Until an absence ends, after which everything has changed,
    # the nodes that are closed to a job only become more as time passes.
    return s.change == CHANGED_ALL or p.examined <= 0 or p.victim != NULL or (p.valid and s.now > p.time)


cdef inline int start_first(easy_t *p, sim_t *s, bint *afresh) noexcept nogil:
    cdef int code = start_heads(s) if afresh[0] else OK
    while p.victim != NULL and code == OK and not is_empty(&s.queue):
        code = preempt(s, p.victim)
        if code <= 0:
            return code
        code = start_heads(s)
    return code


# Expected time of a job that starts now and ends by `time`, at most.  Rounded up, so that no job that ends in time is
# passed over; try_start compares doubles.
cdef inline float time_until(const sim_t *s, double time) noexcept nogil:
    return <float>(((time - s.now) + 1e-15 * (time + s.now)) * (1.0 + 1.5e-7) + 1e-37)


cdef inline void begin_scan(easy_t *p, const sim_t *s) noexcept nogil:
    p.longest = time_until(s, p.time)
    if s.absences.state != NULL:
        p.open_for = time_until(s, absences_of(s).open_until)
        p.ahead = -1


cdef int find_first_time(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    """The shadow where nodes may be closed to the head, from `p.time` on, at which enough nodes are free."""
    cdef open_shadow_t found
    found.time = p.time
    if find_open_time(s, head, &found) < 0:
        return NO_MEMORY
    p.time, p.extra, p.beside, p.closed = found.time, found.extra, found.beside, found.closed
    return OK


cdef inline int find_shadow(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    p.time = releases_shadow(&s.releases, s.now, usable(s), s.need[head], &p.extra)
    p.closed = 0
    if s.absences.state != NULL and not none_closed(absences_of(s), p.time, end_if_started_at(s, head, p.time)):
        if find_first_time(p, s, head) < 0:
            return NO_MEMORY
    promise_start(s, head, p.time)
    begin_scan(p, s)
    return OK


cdef int32_t next_before_absence(easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    """`next_candidate`, less jobs for which the nodes that the next absence leaves open are too few."""
    cdef const queue_t *q = &s.queue
    cdef int32_t free = usable(s), extra = <int32_t>p.extra if p.valid else free
    if p.ahead < 0:
        p.ahead = room_ahead(s)
    while at < q.end and not (q.need[at] <= free and (q.need[at] <= extra or q.least[at] <= p.longest)
                              and (q.need[at] <= p.ahead or q.least[at] <= p.open_for)):
        at += 1
    return at


cdef inline int32_t next_beside_head(const easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    """`next_candidate` of a valid shadow, where no nodes are closed to jobs."""
    cdef const queue_t *q = &s.queue
    cdef int32_t k, may, end = q.end, free = usable(s), extra = <int32_t>p.extra
    cdef float longest = p.longest
    cdef const int32_t *need
    cdef const float *least
    while at + TOGETHER <= end:
        need, least, may = q.need + at, q.least + at, 0
        for k in range(TOGETHER):        # the compiler makes vectors of this
            may |= (need[k] <= free) & ((need[k] <= extra) | (least[k] <= longest))
        if may:
            break
        at += TOGETHER
    need, least = q.need, q.least
    while at < end and not (need[at] <= free and (need[at] <= extra or least[at] <= longest)):
        at += 1
    return at


cdef inline int32_t next_candidate(easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    cdef const queue_t *q = &s.queue
    at = next_beside_head(p, s, at) if p.valid else next_fitting(q.need, at, q.end, usable(s))
    if s.absences.state != NULL and at < q.end and q.least[at] > p.open_for:
        return next_before_absence(p, s, at)
    return at


cdef inline bint all_open(const easy_t *p, const sim_t *s, double end, bint outlives) noexcept nogil:
    return none_closed(absences_of(s), s.now, end) and not (outlives and p.closed > 0)


cdef int take_beside(easy_t *p, sim_t *s, int32_t job, bint outlives) noexcept nogil:
    """Whether a job may start for all that is closed to it and to the head."""
    cdef int64_t takes = 0
    if s.need[job] > open_room(s, job):
        return 0
    if outlives and p.closed > 0:
        takes = taken_outside(s, p.closed, job)
        if takes > p.beside:
            return 0
        p.beside -= takes
        spare_set(s, p.closed)
    return 1


cdef inline int try_start(easy_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef int32_t job = s.queue.job[at], need = s.queue.need[at]
    cdef double end = end_if_started(s, job)
    cdef bint outlives = end > p.time
    cdef int code
    if need > usable(s) or (outlives and need > p.extra):
        return 0
    if s.absences.state != NULL and not all_open(p, s, end, outlives):
        code = take_beside(p, s, job, outlives)
        if code <= 0:
            return code
    if outlives:
        p.extra -= need
    code = start_job(s, job, need, NULL, True)
    if s.absences.state != NULL and absences_of(s).spares:
        spare_none(s)
    return code if code < 0 else 1


cdef inline int64_t room_beside(easy_t *p, const sim_t *s, promise_t *promise) noexcept nogil:
    cdef int64_t extra = 0
    cdef open_shadow_t found
    promise.time = releases_shadow(&s.releases, s.now, s.free, promise.need, &extra)
    if s.absences.state == NULL or promise.time == INFINITY:
        return extra
    found.time = promise.time
    if find_open_time(s, s.queue.job[s.queue.head], &found) < 0:
        return NO_MEMORY
    promise.time = found.time
    return min(found.extra, found.beside) if found.closed > 0 else found.extra


include "easy.pxi"


# ---------------------------------------------------------------------------------------------- orders with slopes

cdef int backfill_unsorted(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    """`backfill` of a queue in no order, sorted if more than a few jobs start; `head`: where its first job is."""
    cdef int32_t at, _k
    cdef int code
    if not any_fits(s):
        return OK
    p.valid = True
    find_shadow(p, s, s.queue.job[head])
    for _k in range(s.limit.unsorted_starts):
        at = first_candidate(s, usable(s), <int32_t>p.extra, p.longest) if usable(s) > 0 else -1
        if at < 0:
            return OK
        code = try_start(p, s, at)
        if code < 0:
            return code
        if code == 0:
            break            # a candidate by rounding only
        remove_at(s, at)
    code = sort_now(s)
    p.examined = 1
    return code if code < 0 else backfill(p, s)


cdef int schedule_unsorted(void *state, void *sim) noexcept nogil:
    """A pass over a queue with an order that changes with time, without sorting it where only a few jobs start."""
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef int32_t first, n_started = 0
    cdef int code
    # Outside of these bounds of time, scores lose the precision that by_slope.pyx relies on.
    if s.absences.state != NULL or s.migration.rearrange != NULL or not 1e-10 < fabs(s.now) < 1e17:
        return schedule(state, sim)
    s.change = CHANGED_ALL
    s.epoch += 1
    q.unsorted = s.now
    p.valid, p.examined = False, 0
    if not any_fits(s):
        return OK
    while not is_empty(q):
        if n_started == s.limit.unsorted_starts:
            code = sort_now(s)
            return code if code < 0 else run_pass(p, s, True)
        first = first_job(s)
        if q.need[first] > usable(s):
            return backfill_unsorted(p, s, first) if p.backfills else OK
        code = start_job(s, q.job[first], q.need[first], NULL, False)
        if code < 0:
            return code
        remove_at(s, first)
        n_started += 1
    return OK


cdef easy_t *open_on_capacity(sim_t *s, bint backfills) except NULL:
    cdef easy_t *p = open_easy_state(s, backfills)
    if backfills or s.order.slope_of != NULL:
        open_scan(s)
    if s.order.slope_of != NULL:
        open_slopes(s)
        s.scheduler.schedule = schedule_unsorted
    return p


include "easy_openings.pxi"
