"""A plan that is right up to a horizon; the contract is in horizon.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from faultsim._core.containers.memory cimport resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.queue cimport set_scan
from faultsim._core.scheduling.gaps cimport gaps_copy, gaps_turn, gaps_want
from faultsim._core.scheduling.profile cimport (
    end_of, level_of, profile_add, profile_append, profile_forget, profile_list, profile_reset, profile_t,
    spot_t, step_back,
)
from faultsim._core.scheduling.reservations cimport freed, gave_t, link, mark, past_t, plan_t
from faultsim._core.state cimport JOB_RUNNING, queue_t, sim_t, usable
from faultsim._core.status cimport NO_MEMORY, OK

cdef enum:
    LEAST = 8                # blocks of steps: a shorter plan is kept whole


cdef void set_horizon(plan_t *p, const sim_t *s) noexcept nogil:
    cdef profile_t *f = &p.free
    cdef const queue_t *q = &s.queue
    cdef spot_t spot
    # Who has settled once since the last disturbance may well have to again.
    if f.n < LEAST or p.until < INFINITY or p.settled:
        return
    # An eighth of the plan, or less: up to where no nodes are free.
    spot.b, spot.i = f.n // 8, 0
    while level_of(f, spot) > 0:
        if not step_back(f, &spot):
            return
    p.until = end_of(f, spot)
    if not s.now < p.until:
        p.until = INFINITY
        return
    p.behind = False
    p.since, p.since_epoch, p.since_number = s.now, s.epoch, p.number
    # Who may find an earlier hole now.
    gaps_copy(&p.gaps_then, &p.gaps)
    p.first_word, p.n_words = q.job[q.head] >> 6, (q.job[q.end - 1] >> 6) - (q.job[q.head] >> 6) + 1
    memcpy(p.marked_then, &p.marked[p.first_word], <size_t>p.n_words * sizeof(uint64_t))


cdef void forget_horizon(plan_t *p) noexcept nogil:
    p.until = INFINITY
    p.n_pasts = p.n_was = p.n_started = p.n_came = p.n_gave = 0


cdef int keep_pass(plan_t *p, const sim_t *s) noexcept nogil:
    if p.n_pasts == p.room_pasts:
        if resize_block(p, &p.pasts, 2 * <size_t>p.room_pasts * sizeof(past_t)) < 0:
            return NO_MEMORY
        p.room_pasts *= 2
    p.pasts[p.n_pasts].time, p.pasts[p.n_pasts].number = s.now, p.number
    p.n_pasts += 1
    return OK


cdef void keep_start(plan_t *p, int32_t job) noexcept nogil:
    p.gone[job] = p.number
    p.started[p.n_started] = job
    p.n_started += 1


cdef void keep_arrival(plan_t *p, int32_t job) noexcept nogil:
    p.came[p.n_came].job, p.came[p.n_came].after = job, p.number
    p.n_came += 1


cdef int keep_release(plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    cdef gave_t *gave
    if p.n_gave == p.room_gave:
        if resize_block(p, &p.gave, 2 * <size_t>p.room_gave * sizeof(gave_t)) < 0:
            return NO_MEMORY
        p.room_gave *= 2
    gave = &p.gave[p.n_gave]
    gave.time, gave.expected, gave.nodes, gave.after = s.now, s.expected[job], s.allocated[job], p.number
    gave.was_waiting = p.gone[job] >= p.since_number
    p.n_gave += 1
    return OK


cdef void begin_turn(plan_t *p, const sim_t *s) noexcept nogil:
    cdef const queue_t *q = &s.queue
    gaps_turn(&p.gaps)
    gaps_want(&p.gaps, &q.need[q.head], &q.least[q.head], q.end - q.head)


cdef void insert_in_queue(sim_t *s, int32_t job) noexcept nogil:
    """The queue is in order of arrival."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.end
    while at > q.head and q.job[at - 1] > job:
        q.job[at] = q.job[at - 1]
        q.need[at], q.least[at] = q.need[at - 1], q.least[at - 1]
        at -= 1
    q.job[at] = job
    q.end += 1
    set_scan(s, at)


cdef void remove_from_queue(sim_t *s, int32_t job) noexcept nogil:
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.end - 1
    while q.job[at] != job:
        at -= 1
    q.end -= 1
    while at < q.end:
        q.job[at] = q.job[at + 1]
        q.need[at], q.least[at] = q.need[at + 1], q.least[at + 1]
        at += 1


cdef int as_of_then(plan_t *p, sim_t *s) noexcept nogil:
    """The queue and the plan are as they were when the horizon was set."""
    cdef queue_t *q = &s.queue
    cdef profile_t *f = &p.free
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i = 0, level = usable(s), job
    cdef double end
    for i in range(p.n_was - 1, -1, -1):
        p.begin[p.was[i].job], p.end[p.was[i].job] = p.was[i].begin, p.was[i].end
    if q.head > 0:
        for i in range(q.head, q.end):
            q.job[i - q.head], q.need[i - q.head], q.least[i - q.head] = q.job[i], q.need[i], q.least[i]
        q.end -= q.head
        q.head = 0
    for i in range(p.n_started):
        insert_in_queue(s, p.started[i])
    for i in range(p.n_came):
        remove_from_queue(s, p.came[i].job)
    profile_reset(f, p.since, level)
    i = 0
    while i < s.releases.n and items[i].end < INFINITY:
        end = items[i].end
        while i < s.releases.n and items[i].end == end:
            level += items[i].nodes
            i += 1
        if profile_append(f, p, end, level) < 0:
            return NO_MEMORY
    profile_list(f)
    for i in range(p.n_started):
        job = p.started[i]
        if s.state[job] == JOB_RUNNING and profile_add(f, p, p.since, s.expected[job], s.allocated[job]) < 0:
            return NO_MEMORY
    for i in range(p.n_gave):
        if not p.gave[i].was_waiting and profile_add(f, p, p.since, p.gave[i].expected, -p.gave[i].nodes) < 0:
            return NO_MEMORY
    for i in range(q.head, q.end):
        job = q.job[i]
        if p.begin[job] < INFINITY:
            if (link(p, job, p.begin[job], p.end[job]) < 0
                    or profile_add(f, p, p.begin[job], p.end[job], -s.need[job]) < 0):
                return NO_MEMORY
    p.n_found = 0
    gaps_copy(&p.gaps, &p.gaps_then)
    memcpy(&p.marked[p.first_word], p.marked_then, <size_t>p.n_words * sizeof(uint64_t))
    return OK


cdef int happen(plan_t *p, sim_t *s) noexcept nogil:
    """What happened between this pass and the next."""
    cdef int32_t i
    cdef const gave_t *gave
    for i in range(p.n_gave):
        gave = &p.gave[i]
        if gave.after == p.number:
            s.now = gave.time
            if profile_add(&p.free, p, gave.time, gave.expected, gave.nodes) < 0:
                return NO_MEMORY
            freed(p, s, gave.time, gave.expected, gave.nodes)
    for i in range(p.n_came):
        if p.came[i].after == p.number:
            insert_in_queue(s, p.came[i].job)
            mark(p, p.came[i].job)
    return OK


cdef int settle(plan_t *p, sim_t *s, sweep_t sweep) noexcept nogil:
    cdef int32_t k, i = 0, number = p.number
    cdef double now = s.now
    cdef int code
    if not p.behind:
        forget_horizon(p)
        return OK
    code = as_of_then(p, s)
    p.until = INFINITY
    p.settles = p.settled = True
    for k in range(p.n_pasts):
        if code < 0:
            break
        s.now, p.number = p.pasts[k].time, p.pasts[k].number
        if k > 0:
            begin_turn(p, s)
        # Who was due is looked at.
        while i < p.n_started and p.gone[p.started[i]] == p.number:
            mark(p, p.started[i])
            i += 1
        profile_forget(&p.free, s.now)
        code = sweep(p, s)
        if code == OK:
            code = happen(p, s)
    p.settles = False
    s.now, p.number = now, number
    forget_horizon(p)
    return code
