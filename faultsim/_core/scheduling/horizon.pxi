# The horizon of a conservative plan on counts.  Included after conservative.pxi.
#
# Most reservations of a new plan are dropped by the next disturbance before anything depends on them.  So a plan is
# made only up to a time `until`, just before which no nodes are free.  No room that begins before `until` reaches
# beyond it, since a job needs at least one node just before `until`, too; so nothing behind the horizon has an
# influence on what is planned before it, and the plan before `until` is exact without it.  When nodes are given back
# just before the horizon, it moves to the end of an earlier step without free nodes.  When it is no longer later than
# now, the plan is needed further on: it is made again as of its first pass, with a later horizon, and everything that
# has happened since (jobs that entered the queue, nodes that were given back, passes and the jobs that they started)
# is replayed.  The replay computes what a plan without a horizon would have been, because each of its steps is the
# same function of the same inputs, up to the later horizon.


cdef void set_horizon(plan_t *p, const sim_t *s) noexcept nogil:
    """At most `reach` steps ahead, at the end of the last step without free nodes, if there is one."""
    cdef const timeline_t *f = &p.line
    cdef int32_t i = p.reach
    if i >= f.n:
        return
    while i >= 0 and f.free[i] > 0:
        i -= 1
    if i >= 0 and i + 1 < f.n and s.now < f.at[i + 1]:
        p.until = f.at[i + 1]


cdef void draw_in(plan_t *p) noexcept nogil:
    """Nodes were given back just before the horizon: it moves to the end of the last step without free nodes."""
    cdef const timeline_t *f = &p.line
    cdef int32_t i = index_at(f, p.until)
    if f.at[i] >= p.until:
        i -= 1
    while i >= 0 and f.free[i] > 0:
        p.until = f.at[i]
        i -= 1


cdef int keep_base(plan_t *p) noexcept nogil:
    """The timeline of the running jobs alone, for replays."""
    if p.line.n > p.room_base:
        if (resize_block(p, &p.base_at, 2 * <size_t>p.line.n * sizeof(double)) < 0
                or resize_block(p, &p.base_free, 2 * <size_t>p.line.n * sizeof(int32_t)) < 0):
            return NO_MEMORY
        p.room_base = 2 * p.line.n
    p.n_base = p.line.n
    memcpy(p.base_at, p.line.at, <size_t>p.n_base * sizeof(double))
    memcpy(p.base_free, p.line.free, <size_t>p.n_base * sizeof(int32_t))
    return OK


cdef int log_event(plan_t *p, logged_kind kind, int32_t what, double time, double expected) noexcept nogil:
    cdef logged_t *event
    if p.n_logged == p.room_logged:
        if resize_block(p, &p.logged, 2 * <size_t>p.room_logged * sizeof(logged_t)) < 0:
            return NO_MEMORY
        p.room_logged *= 2
    event = &p.logged[p.n_logged]
    event.kind, event.what, event.time, event.expected = kind, what, time, expected
    p.n_logged += 1
    return OK


# ---------------------------------------------------------------------------------------------- replays

cdef int32_t position_of(const sim_t *s, int32_t job) noexcept nogil:
    """The position of a job in the queue, or the one at which it belongs."""
    cdef const queue_t *q = &s.queue
    cdef int32_t low = q.head, high = q.end, mid
    while low < high:
        mid = (low + high) >> 1
        if queued_before(s, q.job[mid], job):
            low = mid + 1
        else:
            high = mid
    return low


cdef void insert_in_queue(sim_t *s, int32_t job) noexcept nogil:
    cdef queue_t *q = &s.queue
    cdef int32_t at = position_of(s, job), i
    for i in range(q.end, at, -1):
        q.job[i] = q.job[i - 1]
    q.job[at] = job
    q.end += 1


cdef void restore_queue(plan_t *p, sim_t *s) noexcept nogil:
    """`first_queue`: the queue as it was when the plan was made."""
    cdef queue_t *q = &s.queue
    cdef int32_t i
    if q.head > 0:
        for i in range(q.head, q.end):
            q.job[i - q.head] = q.job[i]
        q.end -= q.head
        q.head = 0
    for i in range(p.n_logged):
        if p.logged[i].kind == LOGGED_START:
            insert_in_queue(s, p.logged[i].what)
    for i in range(p.n_logged):
        if p.logged[i].kind == LOGGED_ENTRY:
            close_gap(q, position_of(s, p.logged[i].what), position_of(s, p.logged[i].what) + 1)
    p.n_first = q.end
    memcpy(p.first_queue, q.job, <size_t>p.n_first * sizeof(int32_t))


cdef int replay(plan_t *p, sim_t *s) noexcept nogil:
    """The plan from its first pass on.  OK, COLLAPSED or a status code."""
    cdef queue_t *q = &s.queue
    cdef const logged_t *event
    cdef int32_t i
    cdef int code
    q.head, q.end = 0, p.n_first
    for i in range(p.n_first):
        q.job[i] = p.first_queue[i]
        p.begin[q.job[i]] = INFINITY
    s.now, p.number = p.since, p.since_number
    p.line.n, p.line.begun = p.n_base, NAN
    memcpy(p.line.at, p.base_at, <size_t>p.n_base * sizeof(double))
    memcpy(p.line.free, p.base_free, <size_t>p.n_base * sizeof(int32_t))
    p.refused.until = -INFINITY
    no_gain(&p.gain)
    p.soonest = INFINITY
    code = sweep(p, s, True)
    # Invariant: the plan before `until` is that of the pass or the event before logged[i].
    for i in range(p.n_logged):
        if code != OK:
            return code
        event = &p.logged[i]
        s.now = event.time
        if event.kind == LOGGED_ENTRY:
            insert_in_queue(s, event.what)
            p.begin[event.what] = INFINITY
            p.examined[event.what] = 0
        elif event.kind == LOGGED_RELEASE:
            code = give_nodes(p, s, event.time, event.expected, event.what)
        elif event.kind == LOGGED_START:
            continue
        elif p.until <= s.now:
            return COLLAPSED
        else:
            p.number = event.what
            forget(&p.line, s.now)
            code = sweep(p, s, False)
    return code


cdef int settle(plan_t *p, sim_t *s, bint whole) noexcept nogil:
    """The horizon becomes later than now, or there is none any more: that if `whole`."""
    cdef double now = s.now
    cdef int32_t number = p.number
    cdef int code = COLLAPSED
    restore_queue(p, s)
    p.replays, p.defers = True, not whole
    while code == COLLAPSED:
        p.reach = min(max(2 * p.reach, p.first_reach), INT32_MAX // 2)
        code = replay(p, s)
        if code == OK and p.until <= now:
            code = COLLAPSED
    p.replays = p.defers = False
    s.now, p.number = now, number
    return code
