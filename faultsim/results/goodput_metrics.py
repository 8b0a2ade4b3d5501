"""The metrics of goodput (model.md#goodput): shares of the capacity, effective training time, time between kills."""

import math
from functools import partial

import numpy as np

from faultsim.arrays import Floats
from faultsim.results.ledger import GOODPUT_ACCOUNTS
from faultsim.results.metric_table import Measured, Metric, adding_to

#: The metrics of this file by name; they are part of `faultsim.METRICS`.
GOODPUT_METRICS: dict[str, Metric] = {}

#: Seconds of 1,000 days.
NODE_DAYS = 1000.0 * 86_400.0

_G = "model.md#goodput"
_metric = partial(adding_to, GOODPUT_METRICS, goodput=True)
_quiet = partial(_metric, quiet=True)
_of_jobs = partial(_metric, per_job=True)


def ratio_of_jobs(part: Floats, whole: Floats) -> Floats:
    """Row by row, NaN where there is no whole."""
    ratios: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0.0)
    return ratios


def ettr_of(result: Measured) -> Floats:
    """Run time / (finish - first start) of each job; NaN for jobs that take no time, or have not ended.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> failures = fs.FailureTrace(time=[4], node=[0], span=100)
    >>> ettr_of(fs.simulate(log, fs.Cluster(2), failures=failures))
    array([0.71428571, 1.        ])
    """
    jobs = result.jobs
    return ratio_of_jobs(jobs["runtime"], jobs["finish"] - jobs["first_start"])


def _share(result: Measured, group: str) -> float:
    begin, end = result.span
    total = result.capacity * (end - begin)
    return math.fsum(result.ledger[account] for account in GOODPUT_ACCOUNTS[group]) / total if total else math.nan


@_metric("useful / (N T)", "fraction", _G)
def goodput(result: Measured) -> float:
    """Share of the node-seconds with work that was kept, of jobs that were not cut at their limit; NaN if T is 0."""
    return _share(result, "productive")


@_quiet("cut at limit / (N T)", "fraction", _G)
def share_cut_at_limit(result: Measured) -> float:
    """Share of the node-seconds with the work of jobs that were cut at their limit; NaN if T is 0."""
    return _share(result, "cut_at_limit")


@_quiet("lost / (N T)", "fraction", _G)
def share_rolled_back(result: Measured) -> float:
    """Share of the node-seconds whose work failures undid; NaN if T is 0."""
    return _share(result, "rolled_back")


@_quiet("checkpoint / (N T)", "fraction", _G)
def share_checkpointing(result: Measured) -> float:
    """Share of the node-seconds in checkpoints; NaN if T is 0."""
    return _share(result, "checkpointing")


@_quiet("(restart + migration + start delay) / (N T)", "fraction", _G)
def share_restarting(result: Measured) -> float:
    """Share of the node-seconds between a decision and work: start delays, restarts and moves; NaN if T is 0."""
    return _share(result, "restarting")


@_quiet("slowed / (N T)", "fraction", _G)
def share_slowed(result: Measured) -> float:
    """Share of the node-seconds that outages cost by making jobs slower; NaN if T is 0."""
    return _share(result, "slowed")


@_quiet("(held for repair + down) / (N T)", "fraction", _G)
def share_waiting_for_repair(result: Measured) -> float:
    """Share of the node-seconds of nodes that are down, and of jobs that are held until they are up; NaN if T is 0."""
    return _share(result, "waiting_for_repair")


@_quiet("growth / (N T)", "fraction", _G)
def share_rounded_up(result: Measured) -> float:
    """Share of the node-seconds of nodes that jobs hold and did not ask for; NaN if T is 0."""
    return _share(result, "rounded_up")


@_quiet("idle despite demand / (N T)", "fraction", _G)
def share_idle_despite_demand(result: Measured) -> float:
    """Share of the node-seconds of free nodes that waiting jobs ask for; NaN if T is 0."""
    return _share(result, "idle_despite_demand")


@_quiet("idle without demand / (N T)", "fraction", _G)
def share_idle_without_demand(result: Measured) -> float:
    """Share of the node-seconds of the other free nodes; NaN if T is 0."""
    return _share(result, "idle_without_demand")


@_of_jobs("sum(size * runtime) / sum(size * (finish - first start))", "fraction", _G)
def ettr(result: Measured) -> float:
    """Effective training time ratio: work over the time since the first start, weighted by nodes; NaN without time."""
    jobs = result.jobs
    return _weighted(result, jobs["finish"] - jobs["first_start"])


@_of_jobs("sum(size * runtime) / sum(size * response)", "fraction", _G)
def ettr_with_queue(result: Measured) -> float:
    """The same over the time since the submit, so that waiting for the first start counts too."""
    return _weighted(result, result.jobs["response"])


def _weighted(result: Measured, seconds: Floats) -> float:
    jobs = result.jobs
    whole = float(np.add.reduce(jobs["size"] * seconds))
    return float(np.add.reduce(jobs["size"] * jobs["runtime"])) / whole if whole else math.nan


@_of_jobs("mean(runtime / (finish - first start)), jobs that take time", "fraction", _G)
def mean_ettr(result: Measured) -> float:
    """Mean of the effective training time ratios of jobs; NaN if no job takes time."""
    ratios = ettr_of(result)
    known = ratios[~np.isnan(ratios)]
    return float(known.mean()) if len(known) else math.nan


@_of_jobs("time held without waiting for a repair / kills", "s", _G, quiet=True)
def mttf(result: Measured) -> float:
    """Mean time of a job between kills, in seconds; infinite without kills, NaN without time.

    Averages over replicates are of `kills_per_1000_node_days` rather: it is 0 without kills.
    """
    seconds, kills = float(np.add.reduce(result.exposed)), int(np.add.reduce(result.jobs["restarts"]))
    if not seconds:
        return math.nan
    return seconds / kills if kills else math.inf


@_of_jobs("kills / (allocated * time held without waiting for a repair)", "1 / (1000 node-days)", _G, quiet=True)
def kills_per_1000_node_days(result: Measured) -> float:
    """Kills of jobs in 1,000 days of a node that they hold; 0 without kills, NaN without time."""
    kills, seconds = np.add.reduce(result.jobs["restarts"]), np.add.reduce(result.exposed * result.jobs["allocated"])
    return float(NODE_DAYS * kills / seconds) if seconds else math.nan
