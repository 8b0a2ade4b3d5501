# Moves that somebody outside asks for: of jobs that have started, are not held and do not end now.

from libc.stdint cimport int32_t

from faultsim._core.faults.progress cimport move_t
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport place_t

# From `n` of its nodes to as many free ones; to a place of its size that is free but for its own nodes.  OK or
# NO_MEMORY.
cdef int move_to_nodes(sim_t *s, int32_t job, const int32_t *out, const int32_t *into, int32_t n,
                       const move_t *cost) noexcept nogil
cdef int move_to_place(sim_t *s, int32_t job, const place_t *place, const move_t *cost) noexcept nogil
