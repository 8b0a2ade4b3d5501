# From the settings and arrays that the face hands over to sim_t.faults; names become numbers once.

from faultsim._core.state cimport sim_t

# Sets s.faults and s.identities, before sim_alloc; gives back the arrays, which must outlive `s`.
cdef object set_world(sim_t *s, dict settings, object world)
