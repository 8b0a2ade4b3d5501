# The events of a simulation of workflows, in their order (docs/background/workflow-model.md, "Events").

from faultsim._core.workflow_state cimport workflow_t

# Time of the next event, inf when nothing will happen any more.
cdef double workflow_next(const workflow_t *s) noexcept nogil

# All events at t, the time of the next event, then the pass if one is due: WF_OK, WF_DONE when all jobs are done,
# WF_STUCK when t is inf and they are not, WF_NO_MEMORY.
cdef int workflow_instant(workflow_t *s, double t) noexcept nogil
