"""Rules of faultsim again: `first_fit`, `roomiest` (MaxFreePartition), `tie_breaking`, `safest`, `least_failures`."""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim.policy cimport (
    FAULTSIM_PLACEMENT, FAULTSIM_PLACEMENT_KIND, FAULTSIM_POLICY_VERSION, faultsim_boxes_t, faultsim_nodes_t,
    faultsim_placement_t,
)


cdef int64_t first_box(const faultsim_boxes_t *boxes, void *data) noexcept nogil:
    return 0


cdef int64_t roomiest_box(const faultsim_boxes_t *boxes, void *data) noexcept nogil:
    cdef int64_t k, best = 0
    cdef int32_t most = -1, left
    if boxes.count == 1:
        return 0
    for k in range(boxes.count):
        left = boxes.left(boxes, k)
        if left > most:
            most, best = left, k
    return best


cdef int64_t sound_box(const faultsim_boxes_t *boxes, void *data) noexcept nogil:
    """Among those that leave the largest box free, the first that is not predicted to fail."""
    cdef int64_t best = roomiest_box(boxes, data), k
    cdef int32_t most
    if boxes.count == 1:
        return 0
    most = boxes.left(boxes, best)
    for k in range(best, boxes.count):
        if boxes.failing(boxes, k) == 0 and boxes.left(boxes, k) == most:
            return k
    return best


cdef int32_t take_lowest(const faultsim_nodes_t *nodes, const uint64_t *avoid, uint64_t *taken,
                         int32_t count) noexcept nogil:
    """How many of `count` free nodes, the lowest first, are missing."""
    cdef int32_t i
    cdef uint64_t open_, lowest
    for i in range(nodes.words):
        open_ = nodes.free[i] & ~taken[i]
        if avoid != NULL:
            open_ &= ~avoid[i]
        while open_ and count > 0:
            lowest = open_ & (~open_ + 1)
            taken[i] |= lowest
            open_ ^= lowest
            count -= 1
        if count == 0:
            break
    return count


cdef int lowest_nodes(const faultsim_nodes_t *nodes, uint64_t *taken, void *data) noexcept nogil:
    return take_lowest(nodes, NULL, taken, nodes.count)


cdef int safest_nodes(const faultsim_nodes_t *nodes, uint64_t *taken, void *data) noexcept nogil:
    return take_lowest(nodes, NULL, taken, take_lowest(nodes, nodes.failing(nodes), taken, nodes.count))


cdef int fewest_failures(const faultsim_nodes_t *nodes, uint64_t *taken, void *data) noexcept nogil:
    cdef int32_t i, best, missing = nodes.count
    if nodes.failures == NULL:
        return take_lowest(nodes, NULL, taken, missing)
    while missing > 0:
        best = -1
        for i in range(nodes.nodes):
            if (nodes.free[i >> 6] & ~taken[i >> 6]) >> (i & 63) & 1:
                if best < 0 or nodes.failures[i] < nodes.failures[best]:
                    best = i
        taken[best >> 6] |= <uint64_t>1 << (best & 63)
        missing -= 1
    return 0


cdef faultsim_placement_t[5] tables

tables[0].name, tables[0].choose, tables[0].take = "first_fit", first_box, lowest_nodes
tables[1].name, tables[1].choose = "roomiest", roomiest_box
tables[2].name, tables[2].choose = "tie_breaking", sound_box
tables[3].name, tables[3].take = "safest", safest_nodes
tables[4].name, tables[4].take = "least_failures", fewest_failures
for i in range(5):
    tables[i].kind, tables[i].version = FAULTSIM_PLACEMENT_KIND, FAULTSIM_POLICY_VERSION
    globals()[tables[i].name.decode()] = PyCapsule_New(&tables[i], FAULTSIM_PLACEMENT, NULL)
