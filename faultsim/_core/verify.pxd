# The invariants (model.md#invariants), checked on a running simulation.

from faultsim._core.state cimport sim_t

# NULL when all hold, else what does not, in words.
cdef const char *broken_invariant(sim_t *s) noexcept nogil
