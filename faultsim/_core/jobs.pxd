# Starts, ends and moves of jobs.  Functions return OK or a status < 0, unless stated otherwise.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.absences cimport open_room
from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.state cimport sim_t, usable

# Give `nodes` nodes (on a placed machine: `place`; else NULL) to a queued job; the caller takes it out of the queue.
cdef int start_job(sim_t *s, int32_t job, int32_t nodes, const place_t *place, bint backfilled) noexcept nogil
# The head of the queue starts, then the next one, as long as they fit.
cdef int start_fitting_heads(sim_t *s) noexcept nogil
cdef int finish_job(sim_t *s, int32_t job) noexcept nogil
# A running job gives its nodes back: they are free.
cdef void leave_nodes(sim_t *s, int32_t job) noexcept nogil
# A running job that is past its start delay is stopped and goes back to the queue, as after a failure.
cdef int stop_job(sim_t *s, int32_t job, int cause) noexcept nogil
# A job that was rolled back does not come back: it is done, and what it has saved is its run time.
cdef int end_for_good(sim_t *s, int32_t job, int cause) noexcept nogil
# A placed job goes to another place of its size and pauses for `cost` seconds; the caller rearranges the machine.
cdef int move_job(sim_t *s, int32_t job, const place_t *place, double cost) noexcept nogil


cdef inline bint head_fits(const sim_t *s) noexcept nogil:
    if s.queue.head == s.queue.end or s.need[s.queue.job[s.queue.head]] > usable(s):
        return False
    return s.absences.state == NULL or s.need[s.queue.job[s.queue.head]] <= open_room(s, s.queue.job[s.queue.head])


# Where any free nodes serve (model.md#fcfs): in most passes, no job waits or the head does not fit.
cdef inline int start_heads(sim_t *s) noexcept nogil:
    return start_fitting_heads(s) if head_fits(s) else 0
