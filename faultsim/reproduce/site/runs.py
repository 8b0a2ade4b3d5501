"""The runs: the site as it is and with one thing changed, at several rates of failures, with checkpoints or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from faultsim.arrays import Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.policies import Daly, EasyBackfill, Scheduler
from faultsim.policies.slurm import Slurm
from faultsim.reproduce.site.inputs import ALL, DAY, KINDS, Week, failures, jittered
from faultsim.results.result import Result
from faultsim.simulation.run import Run
from faultsim.sweep.jackknife import Estimate, jackknife
from faultsim.sweep.run_list import Columns, RunList
from faultsim.sweep.what_if import moved

NOW, MORE, EASY, ARRIVAL = "today", "8 more GPU nodes", "exact EASY", "Slurm, by arrival"
#: Change -> options of the site's `Slurm`.
OPTIONS: dict[str, dict[str, object]] = {
    NOW: {},
    "bf_window=1d": {"bf_window": 1440},
    "bf_window=7d": {"bf_window": 10080},
    "bf_max_job_user=20": {"bf_max_job_user": 20},
    "bf_max_job_user=0": {"bf_max_job_user": 0},
    "no fair share": {"PriorityWeightFairshare": 0},
    "fair share x4": {"PriorityWeightFairshare": 480_000},
    MORE: {},
    ARRIVAL: {"PriorityType": "priority/basic"},
}
CHANGES = (*OPTIONS, EASY)
#: Changes that meet failures, too.
FAILING = (NOW, "bf_max_job_user=0", MORE, EASY)
#: Failures of a node in a year: few, as many as usual, and many.
RATES = (1.0, 4.0, 16.0)
#: Seconds that a checkpoint takes.
CHECKPOINT = 120.0
#: Of each setting, in the full run.
REPLICATES = 8
#: Days of submission; later ones count as the last.
DAYS = 7


class Key(NamedTuple):
    """One setting; its replicates are one entry of the evidence."""

    change: str
    rate: float = 0.0
    checkpoints: bool = False


# -- what is kept of a run


@dataclass(frozen=True)
class DaySum:
    """A sum over the jobs of a kind that were submitted on a day: a column of the store.

    Parameters
    ----------
    kind : str
        Of `KINDS`.
    day : int
    what : {"jobs", "wait", "delay", "slowdown"}
        Their number; hours until the last start; hours in the system beyond the run time; logarithm of the slowdown.
    """

    kind: str
    day: int
    what: str

    def __call__(self, result: Result) -> float:
        """The sum."""
        jobs = result.jobs
        day = np.minimum(jobs["submit"] // DAY, DAYS - 1)
        kinds = np.asarray(result.workload.columns["kinds"]).astype(np.int64)
        rows = (day == self.day) & ((kinds & KINDS[self.kind]) > 0)
        if self.what == "jobs":
            return float(rows.sum())
        if self.what == "wait":
            return float(jobs["wait"][rows].sum()) / 3600
        if self.what == "slowdown":
            return float(np.log(jobs["bounded_slowdown"][rows]).sum())
        return float((jobs["response"][rows] - result.workload.runtime[rows]).sum()) / 3600


def lost(result: Result) -> float:
    """Core-seconds lost by failures or spent on checkpoints, in percent of those that counted."""
    jobs = result.jobs
    spent = float((jobs["lost_work"] + jobs["checkpoint_time"] * jobs["size"]).sum())
    return 100 * spent / float((result.workload.runtime * jobs["size"]).sum())


SUMS = ("jobs", "wait", "delay", "slowdown")
COLUMNS: Columns = {
    **{f"{what} {kind} {day}": DaySum(kind, day, what) for what in SUMS for kind in KINDS for day in range(DAYS)},
    "lost": lost,
    "killed": "failed_jobs",
}


@dataclass(frozen=True)
class Plan:
    """What to run."""

    replicates: int = REPLICATES
    jobs: int | None = None
    rates: Sequence[float] = RATES
    failing: Sequence[str] = FAILING

    def settings(self) -> list[Key]:
        """Every setting, once."""
        found = [Key(change) for change in CHANGES]
        for rate in self.rates:
            found += [Key(change, rate, kept) for change in self.failing for kept in (False, True)]
        return found


def plan(quick: bool, replicates: int | None = None) -> Plan:
    """The full plan, or the quick one: two replicates of the first 2,000 jobs, at the highest rate alone."""
    return Plan(replicates or 2, 2000, RATES[-1:]) if quick else Plan(replicates or REPLICATES)


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at: `runs` maps a setting to its columns, each an array over the replicates."""

    week: Week
    runs: Mapping[Key, Mapping[str, Floats]]
    what: Plan
    quick: bool = False

    def sums(self, what: str, key: Key, kind: str = ALL) -> Floats:
        """Sums of each replicate (row) and day (column)."""
        return np.stack([self.runs[key][f"{what} {kind} {day}"] for day in range(DAYS)], axis=-1)

    def mean(self, what: str, key: Key, kind: str = ALL) -> float:
        """The mean over jobs of all replicates; NaN without jobs."""
        return _ratio(self.sums(what, key, kind), self.sums("jobs", key, kind))

    def change(self, what: str, base: Key, other: Key, kind: str = ALL) -> Estimate:
        """By which share the mean of `other` is above that of `base`; a day of all replicates is one value."""
        days = [_days(self.sums(each, key, kind)) for key in (base, other) for each in (what, "jobs")]
        there = (days[1] > 0) & (days[3] > 0)
        return jackknife(lambda a, n, b, m: _ratio(b, m) / _ratio(a, n) - 1, *(each[there] for each in days))

    def largest_day(self, what: str, base: Key, other: Key) -> float:
        """The share of the sum of changes that is of the day on which most is changed, of all that days change."""
        more = np.abs(_days(self.sums(what, other)) - _days(self.sums(what, base)))
        return float(more.max() / more.sum()) if more.any() else float("nan")

    def slower(self, base: Key, other: Key, kind: str = ALL) -> Estimate:
        """The logarithm of the ratio of the geometric mean of slowdowns; a day of all replicates is one value."""
        days = [_days(self.sums(each, key, kind)) for key in (base, other) for each in ("slowdown", "jobs")]
        there = (days[1] > 0) & (days[3] > 0)
        return jackknife(lambda a, n, b, m: _ratio(b, m) - _ratio(a, n), *(each[there] for each in days))

    def over_failures(self, what: str, base: Key, other: Key) -> Estimate:
        """By which share the mean of `other` is above that of `base`; a replicate is one value."""
        per = [self.sums(each, key).sum(axis=-1) for key in (base, other) for each in (what, "jobs")]
        return jackknife(lambda a, n, b, m: _ratio(b, m) / _ratio(a, n) - 1, *per)


def _days(sums: Floats) -> Floats:
    found: Floats = sums.sum(axis=0)
    return found


def _ratio(sums: Floats, jobs: Floats) -> float:
    return float(sums.sum() / jobs.sum()) if jobs.sum() else float("nan")


def run_list(week: Week, what: Plan, seed: int) -> RunList[Key]:
    """The runs of a plan."""

    @cache
    def jobs(r: int) -> Workload:
        return jittered(week.log, r, seed)

    @cache
    def trace(rate: float, more: bool, r: int) -> FailureTrace | None:
        found = failures(week.site, rate, r, seed)
        return moved(found, week.site, week.larger) if found is not None and more else found

    def scheduler(key: Key) -> Scheduler:
        if key.change == EASY:
            return EasyBackfill()
        now: Slurm = week.conf.scheduler
        return now.replace(**OPTIONS[key.change], **({"JobRequeue": True} if key.rate else {}))

    def made(key: Key, r: int) -> Run:
        more = key.change == MORE
        return Run(
            jobs(r),
            week.larger if more else week.site,
            scheduler=scheduler(key),
            failures=trace(key.rate, more, r),
            checkpointing=Daly(cost=CHECKPOINT, mtbf=365 * DAY / key.rate) if key.checkpoints else None,
            seed=seed,
            oversized="drop",
        )

    settings = {key: {"replicate": range(what.replicates)} for key in what.settings()}
    return RunList("site", settings, made, COLUMNS, order=lambda key, r: (key.rate, r, key.change))
