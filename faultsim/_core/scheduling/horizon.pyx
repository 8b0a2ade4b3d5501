"""A plan that is right up to a horizon; the contract is in horizon.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.memory cimport resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.queue cimport least_of, set_scan
from faultsim._core.scheduling.gaps cimport gaps_none, gaps_turn, gaps_want
from faultsim._core.scheduling.profile cimport (
    STEPS_IN_BLOCK, block_at, end_of, level_of, profile_add, profile_append, profile_forget, profile_list,
    profile_reset, profile_t, spot_t, step_back,
)
from faultsim._core.scheduling.reservations cimport (
    came_t, comes, drop_all, first_hole, gave_t, give_back, hope_t, is_by_number, is_marked, mark, next_hopeful, past_t,
    plan_line, plan_t, reserve, want,
)
from faultsim._core.scheduling.waiting cimport job_at, line_t, next_place, wait_no_more, wait_on
from faultsim._core.state cimport JOB_RUNNING, promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport NO_MEMORY, OK

cdef enum:
    NEAR = 32                # steps to the first horizon
    FURTHER = 4              # times as many to the next, once that is now
    SPARSELY = 8             # jobs that are placed until a horizon is looked for again


cdef int begin_recall(plan_t *p, const sim_t *s) noexcept nogil:
    # Only where many wait, and the queue is in the order of arrival, so that it can be put together again.
    if not p.listed or not is_by_number(s):
        return OK
    if not p.has_room:
        if (resize_block(p, &p.started, <size_t>s.n * sizeof(int32_t)) < 0
                or resize_block(p, &p.came, <size_t>s.n * sizeof(came_t)) < 0
                or resize_block(p, &p.gone, <size_t>s.n * sizeof(int32_t)) < 0
                or resize_block(p, &p.then, <size_t>s.n * sizeof(int32_t)) < 0
                or resize_block(p, &p.then_need, <size_t>s.n * sizeof(int32_t)) < 0
                or resize_block(p, &p.then_least, <size_t>s.n * sizeof(float)) < 0):
            return NO_MEMORY
        memset(p.gone, 0, <size_t>s.n * sizeof(int32_t))
        p.has_room = True
    p.recalls = True
    p.reach = NEAR
    p.since, p.since_number = s.now, p.number
    return OK


cdef void set_horizon(plan_t *p, const sim_t *s) noexcept nogil:
    """Where the plan is long enough: so many steps ahead, or less, up to where no nodes are free."""
    cdef profile_t *f = &p.free
    cdef spot_t spot
    spot.b, spot.i = p.reach // STEPS_IN_BLOCK, p.reach % STEPS_IN_BLOCK
    if spot.b >= f.n or (spot.b == f.n - 1 and spot.i >= block_at(f, spot.b).n):
        return
    spot.i = min(spot.i, block_at(f, spot.b).n - 1)
    while level_of(f, spot) > 0:
        if not step_back(f, &spot):
            return
    if s.now < end_of(f, spot):
        p.until = end_of(f, spot)


cdef int find_left(plan_t *p, sim_t *s, const line_t *line, int32_t end) noexcept nogil:
    cdef hope_t hope
    cdef int32_t at = line.begin, n = 0, job
    cdef double begin
    hope.group = -1
    while True:
        if p.until < INFINITY:
            at = next_hopeful(p, &hope, line, at, end, p.until)
        else:
            at = next_place(line, at, end)
        if at >= end:
            break
        job = job_at(line, at)
        at += 1
        # Others have been looked at, or came after that pass.
        if p.begin[job] < INFINITY or is_marked(p, job):
            continue
        if p.recalls and p.until == INFINITY and n % SPARSELY == 0:
            set_horizon(p, s)
        n += 1
        s.work.looked += 1
        begin = first_hole(p, s, job, p.until)
        if begin < INFINITY:
            if reserve(p, s, job, begin) < 0:
                return NO_MEMORY
            if s.epoch == p.epoch:
                promise_start(s, job, begin)
    p.left = False
    return OK


cdef void forget_horizon(plan_t *p) noexcept nogil:
    p.until = INFINITY
    p.recalls = False
    p.n_pasts = p.n_started = p.n_came = p.n_gave = 0


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
    gave.was_waiting = p.gone[job] > p.since_number
    p.n_gave += 1
    return OK


cdef void begin_turn(plan_t *p, const sim_t *s) noexcept nogil:
    gaps_turn(&p.gaps)
    want(p, s)


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


cdef void queue_of_then(plan_t *p, sim_t *s) noexcept nogil:
    """The queue is as it was when the plan was made."""
    cdef queue_t *q = &s.queue
    cdef int32_t i
    if q.head > 0:
        for i in range(q.head, q.end):
            q.job[i - q.head], q.need[i - q.head], q.least[i - q.head] = q.job[i], q.need[i], q.least[i]
        q.end -= q.head
        q.head = 0
    for i in range(p.n_started):
        insert_in_queue(s, p.started[i])
    for i in range(p.n_came):
        remove_from_queue(s, p.came[i].job)
    p.n_then = q.end
    memcpy(p.then, q.job, <size_t>p.n_then * sizeof(int32_t))
    memcpy(p.then_need, q.need, <size_t>p.n_then * sizeof(int32_t))
    memcpy(p.then_least, q.least, <size_t>p.n_then * sizeof(float))


cdef int plan_of_then(plan_t *p, sim_t *s) noexcept nogil:
    """A new plan as of then, for those who waited."""
    cdef queue_t *q = &s.queue
    cdef profile_t *f = &p.free
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i = 0, level = usable(s), job
    cdef double end
    cdef line_t line
    q.end = p.n_then
    memcpy(q.job, p.then, <size_t>p.n_then * sizeof(int32_t))
    memcpy(q.need, p.then_need, <size_t>p.n_then * sizeof(int32_t))
    memcpy(q.least, p.then_least, <size_t>p.n_then * sizeof(float))
    drop_all(p, s)
    profile_reset(f, p.since, level)
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
        wait_on(&p.waiting, job, s.need[job], least_of(s.remaining[job]))
        if s.state[job] == JOB_RUNNING and profile_add(f, p, p.since, s.expected[job], s.allocated[job]) < 0:
            return NO_MEMORY
    for i in range(p.n_gave):
        if not p.gave[i].was_waiting and profile_add(f, p, p.since, p.gave[i].expected, -p.gave[i].nodes) < 0:
            return NO_MEMORY
    for i in range(p.n_came):
        wait_no_more(&p.waiting, p.came[i].job)
    p.until = INFINITY
    p.n_found = 0
    gaps_none(&p.gaps)
    gaps_want(&p.gaps, q.need, q.least, q.end)
    line = plan_line(p, s)
    return find_left(p, s, &line, line.end)


cdef int happen(plan_t *p, sim_t *s) noexcept nogil:
    """What happened between this pass and the next."""
    cdef int32_t i
    cdef const gave_t *gave
    for i in range(p.n_gave):
        gave = &p.gave[i]
        if gave.after == p.number:
            s.now = gave.time
            if give_back(p, s, gave.time, gave.expected, gave.nodes) < 0:
                return NO_MEMORY
    for i in range(p.n_came):
        if p.came[i].after == p.number:
            insert_in_queue(s, p.came[i].job)
            comes(p, s, p.came[i].job)
    return OK


cdef int again(plan_t *p, sim_t *s, sweep_t sweep) noexcept nogil:
    """A new plan, and what has happened to it.  1 where the horizon comes to be now."""
    cdef int32_t k, i = 0
    cdef int code
    s.now, p.number = p.since, p.since_number
    if plan_of_then(p, s) < 0 or happen(p, s) < 0:
        return NO_MEMORY
    for k in range(p.n_pasts):
        s.now, p.number = p.pasts[k].time, p.pasts[k].number
        if p.until <= s.now:
            return 1
        begin_turn(p, s)
        # Who was due is looked at.
        while i < p.n_started and p.gone[p.started[i]] == p.number:
            mark(p, p.started[i])
            i += 1
        profile_forget(&p.free, s.now)
        code = sweep(p, s)
        if code == OK:
            code = happen(p, s)
        if code != OK:
            return code
    return OK


cdef int settle(plan_t *p, sim_t *s, sweep_t sweep, bint whole) noexcept nogil:
    cdef int32_t number = p.number
    cdef double now = s.now
    cdef int code
    queue_of_then(p, s)
    p.settles = True
    while True:
        p.recalls = not whole
        p.reach *= FURTHER
        code = again(p, s, sweep)
        if code < 0 or (code == OK and now < p.until):
            break
    p.settles = False
    s.now, p.number = now, number
    if p.until == INFINITY:
        forget_horizon(p)
    return code
