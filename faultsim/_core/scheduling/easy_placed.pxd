# The pass of Fcfs where a job needs a place (model.md#fcfs), with which all backfilling begins.

from faultsim._core.state cimport sim_t

cdef int run_fcfs(sim_t *s) noexcept nogil
