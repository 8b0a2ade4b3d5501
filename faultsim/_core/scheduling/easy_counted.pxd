# FCFS and EASY backfilling on a cluster: the scheduling pass of MODEL 6, any free nodes serve.

from faultsim._core.state cimport sim_t

cdef int schedule_cluster(sim_t *s) noexcept nogil
