# How a job leaves suspicious nodes: fars_t.move of a named cluster, node for node, and of a placed machine, as a whole.

from faultsim._core.fars.fars cimport fars_t, suspect_t
from faultsim._core.state cimport sim_t

cdef int move_nodes(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil
cdef int move_place(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil
