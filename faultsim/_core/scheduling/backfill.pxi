# Backfilling with reservations for the first `depth` waiting jobs (model.md#backfill).  Included after timeline.pxi
# and, of a capacity:
#
# backfill_t      the state; its fields used here are described below
# starts_afresh   whether jobs that were refused before may start now
# start_queue_heads
#                 the heads of the queue start as long as they fit, as Fcfs does; OK or a code
# open_line       `line` becomes that of the running jobs; OK or NO_MEMORY
# next_startable  the next position in the queue with a job that is small enough to start; queue_t.end: there is none
# try_start       1: the job at a position has started; 0: it may not; < 0: a code
# reserve         the earliest reservation of a job into the plan, if there is one; OK or a code
# least_room      the nodes that the reservations leave free where they leave least; < 0: a code
#
# The timeline has the running jobs and all reservations but those of no length.  It is made again in every scan in
# which a job behind the head is small enough to start.
#
# Fields of backfill_t: `depth`; `examined`, the number of jobs from the head on that were refused under the present
# reservations.


cdef int scan(backfill_t *p, sim_t *s) noexcept nogil:
    """One scan of the queue; jobs already examined do not start, yet have their reservations."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head, keep = at, stays = at, n_reserved = 0
    cdef int32_t startable = next_startable(p, s, q.head + p.examined)
    cdef int code
    if startable == q.end:
        return OK
    if open_line(p, s) < 0:
        return NO_MEMORY
    # Invariant: the jobs before position `at` are examined; of those that stay, the ones at [stays, at) have not moved.
    while startable < q.end:
        if n_reserved == p.depth:
            at = startable
        if at == startable:
            code = try_start(p, s, at)
            if code < 0:
                return code
            startable = next_startable(p, s, at + 1)
            if code == 1:
                keep = keep_range(q, keep, stays, at)
                at += 1
                stays = at
                continue
        if n_reserved < p.depth:
            n_reserved += 1
            code = reserve(p, s, q.job[at], at == q.head)
            if code < 0:
                return code
        at += 1
    keep = keep_range(q, keep, stays, at)
    close_gap(q, keep, at)
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef backfill_t *p = <backfill_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef int code = begin_pass(s)
    if code == OK and starts_afresh(p, s):
        code = start_queue_heads(s)
        p.examined = 1
    if code < 0:
        return code
    if is_empty(q):
        p.examined = 0
        return OK
    code = scan(p, s)
    p.examined = q.end - q.head
    return code


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    """The least room beside the reservations that a scan would make if no job could start (model.md#spares)."""
    cdef backfill_t *p = <backfill_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least
    cdef int32_t i
    cdef int code = sort_queue(s)
    if code == OK:
        code = open_line(p, s)
    for i in range(s.queue.head, s.queue.end):
        if code < 0 or i - s.queue.head == p.depth:
            break
        code = reserve(p, s, s.queue.job[i], i == s.queue.head)
    if code < 0:
        return code
    least = least_room(p, s, sound)
    return least if least > 0 else 0


cdef backfill_t *open_backfill_state(sim_t *s, dict options) except NULL:
    cdef backfill_t *p = <backfill_t *>open_state(&s.scheduler, sizeof(backfill_t))
    s.scheduler.schedule, s.scheduler.spare = schedule, spare
    p.depth = INT32_MAX if options["depth"] == "unlimited" else min(options["depth"], <object>INT32_MAX)
    p.room = min(16, thresholds.first_room)
    own_block(p, &p.reservation, p.room, sizeof(reservation_t))
    return p


cdef int add_reservation(backfill_t *p, double begin, double end, int32_t need) noexcept nogil:
    if p.n == p.room:
        if resize_block(p, &p.reservation, 2 * <size_t>p.room * sizeof(reservation_t)) < 0:
            return NO_MEMORY
        p.room *= 2
    p.reservation[p.n].begin, p.reservation[p.n].end, p.reservation[p.n].need = begin, end, need
    p.n += 1
    p.soonest = min(p.soonest, begin)
    p.any_instant = p.any_instant or begin == end
    return OK
