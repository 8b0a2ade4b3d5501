"""The runs behind the figures of [zhang2004]: which failures, which strategies, at which run-time factors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from faultsim.arrays import Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Cluster
from faultsim.policies import (
    AllJobs,
    BeforeFailure,
    BigJobs,
    Buckets,
    EasyBackfill,
    FirstFit,
    LeastFailuresFirst,
    LeastFailuresMigration,
    LongJobs,
    Periodic,
    PredictedWindows,
    Requeue,
)
from faultsim.reproduce.zhang2004.fit import NODES
from faultsim.reproduce.zhang2004.inputs import DAYS, Kind, Source, failures
from faultsim.simulation.options import Options
from faultsim.simulation.run import Run
from faultsim.sweep.run_list import RunList

#: Factors on the run times: the paper's x axis is the average job execution time, without values in the text.
FACTORS = tuple(round(0.3 + 0.1 * i, 1) for i in range(9))
#: Where a killed job goes; the paper does not say.
READINGS = ("arrival", "tail")

_HOUR = 3600.0
_COST = 300.0  # "We use a checkpoint cost of 5 minutes"; the same for a migration
#: Name -> kind of failures. b: the shapes; w: W at alpha .5; a99: skewed; with other down times.
KINDS: dict[str, Kind] = {
    "b20": Kind(shape=0.2),
    "b55": Kind(shape=0.55),
    "b65": Kind(shape=0.65),
    "b85": Kind(),
    "w2": Kind(zipf=0.5),
    "w8": Kind(zipf=0.5, window=8),
    "w32": Kind(zipf=0.5, window=32),
    "w64": Kind(zipf=0.5, window=64),
    "a99": Kind(zipf=0.99),
}
KINDS |= {
    f"{name}, {hours:g} h down": Kind(kind.shape, kind.window, kind.zipf, hours * _HOUR)
    for name, kind in [(name, KINDS[name]) for name in ("b85", "w64", "a99")]
    for hours in (1, 4)
}
PERIODS = (2, 4, 24)
HEURISTICS = {"all": AllJobs(), "long": LongJobs(300.0), "big": BigJobs(1)}


def _windows(hours: int, heuristic: str) -> Options:
    return {
        "checkpointing": PredictedWindows(
            Buckets(length=hours * _HOUR), HEURISTICS[heuristic], interval=2 * _HOUR, cost=_COST
        )
    }


def _lff(threshold: float) -> Options:
    return {
        "placement": LeastFailuresFirst(),
        "migration": LeastFailuresMigration(threshold=threshold, cost=_COST),
    }


#: Name -> what a run is given besides the common settings.
POLICIES: dict[str, Options] = {
    "none": {},
    **{f"periodic {hours} h": {"checkpointing": Periodic(hours * _HOUR, _COST)} for hours in PERIODS},
    "before": {"checkpointing": BeforeFailure(_COST)},
    **{f"{hours} h {heuristic}": _windows(hours, heuristic) for hours in (1, 4, 8) for heuristic in HEURISTICS},
    "2 h all": _windows(2, "all"),
    **{f"LFF {threshold}": _lff(threshold) for threshold in (1, 2, 4)},
    "LFF placement": {"placement": LeastFailuresFirst()},
}
#: The run without failures.
CLEAN = ("", "none")
#: (kind of failures, policy) of every series, in the order of the figures.
SERIES: tuple[tuple[str, str], ...] = (
    CLEAN,
    *((kind, "none") for kind in KINDS),  # Figures 3 and 4
    *((kind, f"periodic {hours} h") for kind in ("b65", "b20", "w64", "a99") for hours in PERIODS),  # 5 and 6
    *((kind, "before") for kind in ("b85", "w64", "a99")),  # 7
    *(("b85", f"{hours} h {heuristic}") for hours in (1, 4, 8) for heuristic in HEURISTICS),  # 8 and 9
    ("b85", "2 h all"),
    *((kind, f"4 h {heuristic}") for kind in ("w2", "w64", "a99") for heuristic in HEURISTICS),  # 10
    *((kind, "LFF 1") for kind in ("b85", "w64", "a99")),  # 11
    *(("a99", policy) for policy in ("LFF 2", "LFF 4", "LFF placement")),
)

#: Column -> what of a run.
COLUMNS = {
    "slowdown": "mean_slowdown",
    "bounded_slowdown": "mean_bounded_slowdown",
    "response": "mean_response",
    "utilization": "capacity_utilized",
    "work_loss": "work_loss_ratio",
    "checkpoint_overhead": "checkpoint_overhead_ratio",
    "lost_work": "service_unit_loss",
    "kills": "failures_hit",
    "failed_jobs": "failed_jobs",
    "moves": "moves",
    "makespan": "makespan",
}


class Key(NamedTuple):
    """One curve: its numbers are arrays over factors and replicates."""

    workload: str
    kind: str
    policy: str
    reading: str


#: Column -> values, shape (factors, replicates).
Table = Mapping[str, Floats]


@dataclass(frozen=True)
class Plan:
    """What to run: how many replicates of how many days, at which run-time factors."""

    replicates: int
    factors: tuple[float, ...] = FACTORS
    days: float = DAYS

    def settings(self, workloads: Iterable[str]) -> dict[Key, dict[str, Sequence[float]]]:
        """Every curve with its factors and replicates; without failures the reading does not matter."""
        within = {"factor": self.factors, "replicate": range(self.replicates)}
        return {
            Key(workload, kind, policy, reading): within
            for workload in workloads
            for kind, policy in SERIES
            for reading in (READINGS if kind else READINGS[:1])
        }


def plan(quick: bool) -> Plan:
    """The full plan, or the quick one: three factors and few replicates."""
    return Plan(replicates=3, factors=(0.4, 0.7, 1.0)) if quick else Plan(replicates=24)


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at."""

    sources: Mapping[str, Source]
    what: Plan
    tables: Mapping[Key, Table]
    checks: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    quick: bool = False

    def view(self, workload: str, reading: str) -> "View":
        """The part of one workload under one reading of where a killed job goes."""
        return View(self, workload, reading)


@dataclass(frozen=True)
class View:
    """The runs on one workload under one reading."""

    evidence: Evidence
    workload: str
    reading: str

    def __call__(self, column: str, kind: str = "", policy: str = "none") -> Floats:
        """Values of a column, shape (factors, replicates); without a kind, of the runs without failures."""
        reading = self.reading if kind else READINGS[0]
        return self.evidence.tables[Key(self.workload, kind, policy, reading)][column]

    @property
    def factors(self) -> Floats:
        """The run-time factors."""
        return np.array(self.evidence.what.factors)

    @property
    def execution_time(self) -> Floats:
        """The average job execution time at each factor, in seconds."""
        logs = self.evidence.sources[self.workload].logs
        return self.factors * float(np.mean([log.runtime.mean() for log in logs]))


def run_list(sources: Mapping[str, Source], what: Plan, seed: int) -> RunList[Key]:
    """The runs of a plan.

    A replicate's failures are the same for every policy, reading, factor and workload, and its jobs for every kind of
    failures.
    """

    @lru_cache(4)
    def log(workload: str, factor: float, replicate: int) -> Workload:
        return sources[workload].log(replicate).with_runtime_factor(factor)

    @lru_cache(len(KINDS))
    def trace(kind: str, replicate: int) -> FailureTrace:
        return failures(KINDS[kind], seed=seed, replicate=replicate, days=what.days)

    def made(key: Key, factor: float, replicate: int) -> Run:
        common: Options = {"scheduler": EasyBackfill(), "placement": FirstFit(), "estimates": "actual"}
        settings = common | POLICIES[key.policy]
        if key.kind:
            settings |= {
                "failures": trace(key.kind, replicate),
                "recovery": Requeue(place="tail" if key.reading == "tail" else "arrival"),
            }
        jobs = log(key.workload, factor, replicate)
        return Run(jobs, Cluster(NODES), **settings)

    return RunList(
        "zhang2004",
        what.settings(sources),
        made,
        COLUMNS,
        order=lambda key, factor, replicate: (replicate, key.workload, factor),
    )
