# Requested checkpoints: before failures, in predicted windows, by risk (MODEL 11).  Planned ones are arithmetic:
# life.pxd.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# The next alarm, which is at s.now: a request to the job on its node, or to the victims among all jobs.
cdef int alarm(sim_t *s) noexcept nogil
# A risk-based request of a running job is due.
cdef int risk_request(sim_t *s, int32_t job) noexcept nogil
