# Rescheduling: running jobs move away from nodes that are predicted to fail, at ticks of its own.

from libc.stdint cimport int32_t

cdef struct rescheduling_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    # A job starts after it has waited for `waited` seconds.
    void (*wait_ended)(void *state, void *sim, int32_t job, double waited) noexcept nogil
