# The first jobs of a queue with an order that changes with time, found without sorting it (order.pxd: key_of,
# slope_of).
#
# Slopes decide where two jobs are clearly apart, and keys where they are not, so that the order is that of the keys.

from libc.stdint cimport int32_t

from faultsim._core.orders.sorting cimport sorter_t
from faultsim._core.state cimport sim_t

# The position of the first job; the queue is not empty.
cdef int32_t first_job(sim_t *s) noexcept nogil
# The same of those that need at most `free` nodes and, if they may last longer than `time`, at most `extra`; -1: none.
cdef int32_t first_candidate(sim_t *s, int32_t free, int32_t extra, float time) noexcept nogil
# The last job of the queue moves to the position of a job that left.
cdef void remove_at(sim_t *s, int32_t at) noexcept nogil
# Sort the whole queue by these slopes, per job; False where two are close to each other, and keys have to do it.
cdef bint sort_by_slope(sorter_t *sorter, sim_t *s, const double *slope) noexcept nogil
