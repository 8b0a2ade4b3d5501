# The plan of conservative backfilling where any free nodes serve: the profile of these, and the reservations in it.
#
# Contract
# - A waiting job has a reservation [begin, end), for the nodes that it needs, or `begin` is infinite.  Then nobody has
#   looked yet where it would begin, as long as it is `marked` or reservations are `left`; else that is behind the
#   horizon (horizon.pxd), or never.
# - Nobody finds an earlier hole who found none when it was looked at last, but where nodes have become free since: that
#   is before `gained`, unless reservations are `listed`.
# - If they are, the steps of the profile list the jobs whose reservations begin there.  Who may find an earlier hole is
#   `marked`, if the nodes just before its reservation are free, or is admitted to one of the `gaps`.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.queue cimport TOGETHER
from faultsim._core.scheduling.gaps cimport gaps_t
from faultsim._core.scheduling.least_free cimport change_t
from faultsim._core.scheduling.profile cimport profile_t, spot_t
from faultsim._core.scheduling.waiting cimport bound_t, line_of, line_t, waiting_t
from faultsim._core.state cimport sim_t

cdef enum:
    SHORTER = 4              # the same where few wait
    FOUND = 16               # so many jobs are remembered
    LONG = 1024              # so many have to wait for rows to pay

cdef struct back_t:          # nodes that came back before they were expected, at `time`
    double time
    double expected
    int32_t nodes

# What has happened since the plan was made (horizon.pxd).
cdef struct past_t:          # a pass
    double time
    int32_t number

cdef struct came_t:          # a job, after that pass
    int32_t job
    int32_t after

cdef struct gave_t:          # nodes that came back early, after that pass
    double time
    double expected
    int32_t nodes
    int32_t after
    bint was_waiting         # when the plan was made

cdef struct hope_t:          # who of the last jobs that were asked about together finds no hole
    int32_t refused[TOGETHER]
    int32_t group            # of so many places, numbered from 0 on; -1: nobody has been asked about
    double stop              # no hole that begins before
    int32_t asked            # `n_holes` of the plan then
    bound_t bound            # whoever takes longer is refused, too,
    int32_t n_holes          # by what was remembered then

# Where the nodes of a job are free from a time before `until` on they are for less than `least`, and not up to its
# reservation at `begin`.
cdef struct short_t:
    int32_t need
    double least
    double begin
    double until

cdef struct shorter_t:       # of the last jobs that have been looked at
    int32_t n
    short_t of[SHORTER]

cdef struct plan_t:
    profile_t free           # nodes, over time
    double *begin            # of reservations, by job number; inf: none
    double *end
    int32_t *next            # of the jobs whose reservations begin at one step
    int32_t *before          # -1: the first of them
    waiting_t waiting
    uint64_t *marked         # jobs to look at when their turn comes
    gaps_t gaps              # that have grown since the last sweep began
    bint slides              # the job looked at moves up to the nodes that are free just before,
    spot_t slid_to           # from this step
    spot_t slid_from         # to that of its reservation
    double held_at           # just before that no more nodes are free than so many; -inf: of no time that is known
    int32_t held_level
    bint listed              # many wait, or did at some time since the last disturbance
    double gained
    bint rebuild             # a disturbance since the last pass
    double last_pass
    double soonest           # no reservation begins before, unless they are listed
    bint left                # reservations of the last pass are still to be found, and the plan is as of it
    int32_t epoch            # of the promises that they get
    back_t *back             # what came back since
    int32_t n_back, room
    # Of the last jobs that had no reservation, since nodes came back: before it was found no hole for as many nodes
    # begins that is as long.
    int32_t need[FOUND]
    double least[FOUND]
    double found[FOUND]
    int32_t n_found, oldest
    int32_t newest           # of them
    int32_t n_holes          # so often has there been another
    change_t *changes        # scratch
    int32_t number           # of the pass
    double until             # the horizon, behind which no places are known; inf: all are placed
    int32_t reach            # steps up to a horizon that may be set
    bint recalls             # what has happened since the plan was made is remembered:
    double since             # when that was,
    int32_t since_number     # in that pass
    past_t *pasts
    int32_t *started
    came_t *came
    gave_t *gave
    int32_t *gone            # per job: the pass in which it started, if that was remembered
    # The queue of then, while all that happens again.
    int32_t *then
    int32_t *then_need
    float *then_least
    int32_t n_then
    int32_t n_pasts, n_started, n_came, n_gave
    int32_t room_pasts, room_gave
    bint has_room            # for jobs
    bint settles             # it happens again

# A reservation that is taken out of its list, and put into that of a step; nodes are another matter.  OK or NO_MEMORY.
cdef void unlink(plan_t *p, int32_t job) noexcept nogil
cdef int link(plan_t *p, int32_t job, double begin, double end) noexcept nogil
# `nodes` more are free in [begin, end), and who may move because of that?  OK or NO_MEMORY.
cdef int give_back(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil
# Earliest time from the front of the profile on, and before `stop`, at which a job without a reservation fits for all
# of its expected duration; inf: none.
cdef double first_hole(plan_t *p, sim_t *s, int32_t job, double stop) noexcept nogil
# The earliest from now on, which is before `stop`, and before that, whether or not it has one; inf: there is none.
# `shorter` remembers what was too short; empty it when the plan becomes freer.
cdef double hole_before(plan_t *p, const sim_t *s, shorter_t *shorter, int32_t job, double stop) noexcept nogil
# The earliest hole before a job's reservation; inf: there is none.
cdef double earlier_hole(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
# Give the job of which these two were asked last a reservation in the hole that they found.  OK or NO_MEMORY.
cdef int reserve(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil
# The first place in [at, end) of a job that may find a hole before `stop`, for all that `first_hole` remembers.  In
# the beginning, and when the plan has become freer, `hope` has no group.
cdef int32_t next_hopeful(const plan_t *p, hope_t *hope, const line_t *line, int32_t at, int32_t end,
                          double stop) noexcept nogil
# A job waits, and nobody has looked where it would begin; a job waits no more.
cdef void comes(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
cdef void leaves(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
# All reservations are dropped, and all marks; their nodes are another matter.
cdef void drop_all(plan_t *p, const sim_t *s) noexcept nogil
# What those who wait want of gaps is looked up, if too many who did are gone.
cdef void want(plan_t *p, const sim_t *s) noexcept nogil
# From now on reservations are listed, of which there are none yet.
cdef void begin_lists(plan_t *p, const sim_t *s) noexcept nogil
# The same, with those that there are; nobody may find an earlier hole.  OK or NO_MEMORY.
cdef int list_all(plan_t *p, const sim_t *s) noexcept nogil


cdef inline bint is_by_number(const sim_t *s) noexcept nogil:
    """Whether the queue is in the order of the numbers of jobs."""
    return s.order.sort == NULL and s.queue.key == NULL and s.queue.entry == NULL


cdef inline line_t plan_line(const plan_t *p, const sim_t *s) noexcept nogil:
    return line_of(&p.waiting, s, p.listed and s.queue.end - s.queue.head >= LONG and is_by_number(s))


cdef inline void mark(plan_t *p, int32_t job) noexcept nogil:
    p.marked[job >> 6] |= <uint64_t>1 << (job & 63)


cdef inline bint is_marked(const plan_t *p, int32_t job) noexcept nogil:
    return p.marked[job >> 6] >> (job & 63) & 1


cdef inline void unmark(plan_t *p, int32_t job) noexcept nogil:
    p.marked[job >> 6] &= ~(<uint64_t>1 << (job & 63))
