# Rescheduling: running jobs move away from nodes that are predicted to fail, at ticks of its own.

from libc.stdint cimport int32_t

cdef struct rescheduling_t:
    void *state
    # A job starts after it has waited for so long.
    void (*started)(void *state, void *sim, int32_t job, double waited) noexcept nogil
    void *(*copy)(const void *state, const void *sim) noexcept nogil     # NULL: no memory
    void (*close)(void *state) noexcept nogil
