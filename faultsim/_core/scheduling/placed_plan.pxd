# The plan of conservative backfilling where a job needs a place: what all reservations and what runs take.
#
# Contract.  `steps` have what the running jobs take until their expected ends, what is down, and the reservations of
# the waiting jobs, but those of no length.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from faultsim._core.scheduling.least_free cimport change_t
from faultsim._core.scheduling.refusals cimport refusals_t
from faultsim._core.scheduling.steps cimport steps_t
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport place_t

cdef struct stretch_t:       # of time; begin >= end: none
    double begin
    double end

cdef struct plan_t:
    int32_t max_growth
    double *begin            # of reservations, by job number; inf: none yet
    double *end
    int32_t *nodes
    place_t *place
    int64_t *seen            # steps.stamp when its place was chosen last, or found to be the same
    steps_t steps
    stretch_t freed          # holds all nodes that were given back since no job could move
    stretch_t changed        # holds all changes since the begin of this sweep, or of the last one
    stretch_t changed_before     # ... since the begin of the one before it, up to then
    bint sure                # the placement rule gives the same answer to the same question
    int64_t trusted          # choices up to this stamp are made again
    refusals_t refused
    int32_t head             # the first job in the queue that still waited after the last sweep
    bint rebuild             # a disturbance since the last pass
    double last_pass
    int32_t epoch            # of the promises that were made in the last pass
    # scratch
    uint64_t *window
    uint64_t *instant
    uint64_t *own            # the place that the job in question has reserved
    change_t *changes

# The steps with the running jobs and what is down alone; the reservations are dropped.
cdef int build(plan_t *p, sim_t *s) noexcept nogil
# A place is taken in [begin, end), or given back; nothing where that is empty.  Overwrites p.window.
cdef int take(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil
cdef void give(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil

# Where there is room for a job.  A search begins where no job that asks for as much and takes as long was refused
# (refusals.pxd), passes over steps with too few nodes, and joins those that the job would last for, each time that is
# left.
#
# Has something changed where the job has its reservation, since its place was chosen last?
cdef bint is_touched(const plan_t *p, int32_t job) noexcept nogil
# Earliest time from now on, then smallest size, with a place that is free all along; the size, or a status code.  The
# job may start there if `starts`.  One that has a reservation finds a better one only where nodes were given back
# (p.freed), unless as the new head of the queue it may take any size; and none later than its own is looked for.  0: it
# keeps its own, or there is none.
cdef int find_hole(plan_t *p, sim_t *s, int32_t job, bint head, double *begin, place_t *place,
                   bint *starts) noexcept nogil


cdef inline void widen(stretch_t *s, double begin, double end) noexcept nogil:
    if begin < s.begin:
        s.begin = begin
    if end > s.end:
        s.end = end


cdef inline void empty(stretch_t *s) noexcept nogil:
    s.begin, s.end = INFINITY, -INFINITY


cdef inline bint meet(const stretch_t *s, double begin, double end) noexcept nogil:
    """Whether it has some of [begin, end), or `begin` if that is empty."""
    return begin < s.end and (s.begin < end or s.begin <= begin)


cdef inline void put_alone(sim_t *s, uint64_t *mask, const place_t *place) noexcept nogil:
    memset(mask, 0, <size_t>s.machine.words * sizeof(uint64_t))
    s.machine.put(s.machine.state, mask, place)
