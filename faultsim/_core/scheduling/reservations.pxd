# The plan of conservative backfilling where any free nodes serve: the profile of these, and the reservations in it.
#
# Contract
# - A waiting job has a reservation [begin, end), for the nodes that it needs, or `begin` is infinite.
# - Nobody finds an earlier hole who found none when it was looked at last, but where nodes have become free since: that
#   is before `gained`, unless reservations are `listed`.
# - If they are, the steps of the profile list the jobs whose reservations begin there.  Who may find an earlier hole is
#   `marked`, if the nodes just before its reservation are free, or is admitted to one of the `gaps`.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.scheduling.gaps cimport gaps_t
from faultsim._core.scheduling.least_free cimport change_t
from faultsim._core.scheduling.profile cimport profile_t, spot_t
from faultsim._core.state cimport sim_t

cdef enum:
    FOUND = 16               # so many jobs are remembered

cdef struct back_t:          # nodes that came back before they were expected, at `time`
    double time
    double expected
    int32_t nodes

# What has happened since the horizon was set (horizon.pxd).
cdef struct past_t:          # a pass
    double time
    int32_t number

cdef struct was_t:           # a reservation that has been exchanged
    double begin
    double end
    int32_t job

cdef struct came_t:          # a job, after that pass
    int32_t job
    int32_t after

cdef struct gave_t:          # nodes that came back early, after that pass
    double time
    double expected
    int32_t nodes
    int32_t after
    bint was_waiting         # when the horizon was set

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
    bint listed              # many wait, or did at some time since the last disturbance
    double gained
    bint rebuild             # a disturbance since the last pass
    double last_pass
    double soonest           # no reservation begins before, unless they are listed
    # Whose reservations of the last pass are still to be found: left[0..n_left), in queue order.  The plan is as of it.
    int32_t *left
    int32_t n_left
    int32_t epoch            # of the promises that they get
    back_t *back             # what came back since
    int32_t n_back, room
    # Of the last jobs that had no reservation, since nodes came back: what they ask for, and when their holes begin.
    int32_t need[FOUND]
    double remaining[FOUND]
    double found[FOUND]
    int32_t n_found, oldest
    change_t *changes        # scratch
    int32_t number           # of the pass
    double until             # the horizon: of what begins there or later the places are not known; inf: all are
    bint behind              # somebody may have found an earlier hole from there on, but has not been looked at
    double since             # when it was set,
    int32_t since_epoch
    int32_t since_number     # in that pass
    bint settled             # it has had to, since the last disturbance
    bint settles             # what has happened since happens again
    gaps_t gaps_then         # when the horizon was set
    uint64_t *marked_then    # words of `marked`
    int32_t first_word, n_words
    past_t *pasts
    was_t *was
    int32_t *started
    came_t *came
    gave_t *gave
    int32_t *gone            # per job: the pass in which it started, if there was a horizon
    int32_t n_pasts, n_was, n_started, n_came, n_gave
    int32_t room_pasts, room_was, room_gave

# A reservation that is taken out of its list, and put into that of a step; nodes are another matter.  OK or NO_MEMORY.
cdef void unlink(plan_t *p, int32_t job) noexcept nogil
cdef int link(plan_t *p, int32_t job, double begin, double end) noexcept nogil
# `nodes` more are free in [begin, end): who may move because of that?
cdef void freed(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil
# Earliest time from the front of the profile on, and before `stop`, at which a job without a reservation fits for all
# of its expected duration; inf: none.
cdef double first_hole(plan_t *p, sim_t *s, int32_t job, double stop) noexcept nogil
# The earliest from now on, which is before `stop`, and before that, whether or not it has one; inf: there is none.
cdef double hole_before(plan_t *p, const sim_t *s, int32_t job, double stop) noexcept nogil
# The earliest hole before a job's reservation; inf: there is none.
cdef double earlier_hole(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
# Give the job of which these two were asked last a reservation in the hole that they found.  OK or NO_MEMORY.
cdef int reserve(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil
# The reservation of a job will be another one, or none.  OK or NO_MEMORY.
cdef int keep_place(plan_t *p, int32_t job) noexcept nogil
# From now on reservations are listed; nobody may find an earlier hole.  OK or NO_MEMORY.
cdef int list_all(plan_t *p, const sim_t *s) noexcept nogil


cdef inline void mark(plan_t *p, int32_t job) noexcept nogil:
    p.marked[job >> 6] |= <uint64_t>1 << (job & 63)


cdef inline bint is_marked(const plan_t *p, int32_t job) noexcept nogil:
    return p.marked[job >> 6] >> (job & 63) & 1


cdef inline void unmark(plan_t *p, int32_t job) noexcept nogil:
    p.marked[job >> 6] &= ~(<uint64_t>1 << (job & 63))
