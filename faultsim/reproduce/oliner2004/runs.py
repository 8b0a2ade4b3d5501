"""The runs behind the figures of [oliner2004]: which schedulers, loads and failures, and their metrics by replicate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from faultsim.reproduce.study import by_column, counted, simulated
from faultsim.results.metrics import mean_bounded_slowdown
from faultsim.simulation.progress import Progress
from faultsim.simulation.run import Run

Floats = NDArray[np.float64]

LOGS = ("sdsc", "nasa", "llnl")
LOADS = (1.0, 1.2)  # section 6.2: "only results comparing for c = 1 and 1.2 are presented"
GRID = tuple(round(0.1 * i, 1) for i in range(11))  # "from 0.0 to 1.0 in increments of 0.1"
COUNTS = tuple(range(0, 4001, 500))  # "from 0 to 3500 or 4000 in intervals of 500"
SCHEDULERS = ("balancing", "tie-breaking")
#: The confidences of Figure 3, at c = 1; that of Figures 4 and 5, at both loads, is .1.
FIGURE_3 = (0.0, 0.1, 0.9)
#: Confidences at which all of the SDSC log is run besides, for O2 and O4.
ALL_OF_IT = (0.0, 0.1, 0.9)


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


def run(log: Workload, scheduler: str, a: float, trace: FailureTrace | None) -> Run:
    """Backfilling and migration on 4x4x8 supernodes, placing by `scheduler` with confidence or accuracy `a`.

    ``trace=None`` is Krevat's scheduler without failures.
    """
    common: dict[str, Any] = {"scheduler": EasyBackfill(), "migration": Defragment(), "estimates": "actual"}
    torus = Torus.bluegene_l()
    if trace is None or not len(trace):
        return Run(log, torus, placement=MaxFreePartition(), **common)
    common |= {"failures": trace, "recovery": Requeue()}
    if scheduler == "balancing":
        return Run(log, torus, placement=Balancing(), predictor=Confidence(a), **common)
    return Run(log, torus, placement=TieBreaking(), predictor=Accuracy(a), **common)


#: Column -> where it comes from: a metric or a counter.
COLUMNS: dict[str, Callable[[Any], float]] = {
    "slowdown": lambda r: r.metrics["mean_bounded_slowdown"],
    # As printed, with min() below the line; a job of run time 0 would be divided by 0 and is left out.
    "slowdown_min": lambda r: mean_bounded_slowdown(r, denominator="min", mask=r.jobs["runtime"] > 0),
    "response": lambda r: r.metrics["mean_response"],
    "utilized": lambda r: r.metrics["capacity_utilized"],
    "unused": lambda r: r.metrics["capacity_unused"],
    "lost": lambda r: r.metrics["capacity_lost"],
    "makespan": lambda r: r.metrics["makespan"],
    "kills": lambda r: r.metrics["failures_hit"],
    "failed_jobs": lambda r: r.metrics["failed_jobs"],
    "lost_work": lambda r: r.metrics["service_unit_loss"],
    "events": lambda r: r.counters["events"],
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

    def settings(self) -> list[Key]:
        """Every setting, once."""
        found: dict[Key, None] = {}
        for count in self.counts:
            for c, a in [(1.0, a) for a in FIGURE_3] + [(c, 0.1) for c in LOADS]:
                found[key("sdsc", c, "balancing", a, count)] = None
        for log in LOGS:
            for scheduler in SCHEDULERS:
                for c in LOADS:
                    for a in self.grid:
                        found[key(log, c, scheduler, a, TRACES[log].count)] = None
                    found[key(log, c, scheduler, 0.0, 0)] = None
        if self.whole_log:
            count = TRACES["sdsc-all"].count
            for a in ALL_OF_IT:
                found[key("sdsc-all", 1.0, "balancing", a, count)] = None
            found[key("sdsc-all", 1.0, "balancing", 0.0, 0)] = None
        return list(found)


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


def collect(
    sources: Mapping[str, JobLog], what: Plan, *, seed: int, workers: int, progress: Progress | None = None
) -> dict[Key, dict[str, Floats]]:
    """Run the plan on `workers` threads; a setting without failures is run once and stands for all replicates."""
    keys = what.settings()
    logs = {(name, c): sources[name].log.with_runtime_factor(c) for name, c in {(k.log, k.c) for k in keys}}
    tasks = [(k, r) for k in keys for r in range(what.replicates if k.failures else 1)]
    # The long logs and the high loads first, so that no thread idles at the end; a log's replicate in one batch.
    tasks.sort(key=lambda task: (-len(sources[task[0].log].log) * task[0].c, task[0].log, task[1]))
    rows: dict[Key, list[list[float]]] = {k: [[] for _ in range(what.replicates)] for k in keys}
    traces = _Traces(sources, seed)

    def made(task: tuple[Key, int]) -> Run:
        k, r = task
        return run(logs[k.log, k.c], k.scheduler, k.a, traces.get(k, r))

    step = counted(progress, len(tasks))
    for (k, r), result in simulated(tasks, made, batch=24 * workers, workers=workers, step=step):
        values = [float(column(result)) for column in COLUMNS.values()]
        for replicate in [r] if k.failures else range(what.replicates):
            rows[k][replicate] = values
    return {k: by_column(COLUMNS, values) for k, values in rows.items()}


class _Traces:
    """The traces of the runs, thinned; the last few full ones are kept."""

    def __init__(self, sources: Mapping[str, JobLog], seed: int) -> None:
        self._sources, self._seed = sources, seed
        self._full: dict[tuple[str, int], FailureTrace] = {}

    def get(self, k: Key, replicate: int) -> FailureTrace | None:
        if not k.failures:
            return None
        at = (k.log, replicate)
        if at not in self._full:
            if len(self._full) > 40:
                self._full.clear()
            self._full[at] = failures(self._sources[k.log], replicate, seed=self._seed)
        full = self._full[at]
        # One trace a replicate: the fewer failures are among the more (Figures 3 to 5).
        return full if k.failures == len(full) else full.with_count(k.failures, rng=replicate)
