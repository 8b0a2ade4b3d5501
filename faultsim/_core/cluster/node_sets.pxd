# Sets of a cluster's nodes, as words of bits: which nodes a job has, and the rules that pick them (MODEL 7).
#
# Contract: a set lists its non-zero words in ascending order.  The machine's `occ` has one bit a node, set when the
# node is busy or down.  Sets of jobs that left go to sim_t.spare and are used again.

from libc.stdint cimport int32_t

from faultsim._core.state cimport nodes_t, sim_t

# sim_t.policy.take: lowest numbers; fewest failures, then lowest; not predicted to fail first, then lowest.
cdef int take_first_fit(sim_t *s, int32_t job, int32_t count) noexcept nogil
cdef int take_least_failures(sim_t *s, int32_t job, int32_t count) noexcept nogil
cdef int take_safest(sim_t *s, int32_t job, int32_t count) noexcept nogil

cdef void give_back(sim_t *s, int32_t job) noexcept nogil
cdef bint nodes_have(const nodes_t *set_, int32_t node) noexcept nogil
cdef int nodes_swap(nodes_t *set_, int32_t out, int32_t into) noexcept nogil     # 0, or -1 no memory
# All of `more` into the set as well; 0, or -1 no memory.
cdef int nodes_join(nodes_t *set_, const nodes_t *more) noexcept nogil
cdef nodes_t *nodes_copy(const nodes_t *source) noexcept nogil                   # NULL: no memory
cdef void nodes_free(nodes_t *set_) noexcept nogil
# Node numbers, ascending; how many.
cdef int32_t nodes_list(const nodes_t *set_, int32_t *out) noexcept nogil
# The most failures of any node of a job.
cdef int32_t most_failures(const sim_t *s, int32_t job) noexcept nogil
# faults.rank after a node failed once more.
cdef void rank_failed(sim_t *s, int32_t node) noexcept nogil
