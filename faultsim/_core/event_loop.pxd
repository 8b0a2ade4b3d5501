# What happens at an instant, in the order of model.md#events: one stream, merged from the heap and the sources of
# state.pxd.

from libc.stdint cimport int64_t

from faultsim._core.state cimport sim_t

# Time of the next event; inf when none is left.
cdef double next_time(sim_t *s) noexcept nogil
# Whether nothing is left to happen but requests for checkpoints, by jobs that run without an end.
cdef bint only_requests(sim_t *s) noexcept nogil
# All events of the instant t = next_time(s), and the passes that they ask for; OK, DONE, DECIDE, or a status < 0.
cdef int run_instant(sim_t *s, double t) noexcept nogil
# After DECIDE and the decision: the rest of the instant.
cdef int end_pass(sim_t *s) noexcept nogil
# Another scheduler takes the pass that waits for a decision, and the rest of the instant.
cdef int take_pass(sim_t *s) noexcept nogil
# The ledger up to now: before something changes at a time that is no event's.
cdef void catch_up(sim_t *s) noexcept nogil
# The source of arrivals (FROM_ARRIVALS).
cdef int fire_arrival(void *sim, bint *wanted) noexcept nogil

# Why a run ends, or pauses.
cdef enum:
    R_DONE = 1
    R_BUDGET = 2
    R_UNTIL = 3
    R_DECIDE = 4

# Run until all is done, `budget` events, ticks and requests were handled, or the next is later than `until`.  Here the
# compiler sees all that an instant takes.
cdef int run_until(sim_t *s, int64_t budget, double until) noexcept nogil
