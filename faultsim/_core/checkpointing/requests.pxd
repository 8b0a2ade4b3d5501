# A checkpoint that was requested (model.md#checkpoints).

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# Whether a job works, has something to save, and more than the cost of a checkpoint to go.
cdef bint can_save(const sim_t *s, int32_t job) noexcept nogil
# It begins a checkpoint now; OK or NO_MEMORY.
cdef int save(sim_t *s, int32_t job) noexcept nogil
