"""FCFS and EASY on a cluster (MODEL 6)."""

from libc.stdint cimport int32_t
from libc.string cimport memmove

from faultsim._core.containers.releases cimport releases_shadow
from faultsim._core.state cimport (
    CHANGED_ALL, OK, close_gap, end_if_started, look_t, move_looks, promise_start, set_look, sim_t, start_job, usable,
    wait_t,
)


cdef int32_t next_fitting(const int32_t *need, int32_t at, int32_t end, int32_t free) noexcept nogil:
    """The first place from `at` on whose job asks for no more than what is free; `end`: none."""
    cdef int32_t k, fits
    while at + 16 <= end:
        fits = 0
        for k in range(16):              # the compiler makes vectors of this
            fits |= need[at + k] <= free
        if fits:
            break
        at += 16
    while at < end and need[at] > free:
        at += 1
    return at


cdef int32_t next_candidate(const look_t *look, int32_t at, int32_t end, int32_t free, int32_t extra,
                            float time) noexcept nogil:
    """The first place from `at` on whose job fits, and perhaps ends in `time` or needs no more than `extra`."""
    cdef int32_t k, may
    cdef const int32_t *need = look.need
    cdef const float *least = look.least
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


cdef inline int32_t keep_range(wait_t *w, int32_t keep, int32_t begin, int32_t end) noexcept nogil:
    """Close the gap in front of the jobs at [begin, end), which stay; where the next one belongs."""
    if keep != begin and begin < end:
        memmove(&w.job[keep], &w.job[begin], <size_t>(end - begin) * sizeof(int32_t))
        move_looks(w, keep, begin, end - begin)
    return keep + (end - begin)


cdef int backfill(sim_t *s) noexcept nogil:
    """One scan of the queue behind the head, from the first job not yet refused under this shadow."""
    cdef wait_t *w = &s.wait
    cdef int32_t at = s.examined, keep = s.examined, stays = s.examined, end = w.end, job, need
    cdef float time
    cdef bint outlives
    cdef int code
    if usable(s) > 0 and not s.shadow.valid:
        at = next_fitting(w.look.need, at, end, usable(s))
        if at < end:
            s.shadow.valid = True
            s.shadow.time = releases_shadow(
                &s.releases, s.now, usable(s), w.look.need[w.head], &s.shadow.extra)
            promise_start(s, w.job[w.head], s.shadow.time)
    # Rounded up, so that nobody who ends in time is passed over; the test that counts is below, in doubles.
    time = <float>(((s.shadow.time - s.now) + 1e-15 * (s.shadow.time + s.now)) * (1.0 + 1.5e-7) + 1e-37)
    while at < end and usable(s) > 0:
        at = next_candidate(&w.look, at, end, usable(s), <int32_t>s.shadow.extra, time)
        if at == end:
            break
        job = w.job[at]
        need = w.look.need[at]
        at += 1
        outlives = end_if_started(s, job) > s.shadow.time
        if not outlives or need <= s.shadow.extra:
            if outlives:
                s.shadow.extra -= need
            code = start_job(s, job, need, NULL, True)
            if code < 0:
                return code
            # It leaves: what stayed since the last one that left moves up.
            keep = keep_range(w, keep, stays, at - 1)
            stays = at
    keep = keep_range(w, keep, stays, at)
    close_gap(w, keep, at)
    s.examined = w.end
    return OK


cdef int schedule_cluster(sim_t *s) noexcept nogil:
    cdef wait_t *w = &s.wait
    cdef int32_t i, job
    cdef int code
    if s.policy.order != NULL:
        code = s.policy.order(s)
        if code < 0:
            return code
        if w.look.need != NULL:
            for i in range(w.head, w.end):
                set_look(s, i)
        s.change = CHANGED_ALL
        s.epoch += 1         # another head may come first now: promises are excused
    # After arrivals alone nothing that was refused can start: nodes, shadow and extra nodes are the same and time is
    # later.  Only an overrun moves the shadow.
    if s.change == CHANGED_ALL or s.examined <= w.head or (s.shadow.valid and s.now > s.shadow.time):
        s.shadow.valid = False
        while w.head < w.end:
            job = w.job[w.head]
            if s.need[job] > usable(s):
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
