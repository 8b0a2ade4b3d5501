# The events of a simulation of workflows, in their order (workflow-model.md#workflow-events).

from libc.stdint cimport int32_t

from faultsim._core.workflow.state cimport workflow_t

# Time of the next event, inf when nothing will happen any more.
cdef double workflow_next(const workflow_t *s) noexcept nogil

# The job on a node is lost, with all that it has done; what becomes of it is the scheduler's.
cdef int kill_job(workflow_t *s, int32_t job) noexcept nogil

# All events at t, the time of the next event, then the scheduler: OK, DONE when all jobs are done,
# STUCK when t is inf and they are not, NO_MEMORY.
cdef int workflow_instant(workflow_t *s, double t) noexcept nogil
