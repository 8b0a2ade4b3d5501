# The invariants (model.md#invariants), checked on a running simulation.

from faultsim._core.state cimport sim_t

# OK, NO_MEMORY, or BROKEN and in words what does not hold.
cdef int check_invariants(sim_t *s, const char **found) noexcept nogil
