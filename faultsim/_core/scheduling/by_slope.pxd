# The first jobs of a queue whose order changes with time, found without sorting it (order.pxd: key_of, slope_of).
#
# Slopes decide where two jobs are clearly apart, and keys where they are not, so that the order is that of the keys.

from libc.stdint cimport int32_t

from faultsim._core.scheduling.sorting cimport sorter_t
from faultsim._core.state cimport sim_t

# Places of the queue, a heap; one room per job.
cdef struct choice_t:
    int32_t *place
    double *score
    int32_t n

cdef int open_choice(void *state, choice_t *choice, int32_t n) except -1
# The place of the first job; the queue is not empty.
cdef int32_t first_place(sim_t *s) noexcept nogil
# The same of those that need at most `free` nodes and, if they may last longer than `time`, at most `extra`; -1: none.
cdef int32_t first_candidate(sim_t *s, int32_t free, int32_t extra, float time) noexcept nogil
# The place joins those from which `next_place` chooses, after `choose_from`.
cdef void add_place(choice_t *choice, const sim_t *s, int32_t place) noexcept nogil
cdef void choose_from(choice_t *choice, const sim_t *s) noexcept nogil
# The place whose job comes first among those that are left.
cdef int32_t next_place(choice_t *choice, const sim_t *s) noexcept nogil
# The last job of the queue takes the place of one that left.
cdef void fill_place(sim_t *s, int32_t place) noexcept nogil
# Sort the whole queue by these slopes, per job; False where too many are close to each other, and keys have to do it.
cdef bint sort_by_slope(sorter_t *sorter, sim_t *s, const double *slope) noexcept nogil
