"""Metrics: one table, `METRICS`, and a pure function of a `Result` for each row (model.md#ledger).

N is the number of nodes, T the makespan, n the number of jobs.  ``result.metrics`` reads the table.  Of a run that is
not over (model.md#partial) T ends now, and n and what is summed over jobs count those that have ended.
"""

import math
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Flags, Floats, LongIntegers, Values
from faultsim.data.event_kinds import JobState
from faultsim.errors import OptionError
from faultsim.results.goodput_metrics import GOODPUT_METRICS
from faultsim.results.ledger import LEDGER_ACCOUNTS, share_lost
from faultsim.results.metric_table import Measured, Metric, adding_to

Denominator: TypeAlias = Literal["max", "min"]

_K = "[krevat2002] section 3.2"
_Z = "[zhang2004] section 3.3"
_F = "[li2009] section 5.3"
_L = "model.md#overrun"
_W = "model.md#withdrawal"
_KZ = "[krevat2002] section 2; [zhang2004] section 5.2.3; [li2009] section 4"

#: Every metric by name, in the order in which ``print(result)`` shows them.
METRICS: dict[str, Metric] = checks.Named("metric", {})

_metric = partial(adding_to, METRICS)
_quiet = partial(_metric, quiet=True)
_of_failures = partial(_quiet, zero_without="failures")
_of_limits = partial(_quiet, zero_without="limits")
_spread = partial(_metric, per_job=True, spread=True)


def _rows(result: Measured, column: Values, mask: ArrayLike | None) -> Values:
    """The column, or the rows of it that a mask names."""
    if mask is None:
        return column
    rows = np.asarray(mask)
    if rows.dtype != np.bool_ or rows.shape != column.shape:
        raise OptionError(f"mask must be {len(column):,} booleans, one per job, got {rows.dtype} of shape {rows.shape}")
    chosen: Values = column[rows]
    return chosen


def _mean(values: Values) -> float:
    # Equals values.mean() to the bit, in a third of its time: metrics take over half of a short run.
    return float(np.add.reduce(values)) / len(values) if len(values) else math.nan


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


# -- jobs and the machine


@_metric("n", "jobs", "", per_job=True)
def n_jobs(result: Measured) -> int:
    """Number of jobs."""
    return len(result)


@_metric("T = max(finish) - min(submit)", "s", _K, whole=True)
def makespan(result: Measured) -> float:
    """T: last finish - first submit, in seconds."""
    begin, end = result.span
    return end - begin


@_metric("mean(start - submit)", "s", _K, per_job=True)
def mean_wait(result: Measured, *, mask: ArrayLike | None = None) -> float:
    """Mean of start - submit in seconds, over all jobs or those in `mask`."""
    return _mean(_rows(result, result.jobs["wait"], mask))


@_metric("mean(finish - submit)", "s", f"{_K}; {_Z}; {_F}", per_job=True)
def mean_response(result: Measured, *, mask: ArrayLike | None = None) -> float:
    """Mean of finish - submit in seconds, over all jobs or those in `mask`."""
    return _mean(_rows(result, result.jobs["response"], mask))


def bounded_slowdown(result: Measured, *, gamma: checks.Duration = 10.0, denominator: Denominator = "max") -> Floats:
    """Bounded slowdown of each job.

    Parameters
    ----------
    result : Result
    gamma : float, default 10
        Threshold in seconds.
    denominator : {"max", "min"}, default "max"
        ``max(response, gamma) / max(runtime, gamma)`` as in Krevat, or ``min(runtime, gamma)`` in the denominator as
        [oliner2004] prints it; the latter is infinite for a job of run time 0.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> bounded_slowdown(fs.simulate(log, fs.Cluster(2)))
    array([1. , 1.4])
    """
    gamma = checks.number("gamma", gamma, above=0.0, unit="seconds")
    checks.choice("denominator", denominator, ("max", "min"))
    runtime = result.jobs["runtime"]
    above: Floats = np.maximum(result.jobs["response"], gamma)
    slowdown: Floats
    if denominator == "max":
        slowdown = above / np.maximum(runtime, gamma)
    else:
        with np.errstate(divide="ignore"):
            slowdown = above / np.minimum(runtime, gamma)
    return slowdown


@_metric("mean(max(response, 10 s) / max(runtime, 10 s))", "", _K, per_job=True)
def mean_bounded_slowdown(
    result: Measured, *, gamma: checks.Duration = 10.0, denominator: Denominator = "max", mask: ArrayLike | None = None
) -> float:
    """Mean of `bounded_slowdown`, over all jobs or those in `mask`."""
    return _mean(_rows(result, bounded_slowdown(result, gamma=gamma, denominator=denominator), mask))


@_metric("mean(response / runtime), runtime > 0", "", _Z, per_job=True)
def mean_slowdown(result: Measured, *, mask: ArrayLike | None = None) -> float:
    """Mean of response / run time over the jobs whose run time is above 0; NaN if there are none."""
    runtime, response = _rows(result, result.jobs["runtime"], mask), _rows(result, result.jobs["response"], mask)
    ran = runtime > 0
    return _mean(response[ran] / runtime[ran])


def node_seconds(result: Measured) -> float:
    """N * T: the capacity of the machine, in node-seconds, or core-seconds where sizes are cores."""
    return result.capacity * makespan(result)


@_metric("sum(size * runtime) / (N T)", "fraction", f"{_K}, equation (1)", whole=True)
def capacity_utilized(result: Measured) -> float:
    """Krevat's w_util, eq. (1): requested sizes times run times over N * T; NaN if T is 0."""
    work = np.add.reduce(result.jobs["size"] * result.jobs["runtime"])
    return _ratio(float(work), node_seconds(result))


@_metric("integral of max(0, free - requested by the queue) / (N T)", "fraction", f"{_K}, equation (2)")
def capacity_unused(result: Measured) -> float:
    """Krevat's w_unused, eq. (2): the integral of max(0, free - requested by the queue) over N * T; NaN if T is 0."""
    return _ratio(result.ledger["idle_no_demand"], node_seconds(result))


@_metric("1 - capacity_utilized - capacity_unused", "fraction", f"{_K}, equation (3)", whole=True)
def capacity_lost(result: Measured) -> float:
    """Krevat's w_lost, eq. (3): the rest, 1 - w_util - w_unused, at least 0; NaN if T is 0."""
    return share_lost(result.metrics["capacity_utilized"], result.metrics["capacity_unused"])


@_metric("sum(allocated * time held) / (N T)", "fraction", f"{_F}, Util")
def utilization(result: Measured) -> float:
    """Share of N * T that jobs occupied: nodes as allocated, from the decision to the end; NaN if T is 0."""
    ledger = result.ledger
    idle = ("idle_no_demand", "idle_demand", "down", "reserved", "drained")
    occupied = math.fsum(ledger[account] for account in LEDGER_ACCOUNTS if account not in idle)
    return _ratio(occupied, node_seconds(result))


@_metric("n / T", "jobs/s", f"{_F}, Thru")
def throughput(result: Measured) -> float:
    """Jobs per second, n / T; NaN if T is 0."""
    return _ratio(float(len(result)), makespan(result))


def ledger_error(result: Measured) -> float:
    """How far the ledger accounts are from N * T, relative to it; 0 if T is 0 and the accounts are empty.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> ledger_error(fs.simulate(log, fs.Cluster(3))) < 1e-9
    True
    """
    total, booked = node_seconds(result), math.fsum(result.ledger.values())
    return abs(booked - total) / total if total else abs(booked)


# -- limits: zero unless overrun="kill"


def cut_jobs_of(result: Measured) -> Flags:
    """Which jobs were cut at their limit.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], estimate=[10, 4])
    >>> cut_jobs_of(fs.simulate(log, fs.Cluster(2), overrun="kill"))
    array([False,  True])
    """
    if result.settings["overrun"] != "kill":
        return np.zeros(len(result), np.bool_)
    cut: Flags = result.jobs["state"] == JobState.TIMED_OUT
    return cut


@_of_limits("number of jobs with state = timed out", "jobs", _L, per_job=True)
def cut_jobs(result: Measured) -> int:
    """Number of jobs that ``overrun="kill"`` cut at their limit."""
    return int(np.count_nonzero(cut_jobs_of(result)))


@_of_limits("sum(size * runtime) of the jobs cut / sum(size * runtime)", "fraction", _L, per_job=True)
def cut_work_ratio(result: Measured) -> float:
    """Share of the work done that is of jobs which were cut at their limit; NaN if some were and no work was done."""
    return cut_share(result.jobs["size"], result.jobs["runtime"], cut_jobs_of(result))


def cut_share(size: Values, runtime: Values, cut: Flags) -> float:
    """Share of the work of jobs that is of those which are marked; 0 if none is.

    Examples
    --------
    >>> cut_share(np.array([1, 1]), np.array([30.0, 10.0]), np.array([False, True]))
    0.25
    """
    if not cut.any():
        return 0.0
    work = size * runtime
    return _ratio(float(np.add.reduce(work[cut])), float(np.add.reduce(work)))


# -- jobs that end without a run: zero unless the log has conditions or withdrawals


@_quiet("number of jobs with state = withdrawn", "jobs", _W, of_all=True)
def withdrawn_jobs(result: Measured) -> int:
    """Number of jobs that were withdrawn while they held no nodes; no other metric of jobs counts them."""
    return int(np.count_nonzero(result.jobs["state"] == JobState.WITHDRAWN))


@_quiet("number of jobs with state = unmet", "jobs", _W, of_all=True)
def unmet_jobs(result: Measured) -> int:
    """Number of jobs with a dependency that was never satisfied; no other metric of jobs counts them."""
    return int(np.count_nonzero(result.jobs["state"] == JobState.UNMET))


# -- failures: zero if nothing failed


@_of_failures("failures from the first submit to the last finish", "", _Z)
def failures(result: Measured) -> int:
    """Number of failures between the first submit and the last finish, including those on free nodes."""
    return result.counters["failures"]


@_of_failures("failures that hit a job", "", _Z)
def failures_hit(result: Measured) -> int:
    """Number of times that a failure killed a job or took a working node of one with `HotSpares`.

    Those stopped by `NodeStealing` or `Preemptive` are not counted.
    """
    return result.counters["failures_hit"]


@_of_failures("sum(size * work rolled back)", "node-s", f"{_F}, SUL")
def service_unit_loss(result: Measured) -> float:
    """Node-seconds of work that was rolled back."""
    return float(result.ledger["lost"])


@_of_failures("number of jobs with restarts > 0", "jobs", _F, per_job=True)
def failed_jobs(result: Measured) -> int:
    """Number of jobs that a failure killed, or `NodeStealing` or `Preemptive` stopped, at least once."""
    return int(np.count_nonzero(result.jobs["restarts"]))


@_of_failures("failed_jobs / n", "fraction", f"{_F}, JFR", per_job=True)
def job_failure_rate(result: Measured) -> float:
    """Jobs killed or stopped at least once / jobs."""
    return _ratio(failed_jobs(result), len(result))


@_of_failures(
    "mean((lost_work / size + failure_wait + restart_time) / max(runtime, 10 s))", "", f"{_F}, FSD", per_job=True
)
def failure_slowdown(result: Measured) -> float:
    """Mean over jobs of (work lost + requeued or held + restarting) / max(run time, 10 s), all in seconds."""
    jobs = result.jobs
    delay = jobs["lost_work"] / jobs["size"] + jobs["failure_wait"] + jobs["restart_time"]
    return _mean(delay / np.maximum(jobs["runtime"], 10.0))


def _mean_share(result: Measured, seconds: Values) -> float:
    """Mean over jobs of seconds / run time; jobs of run time 0 count as 0."""
    runtime = result.jobs["runtime"]
    return _mean(np.divide(seconds, runtime, out=np.zeros(len(runtime)), where=runtime > 0))


@_of_failures("mean(lost_work / (size * runtime))", "fraction", _Z, per_job=True)
def work_loss_ratio(result: Measured) -> float:
    """Mean over jobs of the time whose work was lost to failures / run time (lost node-seconds / size / run time)."""
    return _mean_share(result, result.jobs["lost_work"] / result.jobs["size"])


@_quiet(
    "mean(checkpoint_time / runtime)", "fraction", "[zhang2004] section 5", per_job=True, zero_without="checkpoints"
)
def checkpoint_overhead_ratio(result: Measured) -> float:
    """Mean over jobs of the time in checkpoints / run time."""
    return _mean_share(result, result.jobs["checkpoint_time"])


# -- migration and placement


@_quiet("migration attempts", "", _KZ)
def migrations_attempted(result: Measured) -> int:
    """Number of migration attempts.

    All running jobs re-placed (`Defragment`), running jobs examined after one ended (`LeastFailuresMigration`), or a
    tick at which a running job held a node that was predicted to fail (`Fars`).
    """
    return result.counters["migrations_attempted"]


@_quiet("attempts after which the largest free box was larger, or a job had moved", "", _KZ)
def migrations_successful(result: Measured) -> int:
    """Number of successful attempts: the largest free box grew (`Defragment`), or at least one job moved."""
    return result.counters["migrations_successful"]


@_quiet("sum(moves)", "", _KZ, per_job=True)
def moves(result: Measured) -> int:
    """Number of times that a job moved while it held nodes, or went on with a spare one (`HotSpares`)."""
    return int(result.jobs["moves"].sum())


@_quiet("mean hops between two nodes of a job", "hops", "model.md#dispersal", per_job=True, recorded=True)
def mean_dispersal(result: Measured) -> float:
    """Mean over jobs of two nodes or more of the mean number of hops between two of the nodes that the job held last.

    NaN if the run was not made with ``record=True``, if its nodes have no coordinates, or if no job has two nodes.
    """
    if not result.settings["record"] or result.machine.shape is None:
        return math.nan
    return _mean(result.dispersal[~np.isnan(result.dispersal)])


@_quiet("number of jobs with backfilled", "jobs", _K, per_job=True)
def backfilled(result: Measured) -> int:
    """Number of jobs that started ahead of an earlier one in the queue."""
    return int(result.jobs["backfilled"].sum())


# -- how jobs, users and sizes differ


def _median(values: Values) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _p95(values: Values) -> float:
    return float(np.percentile(values, 95)) if len(values) else math.nan


def _largest(values: Values) -> float:
    return float(values.max()) if len(values) else math.nan


_S = "model.md#spread"


@_spread("median(start - submit)", "s", _S)
def median_wait(result: Measured) -> float:
    """Median of start - submit, in seconds."""
    return _median(result.jobs["wait"])


@_spread("95th percentile of start - submit", "s", _S)
def p95_wait(result: Measured) -> float:
    """95th percentile of start - submit, in seconds."""
    return _p95(result.jobs["wait"])


@_spread("max(start - submit)", "s", _S)
def max_wait(result: Measured) -> float:
    """Longest of start - submit, in seconds."""
    return _largest(result.jobs["wait"])


@_spread("median(finish - submit)", "s", _S)
def median_response(result: Measured) -> float:
    """Median of finish - submit, in seconds."""
    return _median(result.jobs["response"])


@_spread("95th percentile of finish - submit", "s", _S)
def p95_response(result: Measured) -> float:
    """95th percentile of finish - submit, in seconds."""
    return _p95(result.jobs["response"])


@_spread("max(finish - submit)", "s", _S)
def max_response(result: Measured) -> float:
    """Longest of finish - submit, in seconds."""
    return _largest(result.jobs["response"])


@_spread("median(max(response, 10 s) / max(runtime, 10 s))", "", _S)
def median_bounded_slowdown(result: Measured) -> float:
    """Median of `bounded_slowdown`."""
    return _median(result.jobs["bounded_slowdown"])


@_spread("95th percentile of max(response, 10 s) / max(runtime, 10 s)", "", _S)
def p95_bounded_slowdown(result: Measured) -> float:
    """95th percentile of `bounded_slowdown`."""
    return _p95(result.jobs["bounded_slowdown"])


@_spread("max(max(response, 10 s) / max(runtime, 10 s))", "", _S)
def max_bounded_slowdown(result: Measured) -> float:
    """Largest `bounded_slowdown`."""
    return _largest(result.jobs["bounded_slowdown"])


@_spread("max(restarts)", "", _S, zero_without="failures")
def max_restarts(result: Measured) -> int:
    """Most restarts of a job."""
    return int(result.jobs["restarts"].max(initial=0))


@_spread("max(lost_work)", "node-s", _S, zero_without="failures")
def max_lost_work(result: Measured) -> float:
    """Most node-seconds that a job lost."""
    return float(result.jobs["lost_work"].max(initial=0.0))


def size_class(size: ArrayLike) -> LongIntegers:
    """The class of each size, by its largest size: 1, 2, 4, 8, ... nodes.

    Examples
    --------
    >>> size_class([1, 2, 3, 4, 5, 64, 65])
    array([  1,   2,   4,   4,   8,  64, 128])
    """
    fraction, exponent = np.frexp(np.asarray(size, dtype=np.float64))
    classes: LongIntegers = np.left_shift(np.int64(1), exponent.astype(np.int64) - (fraction == 0.5))
    return classes


def _worst(labels: Values, values: Values) -> float:
    """The largest of the means of groups; NaN without values."""
    if not len(values):
        return math.nan
    _, group = np.unique(labels, return_inverse=True)
    return float((np.bincount(group, weights=values) / np.bincount(group)).max())


@_spread("max over users of mean(start - submit)", "s", _S)
def worst_user_wait(result: Measured) -> float:
    """Mean wait of the user whose jobs wait longest, in seconds; NaN if no job names its user."""
    known = result.users >= 0
    return _worst(result.users[known], result.jobs["wait"][known])


@_spread("max over users of mean(max(response, 10 s) / max(runtime, 10 s))", "", _S)
def worst_user_slowdown(result: Measured) -> float:
    """Mean `bounded_slowdown` of the user with the largest; NaN if no job names its user."""
    known = result.users >= 0
    return _worst(result.users[known], result.jobs["bounded_slowdown"][known])


@_spread("max over classes of sizes of mean(start - submit)", "s", _S)
def worst_size_wait(result: Measured) -> float:
    """Mean wait of the class of sizes (1, 2, 3-4, 5-8, ... nodes) whose jobs wait longest, in seconds."""
    return _worst(size_class(result.jobs["size"]), result.jobs["wait"])


@_spread("max over classes of sizes of mean(max(response, 10 s) / max(runtime, 10 s))", "", _S)
def worst_size_slowdown(result: Measured) -> float:
    """Mean `bounded_slowdown` of the class of sizes (1, 2, 3-4, 5-8, ... nodes) with the largest."""
    return _worst(size_class(result.jobs["size"]), result.jobs["bounded_slowdown"])


METRICS.update(GOODPUT_METRICS)
