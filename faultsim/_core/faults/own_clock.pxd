# The clock of a job that outages slow down (model.md#slowness); without one it shows the time.  Only with track.on.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from faultsim._core.state cimport clocks_t, sim_t

# What a clock shows at a time.
cdef double shown_at(const clocks_t *c, int32_t clock, double t) noexcept nogil
# When the job's own clock shows u.
cdef double time_shown(const sim_t *s, int32_t job, double u) noexcept nogil
# When it will, of a job that has a clock.
cdef double clock_from(const sim_t *s, int32_t job, double now, double u) noexcept nogil


cdef inline bint has_clock(const sim_t *s, int32_t job) noexcept nogil:
    return s.track.clocks.of != NULL and s.track.clocks.of[job] >= 0


cdef inline double own_time(const sim_t *s, int32_t job, double t) noexcept nogil:
    """What the job's own clock shows at t."""
    if not has_clock(s, job) or t == INFINITY:
        return t
    return shown_at(&s.track.clocks, s.track.clocks.of[job], t)


cdef inline double time_from(const sim_t *s, int32_t job, double now, double u) noexcept nogil:
    """When the job's own clock will show u: not before `now`."""
    return clock_from(s, job, now, u) if has_clock(s, job) else u


cdef inline double full_speed(const sim_t *s, int32_t job, double u) noexcept nogil:
    """When the clock would show u if it ran at full speed from now on."""
    return s.now + (u - own_time(s, job, s.now)) if has_clock(s, job) else u


cdef inline double slowed_between(const sim_t *s, int32_t job, double begin, double end) noexcept nogil:
    """Seconds that its clock has lost."""
    return (end - begin) - (own_time(s, job, end) - own_time(s, job, begin)) if has_clock(s, job) else 0.0
