"""Which nodes are predicted to fail; the contract is in predictions.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from faultsim._core.state cimport predictions_t


cdef inline int64_t first_open(sim_t *s, double begin) noexcept nogil:
    """Index of the first prediction that ends after `begin`, or of one before it."""
    cdef const double *end = s.predictions.end
    cdef int64_t low = s.predictions.next, high = s.predictions.n, mid
    while low < high and end[low] <= s.now:
        low += 1
    s.predictions.next = low
    if begin <= s.now or s.predictions.nested:
        return low
    while low < high:
        mid = (low + high) >> 1
        if end[mid] <= begin:
            low = mid + 1
        else:
            high = mid
    return low


cdef const uint64_t *failing_nodes(sim_t *s) noexcept nogil:
    cdef predictions_t *p = &s.predictions
    cdef bint found = False
    cdef int64_t i
    if p.n == 0:
        return NULL
    i = first_open(s, p.window_from)
    if i == p.n or not p.begin[i] < p.window_to:
        return NULL
    memset(p.failing, 0, <size_t>s.machine.words * sizeof(uint64_t))
    while i < p.n and p.begin[i] < p.window_to:
        if p.end[i] > p.window_from:
            s.machine.named.mark(s.machine.state, p.failing, p.node[i])
            found = True
        i += 1
    return p.failing if found else NULL


cdef int32_t failing_of_job(sim_t *s, int32_t job, double begin, double end) noexcept nogil:
    cdef const uint64_t *failing
    s.predictions.window_from = begin
    s.predictions.window_to = end
    failing = failing_nodes(s)
    return 0 if failing == NULL else s.machine.named.overlap(s.machine.state, job, failing, NULL, 0)
