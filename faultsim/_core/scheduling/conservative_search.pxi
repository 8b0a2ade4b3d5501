# Conservative backfilling on one timeline: its search for room.  Included after conservative.pxi, and what it needs of
# timeline.pxi and refusals.pxi; fields of plan_t used here: `line` and `refused`.


cdef int32_t find_room(plan_t *p, window_t *w, const sim_t *s, int32_t job, int32_t ask, double apart,
                       double stop, double *begin) noexcept nogil:
    """The first time from which on there is room for a job, as `earliest`; refusals spare searches, and are kept.

    A refusal is beside all reservations.  From `apart` on, room may be only with what the job has reserved.
    """
    cdef refusal_t known
    cdef int32_t i = -1
    refusal_of(&p.refused, ask, s.remaining[job], &known)
    if min(known.until, apart) < stop:
        i = earliest(&p.line, w, s, job, min(known.until, apart), stop, &known.least, begin)
        refuse(&p.refused, ask, known.least, stop if i < 0 else begin[0])
    return i


cdef int64_t least_on_line(const plan_t *p, const sim_t *s) noexcept nogil:
    cdef const timeline_t *f = &p.line
    cdef int32_t i, least = s.nodes
    for i in range(index_at(f, s.now), f.n):
        least = min(least, free_in_step(f, i))
    return least


cdef int open_plan_line(plan_t *p, const sim_t *s, int32_t steps, int32_t refusals) except -1:
    describe_line(&p.line, s)
    p.refused.most = refusals
    return open_timeline(p, &p.line, min(steps, thresholds.first_room))
