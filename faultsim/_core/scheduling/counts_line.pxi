# The timeline of the running jobs alone, on counts.  Included after timeline.pxi.


cdef int line_of_running(void *owner, timeline_t *f, const sim_t *s) noexcept nogil:
    """OK or NO_MEMORY."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i, free = usable(s)
    f.n = 0
    if append_step(owner, f, s.now) < 0:
        return NO_MEMORY
    for i in range(s.releases.n):
        if items[i].end == INFINITY:
            break
        # Nodes with an overdue release count from now on (model.md#holes).
        if items[i].end > f.at[f.n - 1]:
            f.free[f.n - 1] = free
            if append_step(owner, f, items[i].end) < 0:
                return NO_MEMORY
        free += items[i].nodes
    f.free[f.n - 1] = free
    return OK
