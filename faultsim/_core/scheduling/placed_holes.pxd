# Where in its plan conservative backfilling has room for a job.
#
# A search begins where no job that asks for as much and takes as long was refused (refusals.pxd), passes over steps
# with too few nodes, and joins those that the job would last for, each time that is left.

from libc.stdint cimport int32_t

from faultsim._core.scheduling.placed_plan cimport plan_t
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport place_t

# Has something changed where the job has its reservation, since its place was chosen last?
cdef bint is_touched(const plan_t *p, int32_t job) noexcept nogil
# Earliest time from now on, then smallest size, with a place that is free all along; the size, or a status code.  The
# job may start there if `starts`.  One that has a reservation finds a better one only where nodes were given back
# (p.freed), unless as the new head of the queue it may take any size; and none later than its own is looked for.  0: it
# keeps its own, or there is none.
cdef int find_hole(plan_t *p, sim_t *s, int32_t job, bint head, double *begin, place_t *place,
                   bint *starts) noexcept nogil
