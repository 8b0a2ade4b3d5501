# Queue orders that change with time: each sorts wait.job[head..end) by (key at now, job number), smallest first.

from faultsim._core.state cimport sim_t

cdef int order_wfp3(sim_t *s) noexcept nogil
cdef int order_unicef(sim_t *s) noexcept nogil
cdef int order_python(sim_t *s) noexcept nogil
