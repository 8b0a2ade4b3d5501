# The timeline of the running jobs, and of what is down, alone, on masks.  Included after timeline.pxi.


cdef int line_of_running(void *owner, timeline_t *f, sim_t *s) noexcept nogil:
    """OK or NO_MEMORY."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef place_t place
    cdef int32_t i, k, n = s.releases.n, first = 0
    f.n = f.n_masks = 0
    f.spare = -1
    f.changes += 1
    if append_step(owner, f, s.now) < 0:
        return NO_MEMORY
    f.taken[0] = new_mask(owner, f)
    memset(mask_at(f, 0), 0, <size_t>f.words * sizeof(uint64_t))
    if s.trace.n_down > 0 and not s.trace.repairs_known:
        for i in range(s.nodes):
            if s.trace.down[i]:
                m.named.mark(m.state, mask_at(f, 0), i)
    # What is overdue is not taken: it counts as free for reservations (model.md#holes).
    while first < n and items[first].end <= s.now:
        first += 1
    for i in range(first, n):
        if items[i].job < 0:
            m.named.mark(m.state, mask_at(f, 0), -1 - items[i].job)
        else:
            place = m.placed.place_of(m.state, items[i].job)
            m.placed.put(m.state, mask_at(f, 0), &place)
    i, k = 0, first
    # Invariant: the releases before items[k] are free in step i.
    while True:
        f.left[i] = m.nodes - mask_count(mask_at(f, i), f.words)
        f.stamp[i] = f.changes
        if f.by_parts:
            memset(outline_at(f, i), 0, sizeof(outline_t))
            m.outlined.trace(m.state, mask_at(f, i), 0, f.words, outline_at(f, i))
        if k == n or items[k].end == INFINITY:
            break
        first = k
        while k < n and items[k].end == items[first].end:
            k += 1
        if append_step(owner, f, items[first].end) < 0 or copy_value(owner, f, i + 1, i) < 0:
            return NO_MEMORY
        i += 1
        f.edges[i] = k - first
        m.placed.release(m.state, items + first, k - first, mask_at(f, i))
    return OK
