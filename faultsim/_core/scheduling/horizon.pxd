# A plan that is as it should be only up to a time, its horizon, and goes on behind it when somebody asks for the rest.
#
# Contract
# - No nodes are free just before the horizon, so whoever begins before it ends there at the latest, and nobody behind
#   it is in the way.  Where nodes come back there it is drawn in; once it is now the plan has to go further.
# - Whoever begins before it has a reservation there.  All others have none, or one behind it, which means nothing.
# - What has happened since the plan was made is remembered, so that `settle` can make it again, with a horizon further
#   on or with none, and let all that happen again.  A disturbance drops the plan: then nobody has ever asked.

from libc.stdint cimport int32_t

from faultsim._core.scheduling.reservations cimport plan_t
from faultsim._core.scheduling.waiting cimport line_t
from faultsim._core.state cimport sim_t

# Where the plan `settles`, who started in that pass leaves the queue, and nobody else starts.
ctypedef int (*sweep_t)(plan_t *p, sim_t *s) noexcept nogil

# A plan has just been begun, in which a horizon may be set if that pays.  OK or NO_MEMORY.
cdef int begin_recall(plan_t *p, const sim_t *s) noexcept nogil
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
# The reservations that are left, at places before `end` of the line, up to a horizon that may be set on the way.  OK or
# NO_MEMORY.
cdef int find_left(plan_t *p, sim_t *s, const line_t *line, int32_t end) noexcept nogil
# The horizon comes to be later than now, or there is none any more: that if `whole`.  The plan is as of the beginning
# of this pass or the end of the last; jobs that start in this pass are back in the queue.  OK or NO_MEMORY.
cdef int settle(plan_t *p, sim_t *s, sweep_t sweep, bint whole) noexcept nogil
