# The ticks of Fars: which running jobs leave nodes that are predicted to fail (MODEL 12, Li 2009 section 4).
#
# Contract: fars.suspect has the suspicious jobs of a tick, by job; those with `leaving` > 0 move that many of their
# suspicious nodes, the lowest (on a torus: the whole job).

from faultsim._core.state cimport sim_t

# The next tick, which is at s.now.
cdef int tick(sim_t *s, bint *wanted) noexcept nogil
# Ticks before the simulation begins only say which nodes are suspicious.
cdef void ticks_before(sim_t *s) noexcept nogil
