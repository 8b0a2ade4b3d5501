# The first jobs of a queue whose order changes with time, found without sorting it (order.pxd: key_of, slope_of).
#
# Slopes decide where two jobs are clearly apart, and keys where they are not, so that the order is that of the keys.

from libc.stdint cimport int32_t

from faultsim._core.orders.sorting cimport sorter_t
from faultsim._core.state cimport sim_t

# Positions in the queue, as a heap; room for one per job.
cdef struct choice_t:
    int32_t *at
    double *score
    int32_t n

cdef int open_choice(void *state, choice_t *choice, int32_t n) except -1
# The position of the first job; the queue is not empty.
cdef int32_t first_job(sim_t *s) noexcept nogil
# The same of those that need at most `free` nodes and, if they may last longer than `time`, at most `extra`; -1: none.
cdef int32_t first_candidate(sim_t *s, int32_t free, int32_t extra, float time) noexcept nogil
# Candidates are added, made a heap, and taken from it in the order of the queue.
cdef void add_candidate(choice_t *choice, const sim_t *s, int32_t at) noexcept nogil
cdef void heapify(choice_t *choice, const sim_t *s) noexcept nogil
cdef int32_t pop_candidate(choice_t *choice, const sim_t *s) noexcept nogil
# The last job of the queue moves to the position of a job that left.
cdef void remove_at(sim_t *s, int32_t at) noexcept nogil
# Sort the whole queue by these slopes, per job; False where too many are close to each other, and keys have to do it.
cdef bint sort_by_slope(sorter_t *sorter, sim_t *s, const double *slope) noexcept nogil
