"""Jobs that enter the queue late, and jobs that end without a run; the contract is in withdrawal.pxd."""

from libc.math cimport NAN
from libc.stdint cimport int32_t

from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.contract cimport fs_require
from faultsim._core.eligibility cimport (
    NO_FATE, NOT_ON_HOLD, ON_HOLD, READY_ON_HOLD, UNMET, WITHDRAWN, eligible_of, eligible_t, next_withdrawal,
    note_end, takes_slot,
)
from faultsim._core.faults.outages cimport roll_back
from faultsim._core.jobs cimport end_for_good
from faultsim._core.queue cimport close_gap, enqueue
from faultsim._core.record cimport record_event, record_told
from faultsim._core.state cimport (
    BY_WITHDRAWAL, EV_ARRIVAL, EV_ON_HOLD, EV_READY, EV_RELEASED, EV_WITHDRAWAL, JOB_DONE, JOB_FUTURE, JOB_HELD,
    JOB_QUEUED, book_work, disturb,
)
from faultsim._core.status cimport NO_MEMORY, OK


cdef inline void leave_queue(sim_t *s, int32_t job) noexcept nogil:
    cdef int32_t at = s.queue.head
    while s.queue.job[at] != job:
        at += 1
    close_gap(&s.queue, at, at + 1)
    s.demand -= s.size[job]


cdef int end_without_run(sim_t *s, int32_t job, int fate, bint *wanted) noexcept nogil:
    """A job that holds no nodes ends: withdrawn, or with a condition that can never be met."""
    cdef eligible_t *e = eligible_of(s)
    fs_require(s.state[job] == JOB_FUTURE or s.state[job] == JOB_QUEUED)
    if s.state[job] == JOB_QUEUED:
        leave_queue(s, job)
        disturb(s)
        wanted[0] = True
    elif s.restarts[job] == 0:
        e.eligible[job] = NAN
    if e.on_hold[job] != NOT_ON_HOLD:
        e.on_hold[job] = NOT_ON_HOLD
        e.n_on_hold -= 1
    e.fate[job] = fate
    e.n_fates += 1
    s.state[job] = JOB_DONE
    s.n_done += 1
    s.n_events += 1
    s.decision[job] = s.start[job] = NAN
    if not (s.track.on and s.track.started[job]):
        s.first_start[job] = NAN
    s.finish[job] = s.now
    s.allocated[job] = 0
    s.backfilled[job] = False
    s.run[job] = 0.0
    if s.restarts[job] > 0:
        s.run[job] = s.track.saved[job]
        s.failure_wait[job] += s.now - s.track.killed_at[job]
        book_work(s, job, 0.0)       # what it saved before a kill is useful
    if s.record.on and record_event(s, EV_WITHDRAWAL, job, -1) < 0:
        return NO_MEMORY
    return note_end(s, job, False)


cdef int fire_ready(sim_t *s, int32_t job, bint *wanted) noexcept nogil:
    cdef eligible_t *e = eligible_of(s)
    if e.fate[job] != NO_FATE:
        return end_without_run(s, job, UNMET, wanted)
    if e.on_hold[job] != NOT_ON_HOLD:
        e.on_hold[job] = READY_ON_HOLD
        return OK
    if not takes_slot(e, job):
        return OK
    if s.restarts[job] == 0:
        e.eligible[job] = s.now
    if s.record.on and record_event(s, EV_ARRIVAL, job, -1) < 0:
        return NO_MEMORY
    s.n_events += 1
    wanted[0] = True
    return enqueue(s, job)


cdef int fire_withdrawal(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef eligible_t *e = eligible_of(s)
    cdef int32_t job
    # An event of this instant, after the source was found to be due, may have ended the job.
    if e.next_withdrawal == e.n_withdrawals or e.cancel[e.withdrawal[e.next_withdrawal]] != s.now:
        return OK
    job = e.withdrawal[e.next_withdrawal]
    e.next_withdrawal += 1
    next_withdrawal(s)
    if s.state[job] == JOB_HELD:
        return OK                    # its time passes (model.md#withdrawal)
    if s.state[job] == JOB_FUTURE or s.state[job] == JOB_QUEUED:
        return end_without_run(s, job, WITHDRAWN, wanted)
    wanted[0] = True
    return kill_withdrawn(s, job)


cdef int hold_back(sim_t *s, int32_t job, bint *wanted) noexcept nogil:
    cdef eligible_t *e = eligible_of(s)
    fs_require(e.on_hold[job] == NOT_ON_HOLD)
    e.on_hold[job] = ON_HOLD
    e.n_on_hold += 1
    if s.state[job] == JOB_QUEUED:
        leave_queue(s, job)
        disturb(s)
        s.state[job] = JOB_FUTURE
        e.on_hold[job] = READY_ON_HOLD
        wanted[0] = True
    return record_told(s, EV_ON_HOLD, job, -1)


cdef int let_go(sim_t *s, int32_t job) noexcept nogil:
    cdef eligible_t *e = eligible_of(s)
    cdef bint ready = e.on_hold[job] == READY_ON_HOLD
    fs_require(e.on_hold[job] != NOT_ON_HOLD)
    e.on_hold[job] = NOT_ON_HOLD
    e.n_on_hold -= 1
    if record_told(s, EV_RELEASED, job, -1) < 0:
        return NO_MEMORY
    return heap_push(&s.heap, s.now, EV_READY, job) if ready else OK


cdef int kill_withdrawn(sim_t *s, int32_t job) noexcept nogil:
    roll_back(s, job)
    disturb(s)
    return end_for_good(s, job, <int>BY_WITHDRAWAL)
