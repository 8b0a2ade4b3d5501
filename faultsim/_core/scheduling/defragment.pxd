# Migration that packs the running jobs of a torus anew (Krevat 2002, section 2, scheduler 3; MODEL 8).

from faultsim._core.state cimport sim_t

# Tried once a pass after FCFS has stopped.  Sets s.adopted when the running jobs were moved.
cdef int defragment(sim_t *s) noexcept nogil
