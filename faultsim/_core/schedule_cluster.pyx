"""FCFS and EASY on a cluster (MODEL 6)."""

from libc.stdint cimport int32_t, int64_t

from faultsim._core.releases cimport releases_shadow
from faultsim._core.sim cimport CHANGED_ALL, OK, close_gap, end_if_started, promise_start, sim_t, start_job, wait_t


cdef int backfill(sim_t *s) noexcept nogil:
    """One scan of the queue behind the head, from the first job not yet refused under this shadow."""
    cdef wait_t *w = &s.wait
    cdef int32_t *waiting = w.job
    cdef const int32_t *need_of = s.need
    cdef int32_t at = s.examined, keep = s.examined, end = w.end, free = s.free, job, need
    cdef bint outlives
    cdef int64_t extra
    cdef int code
    while at < end and free > 0:
        job = waiting[at]
        need = need_of[job]
        at += 1
        if need <= free:
            if not s.shadow.valid:
                s.shadow.valid = True
                s.shadow.time = releases_shadow(&s.releases, s.now, free, need_of[waiting[w.head]], &extra)
                s.shadow.extra = extra
                promise_start(s, waiting[w.head], s.shadow.time)
            outlives = end_if_started(s, job) > s.shadow.time
            if not outlives or need <= s.shadow.extra:
                if outlives:
                    s.shadow.extra -= need
                code = start_job(s, job, need, NULL, True)
                if code < 0:
                    return code
                free = s.free
                continue
        waiting[keep] = job
        keep += 1
    close_gap(w, keep, at)
    s.examined = w.end
    return OK


cdef int schedule_cluster(sim_t *s) noexcept nogil:
    cdef wait_t *w = &s.wait
    cdef int32_t job
    cdef int code
    if s.policy.order != NULL:
        code = s.policy.order(s)
        if code < 0:
            return code
        s.change = CHANGED_ALL
        s.epoch += 1         # another head may come first now: promises are excused
    # After arrivals alone nothing that was refused can start: nodes, shadow and extra nodes are the same and time is
    # later.  Only an overrun moves the shadow.
    if s.change == CHANGED_ALL or s.examined <= w.head or (s.shadow.valid and s.now > s.shadow.time):
        s.shadow.valid = False
        while w.head < w.end:
            job = w.job[w.head]
            if s.need[job] > s.free:
                break
            code = start_job(s, job, s.need[job], NULL, False)
            if code < 0:
                return code
            w.head += 1
        if w.head == w.end:
            w.head = 0
            w.end = 0
            s.examined = 0
            return OK
        s.examined = w.head + 1
    if not s.policy.backfill:
        s.examined = w.end
        return OK
    return backfill(s)
