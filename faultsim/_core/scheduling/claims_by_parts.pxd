# When a plan of placed_claims.pxd may have room for a job that needs whole parts of the machine, told by outlines.
#
# What was found is kept as long as it is true: as many releases as leave a place until a job starts, and a time before
# which nothing of a size is reserved to the end of the pass.

from libc.stdint cimport int32_t

from faultsim._core.scheduling.placed_claims cimport plan_t
from faultsim._core.state cimport sim_t

# `shadow_from_now` (shadow.pxd) of such a job, and p.later.mask as that leaves it; OK, or a status code.
cdef int turn_of_parts(plan_t *p, sim_t *s, int32_t job, double *t) noexcept nogil
# The index of the first time to be tried at which such a job may find a place, or p.n_times; OK, or a status code.
cdef int hopeful_from(plan_t *p, sim_t *s, int32_t job, int32_t *first) noexcept nogil
