"""The books of a run that is not over; the contract is in so_far.pxd."""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int8_t

import numpy as np

from faultsim._core.eligibility cimport NO_FATE, eligible_of
from faultsim._core.event_loop cimport catch_up
from faultsim._core.faults.progress cimport progress_book_so_far
from faultsim._core.record cimport close_stay
from faultsim._core.state cimport (
    ACC_GROWTH, ACC_MIGRATION, ACC_START_DELAY, ACC_USEFUL, JOB_DONE, JOB_FUTURE, JOB_HELD, JOB_QUEUED, JOB_RUNNING,
    sim_t, timed_out, was_killed,
)


cdef void book_untracked(sim_t *s, int32_t job) noexcept nogil:
    cdef double size = s.size[job], stay = s.now - s.start[job], delay = s.start[job] - s.decision[job]
    cdef double paused = s.migration.cost * s.moves[job], cut = 0.0
    if stay < 0.0:
        delay += stay
        stay = 0.0
    if paused > 0.0 and s.paused_until[job] > s.now:     # the whole pause was booked when it began
        cut = s.paused_until[job] - (s.now if s.now > s.start[job] else s.start[job])
        s.ledger[<int>ACC_MIGRATION] -= size * cut
    s.ledger[<int>ACC_USEFUL] += size * (stay - (paused - cut))
    s.ledger[<int>ACC_START_DELAY] += size * delay
    s.ledger[<int>ACC_GROWTH] += (s.allocated[job] - size) * (s.now - s.decision[job])


cdef void book_so_far(sim_t *s) noexcept nogil:
    cdef int32_t job
    catch_up(s)
    for job in range(s.from_job, s.next_arrival):        # nothing is booked of those that come later
        if s.state[job] == JOB_DONE:
            continue
        if s.state[job] <= JOB_QUEUED and s.restarts[job] > 0:
            s.failure_wait[job] += s.now - s.track.killed_at[job]
        if s.state[job] != JOB_RUNNING and s.state[job] != JOB_HELD:
            continue
        if s.start[job] > s.now and s.restarts[job] > 0:
            s.failure_wait[job] -= s.start[job] - s.now
        if s.track.on:
            progress_book_so_far(s, job)
        else:
            book_untracked(s, job)
        if s.record.on:
            close_stay(s, job)
    if s.kill and s.track.on:
        for job in range(s.from_job, s.next_arrival):
            s.ledger[<int>ACC_USEFUL] += s.track.pending[job]        # of a job that has not ended: not cut so far


cdef int state_now(const sim_t *s, int32_t job) noexcept nogil:
    if s.state[job] != JOB_DONE:
        return s.state[job]
    if s.eligibility.on and eligible_of(s).fate[job] != NO_FATE:
        return JOB_DONE + 2 + eligible_of(s).fate[job]
    if was_killed(s, job):
        return JOB_DONE + 2
    return JOB_DONE + timed_out(s, job)


cdef object states_between(const sim_t *s, int32_t first, int32_t end):
    cdef int32_t job
    found = np.empty(end, np.int8)
    cdef int8_t[::1] state = found
    for job in range(first, end):
        state[job] = s.state[job] if s.state[job] != JOB_DONE else <int8_t>state_now(s, job)
    return found[first:]


cdef object eligible_times(const sim_t *s):
    """Copies, NaN where a job has not become eligible."""
    cdef int32_t job
    found = np.array(<const double[:s.n]>s.submit)
    cdef double[::1] time = found
    for job in range(s.n):
        if s.state[job] == JOB_FUTURE and s.restarts[job] == 0:
            time[job] = np.nan
    return found


cdef void blank_job(const sim_t *s, int32_t job) noexcept nogil:
    """What is not known yet of a job that has not ended is NaN, or 0."""
    s.finish[job] = s.run[job] = NAN
    if s.state[job] > JOB_QUEUED:
        return
    s.start[job] = NAN
    s.allocated[job] = 0
    s.backfilled[job] = False
    if not (s.track.on and s.track.started[job]):
        s.first_start[job] = NAN


cdef dict columns_so_far(const sim_t *s, dict columns, object states):
    cdef int32_t job
    out = {name: values[:s.known] for name, values in columns.items()}
    out["state"] = states
    for job in range(s.from_job, s.known):
        if s.state[job] < JOB_DONE:
            blank_job(s, job)
    return out
