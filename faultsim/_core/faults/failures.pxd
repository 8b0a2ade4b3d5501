# Failures, repairs, kills and holds (MODEL 9).
#
# Contract: `wanted` is set when a scheduling pass is due.  A node that is down and in no held job has its bit set in
# `occ` and, if its repair is known, an entry (up_at, -1 - node) in `releases`.  Nodes of running jobs are up.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t
from faultsim._core.torus.occupancy cimport box_t

# Before the simulation begins: earlier failures are counted, and outages that last are in force.
cdef int failures_before(sim_t *s) noexcept nogil
# The next failure of the trace, which is at s.now.
cdef int strike(sim_t *s, bint *wanted) noexcept nogil
# After the last failure of an instant: holds with nothing to wait for end.
cdef int settle_struck(sim_t *s) noexcept nogil
cdef int repair(sim_t *s, int32_t node) noexcept nogil
# The running or held job that has the node, or -1.
cdef int32_t job_on(const sim_t *s, int32_t node) noexcept nogil
# Does a box of the torus have the node?
cdef bint box_has_node(const sim_t *s, const box_t *box, int32_t node) noexcept nogil
# A running job leaves its nodes and goes back to the queue, as after a failure.
cdef int stop_job(sim_t *s, int32_t job) noexcept nogil
