"""The same jobs on two sites: what a job waits less, on average, with an interval over days."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from faultsim.arrays import Flags, Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines.site import Site
from faultsim.policies import Scheduler
from faultsim.results.result import Result
from faultsim.simulation.simulate import simulate
from faultsim.sweep.intervals import interval_of_mean

_DAY = 86_400.0
#: Group of all jobs.
ALL = "all"


@dataclass(frozen=True)
class Change:
    """What another site changes for the jobs of a group that both sites run.

    Attributes
    ----------
    site : str
        What the site is called.
    group : str
        ``"all"``, a partition, or with `by_account` ``account NAME``.
    jobs : int
        Number of jobs.
    wait, slowdown : float
        Mean wait in seconds and mean bounded slowdown there.
    saved, low, high : float
        Mean wait before minus mean wait there, in seconds, with its 95 % interval over days of submission (NaN for
        fewer than three days with jobs).
    faster : float
        Mean bounded slowdown before minus that there.
    """

    site: str
    group: str
    jobs: int
    wait: float
    slowdown: float
    saved: float
    low: float
    high: float
    faster: float


def trace_on(trace: FailureTrace | None, site: Site, other: Site) -> FailureTrace | None:
    """`moved`, or None without failures."""
    return None if trace is None else moved(trace, site, other)


def moved(trace: FailureTrace, site: Site, other: Site) -> FailureTrace:
    """The failures of `site` for `other`, whose nodes may be more or fewer: nodes of a class keep their places in it.

    Examples
    --------
    >>> import faultsim as fs
    >>> site = fs.Site([fs.NodeClass("a", 2, cores=4), fs.NodeClass("b", 1, cores=4)])
    >>> trace = fs.FailureTrace(time=[5.0, 6.0], node=[1, 2], downtime=60.0)
    >>> moved(trace, site, site.with_nodes("a", 10)).node
    array([ 1, 10], dtype=int32)
    """
    if site == other:
        return trace
    place = np.full(max(site.nodes, int(trace.node.max(initial=-1)) + 1), -1)
    known = {each.name for each in other.classes}
    for each in site.classes:
        if each.name in known:
            before, after = site.nodes_of(each.name), other.nodes_of(each.name)
            kept = min(len(before), len(after))
            place[before.start : before.start + kept] = np.arange(after.start, after.start + kept)
    return trace.map_nodes(other.nodes, place)


def with_more(site: Site, more: int) -> dict[str, Site]:
    """For each class, the site with so many more nodes of it.

    Examples
    --------
    >>> import faultsim as fs
    >>> site = fs.Site([fs.NodeClass("cpu", 2, cores=4), fs.NodeClass("big", 1, cores=16)])
    >>> with_more(site, 10)
    {'+10 cpu': Site('site:cpu=12x4c,big=1x16c'), '+10 big': Site('site:cpu=2x4c,big=11x16c')}
    """
    return {f"+{more} {each.name}": site.with_nodes(each.name, each.count + more) for each in site.classes}


def changes(
    log: Workload,
    site: Site,
    others: Mapping[str, Site],
    failures: FailureTrace | None = None,
    *,
    schedulers: Mapping[str, Scheduler] | None = None,
    by_account: bool = False,
    **settings: Any,
) -> list[Change]:
    """What each of `others` changes for the jobs of `site`, of all jobs and of each partition.

    Jobs that only one of the two sites can hold are left out of the comparison, as their waits have no pair.

    Parameters
    ----------
    log : Workload
    site : Site
    others : mapping of str to Site
    failures : FailureTrace, optional
        Of the nodes of `site`; nodes that only another site has do not fail.
    schedulers : mapping of str to Scheduler, optional
        The scheduler of an other site, where it is not that of `settings`.
    by_account : bool, default False
        Whether the jobs of each account are a group, too.
    **settings
        Of `simulate`.

    Returns
    -------
    list of Change
        `site` first, as ``"now"``; of each site all jobs first, then partitions in alphabetical order.

    Examples
    --------
    >>> import faultsim as fs
    >>> site = fs.Site([fs.NodeClass("cpu", 1, cores=4)])
    >>> log = fs.Workload([0, 0], [60, 60], [4, 4], columns={"cores": [4, 4]})
    >>> [(each.site, each.wait, each.saved) for each in changes(log, site, with_more(site, 1))]
    [('now', 30.0, 0.0), ('+1 cpu', 0.0, 30.0)]
    """
    before = simulate(log, site, failures=failures, oversized="drop", **settings)
    found = list(_changed("now", before, before, by_account))
    for name, other in others.items():
        own = settings if schedulers is None or name not in schedulers else {**settings, "scheduler": schedulers[name]}
        after = simulate(log, other, failures=trace_on(failures, site, other), oversized="drop", **own)
        found += _changed(name, before, after, by_account)
    return found


def _changed(name: str, before: Result, after: Result, by_account: bool) -> Iterator[Change]:
    _, one, other = np.intersect1d(before.jobs["id"], after.jobs["id"], assume_unique=True, return_indices=True)
    submit = before.jobs["submit"][one]
    day = np.floor((submit - submit.min()) / _DAY) if len(submit) else submit
    wait, slowdown = (after.jobs[column][other] for column in ("wait", "bounded_slowdown"))
    saved, faster = before.jobs["wait"][one] - wait, before.jobs["bounded_slowdown"][one] - slowdown
    groups: dict[str, Flags] = {ALL: np.ones(len(one), bool)}
    if "partition" in before.workload.further:
        partition = np.asarray(before.workload.columns["partition"])[one]
        groups |= {str(each) or "(default)": partition == each for each in np.unique(partition)}
    if by_account and "account" in before.workload.further:
        account = np.asarray(before.workload.columns["account"])[one]
        groups |= {f"account {each}": account == each for each in np.unique(account)}
    for group, rows in groups.items():
        if rows.any():
            low, high = _over_days(saved[rows], day[rows])
            means = [float(each[rows].mean()) for each in (wait, slowdown, saved, faster)]
            yield Change(name, group, int(rows.sum()), means[0], means[1], means[2], low, high, means[3])


def _over_days(values: Floats, day: Floats) -> tuple[float, float]:
    """The ends of the interval of a mean of jobs whose days are independent: each day is one value, by its jobs."""
    _, number = np.unique(day, return_inverse=True)
    count = np.bincount(number)
    if len(count) < 3:
        return float("nan"), float("nan")
    mean = float(values.mean())
    parts = mean + np.bincount(number, values - mean) / count.mean()
    return interval_of_mean(parts, 0.975)
