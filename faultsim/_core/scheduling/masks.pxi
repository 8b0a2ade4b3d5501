# Capacity as a mask (capacity.pxd): a job needs a place on the machine.  The value of a step is the mask of the nodes
# that are taken.
#
# Where places of many nodes have whole parts of the machine (machine_t.part), each mask has its outline, and windows of
# jobs that need whole parts are outlines alone.

cdef struct granted_t:       # the nodes of a place
    const machine_t *m
    uint64_t *mask
    int32_t low, high        # the words of the mask that have bits
    int32_t size
    outline_t parts

ctypedef const granted_t *grant_t

cdef struct timeline_t:
    double *at
    int32_t *taken           # number of the mask
    int32_t *left            # nodes that are not in it
    # A step begins only where something that is still known begins or ends, so that all of these are whole steps long.
    int32_t *edges           # how many of these
    int32_t *begins          # how many begin; where none do, no more is taken than in the step before
    int64_t *stamp           # `changes` when the step was changed last
    int32_t n, room
    double begun             # when the last search began, in step `begun_in`; nan: steps were made or removed since
    int32_t begun_in
    int64_t looked           # steps that searches have read, for tests of how work grows
    int64_t changes
    int32_t words
    uint64_t *masks
    outline_t *outlines      # of the masks; NULL: the machine has none
    int32_t n_masks, room_masks
    int32_t spare            # the first spare mask; its first word leads to the next one; -1: none
    bint by_parts

cdef struct window_t:
    sim_t *s
    int32_t ask, need, limit         # sizes from `need` to `limit` serve; nodes
    double own_begin, own_end        # the job's own reservation, which counts as free; empty: it has none
    const uint64_t *own
    outline_t own_parts
    uint64_t *mask           # what others take
    bint by_parts            # the same as an outline, and not as a mask
    outline_t taken
    outline_t full           # there is no place where this is taken
    bint any_full


cdef inline void describe_line(timeline_t *f, const sim_t *s) noexcept nogil:
    f.words, f.by_parts = s.machine.words, s.machine.part > 0


cdef inline int open_values(void *owner, timeline_t *f) except -1:
    own_block(owner, &f.taken, f.room, sizeof(int32_t))
    own_block(owner, &f.left, f.room, sizeof(int32_t))
    own_block(owner, &f.edges, f.room, sizeof(int32_t))
    own_block(owner, &f.begins, f.room, sizeof(int32_t))
    own_block(owner, &f.stamp, f.room, sizeof(int64_t))
    f.room_masks = f.room
    f.spare = -1
    own_block(owner, &f.masks, <size_t>f.room_masks * <size_t>f.words, sizeof(uint64_t))
    if f.by_parts:
        own_block(owner, &f.outlines, f.room_masks, sizeof(outline_t))
    return 0


cdef inline int resize_values(void *owner, timeline_t *f, int32_t room) noexcept nogil:
    if (resize_block(owner, &f.taken, <size_t>room * sizeof(int32_t)) < 0
            or resize_block(owner, &f.left, <size_t>room * sizeof(int32_t)) < 0
            or resize_block(owner, &f.edges, <size_t>room * sizeof(int32_t)) < 0
            or resize_block(owner, &f.begins, <size_t>room * sizeof(int32_t)) < 0):
        return NO_MEMORY
    return resize_block(owner, &f.stamp, <size_t>room * sizeof(int64_t))


cdef inline void move_values(timeline_t *f, int32_t to, int32_t i, int32_t count) noexcept nogil:
    memmove(&f.taken[to], &f.taken[i], <size_t>count * sizeof(int32_t))
    memmove(&f.left[to], &f.left[i], <size_t>count * sizeof(int32_t))
    memmove(&f.edges[to], &f.edges[i], <size_t>count * sizeof(int32_t))
    memmove(&f.begins[to], &f.begins[i], <size_t>count * sizeof(int32_t))
    memmove(&f.stamp[to], &f.stamp[i], <size_t>count * sizeof(int64_t))


cdef inline uint64_t *mask_at(const timeline_t *f, int32_t i) noexcept nogil:
    return f.masks + <int64_t>f.taken[i] * f.words


cdef inline outline_t *outline_at(const timeline_t *f, int32_t i) noexcept nogil:
    return f.outlines + f.taken[i]


cdef int32_t new_mask(void *owner, timeline_t *f) noexcept nogil:
    """-1: no memory."""
    cdef int32_t mask = f.spare
    if mask >= 0:
        f.spare = <int32_t>f.masks[<int64_t>mask * f.words]
        return mask
    if f.n_masks == f.room_masks:
        if (resize_block(owner, &f.masks, 2 * <size_t>f.room_masks * <size_t>f.words * sizeof(uint64_t)) < 0
                or (f.by_parts and resize_block(owner, &f.outlines, 2 * <size_t>f.room_masks * sizeof(outline_t)) < 0)):
            return -1
        f.room_masks *= 2
    f.n_masks += 1
    return f.n_masks - 1


cdef int copy_value(void *owner, timeline_t *f, int32_t to, int32_t source) noexcept nogil:
    f.taken[to] = new_mask(owner, f)
    if f.taken[to] < 0:
        return NO_MEMORY
    memcpy(mask_at(f, to), mask_at(f, source), <size_t>f.words * sizeof(uint64_t))
    f.left[to], f.stamp[to] = f.left[source], f.stamp[source]
    f.edges[to] = f.begins[to] = 0
    if f.by_parts:
        outline_at(f, to)[0] = outline_at(f, source)[0]
    return OK


cdef inline void drop_value(timeline_t *f, int32_t i) noexcept nogil:
    if i > 0 and f.stamp[i - 1] < f.stamp[i]:
        f.stamp[i - 1] = f.stamp[i]
    mask_at(f, i)[0] = <uint64_t><int64_t>f.spare
    f.spare = f.taken[i]


cdef inline int32_t free_in_step(const timeline_t *f, int32_t i) noexcept nogil:
    return f.left[i]


cdef void take_step(timeline_t *f, int32_t i, grant_t grant) noexcept nogil:
    cdef uint64_t *taken = mask_at(f, i)
    cdef int32_t k
    for k in range(grant.low, grant.high):
        fs_require(taken[k] & grant.mask[k] == 0)
        taken[k] |= grant.mask[k]
    f.left[i] -= grant.size
    f.stamp[i] = f.changes
    if f.by_parts:
        outline_join(outline_at(f, i), &grant.parts)


cdef void give_step(timeline_t *f, int32_t i, grant_t grant) noexcept nogil:
    cdef uint64_t *taken = mask_at(f, i)
    cdef int32_t k
    for k in range(grant.low, grant.high):
        fs_require(taken[k] & grant.mask[k] == grant.mask[k])
        taken[k] &= ~grant.mask[k]
    f.left[i] += grant.size
    f.stamp[i] = f.changes
    if f.by_parts and grant.size >= grant.m.part:
        outline_lift(outline_at(f, i), &grant.parts)
    elif f.by_parts:
        grant.m.outlined.trace(grant.m.state, taken, grant.low, grant.high, outline_at(f, i))


cdef inline void note_edges(timeline_t *f, int32_t i, int32_t k, int32_t more) noexcept nogil:
    f.edges[i] += more
    f.begins[i] += more
    if k < f.n:
        f.edges[k] += more


cdef inline bint is_needless(const timeline_t *f, int32_t i) noexcept nogil:
    return f.edges[i] == 0


cdef granted_t granted(const timeline_t *f, const machine_t *m, const place_t *place, uint64_t *mask) noexcept nogil:
    """The nodes of a place alone, in `mask`."""
    cdef granted_t grant
    memset(mask, 0, <size_t>f.words * sizeof(uint64_t))
    m.placed.put(m.state, mask, place)
    grant.m, grant.mask = m, mask
    grant.low, grant.high = 0, f.words
    while grant.low < grant.high and mask[grant.low] == 0:
        grant.low += 1
    while grant.low < grant.high and mask[grant.high - 1] == 0:
        grant.high -= 1
    grant.size = mask_count(mask + grant.low, grant.high - grant.low)
    memset(&grant.parts, 0, sizeof(outline_t))
    if f.by_parts:
        m.outlined.trace(m.state, mask, grant.low, grant.high, &grant.parts)
    return grant


# ---------------------------------------------------------------------------------------------- windows

cdef inline bint covers(int32_t ask, int32_t other) noexcept nogil:
    return ask == other


cdef bint window_has_place(const window_t *w, const uint64_t *mask) noexcept nogil:
    """Whether some place of a size in [ask, limit], or of its shape, is free."""
    cdef const machine_t *m = &w.s.machine
    cdef int32_t size = w.ask
    if w.limit >= w.s.nodes or w.need != w.ask:
        return m.placed.has_free(m.state, mask, w.ask)
    while size != 0 and size <= w.limit:
        if m.placed.has_place(m.state, mask, size):
            return True
        size = m.next_size(m.state, size + 1)
    return False


cdef inline bint is_own(const window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    cdef double at = max(f.at[i], w.s.now)
    return w.own_begin <= at < w.own_end


cdef bint may_fit(window_t *w) noexcept nogil:
    """Whether a place is free in what is joined, where that is soon found, else whether so many nodes are."""
    if w.by_parts:
        if w.any_full and not outline_grows(&w.taken, &w.full):
            return False
        w.s.work.probes += 1
        if w.s.machine.outlined.has_beside(w.s.machine.state, &w.taken, w.ask, w.limit, NULL, 0):
            return True
        w.any_full, w.full = True, w.taken
        return False
    if w.s.machine.part > 0:
        return window_has_place(w, w.mask)
    return w.s.nodes - mask_count(w.mask, w.s.machine.words) >= w.need


cdef bint join_step(window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    """What others take in a step; whether that adds anything to what is joined."""
    cdef const uint64_t *taken = mask_at(f, i)
    cdef uint64_t *into = w.mask
    cdef uint64_t more, added = 0
    cdef outline_t parts
    cdef int32_t k
    cdef bint own = is_own(w, f, i)
    if w.by_parts:
        parts = outline_at(f, i)[0]
        if own:
            outline_lift(&parts, &w.own_parts)
        added = outline_grows(&w.taken, &parts)
        outline_join(&w.taken, &parts)
    elif own:
        for k in range(f.words):
            more = taken[k] & ~w.own[k]
            added |= more & ~into[k]
            into[k] |= more
    else:
        for k in range(f.words):
            added |= taken[k] & ~into[k]
            into[k] |= taken[k]
    return added != 0


cdef inline void clear_window(window_t *w, const timeline_t *f) noexcept nogil:
    memset(&w.taken, 0, sizeof(outline_t))
    if not w.by_parts:
        memset(w.mask, 0, <size_t>f.words * sizeof(uint64_t))


cdef inline int32_t next_open(window_t *w, timeline_t *f, int32_t i, double stop) noexcept nogil:
    while i < f.n and f.at[i] < stop and f.left[i] < w.need and not is_own(w, f, i):
        i += 1
    return i


cdef inline bint open_window(window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    clear_window(w, f)
    join_step(w, f, i)
    return may_fit(w)


cdef inline bint meet_step(window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    return not join_step(w, f, i) or may_fit(w)


cdef inline bint meet_next(window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    return f.begins[i] == 0 or meet_step(w, f, i)


cdef inline bint window_fits(window_t *w) noexcept nogil:
    return w.s.machine.part > 0 or window_has_place(w, w.mask)


cdef inline void fill_window(window_t *w, const timeline_t *f) noexcept nogil:
    """What is joined as a mask, in any case."""
    if w.by_parts:
        memset(w.mask, 0, <size_t>f.words * sizeof(uint64_t))
        w.s.machine.outlined.fill(w.s.machine.state, &w.taken, w.mask)


cdef void join_steps(window_t *w, const timeline_t *f, double begin, double end) noexcept nogil:
    """What others take in [begin, end), or at `begin` if that is empty, as a mask."""
    cdef int32_t i = index_at(f, begin)
    clear_window(w, f)
    join_step(w, f, i)
    i += 1
    while i < f.n and f.at[i] < end:
        if f.begins[i] > 0:
            join_step(w, f, i)
        i += 1
    fill_window(w, f)
