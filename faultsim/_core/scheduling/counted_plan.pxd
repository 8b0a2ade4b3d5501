# The plan of conservative backfilling where any free nodes serve: free nodes over time, and the reservations in them.
#
# Contract
# - `free` counts the running jobs until their expected ends and all reservations.
# - A waiting job has a reservation [begin, end) or `begin` is infinite: then it is new, or finds no hole before the
#   horizon `until` (conservative_counted.pyx), or none at all.  A reservation that begins at the horizon or later is
#   void.
# - Refusals.  While reservations are only added, an ask that found no hole before time t proves that no larger ask for
#   as long or longer finds one before t.  The refusals are dropped when nodes are given back.
# - Gains.  A job that found no earlier hole when it was examined last finds one only if the hole meets nodes that were
#   given back since then, at a time when as many nodes as it needs are free.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint32_t

from faultsim._core.scheduling.least_free cimport change_t
from faultsim._core.scheduling.profile cimport profile_t
from faultsim._core.state cimport queue_t, sim_t
from faultsim._core.thresholds cimport thresholds_t

cdef enum:
    MOST_REFUSALS = 16

# No job that needs as many nodes, for as long, finds a hole that begins before `until`, beside all reservations.
cdef struct refusal_t:
    int32_t need
    double least             # seconds, without start delay and restart
    double until

# The span of the nodes that were given back, the largest number of free nodes in it, and a bound on the length of any
# stretch of time that meets it and in which nodes are free all along (only if there is a horizon).
cdef struct gain_t:
    double begin, end        # begin = inf: nothing was given back
    double longest
    int32_t peak

cdef enum happened:
    CAME                     # a job entered the queue
    GAVE                     # a job ended early and gave its nodes back
    PASSED                   # a pass without a disturbance

cdef struct happening_t:
    happened kind
    int32_t job              # CAME: the job; GAVE: its nodes; PASSED: the number of the pass
    double time
    double expected          # GAVE: the expected end

cdef struct plan_t:
    thresholds_t limit
    profile_t free
    double *begin            # of the reservation of a job; inf: none
    double *end
    uint8_t *examined        # since the job entered the queue
    int32_t n_new            # jobs in the queue that are not examined
    double soonest           # no reservation begins earlier
    gain_t gain              # since the last pass began
    refusal_t refusal[MOST_REFUSALS]
    int32_t n_refusals, next_refusal
    double held_at           # just before this time at most held_level nodes are free; -inf: of no time
    int32_t held_level
    bint rebuild             # a disturbance happened since the last pass
    double last_pass
    change_t *changes        # scratch of `spare`
    # The horizon, and what happened since the plan was made (conservative_counted.pyx).
    double until             # inf: every job that has a hole has a reservation
    int32_t reach            # steps up to the horizon
    bint deferred            # until < inf, and everything that follows is kept up to date
    double since             # the pass in which the plan was made
    int32_t number           # of the present or last pass
    int32_t since_number
    int32_t *started_in      # per job: the number of the pass in which it started
    double *base_at          # the profile of that pass with the running jobs alone
    int32_t *base_level
    int32_t n_base, room_base
    int32_t *started         # jobs that started in that pass or later
    int32_t n_started, room_started
    happening_t *happening
    int32_t n_happenings, room_happenings
    # The queue of that pass.
    int32_t *then
    int32_t n_then

# The plan of the running jobs alone.  OK or NO_MEMORY.
cdef int plan_reset(plan_t *p, sim_t *s) noexcept nogil
# `nodes` more are free in [begin, end).  OK or NO_MEMORY.
cdef int plan_give(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil
# The earliest hole of a job that begins before `stop`, beside all reservations, its own included; inf: none.
cdef double earliest_hole(plan_t *p, const sim_t *s, int32_t job, double stop) noexcept nogil
# The earliest hole of a job that reaches into its reservation, whose nodes count as free for it; inf: none.
cdef double joined_hole(plan_t *p, const sim_t *s, int32_t job) noexcept nogil
# Give a job a reservation at `begin`, earlier than the one that it has.  OK or NO_MEMORY.
cdef int plan_reserve(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil
# Bit k: no refusal before `stop` covers the job at position at + k; for `n` jobs without a reservation, at most 32.
cdef uint32_t not_refused(const plan_t *p, const queue_t *q, int32_t at, int32_t n, double stop) noexcept nogil


cdef inline void no_gain(gain_t *gain) noexcept nogil:
    gain.begin, gain.end, gain.peak, gain.longest = INFINITY, -INFINITY, 0, 0.0


cdef inline void add_gain(gain_t *to, const gain_t *more) noexcept nogil:
    to.begin, to.end = min(to.begin, more.begin), max(to.end, more.end)
    to.longest, to.peak = max(to.longest, more.longest), max(to.peak, more.peak)
