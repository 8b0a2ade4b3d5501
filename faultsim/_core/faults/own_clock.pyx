"""The clock of a job that outages slow down; the contract is in own_clock.pxd."""

from libc.stdint cimport int64_t


cdef int64_t corner_before(const clocks_t *c, int32_t clock, const double *at, double value) noexcept nogil:
    """The last corner of a clock at `value` or before it; first[clock] - 1: there is none."""
    cdef int64_t low = c.first[clock] - 1, high = c.first[clock + 1], middle
    while high - low > 1:
        middle = low + (high - low) // 2
        if at[middle] <= value:
            low = middle
        else:
            high = middle
    return low


cdef double shown_at(const clocks_t *c, int32_t clock, double t) noexcept nogil:
    cdef int64_t i = corner_before(c, clock, c.time, t)
    return t if i < c.first[clock] else c.shown[i] + c.speed[i] * (t - c.time[i])


cdef double time_shown(const sim_t *s, int32_t job, double u) noexcept nogil:
    cdef const clocks_t *c = &s.track.clocks
    cdef int32_t clock
    cdef int64_t i
    if not has_clock(s, job):
        return u
    clock = c.of[job]
    i = corner_before(c, clock, c.shown, u)
    return u if i < c.first[clock] else c.time[i] + (u - c.shown[i]) / c.speed[i]


cdef double clock_from(const sim_t *s, int32_t job, double now, double u) noexcept nogil:
    cdef double t
    if u == INFINITY:
        return u
    if u <= own_time(s, job, now):
        return now
    t = time_shown(s, job, u)
    return t if t > now else now
