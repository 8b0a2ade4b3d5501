# Conservative backfilling on a torus: every queued job has a reservation, a box for a stretch of time.
#
# Contract (MODEL 6): plan.begin / end / box by job number; plan.mask holds the reserved (queued jobs) or held (running
# jobs) box of each job as an occupancy, so that what is taken over a stretch of time is a few ORs.  A hole at `now` is
# in really free nodes; releases expected "now" count only for reservations that wait.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t
from faultsim._core.torus.occupancy cimport box_t

cdef int plan_alloc_torus(sim_t *s) noexcept nogil
cdef int schedule_conservative_torus(sim_t *s) noexcept nogil
cdef void released_conservative_torus(sim_t *s, int32_t job) noexcept nogil
# plan.mask of a job that has moved to a box; 0, or -1 no memory.
cdef int remask(sim_t *s, int32_t job, const box_t *box) noexcept nogil
