# Threads that wait for work of their own, so that to share out a millisecond of it costs next to nothing.
#
# Contract
# - A subclass says what a `part` of its work is: those of the numbers begin to end, which must not touch what others
#   touch.  `share_out` is called by one thread at a time; it works too, and returns when everything is done.
# - Members are threads of Python that are inside `serve`, without the global interpreter lock.
# - Whoever has time takes the next `each` numbers.  A member that was waiting for long is asleep and has to be woken;
#   the others do its work meanwhile.

from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t

cdef enum:
    MOST_MEMBERS = 63

cdef class Team:
    cdef PyThread_type_lock[MOST_MEMBERS] go         # taken by a member when there is work
    cdef PyThread_type_lock[MOST_MEMBERS] done       # and given back when none is left
    cdef int members
    cdef bint over
    cdef int64_t at, end, each
    cdef int code

    # OK or a status < 0.
    cdef int part(self, int64_t begin, int64_t end) noexcept nogil
    cdef void take_parts(self) noexcept nogil
    # The same of all numbers below n.
    cdef int share_out(self, int64_t n, int64_t each) noexcept nogil
