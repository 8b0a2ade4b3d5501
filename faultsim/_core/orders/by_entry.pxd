# The waiting jobs in the order of entry, as orders from outside receive them: kept from pass to pass, in O(queue).

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from faultsim._core.orders.sorting cimport sorter_t
from faultsim._core.state cimport sim_t

cdef struct by_entry_t:
    int32_t *job             # in the order of entry, `n` of them
    int32_t n
    int64_t *known           # per job: 1 + its number of entry in the list; 0: it is not in it
    int32_t *rank            # per job in the list: its index there
    int32_t *fresh           # scratch
    sorter_t sorter

cdef int open_by_entry(void *state, by_entry_t *p, int32_t n) except -1
# The list is that of the queue.
cdef void follow_queue(by_entry_t *p, const sim_t *s) noexcept nogil
# The queue by the keys of the list's jobs, none of them NaN.
cdef void sort_by_keys(by_entry_t *p, sim_t *s, const double *key) noexcept nogil
# The first of some keys that is NaN; -1: none is.
cdef int32_t first_nan(const double *key, int32_t n) noexcept nogil
# The exception that refused(row, now) makes for the key of a job goes out at the border; PYTHON_ERROR.
cdef int refuse_key(sim_t *s, PyObject *refused, int32_t job) noexcept nogil
