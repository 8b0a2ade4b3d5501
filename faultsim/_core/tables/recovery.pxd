# Recovery: what becomes of a job that a failure has killed.

from libc.stdint cimport int32_t

# What `relieve` has done; < 0 is a code.
cdef enum relieved:
    UNRELIEVED = 0           # nothing: the job is killed
    RELIEVED_SPARE = 1       # the node has left the job, and was not at work
    RELIEVED_WORKING = 2     # it was, and the job has rolled back

cdef struct recovery_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    bint keeps_nodes         # a job that was killed holds its nodes until they are up
    # A running job lost its work (progress.pxd); it goes back to the queue, or is held.
    int (*killed)(void *state, void *sim, int32_t job) noexcept nogil
    # Before that, of a node that fails: may the job go on without it?  NULL: never.
    int (*relieve)(void *state, void *sim, int32_t job, int32_t node) noexcept nogil
    # [keeps_nodes] A node of a held job: down until `until`; up again.  A held job is settled after the last failure.
    int (*node_down)(void *state, void *sim, int32_t job, int32_t node, double until) noexcept nogil
    # [shared] The same of a job that has shares of the node, which then goes down as a whole; `newly`: it was up.
    int (*share_down)(void *state, void *sim, int32_t job, bint newly, double until) noexcept nogil
    int (*node_up)(void *state, void *sim, int32_t job) noexcept nogil
    const char *(*check)(void *state, void *sim) noexcept nogil          # NULL, or the invariant that is broken
