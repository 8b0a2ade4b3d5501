# When nodes become reserved, and are open again, as events (model.md#absences).

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# Before the simulation begins, of the table `absences` of the world.
cdef int open_absences(sim_t *s, dict columns) except -1
# Whether a node is drained (model.md#drained); drain it, or resume it, after `catch_up`.
cdef bint is_drained(const sim_t *s, int32_t node) noexcept nogil
cdef int set_drained(sim_t *s, int32_t node, bint drained) except -1
