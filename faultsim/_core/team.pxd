# Threads that wait for work, so that dividing a tenth of a millisecond of work among them costs next to nothing.
#
# Contract
# - A subclass defines a `part` of its work: that of the numbers begin to end, which must not touch data of other
#   parts.  `share_out` is called by one thread at a time; it works too, and returns when everything is done.
# - Members are threads of Python that are inside `serve`, without the global interpreter lock.
# - A free member takes the next `each` numbers.  A sleeping member is woken, but no thread waits for a member that has
#   taken nothing: the others do its work meanwhile.

from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t

cdef enum:
    MOST_MEMBERS = 63        # an array of fixed length; more threads would find too little work in one call

cdef class Team:
    cdef PyThread_type_lock[MOST_MEMBERS] go         # a member that waits takes it to go on
    cdef int64_t[MOST_MEMBERS] waits         # it does
    cdef PyThread_type_lock done     # taken by the caller when a member has finished the last part
    cdef int members
    cdef int64_t over
    cdef int64_t at, left            # the next number that no member has taken; numbers that are not done
    cdef int64_t end, each
    cdef int code

    # OK or a status < 0.
    cdef int part(self, int64_t begin, int64_t end) noexcept nogil
    cdef void wake(self) noexcept nogil
    cdef bint take_parts(self) noexcept nogil        # whether this thread has finished the last part
    # Sets how many numbers there are, before members are enlisted; does all of them once, as `part`.
    cdef void take_on(self, int64_t n, int threads) noexcept nogil
    cdef int share_out(self) noexcept nogil
