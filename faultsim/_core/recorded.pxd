# What record=True kept, as arrays for Python.
#
# Contract: the simulation has finished.  `lend_nodes` gives the block of nodes to the array that it returns: whoever
# frees the simulation leaves it alone (sim_t.record.node = NULL before sim_free).

from faultsim._core.state cimport sim_t

cdef object recorded_events(const sim_t *s)
cdef object lend_nodes(sim_t *s)
cdef object recorded_stays(const sim_t *s, object nodes)     # nodes: from lend_nodes; none on a torus
