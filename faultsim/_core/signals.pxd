# Ctrl-C in work that takes long without coming to an event.
#
# Contract
# - A long loop counts its steps, each of some nanoseconds, and returns early once `stopped` is true: then an exception
#   is pending, and the next function that holds the GIL and may raise calls `raise_waiting`, before any other Python
#   code.
# - `done` is NULL in callers that cannot raise: then signals are not checked.

from libc.stdint cimport int64_t

cdef enum:
    STEPS = 4194304          # between two checks: some milliseconds, so that Ctrl-C is quick and checks cost nothing

cdef bint look_for_signals() noexcept nogil
# In a pass of a simulation, which can raise only what its owner keeps: 0, or -1 if a handler has raised.
cdef int keep_interrupt(void *owner) noexcept nogil
cdef int raise_waiting() except -1


cdef inline bint stopped(int64_t *done, int64_t steps) noexcept nogil:
    """Whether a signal's handler has raised, after so many further steps."""
    if done == NULL:
        return False
    done[0] += steps
    if done[0] < STEPS:
        return False
    done[0] = 0
    return look_for_signals()
