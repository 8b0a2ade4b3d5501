"""Backfilling with reservations for the first k waiting jobs, on counts (model.md#backfill)."""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.string cimport memmove

from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.absences cimport (
    absences_of, closed_set, free_inside, free_outside, next_tried, open_room, set_covers, spare_none, spare_set,
)
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_heads, start_job
from faultsim._core.queue cimport begin_pass, close_gap, is_empty, keep_range, next_fitting, open_scan, sort_queue
from faultsim._core.state cimport (
    CHANGED_ALL, end_if_started, end_if_started_at, promise_start, queue_t, sim_t, usable,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

include "counts.pxi"
include "timeline.pxi"
include "counts_line.pxi"
include "views.pxi"

ctypedef promised_t reservation_t

cdef struct backfill_t:
    int32_t depth
    int32_t examined
    timeline_t line
    reservation_t *reservation
    int32_t n, room
    double soonest           # the first begin of a reservation; inf: none, or no job was refused because of one
    bint any_instant         # some reservation has no length

include "backfill.pxi"


cdef inline bint starts_afresh(backfill_t *p, const sim_t *s) noexcept nogil:
    # After arrivals alone all reservations stay where they are, and what was refused stays refused, unless an overrun
    # moves one.  Until an absence ends, after which everything has changed, the nodes that are closed to a job only
    # become more as time passes.
    if s.change != CHANGED_ALL and p.examined > 0 and s.now <= p.soonest:
        return False
    p.soonest = INFINITY
    return True


cdef inline int start_queue_heads(sim_t *s) noexcept nogil:
    return start_heads(s)


cdef inline int open_line(backfill_t *p, const sim_t *s) noexcept nogil:
    p.n = 0
    p.soonest = INFINITY
    p.any_instant = False
    return line_of_running(p, &p.line, s)


cdef inline int32_t next_startable(const backfill_t *p, const sim_t *s, int32_t at) noexcept nogil:
    return next_fitting(s.queue.need, at, s.queue.end, usable(s))


cdef double first_in_way(const backfill_t *p, int32_t need, double after, double end) noexcept nogil:
    """The begin of the first reservation of no length, in (after, end), beside which fewer than `need` nodes are free.

    inf: there is none.
    """
    cdef const reservation_t *r
    cdef double first = INFINITY
    cdef int32_t i
    if not p.any_instant:
        return INFINITY
    for i in range(p.n):
        r = &p.reservation[i]
        if (r.begin == r.end and after < r.begin < min(end, first)
                and p.line.free[index_at(&p.line, r.begin)] - r.need < need):
            first = r.begin
    return first


cdef int try_start(backfill_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef int32_t job = s.queue.job[at], need = s.need[job], i = 0
    cdef double end = end_if_started(s, job)
    cdef int code
    # Step 0 also counts nodes with an overdue release; next_startable has found that enough nodes are really free.
    while i < p.line.n and p.line.at[i] < end:
        if p.line.free[i] < need:
            return 0
        i += 1
    if first_in_way(p, need, -INFINITY, end) < INFINITY:
        return 0
    if s.absences.state != NULL and not starts_beside(s, job, p.reservation, p.n, end):
        return 0
    code = start_job(s, job, need, NULL, True)
    if s.absences.state != NULL:
        spare_none(s)
    if code == OK:
        code = take(p, &p.line, s.now, end, need)
    return code if code < 0 else 1


cdef int reserve(backfill_t *p, sim_t *s, int32_t job, bint head) noexcept nogil:
    cdef int32_t need = s.need[job]
    cdef double begin = -INFINITY, start = -INFINITY, end = INFINITY, longest = 0.0
    cdef int32_t closed = 0
    cdef window_t w
    w.need = need
    # Invariant: no time before `start` has room.
    while start < INFINITY:
        if earliest(&p.line, &w, s, job, start, INFINITY, &longest, &begin) < 0:
            begin = INFINITY
            break
        end = end_if_started_at(s, job, begin)
        start = first_in_way(p, need, begin, end)
        if s.absences.state != NULL and start == INFINITY:
            closed = fits_views(s, job, p.reservation, p.n, begin, end)
            if closed == NO_MEMORY:
                return NO_MEMORY
            if closed < 0:
                start = next_after(s, p.reservation, p.n, begin)
                begin = INFINITY
    if head:
        promise_start(s, job, begin)
    if begin == INFINITY:
        return OK
    if add_reservation(p, begin, end, need) < 0:
        return NO_MEMORY
    p.reservation[p.n - 1].closed = closed
    return take(p, &p.line, begin, end, need)


cdef int64_t least_room(const backfill_t *p, const sim_t *s, int32_t sound) noexcept nogil:
    cdef const reservation_t *r
    cdef int64_t least = sound
    cdef int32_t i, free
    for i in range(p.n):
        r = &p.reservation[i]
        free = p.line.free[index_at(&p.line, r.begin)] - (r.need if r.begin == r.end else 0)
        least = min(least, <int64_t>free)
    return least if s.absences.state == NULL else least_beside(s, p.reservation, p.n, least)


cdef int open_backfill(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef backfill_t *p = open_backfill_state(s, options)
    open_timeline(p, &p.line, min(256, thresholds.first_room))
    p.soonest = INFINITY
    return open_scan(s)


BACKFILL = factory(open_backfill)
