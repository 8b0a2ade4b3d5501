# The queue sorted by keys of a pass: by (key, entry), where no two jobs have the same number of entry.

from libc.stdint cimport int32_t, int64_t

from faultsim._core.state cimport sim_t

cdef struct keyed_t:
    double key               # not NaN
    int64_t entry            # ties: the job that entered the queue first
    int32_t job

# Scratch, one per job; blocks of the state that holds it.
cdef struct sorter_t:
    keyed_t *item
    keyed_t *spare
    int32_t *run

cdef int open_sorter(void *state, sorter_t *sorter, int32_t n) except -1
# The queue gets the order of the items, one for each job in it.  Quick where it was sorted by nearly the same keys.
cdef void reorder(sorter_t *sorter, sim_t *s) noexcept nogil


# The number of a job in the order of entry, which breaks ties.
cdef inline int64_t entry_of(const sim_t *s, int32_t job) noexcept nogil:
    return s.queue.entry[job] if s.queue.entry != NULL else job
