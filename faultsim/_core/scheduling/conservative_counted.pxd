# Conservative backfilling on a cluster: every queued job has a reservation in a step function of free nodes.
#
# Contract (MODEL 6, "compression"): plan.at[0] <= now; level[i] nodes are free from at[i] until at[i + 1] (the last for
# ever), the running jobs held until their expected ends and every reservation counted.  A pass takes one job's
# reservation out after another, in queue order, and puts it at the earliest hole; after a disturbance all are dropped
# first.  No job can move to a hole that begins at or after `gained`: up to there nodes have come back, or were left by
# a job that moved, since the last sweep in which nothing could move.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

cdef int plan_alloc_cluster(sim_t *s) noexcept nogil
cdef int schedule_conservative_cluster(sim_t *s) noexcept nogil
cdef void released_conservative_cluster(sim_t *s, int32_t job) noexcept nogil
