# Timeline: free capacity as a step function of time.  Included after the functions of a capacity (capacity.pxd).
#
# Contract
# - Step i holds from at[i] until at[i + 1], the last step for ever; `at` ascends.  Step 0 holds in the past, too.  A
#   step that is_needless is removed.
# - Values: resize_values makes room for them, move_values moves those of some steps, copy_value gives step `to` that of
#   step `source`, drop_value frees what a step stored; note_edges notes that something begins at step i and ends at
#   step k.
# - A window is the meet of several steps for one ask.  next_open is the first step from i on that the ask may fit in,
#   or one that begins at `stop` or later, or n; open_window begins with one step, meet_step adds another one, meet_next
#   the one after those, and all return False if the ask does not fit any more, as far as that is found quickly.
#   window_fits decides.
#
# With n steps, taking or giving moves O(n) bytes and changes the values of the steps between its ends.


cdef inline double rounded_up(double begin, double end) noexcept nogil:
    """The length of a stretch of time, rounded up: the end of a job is a sum of doubles."""
    return ((end - begin) + 4e-15 * (begin + end)) * (1.0 + 3e-7) + 1e-30


cdef inline double surely_before(double t, double duration) noexcept nogil:
    """A stay of this duration that begins by then has ended by time t, however sums are rounded."""
    return t - duration * (1.0 + 1e-9) - 1e-9 * t


cdef int open_timeline(void *owner, timeline_t *f, int32_t room) except -1:
    f.room = room
    own_block(owner, &f.at, room, sizeof(double))
    return open_values(owner, f)


cdef inline int32_t index_from(const timeline_t *f, int32_t first, double t) noexcept nogil:
    """Index of the step that holds at time t, which is not before that of step `first`."""
    cdef int32_t low = first, high = f.n, mid, k, before = 0
    while high - low > 16:
        mid = (low + high) >> 1
        if f.at[mid] <= t:
            low = mid
        else:
            high = mid
    if low + 16 > f.n:
        for k in range(low + 1, f.n):
            before += f.at[k] <= t
        return low + before
    for k in range(1, 16):               # the compiler makes vectors of this
        before += f.at[low + k] <= t
    return low + before


cdef inline int32_t index_at(const timeline_t *f, double t) noexcept nogil:
    """Index of the step that holds at time t."""
    return index_from(f, 0, t)


cdef int append_step(void *owner, timeline_t *f, double at) noexcept nogil:
    """A step behind all others, with no value yet."""
    cdef int32_t room = 2 * f.room
    if f.n == f.room:
        if resize_block(owner, &f.at, <size_t>room * sizeof(double)) < 0 or resize_values(owner, f, room) < 0:
            return NO_MEMORY
        f.room = room
    f.at[f.n] = at
    f.n += 1
    f.begun = NAN
    return OK


cdef inline void move_steps(timeline_t *f, int32_t to, int32_t i, int32_t count) noexcept nogil:
    memmove(&f.at[to], &f.at[i], <size_t>count * sizeof(double))
    move_values(f, to, i, count)


cdef int32_t cut(void *owner, timeline_t *f, int32_t first, double t) noexcept nogil:
    """Index of the step that begins at time t, from step `first` on, which is made if need be (the first of all holds
    before, too); -1: no memory.
    """
    cdef int32_t i = index_from(f, first, t)
    if t <= f.at[i]:
        return i
    i += 1
    if append_step(owner, f, t) < 0:
        return -1
    move_steps(f, i + 1, i, f.n - 1 - i)
    f.at[i] = t
    return i if copy_value(owner, f, i, i - 1) == OK else -1


cdef inline void remove_steps(timeline_t *f, int32_t first, int32_t count) noexcept nogil:
    cdef int32_t i
    for i in range(first, first + count):
        drop_value(f, i)
    f.n -= count
    f.begun = NAN
    move_steps(f, first, first + count, f.n - first)


cdef inline void remove_needless(timeline_t *f, int32_t i) noexcept nogil:
    if 0 < i < f.n and is_needless(f, i):
        remove_steps(f, i, 1)


cdef int change_line(void *owner, timeline_t *f, double begin, double end, grant_t grant, bint takes) noexcept nogil:
    cdef int32_t i, k, j
    if not begin < end:
        return OK
    i = cut(owner, f, 0, begin)
    if i < 0:
        return NO_MEMORY
    k = f.n if end == INFINITY else cut(owner, f, i, end)
    if k < 0:
        return NO_MEMORY
    for j in range(i, k):
        if takes:
            take_step(f, j, grant)
        else:
            give_step(f, j, grant)
    note_edges(f, i, k, 1 if takes else -1)
    remove_needless(f, k)
    remove_needless(f, i)
    return OK


# The grant is taken in [begin, end), or given back; nothing where that is empty.  OK or NO_MEMORY.
cdef inline int take(void *owner, timeline_t *f, double begin, double end, grant_t grant) noexcept nogil:
    return change_line(owner, f, begin, end, grant, True)


cdef inline int give(void *owner, timeline_t *f, double begin, double end, grant_t grant) noexcept nogil:
    return change_line(owner, f, begin, end, grant, False)


cdef inline void forget(timeline_t *f, double t) noexcept nogil:
    """The first step is the one that holds at time t; earlier steps are removed."""
    cdef int32_t i = index_at(f, t)
    if i > 0:
        remove_steps(f, 0, i)
    f.at[0] = t
    f.begun = NAN


cdef int32_t earliest(timeline_t *f, window_t *w, const sim_t *s, int32_t job, double start, double stop,
                      double *longest, double *begin) noexcept nogil:
    """The first time in [start, stop), now or later, from which on a job fits for all of its expected duration.

    That is `start` or the begin of a step; the index of the step that holds then, or -1: there is no such time.  Every
    time that was passed over is blocked within `longest` seconds, which is raised.
    """
    cdef int32_t i, k, found = -1
    cdef double t, end, span = 0.0, last = 0.0
    if start != f.begun:         # searches for one job after another often begin at the same time
        f.begun, f.begun_in = start, index_at(f, start)
    i = f.begun_in
    # Invariant: no time before step i has room; each is blocked within `span` seconds, at `last` or before.
    while True:
        i = next_open(w, f, i, stop)
        if i == f.n:
            break
        t = max(max(f.at[i], start), s.now)
        if not t < stop:
            break
        if not open_window(w, f, i):
            i += 1
            continue
        end = end_if_started_at(s, job, t)
        k = i + 1
        while k < f.n and f.at[k] < end and meet_next(w, f, k):
            k += 1
        f.looked += k - i
        if k < f.n and f.at[k] < end:
            end = f.at[k]
        elif window_fits(w):
            begin[0], found = t, i
            break
        else:
            k = f.n
        span, last = max(span, end - t), max(last, end)
        if k == f.n:
            i += 1
        elif open_window(w, f, k):
            # Times from which the steps up to k are joined have no room either, down to where these steps alone fit.
            i = k
            while meet_step(w, f, i - 1):
                i -= 1
        else:
            i = k + 1
    longest[0] = max(longest[0], rounded_up(last - span, last) if span > 0.0 else 0.0)
    return found
