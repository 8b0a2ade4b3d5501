# When nodes become reserved, and are open again, as events (model.md#absences).

from faultsim._core.state cimport sim_t

# Before the simulation begins, of the table `absences` of the world.
cdef int open_absences(sim_t *s, dict columns) except -1
