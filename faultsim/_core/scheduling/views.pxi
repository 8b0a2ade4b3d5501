# Promises on counts beside nodes that are closed to jobs (model.md#absences).
#
# Plans on counts count nodes, which any job may have.  A promise to a job to which a set is closed also needs room in
# the view without that set; of the other promises, those count there to which all of the set is closed.

cdef struct promised_t:
    double begin, end
    int32_t need
    int32_t closed           # the closed set of its job (absences.pxd)
    int32_t job

cdef enum:
    NO_OPEN_ROOM = -1000          # fits_views: there is none


cdef inline bint holds_at(const promised_t *r, double u) noexcept nogil:
    return (r.begin <= u < r.end) or (r.begin == u == r.end)


cdef int64_t room_in_view(const sim_t *s, const promised_t *plan, int32_t n, int32_t view, double u,
                          int32_t besides) noexcept nogil:
    """What is free at u outside of a closed set, less the promises that are held there, or begin, at u; of these,
    number `besides` is left out (-1: none).
    """
    cdef int64_t room = free_outside(s, view, u)
    cdef int32_t i
    for i in range(n):
        if i != besides and plan[i].closed > 0 and holds_at(&plan[i], u) and set_covers(
                absences_of(s), plan[i].closed, view):
            room -= plan[i].need
    return room


cdef bint fits_view(const sim_t *s, int32_t job, const promised_t *plan, int32_t n, int32_t view, double t,
                    double end) noexcept nogil:
    """Whether a job has room in a view from t to `end`."""
    cdef int32_t i, need = s.need[job]
    if need > room_in_view(s, plan, n, view, t, -1):
        return False
    for i in range(n):
        if t < plan[i].begin < end and need > room_in_view(s, plan, n, view, plan[i].begin, -1):
            return False
    return True


cdef int32_t fits_views(const sim_t *s, int32_t job, const promised_t *plan, int32_t n, double t,
                        double end) noexcept nogil:
    """The closed set of a job from t to `end`, if it has room in its view, and in those of promises to which no other
    nodes are closed; NO_OPEN_ROOM; or NO_MEMORY.
    """
    cdef int32_t i, k, closed = closed_set(s, job, t, end)
    if closed <= 0:
        return closed
    if not fits_view(s, job, plan, n, closed, t, end):
        return NO_OPEN_ROOM
    for i in range(n):
        if plan[i].closed == 0 or plan[i].closed == closed or not set_covers(absences_of(s), closed, plan[i].closed):
            continue
        k = 0
        while plan[k].closed != plan[i].closed:
            k += 1
        if k == i and not fits_view(s, job, plan, n, plan[i].closed, t, end):
            return NO_OPEN_ROOM
    return closed


cdef inline bint starts_beside(const sim_t *s, int32_t job, const promised_t *plan, int32_t n,
                               double end) noexcept nogil:
    """Whether a job that starts now, and is expected to end at `end`, finds open nodes and leaves each promise that
    begins before `end` its room in its view; the nodes that it takes first are set.
    """
    cdef int32_t i
    cdef int64_t takes
    if s.need[job] > open_room(s, job):
        return False
    for i in range(n):
        if plan[i].closed == 0 or not plan[i].begin < end:
            continue
        takes = max(<int64_t>0, <int64_t>s.need[job] - free_inside(s, plan[i].closed, job))
        if takes > room_in_view(s, plan, n, plan[i].closed, plan[i].begin, i) - plan[i].need:
            return False
    for i in range(n):
        if plan[i].begin < end:
            spare_set(s, plan[i].closed)
    return True


cdef int64_t least_beside(const sim_t *s, const promised_t *plan, int32_t n, int64_t least) noexcept nogil:
    """The least room, at most `least`, beside a promise in its view."""
    cdef int32_t i
    for i in range(n):
        if plan[i].closed > 0:
            least = min(least, room_in_view(s, plan, n, plan[i].closed, plan[i].begin, i) - plan[i].need)
    return least


cdef double next_after(const sim_t *s, const promised_t *plan, int32_t n, double t) noexcept nogil:
    """The first time after t that is tried, beside these promises."""
    cdef double first = INFINITY, last = s.now
    cdef int32_t i
    for i in range(n):
        last = max(last, plan[i].end)
        if plan[i].end > t:
            first = min(first, plan[i].end)
    return next_tried(s, t, first, last)
