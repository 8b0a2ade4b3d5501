# Migration: moving running jobs to better places.  Functions may be NULL.

from libc.stdint cimport int32_t

cdef struct migration_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    double cost              # seconds that a move costs a job, unless its progress is tracked
    # [placed] Within a pass, after its first part: moves jobs and sets `adopted` if it did.
    int (*rearrange)(void *state, void *sim, bint *adopted) noexcept nogil
    # A job has started; has finished and left its nodes; a node of a job has failed, or (-1) its nodes have changed.
    void (*started)(void *state, void *sim, int32_t job) noexcept nogil
    int (*finished)(void *state, void *sim, int32_t job) noexcept nogil
    void (*failed)(void *state, void *sim, int32_t job, int32_t node) noexcept nogil
