# A plan that is as it should be only up to a time, its horizon, and is made whole when somebody asks for the rest.
#
# Contract
# - No nodes are free just before the horizon, so whoever comes to begin before it fits there by what is known.  Where
#   nodes come back there it is drawn in; once it is now the plan has to be whole.
# - Reservations that begin at the horizon or later are where they were when it was set, or in a free place: a plan that
#   can be kept, but for some of them there are earlier holes, which begin at the horizon or later as well.
# - What has happened since is remembered, so that `settle` can let it happen again to the whole plan.  A disturbance
#   drops the plan: then nobody has ever asked for the rest.

from libc.stdint cimport int32_t

from faultsim._core.scheduling.reservations cimport plan_t
from faultsim._core.state cimport sim_t

# Where the plan `settles`, who started in that pass leaves the queue, and nobody else starts.
ctypedef int (*sweep_t)(plan_t *p, sim_t *s) noexcept nogil

# Before a sweep: set a horizon, if that pays.
cdef void set_horizon(plan_t *p, const sim_t *s) noexcept nogil
# The plan has been dropped, or is whole.
cdef void forget_horizon(plan_t *p) noexcept nogil
# After a sweep.  OK or NO_MEMORY.
cdef int keep_pass(plan_t *p, const sim_t *s) noexcept nogil
# Another turn of the gaps, for the next sweep.
cdef void begin_turn(plan_t *p, const sim_t *s) noexcept nogil
# A job starts in this pass, came since the last one, or gives its nodes back.
cdef void keep_start(plan_t *p, int32_t job) noexcept nogil
cdef void keep_arrival(plan_t *p, int32_t job) noexcept nogil
cdef int keep_release(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
# The plan becomes whole, as of the beginning of this pass or the end of the last; jobs that start in this pass are back
# in the queue.  OK or NO_MEMORY.
cdef int settle(plan_t *p, sim_t *s, sweep_t sweep) noexcept nogil
