# What was given back to a conservative plan: the span of time in which waiting jobs may have earlier room.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

cdef struct gain_t:          # begin >= end: nothing was given back
    double begin, end
    int32_t most             # counts: the largest number of free nodes in it
    double longest           # counts, with a horizon: no stretch of free nodes that meets it is longer


cdef inline void no_gain(gain_t *gain) noexcept nogil:
    gain.begin, gain.end, gain.most, gain.longest = INFINITY, -INFINITY, 0, 0.0


cdef inline void add_gain(gain_t *to, const gain_t *more) noexcept nogil:
    to.begin, to.end = min(to.begin, more.begin), max(to.end, more.end)
    to.most, to.longest = max(to.most, more.most), max(to.longest, more.longest)
