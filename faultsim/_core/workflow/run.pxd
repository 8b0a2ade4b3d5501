# The events of a simulation of workflows, in their order (docs/background/workflow-model.md, "Events").

from libc.stdint cimport int32_t

from faultsim._core.workflow.state cimport workflow_t

# Time of the next event, inf when nothing will happen any more.
cdef double workflow_next(const workflow_t *s) noexcept nogil

# Parts of an instant that Heft shares.  `effect` is set if something changed.  0 or NO_MEMORY.
cdef int end_job(workflow_t *s, int32_t job, bint *effect) noexcept nogil        # the event of its end; False if stale
cdef int kill_job(workflow_t *s, int32_t job) noexcept nogil                     # without what comes after it
cdef int repair_node(workflow_t *s, int32_t node, bint *effect) noexcept nogil
cdef int take_down(workflow_t *s, int32_t node, double downtime, bint *effect) noexcept nogil

# All events at t, the time of the next event, then the pass if one is due: OK, DONE when all jobs are done,
# STUCK when t is inf and they are not, NO_MEMORY.
cdef int workflow_instant(workflow_t *s, double t) noexcept nogil
