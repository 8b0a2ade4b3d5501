# What was given back to a conservative plan: the span of time in which waiting jobs may have earlier room.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

cdef struct gain_t:          # begin >= end: nothing was given back
    double begin, end
    int32_t most             # counts: the largest number of free nodes in it


cdef inline void no_gain(gain_t *gain) noexcept nogil:
    gain.begin, gain.end, gain.most = INFINITY, -INFINITY, 0


cdef inline void add_gain(gain_t *to, const gain_t *more) noexcept nogil:
    to.begin, to.end = min(to.begin, more.begin), max(to.end, more.end)
    to.most = max(to.most, more.most)
