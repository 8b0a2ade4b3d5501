"""The runs behind the figures of [zhang2004]: which failures, which strategies, at which run-time factors."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from faultsim.reproduce.study import counted, simulated
from faultsim.reproduce.zhang2004.fit import NODES
from faultsim.reproduce.zhang2004.inputs import DAYS, Kind, Source, failures
from faultsim.simulation.progress import Progress
from faultsim.simulation.run import Run

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


def _windows(hours: int, heuristic: str) -> dict[str, Any]:
    return {
        "checkpointing": PredictedWindows(
            Buckets(length=hours * _HOUR), HEURISTICS[heuristic], interval=2 * _HOUR, cost=_COST
        )
    }


def _lff(threshold: float) -> dict[str, Any]:
    return {
        "placement": LeastFailuresFirst(),
        "migration": LeastFailuresMigration(threshold=threshold, cost=_COST),
    }


#: Name -> what a run is given besides the common settings.
POLICIES: dict[str, dict[str, Any]] = {
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

#: Column -> where it comes from.
COLUMNS: dict[str, Callable[[Any], float]] = {
    "slowdown": lambda r: r.metrics["mean_slowdown"],
    "bounded_slowdown": lambda r: r.metrics["mean_bounded_slowdown"],
    "response": lambda r: r.metrics["mean_response"],
    "utilization": lambda r: r.metrics["capacity_utilized"],
    "work_loss": lambda r: r.metrics["work_loss_ratio"],
    "checkpoint_overhead": lambda r: r.metrics["checkpoint_overhead_ratio"],
    "lost_work": lambda r: r.metrics["service_unit_loss"],
    "kills": lambda r: r.metrics["failures_hit"],
    "failed_jobs": lambda r: r.metrics["failed_jobs"],
    "moves": lambda r: r.metrics["moves"],
    "makespan": lambda r: r.metrics["makespan"],
}

Floats = NDArray[np.float64]
#: Column -> values, shape (factors, replicates).
Table = Mapping[str, Floats]


@dataclass(frozen=True)
class Plan:
    """What to run: how many replicates of how many days, at which run-time factors."""

    replicates: int
    factors: tuple[float, ...] = FACTORS
    days: float = DAYS

    def keys(self) -> Iterator[tuple[str, str, str]]:
        """(kind, policy, reading) of every run; without failures the reading does not matter."""
        for kind, policy in SERIES:
            yield from ((kind, policy, reading) for reading in (READINGS if kind else READINGS[:1]))


def plan(quick: bool) -> Plan:
    """The full plan, or the quick one: three factors and few replicates."""
    return Plan(replicates=3, factors=(0.4, 0.7, 1.0)) if quick else Plan(replicates=24)


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at."""

    sources: Mapping[str, Source]
    what: Plan
    tables: Mapping[tuple[str, str, str, str], Table]  # workload, kind, policy, reading
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
        return self.evidence.tables[self.workload, kind, policy, reading][column]

    @property
    def factors(self) -> Floats:
        """The run-time factors."""
        return np.array(self.evidence.what.factors)

    @property
    def execution_time(self) -> Floats:
        """The average job execution time at each factor, in seconds."""
        logs = self.evidence.sources[self.workload].logs
        return self.factors * float(np.mean([log.runtime.mean() for log in logs]))


def _run(log: Any, traces: Mapping[str, Any], key: tuple[str, str, str]) -> Run:
    kind, policy, reading = key
    trace = traces.get(kind)
    settings: dict[str, Any] = {"placement": FirstFit()} | POLICIES[policy]
    if trace is not None:
        settings |= {"failures": trace, "recovery": Requeue(place=reading)}
    return Run(log, Cluster(NODES), scheduler=EasyBackfill(), estimates="actual", **settings)


#: Results that are in memory at a time.
_BATCH = 32


def collect(
    sources: Mapping[str, Source], what: Plan, *, seed: int, workers: int, progress: Progress | None = None
) -> dict[tuple[str, str, str, str], dict[str, Floats]]:
    """Run the plan on `workers` threads.

    A replicate's failures are the same for every policy, reading, factor and workload, and its jobs for every kind of
    failures.
    """
    keys = list(what.keys())
    shape = len(what.factors), what.replicates
    tables = {(name, *key): {column: np.full(shape, np.nan) for column in COLUMNS} for name in sources for key in keys}
    step = counted(progress, len(sources) * len(keys) * shape[0] * shape[1])
    for replicate in range(what.replicates):
        traces = {name: failures(kind, seed=seed, replicate=replicate, days=what.days) for name, kind in KINDS.items()}
        for name, source in sources.items():
            for at, factor in enumerate(what.factors):
                log = source.log(replicate).with_runtime_factor(factor)
                made = partial(_run, log, traces)
                for key, result in simulated(keys, made, batch=_BATCH, workers=workers, step=step):
                    for column, value in COLUMNS.items():
                        tables[(name, *key)][column][at, replicate] = value(result)
    return tables
