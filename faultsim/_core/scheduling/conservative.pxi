# Conservative backfilling (model.md#conservative): every waiting job has a reservation, or there is no room for it.
# Included with, of a capacity:
#
# plan_t          the state; its fields used here are described below
# base_plan       `line` becomes that of the running jobs, and of the nodes that are down, alone, and nothing is
#                 refused; OK or NO_MEMORY
# forget_ended    steps of `line` that have ended are removed
# open_sweep, close_sweep
#                 what else a sweep begins and ends with
# next_to_plan    the next position in the queue with a job that is new, due, or may move up; queue_t.end: there is
#                 none
# plan_job        moves a job to the earliest room for it, and starts it if that is now (not if plan_t.only_plans)
# open_pass, close_pass
#                 what else a pass begins and ends with
# give_back       a job that has left its nodes does not need them for the rest of its expected time; OK or a code
# entered         what else is done when a job enters the queue
# extend, complete        the horizon becomes later than now; the plan is made whole (horizon.pxi); OK or a code
# migrate_jobs    what a pass does after the first sweep; `again`: the plan has to be made from nothing
# store_place     the place of a reservation, where there are places
# least_planned   the least number of nodes that are free in the plan at any time from now on
#
# The plan is kept between passes.  `line` has the running jobs until their expected ends, and all reservations but
# those of no length.  A pass examines, in queue order, the jobs that are new, that are due, or that may move
# up: a job that found no earlier room when it was examined last finds one only if that meets capacity that was given
# back since then (`gain`).  After a disturbance the plan is made from nothing.
#
# Fields of plan_t: `begin` and `end` of the reservation of each job (begin = inf: none); `gain`, what was given back
# since the last sweep began, and `gains`, that and what was given back in the sweep before; `soonest`, before which no
# reservation begins; `rebuild`, whether a disturbance happened since the last pass, or none has been made; `last_pass`,
# its time.
#
# A pass over very many jobs can be interrupted: signals are checked after PLANNED_WITHOUT_LOOK jobs, some 0.1 s.
# Shorter passes are never broken off, and cost nothing more.

cdef enum:
    STARTED = 1              # plan_job: the job has started
    COLLAPSED = 2            # plan_job: the pass has to be made again (horizon.pxi)


cdef int sweep(plan_t *p, sim_t *s, bint replans) noexcept nogil:
    """A reservation for each job that is new, due, or may move up, in queue order; jobs with room now start.

    `replans`: there are no reservations yet.  OK, COLLAPSED or a status code.
    """
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head, keep = q.head, stays = q.head, i
    cdef bint some_due = replans or p.soonest <= s.now
    cdef int32_t planned = 0         # jobs, since signals were checked
    cdef int code = OK
    p.gains = p.gain
    no_gain(&p.gain)
    open_sweep(p, s, replans)
    # Invariant: the jobs before position `at` are planned; those at [q.head, keep) and [stays, at) still wait.
    while True:
        at = next_to_plan(p, s, at)
        if at == q.end:
            break
        code = plan_job(p, s, q.job[at], keep + (at - stays) > q.head)
        planned += 1
        if planned == PLANNED_WITHOUT_LOOK and code >= 0 and code != COLLAPSED:
            planned = 0
            if keep_interrupt(s.owner) < 0:
                code = PYTHON_ERROR
        if code == STARTED:
            keep = keep_range(q, keep, stays, at)
            stays = at + 1
        elif code != OK:
            break
        at += 1
    close_gap(q, keep_range(q, keep, stays, q.end), q.end)
    close_sweep(p)
    if some_due and code >= 0:
        p.soonest = INFINITY
        for i in range(q.head, q.end):
            p.soonest = min(p.soonest, p.begin[q.job[i]])
    return code if code == COLLAPSED or code < 0 else OK


cdef bint is_missed(const plan_t *p, const sim_t *s) noexcept nogil:
    """Whether the time of a reservation has passed without a start."""
    cdef int32_t i
    cdef double begin
    if p.soonest > s.now:
        return False
    for i in range(s.queue.head, s.queue.end):
        begin = p.begin[s.queue.job[i]]
        if begin < s.now or begin == p.last_pass:
            return True
    return False


cdef int replan(plan_t *p, sim_t *s, bint only_plans) noexcept nogil:
    """The plan from nothing: a sweep in which every job is new."""
    cdef int32_t i
    cdef int code
    p.only_plans = only_plans
    if base_plan(p, s) < 0:
        return NO_MEMORY
    for i in range(s.queue.head, s.queue.end):
        p.begin[s.queue.job[i]] = INFINITY
    no_gain(&p.gain)
    p.soonest = INFINITY
    code = sweep(p, s, True)
    p.only_plans = False
    return code


cdef int check_upset(plan_t *p, sim_t *s, bint *upset) noexcept nogil:
    """Whether the plan has to be made from nothing; OK or a status code."""
    cdef int code
    cdef bint missed = False
    # A running job is at its expected end or past it.
    upset[0] = p.rebuild or (s.releases.n > 0 and s.releases.first[0].end <= s.now)
    if not upset[0]:
        code = extend(p, s)
        if code < 0:
            return code
        missed = is_missed(p, s)
        upset[0] = missed
    s.epoch += missed
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef bint upset = False, again = False
    cdef int code = OK
    if s.queue.head < s.queue.end:
        code = check_upset(p, s, &upset)
        if code == OK:
            code = sort_queue(s)
        if code < 0:
            return code
        p.rebuild = False
        open_pass(p)
        if upset:
            code = replan(p, s, False)
        else:
            forget_ended(p, s)
            code = sweep(p, s, False)
            while code == COLLAPSED:
                code = extend(p, s)
                if code == OK:
                    forget_ended(p, s)
                    code = sweep(p, s, False)
        if code == OK:
            code = close_pass(p, s, upset)
    if code == OK:
        code = migrate_jobs(s, &again)
    if code == OK and again:
        code = replan(p, s, False)
    is_empty(&s.queue)
    p.last_pass = s.now
    return code


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    if s.expected[job] < s.now:
        p.rebuild = True         # the job was past its expected end: a disturbance
    if not p.rebuild and s.expected[job] > s.now and give_back(p, s, job) < 0:
        p.rebuild = True         # no memory: the next pass makes the plan from nothing, or fails there


cdef void queued(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    p.begin[job] = INFINITY
    entered(p, <sim_t *>sim, job)


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    """The least number of free nodes in the plan (model.md#spares)."""
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef bint upset = False
    cdef int code
    if s.queue.head == s.queue.end:
        return sound
    code = check_upset(p, s, &upset)
    if code == OK and upset:
        # The reservations of a pass in which no job starts; the next pass makes them again.
        code = sort_queue(s)
        if code == OK:
            code = replan(p, s, True)
        p.rebuild = True
    elif code == OK:
        code = complete(p, s)
    if code < 0:
        return code
    return max(<int64_t>0, min(least_planned(p, s), <int64_t>sound))


cdef int reserved_at(void *state, void *sim, int32_t job, double *begin, place_t *place) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef int code
    if p.rebuild:
        return 0
    code = complete(p, <sim_t *>sim)
    if code < 0 or p.begin[job] == INFINITY:
        return code
    begin[0] = p.begin[job]
    store_place(p, job, place)
    return 1


cdef plan_t *open_plan(sim_t *s) except NULL:
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    cdef int32_t i
    s.scheduler.schedule, s.scheduler.spare, s.scheduler.reserved_at = schedule, spare, reserved_at
    s.scheduler.released, s.scheduler.queued, s.scheduler.disturbed = released, queued, disturbed
    own_jobs(p, &p.begin, s.n, sizeof(double))
    own_jobs(p, &p.end, s.n, sizeof(double))
    for i in range(s.n):
        p.begin[i] = INFINITY
    no_gain(&p.gain)
    p.rebuild = True
    return p
