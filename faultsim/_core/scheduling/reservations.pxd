# The plan of conservative backfilling where any free nodes serve: the profile of these, and the reservations in it.
#
# Contract
# - A waiting job has a reservation [begin, end), for the nodes that it needs, or `begin` is infinite.  The steps of the
#   profile list the jobs whose reservations begin there.
# - Nobody finds an earlier hole who found none when it was looked at last, but where nodes have become free since.  Who
#   then may is `marked`, if the nodes just before its reservation are free, or is admitted to one of the `gaps`.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.scheduling.gaps cimport gaps_t
from faultsim._core.scheduling.least_free cimport change_t
from faultsim._core.scheduling.profile cimport profile_t, spot_t
from faultsim._core.state cimport sim_t

cdef struct plan_t:
    profile_t free           # nodes, over time
    double *begin            # of reservations, by job number; inf: none
    double *end
    int32_t *next            # of the jobs whose reservations begin at one step
    int32_t *before          # -1: the first of them
    uint64_t *marked         # jobs to look at when their turn comes
    gaps_t gaps              # that have grown since the last sweep began
    bint slides              # the job looked at moves up to the nodes that are free just before,
    spot_t slid_to           # from this step
    spot_t slid_from         # to that of its reservation
    # what the profile knows of the machine
    double *held             # by job that runs: until when it has its nodes; -inf: not in the profile
    double *down             # by node: until when it is down; -inf: not in the profile.  NULL: nothing fails
    int32_t *outage          # these nodes
    int32_t n_outages
    int64_t lost             # nodes that are down for nobody knows how long
    int32_t instants         # reservations of no length
    bint opened
    bint rebuild             # a disturbance since the last pass
    bint failed              # memory was out where there was nobody to tell
    double last_pass
    int32_t *list            # scratch: jobs
    change_t *changes        # scratch

# A reservation that is taken out of its list, and put into that of a step; nodes are another matter.  OK or NO_MEMORY.
cdef void unlink(plan_t *p, int32_t job) noexcept nogil
cdef int link(plan_t *p, int32_t job, double begin, double end) noexcept nogil
# `nodes` more are free in [begin, end): who may move because of that?
cdef void freed(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil
# Earliest time from now on at which a job without a reservation fits for all of its expected duration; inf: none.
cdef double first_hole(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
# The earliest hole before a job's reservation; inf: there is none.
cdef double earlier_hole(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
# Give the job of which these two were asked last a reservation in the hole that they found.  OK or NO_MEMORY.
cdef int reserve(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil


cdef inline void mark(plan_t *p, int32_t job) noexcept nogil:
    p.marked[job >> 6] |= <uint64_t>1 << (job & 63)


cdef inline bint is_marked(const plan_t *p, int32_t job) noexcept nogil:
    return p.marked[job >> 6] >> (job & 63) & 1


cdef inline void unmark(plan_t *p, int32_t job) noexcept nogil:
    p.marked[job >> 6] &= ~(<uint64_t>1 << (job & 63))
