# Capacity as a count (capacity.pxd): any free nodes serve.

ctypedef int32_t grant_t     # nodes

cdef struct timeline_t:
    double *at
    int32_t *free            # nodes
    int32_t n, room
    double begun             # when the last search began, in step `begun_in`; nan: steps were made or removed since
    int32_t begun_in
    int64_t looked           # steps that searches have read, for tests of how work grows

cdef struct window_t:
    int32_t need


cdef inline void describe_line(timeline_t *f, const sim_t *s) noexcept nogil:
    pass


cdef inline int open_values(void *owner, timeline_t *f) except -1:
    return own_block(owner, &f.free, f.room, sizeof(int32_t))


cdef inline int resize_values(void *owner, timeline_t *f, int32_t room) noexcept nogil:
    return resize_block(owner, &f.free, <size_t>room * sizeof(int32_t))


cdef inline void move_values(timeline_t *f, int32_t to, int32_t i, int32_t count) noexcept nogil:
    memmove(&f.free[to], &f.free[i], <size_t>count * sizeof(int32_t))


cdef inline int copy_value(void *owner, timeline_t *f, int32_t to, int32_t source) noexcept nogil:
    f.free[to] = f.free[source]
    return OK


cdef inline void drop_value(timeline_t *f, int32_t i) noexcept nogil:
    pass


cdef inline int32_t free_in_step(const timeline_t *f, int32_t i) noexcept nogil:
    return f.free[i]


cdef inline void take_step(timeline_t *f, int32_t i, grant_t nodes) noexcept nogil:
    f.free[i] -= nodes


cdef inline void give_step(timeline_t *f, int32_t i, grant_t nodes) noexcept nogil:
    f.free[i] += nodes


cdef inline void note_edges(timeline_t *f, int32_t i, int32_t k, int32_t more) noexcept nogil:
    pass


cdef inline bint is_needless(const timeline_t *f, int32_t i) noexcept nogil:
    return f.free[i] == f.free[i - 1]


cdef inline int32_t next_open(window_t *w, timeline_t *f, int32_t i, double stop) noexcept nogil:
    cdef int32_t need = w.need, first = i
    while i < f.n and f.free[i] < need:
        i += 1
    f.looked += i - first
    return i


cdef inline bint open_window(window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    return f.free[i] >= w.need


cdef inline bint meet_step(window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    return f.free[i] >= w.need


cdef inline bint meet_next(window_t *w, const timeline_t *f, int32_t i) noexcept nogil:
    return f.free[i] >= w.need


cdef inline bint window_fits(window_t *w) noexcept nogil:
    return True


cdef inline bint covers(int32_t ask, int32_t other) noexcept nogil:
    return ask <= other
