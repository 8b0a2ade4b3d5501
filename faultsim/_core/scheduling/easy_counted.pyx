"""FCFS and EASY backfilling where any free nodes serve (model.md#easy)."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.memory cimport open_state
from faultsim._core.containers.releases cimport releases_shadow
from faultsim._core.tables.factory cimport factory
from faultsim._core.jobs cimport start_heads, start_job
from faultsim._core.queue cimport (
    begin_pass, close_gap, keep_range, next_fitting, nobody_waits, open_scan, sort_queue,
)
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.state cimport CHANGED_ALL, end_if_started, promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport OK

cdef struct easy_t:
    bint backfills
    int32_t examined         # so many jobs from the head on were refused under the present shadow
    # The shadow: what was promised to the head, kept between passes while it stays true.
    bint valid
    double time
    int64_t extra            # nodes free then that the head does not need


cdef int32_t next_candidate(const queue_t *q, int32_t at, int32_t end, int32_t free, int32_t extra,
                            float time) noexcept nogil:
    """The first place from `at` on whose job fits, and perhaps ends in `time` or needs no more than `extra`."""
    cdef int32_t k, may
    cdef const int32_t *need = q.need
    cdef const float *least = q.least
    while at + 16 <= end:
        may = 0
        for k in range(16):
            may |= (need[at + k] <= free) & ((need[at + k] <= extra) | (least[at + k] <= time))
        if may:
            break
        at += 16
    while at < end and not (need[at] <= free and (need[at] <= extra or least[at] <= time)):
        at += 1
    return at


cdef int backfill(easy_t *p, sim_t *s) noexcept nogil:
    """One scan of the queue after its head, from the first job not yet refused under this shadow."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head + p.examined, keep = at, stays = at, end = q.end, job, need
    cdef float time
    cdef bint outlives
    cdef int code
    if usable(s) > 0 and not p.valid:
        at = next_fitting(q.need, at, end, usable(s))
        if at < end:
            p.valid = True
            p.time = releases_shadow(&s.releases, s.now, usable(s), q.need[q.head], &p.extra)
            promise_start(s, q.job[q.head], p.time)
    # Rounded up, so that nobody who ends in time is passed over; the test that counts is below, in doubles.
    time = <float>(((p.time - s.now) + 1e-15 * (p.time + s.now)) * (1.0 + 1.5e-7) + 1e-37)
    while at < end and usable(s) > 0:
        at = next_candidate(q, at, end, usable(s), <int32_t>p.extra, time)
        if at == end:
            break
        job = q.job[at]
        need = q.need[at]
        at += 1
        outlives = end_if_started(s, job) > p.time
        if not outlives or need <= p.extra:
            if outlives:
                p.extra -= need
            code = start_job(s, job, need, NULL, True)
            if code < 0:
                return code
            # It leaves: what stayed since the last one that left moves up.
            keep = keep_range(q, keep, stays, at - 1)
            stays = at
    keep = keep_range(q, keep, stays, at)
    close_gap(q, keep, at)
    p.examined = q.end - q.head
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef int code = begin_pass(s)
    if code < 0:
        return code
    # After arrivals alone nothing that was refused can start: nodes, shadow and extra nodes are the same and time is
    # later.  Only an overrun moves the shadow.
    if s.change == CHANGED_ALL or p.examined <= 0 or (p.valid and s.now > p.time):
        p.valid = False
        code = start_heads(s)
        if code < 0:
            return code
        if nobody_waits(q):
            p.examined = 0
            return OK
        p.examined = 1
    if not p.backfills:
        p.examined = q.end - q.head
        return OK
    return backfill(p, s)


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    """The nodes that the head leaves over when its turn comes."""
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t extra = 0
    cdef int code
    code = sort_queue(s)
    if code < 0:
        return code
    promise.need = s.need[s.queue.job[s.queue.head]]
    promise.time = releases_shadow(&s.releases, s.now, s.free, promise.need, &extra)
    if promise.time == INFINITY:
        return sound
    promise.any = True
    return extra if extra < sound else sound


cdef int open_fcfs(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    open_state(&s.scheduler, sizeof(easy_t))
    s.scheduler.schedule = schedule
    return 0


cdef int open_easy(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    open_fcfs(sim, options, columns)
    (<easy_t *>s.scheduler.state).backfills = True
    s.scheduler.spare = spare
    return open_scan(s)


FCFS = factory(open_fcfs)
EASY = factory(open_easy)
