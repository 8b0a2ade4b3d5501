# What happens at an instant, in the order of model.md#events: one stream, merged from the heap and the sources of
# state.pxd.

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from faultsim._core.state cimport CHANGED_NOTHING, resume_t, sim_t
from faultsim._core.status cimport OK

# Time of the next event; inf when none is left.
cdef double next_time(sim_t *s) noexcept nogil
# Whether nothing is left to happen but requests for checkpoints, by jobs that run without an end, which no caller
# answers, and policies only for a while (model.md#endless).
cdef bint only_requests(sim_t *s) noexcept nogil
# The ledger up to now: before something changes at a time that is no event's.
cdef void catch_up(sim_t *s) noexcept nogil
# The source of arrivals (FROM_ARRIVALS).
cdef int fire_arrival(void *sim, bint *wanted) noexcept nogil

# Why a run pauses, beside DONE and DECIDE.
cdef enum:
    R_BUDGET = 3
    R_UNTIL = 4

cdef enum how_far:
    REST = 0                 # what is left of this instant
    ONE = 1                  # the next instant
    ALL = 2                  # until all is done, `budget` events, ticks and requests were handled, or the next is later

# Everything that runs: OK after an instant, or why it ends.  Nothing in event_loop.pyx calls it, lest the compiler make
# variants of it and no longer one function of all that an instant takes.
cdef int go_on(sim_t *s, how_far far, int64_t budget, double until) noexcept nogil


cdef inline int run_until(sim_t *s, int64_t budget, double until) noexcept nogil:
    return go_on(s, ALL, budget, until)


cdef inline int run_instant(sim_t *s) noexcept nogil:
    """All events of the next instant, and the passes that they ask for."""
    return go_on(s, ONE, 0, INFINITY)


cdef inline int end_pass(sim_t *s) noexcept nogil:
    """After DECIDE and the decision: the rest of the instant."""
    cdef resume_t resume = s.asked.resume
    cdef int code
    s.deciding = False
    if resume != NULL:
        s.asked.resume = NULL
        code = resume(s, &s.wanted)
        return go_on(s, REST, 0, INFINITY) if code == OK else code
    s.change = CHANGED_NOTHING
    if s.heap.n == 0 or s.heap.items[0].time != s.now:
        return OK
    return go_on(s, REST, 0, INFINITY)


cdef inline int take_pass(sim_t *s) noexcept nogil:
    """Another scheduler takes the pass that waits for a decision, and the rest of the instant."""
    cdef int code = s.scheduler.schedule(s.scheduler.state, s)
    return end_pass(s) if code == OK else code
