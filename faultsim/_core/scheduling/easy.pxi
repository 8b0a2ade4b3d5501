# FCFS and EASY backfilling (model.md#fcfs, model.md#easy), and what may happen between them: preemption, migration.
# Included after, of a capacity:
#
# easy_t          the state; its fields used here are described below
# starts_afresh   whether jobs that were refused before may start now
# start_first     if `afresh`, the heads of the queue start as long as they fit; then running jobs may be stopped or
#                 moved, and if that may help waiting jobs, heads start again and `afresh` is set; OK or a code
# begin_scan      what else a scan begins with
# next_candidate  the next position from `at` on with a job that may start, by what is known without a search for
#                 room: its size, the shadow if it is valid, refusals of other jobs in this pass; queue_t.end: none
# find_shadow     `time` becomes the shadow time of a job, the head, and the state keeps what is free then; OK or a code
# try_start       1: the job at a position has started; 0: it may not; < 0: a code
# room_beside     the nodes that a job, the head, leaves free at its shadow time, with that time; < 0: a code
#
# The shadow is found once a job behind the head is small enough to start, and is kept, as are refusals, while only
# arrivals follow: the free capacity and the shadow are then the same, and time is later, so that no refused job can
# start.  Jobs that were backfilled since and outlive the shadow time have taken from what the head leaves free.
#
# Fields of easy_t: `backfills`, whether jobs behind the head may start; `examined`, the number of jobs from the head on
# that were refused under the present shadow (0: the next pass starts afresh); `valid`, whether the shadow is there;
# `time`, the shadow time.


cdef int backfill(easy_t *p, sim_t *s) noexcept nogil:
    """One scan of the queue behind its head, from the first job not yet refused under this shadow."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head + p.examined, keep = at, stays = at
    cdef int code
    begin_scan(p, s)
    # Invariant: the jobs before position `at` are examined; of those that stay, the ones at [stays, at) have not moved.
    while usable(s) > 0:
        at = next_candidate(p, s, at)
        if at == q.end:
            break
        if not p.valid:
            p.valid = True
            code = find_shadow(p, s, q.job[q.head])
            if code < 0:
                return code
        code = try_start(p, s, at)
        if code < 0:
            return code
        if code == 1:
            keep = keep_range(q, keep, stays, at)
            stays = at + 1
        at += 1
    close_last_gap(q, keep, stays)
    p.examined = q.end - q.head
    return OK


cdef inline int run_pass(easy_t *p, sim_t *s, bint afresh) noexcept nogil:
    """A pass over a queue that is in its order."""
    cdef queue_t *q = &s.queue
    cdef int code = start_first(p, s, &afresh)
    if code < 0:
        return code
    if is_empty(q):
        p.examined = 0
        return OK
    if afresh:
        p.valid = False
        p.examined = 1
    if p.backfills:
        return backfill(p, s)
    p.examined = q.end - q.head
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int code = begin_pass(s)
    return code if code < 0 else run_pass(p, s, starts_afresh(p, s))


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    """The nodes that the head leaves free when its turn comes (model.md#spares)."""
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t room
    cdef int code = sort_queue(s)
    if code < 0:
        return code
    promise.need = ask_of(s, s.queue.job[s.queue.head])
    room = room_beside(p, s, promise)
    promise.any = promise.time != INFINITY
    return min(room, <int64_t>sound) if promise.any else sound


cdef easy_t *open_easy_state(sim_t *s, bint backfills) except NULL:
    cdef easy_t *p = <easy_t *>open_state(&s.scheduler, sizeof(easy_t))
    p.backfills = backfills
    s.scheduler.schedule = schedule
    if backfills:
        s.scheduler.spare = spare
    return p
