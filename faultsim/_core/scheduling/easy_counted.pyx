"""FCFS and EASY backfilling where any free nodes serve (model.md#easy)."""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.containers.releases cimport releases_shadow
from faultsim._core.tables.factory cimport factory
from faultsim._core.jobs cimport start_heads, start_job
from faultsim._core.queue cimport (
    TOGETHER, begin_pass, close_gap, keep_range, next_fitting, nobody_waits, open_scan, open_slopes, any_job_fits,
    sort_now, sort_queue,
)
from faultsim._core.scheduling.by_slope cimport (
    add_place, choice_t, choose_from, fill_place, first_candidate, first_place, next_place, open_choice,
)
from faultsim._core.scheduling.preemption cimport preempt, victim_t
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.state cimport CHANGED_ALL, end_if_started, promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport OK

cdef struct easy_t:
    bint backfills
    victim_t *victim         # scratch of who preempts
    int32_t examined         # so many jobs from the head on were refused under the present shadow
    # The shadow: what was promised to the head, kept between passes while it stays true.
    bint valid
    double time
    int64_t extra            # nodes free then that the head does not need
    choice_t choice          # where the order of the queue has slopes


cdef inline int32_t next_candidate(const queue_t *q, int32_t at, int32_t end, int32_t free, int32_t extra,
                                   float time) noexcept nogil:
    """The first place from `at` on whose job fits, and perhaps ends in `time` or needs no more than `extra`."""
    cdef int32_t k, may
    cdef const int32_t *need
    cdef const float *least
    while at + TOGETHER <= end:
        need, least, may = q.need + at, q.least + at, 0
        for k in range(TOGETHER):        # the compiler makes vectors of this
            may |= (need[k] <= free) & ((need[k] <= extra) | (least[k] <= time))
        if may:
            break
        at += TOGETHER
    need, least = q.need, q.least
    while at < end and not (need[at] <= free and (need[at] <= extra or least[at] <= time)):
        at += 1
    return at


cdef inline void promise(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    """The shadow of the job at a place."""
    p.valid = True
    p.time = releases_shadow(&s.releases, s.now, usable(s), s.queue.need[head], &p.extra)
    promise_start(s, s.queue.job[head], p.time)


cdef inline float until_shadow(const easy_t *p, const sim_t *s) noexcept nogil:
    """Rounded up, so that nobody who ends in time is passed over; the test that counts is in doubles."""
    return <float>(((p.time - s.now) + 1e-15 * (p.time + s.now)) * (1.0 + 1.5e-7) + 1e-37)


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
            promise(p, s, q.head)
    time = until_shadow(p, s)
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


cdef int pass_from_head(easy_t *p, sim_t *s) noexcept nogil:
    """A pass over the whole queue, which is in its order."""
    cdef int code
    p.valid = False
    code = start_heads(s)
    if code < 0:
        return code
    if nobody_waits(&s.queue):
        p.examined = 0
        return OK
    p.examined = 1
    if not p.backfills:
        p.examined = s.queue.end - s.queue.head
        return OK
    return backfill(p, s)


cdef int backfill_chosen(easy_t *p, sim_t *s, float time) noexcept nogil:
    """The rest of `backfill_unsorted`, where more than a few may start: all candidates in a heap."""
    cdef queue_t *q = &s.queue
    cdef choice_t *choice = &p.choice
    cdef int32_t at = q.head, job, need, total, k, n_started = 0
    cdef bint outlives
    cdef int code
    choice.n = 0
    s.work.looked += q.end - q.head
    while True:
        at = next_candidate(q, at, q.end, usable(s), <int32_t>p.extra, time)
        if at == q.end:
            break
        add_place(choice, s, at)
        at += 1
    choose_from(choice, s)
    total = choice.n
    while choice.n and usable(s) > 0:
        at = next_place(choice, s)
        job, need = q.job[at], q.need[at]
        outlives = end_if_started(s, job) > p.time
        if need <= usable(s) and (not outlives or need <= p.extra):
            if outlives:
                p.extra -= need
            code = start_job(s, job, need, NULL, True)
            if code < 0:
                return code
            n_started += 1
            choice.place[total - n_started] = at     # the heap no longer needs that room
    for k in range(n_started):
        fill_place(s, choice.place[total - 1 - k])
    return OK


cdef int backfill_unsorted(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    """`backfill` of a queue that is in no order; `head` is the place of its first job."""
    cdef queue_t *q = &s.queue
    cdef int32_t at, job, need, _k
    cdef float time
    cdef bint outlives
    cdef int code
    if usable(s) <= 0 or next_fitting(q.need, q.head, q.end, usable(s)) == q.end:
        return OK
    promise(p, s, head)
    time = until_shadow(p, s)
    for _k in range(s.limit.unsorted_starts):
        if usable(s) <= 0:
            return OK
        at = first_candidate(s, usable(s), <int32_t>p.extra, time)
        if at < 0:
            return OK
        job, need = q.job[at], q.need[at]
        outlives = end_if_started(s, job) > p.time
        if outlives:
            if need > p.extra:
                break        # a candidate by rounding only
            p.extra -= need
        code = start_job(s, job, need, NULL, True)
        if code < 0:
            return code
        fill_place(s, at)
    return backfill_chosen(p, s, time)


cdef int pass_unsorted(easy_t *p, sim_t *s) noexcept nogil:
    """A pass over a queue whose order changes with time, of which only the first few jobs are looked for."""
    cdef queue_t *q = &s.queue
    cdef int32_t first, n_started = 0
    cdef int code
    s.change = CHANGED_ALL
    s.epoch += 1
    q.unsorted = s.now
    p.valid, p.examined = False, 0
    if not any_job_fits(s):
        return OK
    while not nobody_waits(q):
        if n_started == s.limit.unsorted_starts:
            code = sort_now(s)
            return pass_from_head(p, s) if code == OK else code
        first = first_place(s)
        if q.need[first] > usable(s):
            return backfill_unsorted(p, s, first) if p.backfills else OK
        code = start_job(s, q.job[first], q.need[first], NULL, False)
        if code < 0:
            return code
        fill_place(s, first)
        n_started += 1
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int code
    # A migration goes by who waits first.
    if p.choice.place != NULL and s.migration.rearrange == NULL and 1e-10 < fabs(s.now) < 1e17:
        return pass_unsorted(p, s)
    code = begin_pass(s)
    if code < 0:
        return code
    # After arrivals alone nothing that was refused can start: nodes, shadow and extra nodes are the same and time is
    # later.  Only an overrun moves the shadow.
    if s.change == CHANGED_ALL or p.examined <= 0 or (p.valid and s.now > p.time):
        return pass_from_head(p, s)
    if not p.backfills:
        p.examined = s.queue.end - s.queue.head
        return OK
    return backfill(p, s)


cdef int schedule_preempting(void *state, void *sim) noexcept nogil:
    """A pass in which heads may stop running jobs, before anybody is backfilled (model.md#preemptive)."""
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int code = 1
    while code > 0:
        code = start_heads(s)
        if code < 0:
            return code
        if nobody_waits(&s.queue):
            break
        code = preempt(s, p.victim)
        if code < 0:
            return code
    return pass_from_head(p, s)


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


cdef int open_counted(sim_t *s, bint backfills) except -1:
    cdef easy_t *p = <easy_t *>open_state(&s.scheduler, sizeof(easy_t))
    s.scheduler.schedule = schedule
    p.backfills = backfills
    if backfills or s.order.slope_of != NULL:
        open_scan(s)
    if s.order.slope_of != NULL:
        open_slopes(s)
        open_choice(p, &p.choice, s.n)
    return 0


cdef int open_fcfs(void *sim, dict options, dict columns) except -1:
    return open_counted(<sim_t *>sim, False)


cdef int open_easy(void *sim, dict options, dict columns) except -1:
    (<sim_t *>sim).scheduler.spare = spare
    return open_counted(<sim_t *>sim, True)


cdef int open_preemptive(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    if not s.track.on:
        raise ValueError("who stops jobs must know their progress")
    if options["backfill"]:
        s.scheduler.spare = spare
    open_counted(s, options["backfill"])
    s.scheduler.schedule = schedule_preempting
    return own_block(s.scheduler.state, &(<easy_t *>s.scheduler.state).victim, s.n, sizeof(victim_t))


FCFS = factory(open_fcfs)
EASY = factory(open_easy)
PREEMPTIVE = factory(open_preemptive)
