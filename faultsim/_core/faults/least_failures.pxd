# Migration of running jobs to nodes that failed less [Zhang 2004, section 5.2.3] (MODEL 8), on a cluster.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# A job has finished and its nodes are free: jobs that started after it move away from nodes that failed more.
cdef int evade(sim_t *s, int32_t finished) noexcept nogil
