# How a pass begins where a job needs a place (model.md#fcfs), for all backfilling.

from faultsim._core.state cimport sim_t

# If `afresh`, the heads of the queue start as long as they have places; then jobs may migrate, and if any does
# (`moved`), heads start again.  OK or a code.
cdef int start_placed_heads(sim_t *s, bint afresh, bint *moved) noexcept nogil
