"""What is known of a job of a run that is not over (model.md#partial)."""

import math
from copy import copy

from faultsim.reference.job import Job, close_stretch, unpause
from faultsim.reference.state import State

FUTURE, WAITING, RUNNING, HELD, ENDED, TIMED_OUT, KILLED, WITHDRAWN, UNMET = range(9)


def what_became_of(state: State, job: Job) -> int:
    """By its number."""
    if job.fate:
        return WITHDRAWN if job.fate == "withdrawn" else UNMET
    if job in state.done:
        return KILLED if job.killed else TIMED_OUT if job.timed_out else ENDED
    if job in state.running:
        return HELD if job.held else RUNNING
    return WAITING if job in state.queue else FUTURE


def so_far(state: State, job: Job) -> Job:
    """A copy of the job, booked "as though it left its nodes now and lost nothing"; "What is not known yet is NaN"."""
    if job in state.done:
        return job
    seen, now = copy(job), state.now
    has_nodes = job in state.running
    if has_nodes:
        if job.held:
            assert job.waiting_since is not None
            seen.hold += now - job.waiting_since
            seen.slowed -= job.slowed_between(job.waiting_since, now)
        else:
            close_stretch(seen, now)
            unpause(seen, now)
        started = min(job.start, now)
        seen.start_delay += started - job.decision
        seen.holding += now - job.decision
        seen.slowed += job.slowed_between(started, now)
        seen.growth += (job.allocated - job.size) * (now - job.decision)
        if job.first_start < 0:
            seen.first_start = job.start
    else:
        seen.start, seen.allocated, seen.backfilled = math.nan, 0, False
        if job.first_start < 0:
            seen.first_start = math.nan
    seen.finish = seen.runtime = math.nan
    if job.waiting_since is not None:
        seen.failure_wait += (started if has_nodes and not job.held else now) - job.waiting_since
    return seen
