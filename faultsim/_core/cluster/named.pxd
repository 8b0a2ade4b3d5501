# A cluster whose nodes are known by number (machine.pxd); bit i of a mask is node i.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.cluster.node_sets cimport nodes_t
from faultsim._core.tables.machine cimport machine_t

cdef struct named_t:
    uint64_t *occ
    int32_t nodes, words, jobs
    nodes_t **held           # per job: its nodes; NULL: it has none
    nodes_t *spare           # sets of jobs that left, to use again

# Free nodes of a word for a job, besides those that it has; OK or NO_MEMORY.
cdef int take_word(named_t *m, int32_t job, int32_t word, uint64_t bits) noexcept nogil
# The `count` lowest free nodes that are not to be avoided (NULL: none are); how many are missing, or NO_MEMORY.
cdef int32_t take_lowest(named_t *m, int32_t job, int32_t count, const uint64_t *avoid) noexcept nogil
# A job leaves a node for a free one; OK or NO_MEMORY.
cdef int change_node(named_t *m, int32_t job, int32_t out, int32_t into) noexcept nogil


cdef inline named_t *named_of(const machine_t *m) noexcept nogil:
    return <named_t *>m.state


cdef inline bint is_busy(const named_t *m, int32_t node) noexcept nogil:
    return (m.occ[node >> 6] >> (node & 63)) & 1
