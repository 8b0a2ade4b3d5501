# Requested checkpoints: which jobs save at a request.  Planned ones are a column of intervals (progress.pxd).

from libc.stdint cimport int32_t

cdef struct checkpointing_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    # A request of sim_t.requests is due: of the job on `node`, or (-1) of all jobs.
    int (*asked)(void *state, void *sim, int32_t node) noexcept nogil
    # Requests of a job's own: its next one after it has begun work `afresh`, or after its time has been shifted; pushes
    # the event.  Is an event at `time` still the one; handle it.  NULL: there are none.
    int (*plan)(void *state, void *sim, int32_t job, bint afresh) noexcept nogil
    bint (*is_due)(const void *state, int32_t job, double time) noexcept nogil
    int (*due)(void *state, void *sim, int32_t job) noexcept nogil
