# A queue order that changes with time: brings the queue into its order at the beginning of a pass.
#
# An order with keys that never change is a column instead (queue_t.key), by which jobs are inserted.

from libc.stdint cimport int32_t

cdef struct order_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    int (*sort)(void *state, void *sim) noexcept nogil                   # NULL: the queue keeps itself in order
    # Both NULL, or so that a scheduler finds the first of the queue without sorting it: the key of a job now, smallest
    # first, and a slope for which slope * (now - submit) orders the jobs in the same way, largest first, but rounding.
    double (*key_of)(const void *sim, int32_t job) noexcept nogil
    double (*slope_of)(const void *sim, int32_t job) noexcept nogil
