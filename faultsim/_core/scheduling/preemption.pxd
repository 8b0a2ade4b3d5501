# The running jobs that are stopped for the head of the queue (model.md#preemptive).

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

cdef struct victim_t:
    double key               # of the queue's order
    double decision
    int32_t job

# Stops running jobs if the head can start on their nodes: 1, or 0 if no job is stopped, or a status < 0.
# The queue is not empty; `victim` has room for all jobs.
cdef int preempt(sim_t *s, victim_t *victim) noexcept nogil
# The order of victims, for qsort.
cdef int lowest_first(const void *one, const void *other) noexcept nogil
