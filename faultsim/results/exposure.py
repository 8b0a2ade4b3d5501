"""For how long each job could be killed (model.md#goodput)."""

import math

import numpy as np

from faultsim.arrays import Floats, Integers
from faultsim.data.event_kinds import JobState
from faultsim.results.metric_table import Measured

#: States of jobs with as many starts as kills.
_ONE_LESS = (JobState.FUTURE, JobState.WAITING, JobState.KILLED, JobState.WITHDRAWN, JobState.UNMET)


def exposed_time(result: Measured) -> Floats:
    """Seconds for which each job held nodes and did not wait for a repair; NaN for jobs that have not ended.

    Exact without start delays. With them, columns do not say what a kill cut a start delay or the pause of a move short
    by: each kill has the same part in what the ledger lacks of start delays, and each move of a job the same of what it
    has of moves, so that the sum of size times exposed is that of the ledger.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> failures = fs.FailureTrace(time=[6], node=[0], span=100)
    >>> exposed_time(fs.simulate(log, fs.Cluster(2), failures=failures, start_delay=2))
    array([18.,  7.])
    """
    jobs, delay = result.jobs, float(result.settings["start_delay"])
    ended = np.isin(jobs["state"], (JobState.ENDED, JobState.TIMED_OUT, JobState.KILLED))
    if delay:
        started = jobs["runtime"] + jobs["lost_work"] / jobs["size"] + jobs["checkpoint_time"] + jobs["restart_time"]
        started += jobs["slowed_time"]
        moving = _shared(result, jobs["moves"], result.ledger["migration"])
        return np.where(ended, started + moving + _delays(result, delay), math.nan)
    # From the first start on, but for the time from kills to next starts, or to the ends of holds.
    started = jobs["finish"] - jobs["first_start"] - jobs["failure_wait"]
    return np.where(ended, np.maximum(started, 0.0), math.nan)


def _delays(result: Measured, delay: float) -> Floats:
    """Seconds of start delay of each job: one start, and one more for each kill, less what was cut short."""
    jobs = result.jobs
    # A job has one start more than kills, unless it waits, or has been killed for good or withdrawn.
    one_more = ~np.isin(jobs["state"], _ONE_LESS)
    first = np.where(one_more, delay, 0.0)
    coming = np.isin(jobs["state"], (JobState.RUNNING, JobState.HELD))
    first[coming] -= np.maximum(jobs["start"][coming] - result.span[1], 0.0)
    rest = result.ledger["start_delay"] - math.fsum(jobs["size"] * first)
    return first + _shared(result, jobs["restarts"], rest)


def _shared(result: Measured, times: Integers, node_seconds: float) -> Floats:
    """Seconds of each job, of node-seconds of which all its times have the same part, per node."""
    all_times = math.fsum(result.jobs["size"] * times)
    return np.asarray(times * (node_seconds / all_times if all_times else 0.0), np.float64)
