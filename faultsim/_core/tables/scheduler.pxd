# A scheduler: which waiting jobs start now, and which reservations the others get.  A table of functions and their
# state.
#
# `sim` is the sim_t of state.pxd, which holds this table.  Functions after `schedule` may be NULL.  Codes are those of
# state.pxd.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.tables.machine cimport permit_t, place_t

# How rescheduling meets a promise: filled in by `spare`.
cdef struct promise_t:
    bint any                 # a job waits and has a reservation
    double time              # of its start; inf: nothing can delay it
    int32_t need             # nodes that it needs

cdef struct scheduler_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    bint elsewhere           # passes are decided by the caller, or in Python
    # One scheduling pass: starts jobs (jobs.pxd) and takes them out of the queue.
    int (*schedule)(void *state, void *sim) noexcept nogil

    # A job has entered the queue; has left its nodes, and the releases; something unforeseen happened, plans are void.
    void (*queued)(void *state, void *sim, int32_t job) noexcept nogil
    void (*released)(void *state, void *sim, int32_t job) noexcept nogil
    void (*disturbed)(void *state) noexcept nogil
    # A job has nodes already when this scheduler takes over, or others after a move; OK or a code.
    int (*adopt)(void *state, void *sim, int32_t job) noexcept nogil

    # How many of `sound` free nodes running jobs may move to without breaking a promise; < 0: a code.  NULL: all.
    # This and `guard` are called while a job waits; `promise` is zero.
    int64_t (*spare)(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil
    # [placed] Restrictions on a move of a running job, which would then end at `end`: into an all-zero permit, with a
    # mask that the caller owns as `forbidden`.  Afterwards: `place` is its new place, NULL if it did not move.
    int (*guard)(void *state, void *sim, int32_t job, double end, uint64_t *forbidden, permit_t *permit) noexcept nogil
    int (*settled)(void *state, void *sim, int32_t job, const place_t *place) noexcept nogil
    # The reservation of a waiting job as of the last pass, for explanations: 1 and its begin, on a placed machine with
    # its place; 0: the job has none, or plans are void; < 0: a code.  NULL: reservations are not kept between passes.
    int (*reserved_at)(void *state, void *sim, int32_t job, double *begin, place_t *place) noexcept nogil
