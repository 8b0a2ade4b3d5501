# A queue order that changes with time: brings the queue into its order at the beginning of a pass.
#
# Orders whose keys never change are a column instead (queue_t.key), by which jobs are entered.

cdef struct order_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    int (*sort)(void *state, void *sim) noexcept nogil                   # NULL: the queue keeps itself in order
