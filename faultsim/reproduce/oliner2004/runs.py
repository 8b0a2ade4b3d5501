"""The runs behind the figures of [oliner2004]: which schedulers, loads and failures, and their metrics by replicate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from faultsim.arrays import Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Torus
from faultsim.policies import (
    Accuracy,
    Balancing,
    Confidence,
    Defragment,
    EasyBackfill,
    MaxFreePartition,
    Requeue,
    TieBreaking,
)
from faultsim.reproduce.data_files import JobLog
from faultsim.reproduce.oliner2004.inputs import TRACES, failures
from faultsim.results.metrics import mean_bounded_slowdown
from faultsim.results.result import Result
from faultsim.simulation.run import Run
from faultsim.sweep.run_list import Columns, RunList

LOGS = ("sdsc", "nasa", "llnl")
LOADS = (1.0, 1.2)  # section 6.2: "only results comparing for c = 1 and 1.2 are presented"
GRID = tuple(round(0.1 * i, 1) for i in range(11))  # "from 0.0 to 1.0 in increments of 0.1"
COUNTS = tuple(range(0, 4001, 500))  # "from 0 to 3500 or 4000 in intervals of 500"
SCHEDULERS = ("balancing", "tie-breaking")
#: The confidences of Figure 3, at c = 1; that of Figures 4 and 5, at both loads, is .1.
FIGURE_3 = (0.0, 0.1, 0.9)
#: Confidences at which all of the SDSC log is run besides, for O2 and O4.
ALL_OF_IT = (0.0, 0.1, 0.9)


_MIGRATION, _REQUEUE = Defragment(), Requeue()


class Key(NamedTuple):
    """One setting: its replicates are one entry of the evidence.

    Without prediction (a = 0) both schedulers are Krevat's, so such a setting is kept as "balancing" only.
    """

    log: str
    c: float
    scheduler: str
    a: float
    failures: int


def key(log: str, c: float, scheduler: str, a: float, count: int) -> Key:
    """The entry of a setting: what cannot differ shares one.

    Examples
    --------
    >>> key("sdsc", 1.0, "tie-breaking", 0.0, 4000) == key("sdsc", 1.0, "balancing", 0.0, 4000)
    True
    """
    if count == 0:
        a = 0.0
    return Key(log, c, scheduler if a else SCHEDULERS[0], a, count)


def run(
    log: Workload,
    scheduler: str,
    a: float,
    trace: FailureTrace | None,
    *,
    migration: Defragment | None = _MIGRATION,
    recovery: Requeue = _REQUEUE,
) -> Run:
    """Backfilling and migration on 4x4x8 supernodes, placing by `scheduler` with confidence or accuracy `a`.

    ``trace=None`` is Krevat's scheduler without failures.
    """
    made = partial(Run, log, Torus.bluegene_l(), scheduler=EasyBackfill(), migration=migration, estimates="actual")
    if trace is None or not len(trace):
        return made(placement=MaxFreePartition())
    failing = partial(made, failures=trace, recovery=recovery)
    if scheduler == "balancing":
        return failing(placement=Balancing(), predictor=Confidence(a))
    return failing(placement=TieBreaking(), predictor=Accuracy(a))


def slowdown_min(result: Result) -> float:
    """As printed, with min() below the line; a job of run time 0 would be divided by 0 and is left out."""
    return mean_bounded_slowdown(result, denominator="min", mask=result.jobs["runtime"] > 0)


#: Column -> what of a run.
COLUMNS: Columns = {
    "slowdown": "mean_bounded_slowdown",
    "slowdown_min": slowdown_min,
    "response": "mean_response",
    "utilized": "capacity_utilized",
    "unused": "capacity_unused",
    "lost": "capacity_lost",
    "makespan": "makespan",
    "kills": "failures_hit",
    "failed_jobs": "failed_jobs",
    "lost_work": "service_unit_loss",
    "events": "events",
}


@dataclass(frozen=True)
class Plan:
    """What to run: jobs a log, replicates, confidences (0, .1 and .9 among them) and failure counts."""

    jobs: int | None = None
    replicates: int = 10
    grid: Sequence[float] = GRID
    counts: Sequence[int] = COUNTS
    whole_log: bool = True
    tested: Sequence[int] = (1000,)  # counts of Figure 3 that the claims name

    def __post_init__(self) -> None:
        missing = {0.0, 0.1, 0.9, 1.0} - set(self.grid)
        if missing or 0 not in self.counts or not set(self.tested) <= set(self.counts):
            raise ValueError("a plan needs the confidences 0, .1, .9 and 1 and the counts 0 and 1000")

    def settings(self) -> dict[Key, dict[str, range]]:
        """Every setting with its replicates: a single one without failures."""
        found = []
        for count in self.counts:
            found += [key("sdsc", 1.0, "balancing", a, count) for a in FIGURE_3]
            found += [key("sdsc", c, "balancing", 0.1, count) for c in LOADS]
        for log in LOGS:
            for scheduler in SCHEDULERS:
                for c in LOADS:
                    found += [key(log, c, scheduler, a, TRACES[log].count) for a in self.grid]
                    found.append(key(log, c, scheduler, 0.0, 0))
        if self.whole_log:
            count = TRACES["sdsc-all"].count
            found += [key("sdsc-all", 1.0, "balancing", a, count) for a in ALL_OF_IT]
            found.append(key("sdsc-all", 1.0, "balancing", 0.0, 0))
        return {k: {"replicate": range(self.replicates if k.failures else 1)} for k in found}


def plan(quick: bool, replicates: int | None = None) -> Plan:
    """The full plan, or the quick one: three replicates, half of the confidences, five failure counts."""
    if quick:
        return Plan(replicates=replicates or 3, grid=(0.0, 0.1, 0.2, 0.9, 1.0), counts=(0, 500, 1000, 2000, 4000))
    return Plan(replicates=replicates or 10)


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at: `runs` maps a setting to its columns, each an array over the replicates."""

    sources: Mapping[str, JobLog]
    runs: Mapping[Key, Mapping[str, Floats]]
    what: Plan
    checks: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False

    def has(self, log: str) -> bool:
        """Whether `log` was run."""
        return any(entry.log == log for entry in self.runs)

    def values(self, column: str, log: str, c: float, scheduler: str, a: float, count: int | None = None) -> Floats:
        """Column of one setting, over the replicates; by default with all failures of the log's trace."""
        return self.runs[key(log, c, scheduler, a, TRACES[log].count if count is None else count)][column]

    def along(self, column: str, log: str, c: float, scheduler: str) -> Floats:
        """Column over the confidences: shape (confidences, replicates)."""
        return np.array([self.values(column, log, c, scheduler, a) for a in self.what.grid])

    def over_counts(self, column: str, c: float, a: float) -> Floats:
        """Column of the balancing scheduler on SDSC over the failure counts: shape (counts, replicates)."""
        return np.array([self.values(column, "sdsc", c, "balancing", a, count) for count in self.what.counts])


def run_list(
    sources: Mapping[str, JobLog], what: Plan, seed: int, *, bursts: float | None = None, **policies: Any
) -> RunList[Key]:
    """The runs of a plan: long logs and high loads first, so that no worker idles at the end.

    `bursts` are other ones than `TRACES` has, in nodes; `policies` are those of `run`.
    """

    @lru_cache(8)
    def log(name: str, c: float) -> Workload:
        return sources[name].log.with_runtime_factor(c)

    @lru_cache(40)
    def full(name: str, replicate: int) -> FailureTrace:
        return failures(sources[name], replicate, seed=seed, bursts=bursts)

    @lru_cache(40)
    def trace(name: str, count: int, replicate: int) -> FailureTrace:
        whole = full(name, replicate)
        # One trace a replicate: the fewer failures are among the more (Figures 3 to 5).
        return whole if count == len(whole) else whole.with_count(count, rng=replicate)

    def made(k: Key, replicate: int) -> Run:
        failing = trace(k.log, k.failures, replicate) if k.failures else None
        return run(log(k.log, k.c), k.scheduler, k.a, failing, **policies)

    return RunList(
        "oliner2004",
        what.settings(),
        made,
        COLUMNS,
        order=lambda k, replicate: (-len(sources[k.log].log) * k.c, k.log, replicate),
    )


def over_replicates(made: Mapping[Key, Mapping[str, Floats]], what: Plan) -> dict[Key, dict[str, Floats]]:
    """What the runs gave; a setting without failures, which is run once, stands for all replicates."""
    return {
        k: {name: np.broadcast_to(values, what.replicates) for name, values in columns.items()}
        for k, columns in made.items()
    }
