# Failures of nodes, and their repairs (model.md#failures).
#
# Contract: `wanted` is set when a scheduling pass is due.  A node that is down and in no held job has its bit set in
# the machine's `occ` and, if its repair is known, an entry (up_at, -1 - node) in `releases`.  Nodes of running jobs are
# up.  Functions of type int: OK, or a status < 0.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# Keep sim_t.trace.count from now on, or this and `rank`: called by policies, before the simulation begins.
cdef int counts_open(sim_t *s) noexcept nogil
cdef int rank_open(sim_t *s) noexcept nogil
# Before the simulation begins, and its source is added: earlier failures are counted, outages that last are in force.
cdef int outages_before(sim_t *s) noexcept nogil
# The source of failures (FROM_TRACE).
cdef int fire_failure(void *sim, bint *wanted) noexcept nogil
# Of a node, or from `nodes` on of a part of one.
cdef int repair(sim_t *s, int32_t node) noexcept nogil
# Inputs of a caller: a node fails now and is down until `until` (inf: unknown); a down node is up again now.
cdef int fail_node(sim_t *s, int32_t node, double until, bint *wanted) noexcept nogil
cdef int repair_now(sim_t *s, int32_t node) noexcept nogil
# A job stops and loses what it has not saved, also in its start delay; recovery_t.killed comes next.
cdef void roll_back(sim_t *s, int32_t job) noexcept nogil
# The running or held job that has the node, or -1.
cdef int32_t job_on(sim_t *s, int32_t node) noexcept nogil
