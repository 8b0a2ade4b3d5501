# Conservative backfilling on one timeline: what counts and masks share.  Included after conservative.pxi and
# timeline.pxi; the field of plan_t used here: `line`.


cdef int64_t least_on_line(const plan_t *p, const sim_t *s) noexcept nogil:
    cdef const timeline_t *f = &p.line
    cdef int32_t i, least = s.nodes
    for i in range(index_at(f, s.now), f.n):
        least = min(least, free_in_step(f, i))
    return least


cdef int open_plan_line(plan_t *p, const sim_t *s, int32_t steps) except -1:
    describe_line(&p.line, s)
    return open_timeline(p, &p.line, min(steps, thresholds.first_room))
