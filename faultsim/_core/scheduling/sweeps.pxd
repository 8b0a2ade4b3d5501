# A pass of conservative backfilling that keeps the plan: who may find an earlier hole is looked at, in queue order.

from libc.stdint cimport int32_t

from faultsim._core.scheduling.reservations cimport plan_t
from faultsim._core.state cimport sim_t

cdef enum:
    MANY = 128                # jobs that wait

# Whether the time of a reservation has passed without a start; who is due is marked.
cdef bint is_missed(plan_t *p, const sim_t *s) noexcept nogil
# Where reservations are listed, of the whole plan; OK or a status.
cdef int sweep(plan_t *p, sim_t *s) noexcept nogil
# The same up to a horizon, if that pays (horizon.pxd).
cdef int sweep_listed(plan_t *p, sim_t *s) noexcept nogil
# Where they are not.
cdef int sweep_few(plan_t *p, sim_t *s) noexcept nogil
