# Which nodes are predicted to fail (model.md#window).
#
# A prediction counts in the window (from, to) iff its begin < to and its end > from.  The begins ascend.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.state cimport sim_t

# The nodes with a prediction in the window of sim_t.predictions, as a mask; NULL: none.  Good until the next call.
cdef const uint64_t *failing_nodes(sim_t *s) noexcept nogil

# How many nodes of a running job have a prediction in (begin, end).
cdef int32_t failing_of_job(sim_t *s, int32_t job, double begin, double end) noexcept nogil
