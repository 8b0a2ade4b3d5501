"""Which nodes are predicted to fail; the contract is in predictions.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from faultsim._core.torus.occupancy cimport occ_node, occ_set_node


cdef inline int64_t first_open(sim_t *s, double begin) noexcept nogil:
    """Index of the first prediction that ends after `begin`."""
    cdef const double *end = s.faults.prediction_end
    cdef int64_t low, high = s.faults.n_predictions, mid
    low = s.faults.next_prediction
    while low < high and end[low] <= s.now:
        low += 1
    s.faults.next_prediction = low
    if begin <= s.now:
        return low
    while low < high:
        mid = (low + high) >> 1
        if end[mid] <= begin:
            low = mid + 1
        else:
            high = mid
    return low


cdef const uint64_t *failing_nodes(sim_t *s) noexcept nogil:
    cdef int64_t i, n = s.faults.n_predictions
    cdef const double *begin = s.faults.prediction_begin
    cdef uint64_t *mask = s.faults.failing
    cdef int32_t node, words
    if n == 0:
        return NULL
    i = first_open(s, s.window_from)
    if i == n or not begin[i] < s.window_to:
        return NULL
    words = s.torus.words if s.is_torus else (s.nodes + 63) // 64
    memset(mask, 0, <size_t>words * sizeof(uint64_t))
    while i < n and begin[i] < s.window_to:
        node = s.faults.prediction_node[i]
        if s.is_torus:
            occ_set_node(&s.torus, mask, node)
        else:
            mask[node >> 6] |= (<uint64_t>1) << (node & 63)
        i += 1
    return mask


cdef int32_t failing_of_job(sim_t *s, int32_t job, double begin, double end) noexcept nogil:
    cdef const uint64_t *mask
    cdef int32_t i, k = 0, x, y, z
    cdef uint64_t both
    s.window_from = begin
    s.window_to = end
    mask = failing_nodes(s)
    if mask == NULL:
        return 0
    if not s.is_torus:
        for i in range(s.held[job].n):
            both = s.held[job].bits[i] & mask[s.held[job].word[i]]
            while both:
                k += 1
                both &= both - 1
        return k
    for i in range(s.allocated[job]):
        z = (s.box[job].z + i % s.box[job].c) % s.torus.z
        y = (s.box[job].y + i // s.box[job].c % s.box[job].b) % s.torus.y
        x = (s.box[job].x + i // (s.box[job].c * s.box[job].b)) % s.torus.x
        k += occ_node(&s.torus, mask, (x * s.torus.y + y) * s.torus.z + z)
    return k
