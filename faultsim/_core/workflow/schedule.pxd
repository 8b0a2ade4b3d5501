# The scheduling pass over the pool (docs/background/workflow-model.md, "The pass").

from faultsim._core.workflow.state cimport workflow_t

# Put what can be put on free nodes, in order; sets s.wake.  0 or NO_MEMORY.
cdef int workflow_pass(workflow_t *s) noexcept nogil
