"""The runs behind the figures of [li2009]: which methods, at which loads, MTBFs, precisions and recalls."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Cluster
from faultsim.policies import (
    Checkpointing,
    EasyBackfill,
    FailureSlowdown,
    Fars,
    Hold,
    IntervalPredictor,
    JobFailureRate,
    SafestFirst,
    ServiceUnitLoss,
    Strategy,
    Young,
)
from faultsim.reproduce.li2009.inputs import DAY, NODES, TRACE_LOADS, TRACE_MTBF, Parameters, Source
from faultsim.reproduce.study import by_column, counted, simulated
from faultsim.simulation.progress import Progress
from faultsim.simulation.run import Run

Floats = NDArray[np.float64]

EASY = "FCFS/EASY"  # the paper calls it FCFS
#: The paper's three, in the order of its figures.
STRATEGIES: dict[str, Strategy] = {"FSD-D": FailureSlowdown(), "SUL-D": ServiceUnitLoss(), "JFR-D": JobFailureRate()}
METHODS = (EASY, *STRATEGIES)
#: What no paper has: FARS (with SUL-D), fault-aware placement, both, and both with checkpoints set by the prediction.
COMBINED = {"FARS": "SUL-D", "placement": "placement", "both": "both", "both + checkpoints": "both + checkpoints"}
#: The figure of combinations: the baseline's load, and one at which spare nodes are few.
COMBINED_LOADS = (0.7, 0.9)
DRAWN = ("exp", "weibull")
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
#: "with the ratio linearly changed from 1/32 to 8": 1.75 to 448 days at the baseline's 56.
RATIOS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)
GRID = tuple(round(0.1 * i, 1) for i in range(1, 11))

#: Metrics that are kept of every run.
COLUMNS = (
    "mean_response",
    "utilization",
    "throughput",
    "service_unit_loss",
    "job_failure_rate",
    "failure_slowdown",
    "mean_wait",
    "failed_jobs",
    "failures_hit",
    "failures",
    "moves",
    "makespan",
)


class Place(NamedTuple):
    """Where methods are compared; a load or MTBF that is None is the baseline's (of the trace: the first load)."""

    source: str
    load: float | None = None
    mtbf: float | None = None


class Key(NamedTuple):
    """One setting: its replicates are one entry of the evidence.  An MTBF of 0 is a run without failures."""

    source: str
    load: float
    mtbf: float
    method: str
    precision: float
    recall: float


def run(log: Workload, trace: FailureTrace | None, k: Key, parameters: Parameters, *, estimates: str, seed: int) -> Run:
    """One run: EASY on 512 nodes, jobs held until repair, Young's checkpoints, and what the method adds."""
    p = parameters
    common: dict[str, Any] = {"scheduler": EasyBackfill(), "estimates": estimates, "seed": seed}
    if trace is None:
        return Run(log, Cluster(NODES), **common)
    checkpointing: Checkpointing | None = Young(p.checkpoint_cost, k.mtbf * DAY)
    if k.method != EASY:
        common["predictor"] = IntervalPredictor(k.precision, k.recall, p.interval)
        if k.method != "placement":
            common["rescheduling"] = Fars(
                p.interval,
                STRATEGIES.get(k.method, STRATEGIES["SUL-D"]),
                checkpoint_cost=p.checkpoint_cost,
                restart_cost=p.restart_cost,
                live=p.live,
                suspicious=p.suspicious,
                queue_cost=p.queue_cost,
                residual=p.residual,
            )
        if k.method not in STRATEGIES:
            common["placement"] = SafestFirst()
        if k.method == "both + checkpoints":
            # The interval that is best for the failures that are not predicted: sqrt(2 C M / (1 - recall))
            # ([aupy2014]); none is left where all are.
            checkpointing = Young(p.checkpoint_cost, k.mtbf * DAY / (1 - k.recall)) if k.recall < 1 else None
    return Run(
        log, Cluster(NODES), failures=trace, recovery=Hold(p.restart_cost), checkpointing=checkpointing, **common
    )


@dataclass(frozen=True)
class Plan:
    """What to run.

    Parameters
    ----------
    replicates : int
        Draws of jobs, failures and predictions; all methods and settings share those of a replicate.
    loads, ratios : sequence of float
        Of Figures 6 and 7; ratios are those of the MTBF to the baseline's.
    grid : sequence of float
        Precisions and recalls of Figures 8 and 10.
    combined : sequence of float
        Those of the figure that combines FARS with placement and checkpoints.
    days : float
        How long the jobs of the trace are.
    """

    replicates: int
    loads: Sequence[float] = LOADS
    ratios: Sequence[float] = RATIOS
    grid: Sequence[float] = GRID
    combined: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    trace_loads: Sequence[float] = TRACE_LOADS
    days: float = 180.0

    def __post_init__(self) -> None:
        missing = ({0.1, 0.7, 0.8, 0.9, 0.95} - set(self.loads)) | ({0.1, 0.2, 1.0} - set(self.grid))
        missing |= {1 / 32, 1 / 16, 1 / 8, 1 / 2, 1.0, 2.0, 8.0} - set(self.ratios)
        if missing or not self.combined:
            raise ValueError("a plan needs the loads, MTBFs, precisions and recalls that the claims name")

    def settings(self, p: Parameters) -> list[Key]:
        """Every setting, once."""
        found: dict[Key, None] = {}

        def add(source: str, load: float, mtbf: float, method: str, precision: float, recall: float) -> None:
            found[key(source, load, mtbf, method, precision, recall)] = None

        for source in DRAWN:
            for method in METHODS:
                add(source, p.load, p.mtbf, method, p.precision, p.recall)
                for load in self.loads:
                    add(source, p.near(load), p.mtbf, method, p.precision, p.recall)
                for ratio in self.ratios:
                    add(source, p.load, p.mtbf * ratio, method, p.precision, p.recall)
            for precision, recall in _pairs(self.grid):
                add(source, p.load, p.mtbf, "SUL-D", precision, recall)
            for method in COMBINED.values():
                add(source, p.load, p.mtbf, method, p.precision, p.recall)
        for precision, recall in _pairs(self.combined):
            for load in COMBINED_LOADS:
                for method in COMBINED.values():
                    add("exp", p.near(load), p.mtbf, method, precision, recall)
        for load in self.trace_loads:
            add("trace", load, 0.0, EASY, 0.0, 0.0)
            for method in (*METHODS, *COMBINED.values()):
                add("trace", load, TRACE_MTBF, method, p.precision, p.recall)
            for precision, recall in _pairs(self.grid):
                add("trace", load, TRACE_MTBF, "SUL-D", precision, recall)
        add("exp", p.load, 0.0, EASY, 0.0, 0.0)
        return list(found)


def _pairs(values: Sequence[float]) -> Iterator[tuple[float, float]]:
    return ((a, b) for a in values for b in values)


def key(source: str, load: float, mtbf: float, method: str, precision: float = 0.0, recall: float = 0.0) -> Key:
    """The entry of a setting: without prediction, precision and recall do not matter.

    Examples
    --------
    >>> key("exp", 0.7, 56.0, EASY, 0.7, 0.45)
    Key(source='exp', load=0.7, mtbf=56.0, method='FCFS/EASY', precision=0.0, recall=0.0)
    """
    return Key(source, load, mtbf, method, *((0.0, 0.0) if method == EASY else (precision, recall)))


def plan(quick: bool, replicates: int | None = None) -> Plan:
    """The full plan, or the quick one: two replicates, half of the loads and MTBFs, a coarse grid, a shorter trace."""
    if not quick:
        return Plan(replicates=replicates or 20)
    return Plan(
        replicates=replicates or 2,
        loads=(0.1, 0.4, 0.7, 0.8, 0.9, 0.95),
        ratios=(1 / 32, 1 / 16, 1 / 8, 1 / 2, 1.0, 2.0, 8.0),
        grid=(0.1, 0.2, 0.3, 0.7, 1.0),
        combined=(0.1, 0.7, 1.0),
        days=60.0,
    )


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at: `runs` maps a setting to its columns, each an array over the replicates."""

    sources: Mapping[str, Source]
    runs: Mapping[Key, Mapping[str, Floats]]
    what: Plan
    parameters: Parameters
    checks: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False

    def at(
        self, place: Place, method: str, *, precision: float | None = None, recall: float | None = None
    ) -> Mapping[str, Floats]:
        """Columns of a setting; precision and recall are by default the baseline's."""
        p = self.parameters
        usual = (self.what.trace_loads[0], TRACE_MTBF) if place.source == "trace" else (p.load, p.mtbf)
        return self.runs[
            key(
                place.source,
                usual[0] if place.load is None else p.near(place.load) if place.source in DRAWN else place.load,
                usual[1] if place.mtbf is None else place.mtbf,
                method,
                p.precision if precision is None else precision,
                p.recall if recall is None else recall,
            )
        ]


#: Results that are in memory at a time, for each thread.
_BATCH = 12


def collect(
    sources: Mapping[str, Source],
    what: Plan,
    parameters: Parameters,
    *,
    seed: int,
    workers: int,
    progress: Progress | None = None,
) -> dict[Key, dict[str, Floats]]:
    """Run the plan on `workers` threads."""
    keys = sorted(what.settings(parameters), key=lambda k: (k.source, k.mtbf, k.load))  # one log and trace at a time
    rows: dict[Key, list[list[float]]] = {k: [] for k in keys}
    step = counted(progress, len(keys) * what.replicates)
    for replicate in range(what.replicates):
        # The predictions of a replicate are the same for all methods, and others in each replicate.
        made = _of_replicate(sources, parameters, replicate, 1000 * seed + replicate)
        for k, result in simulated(keys, made, batch=_BATCH * workers, workers=workers, step=step):
            rows[k].append([float(result.metrics[name]) for name in COLUMNS])
    return {k: by_column(COLUMNS, values) for k, values in rows.items()}


def _of_replicate(
    sources: Mapping[str, Source], parameters: Parameters, replicate: int, seed: int
) -> Callable[[Key], Run]:
    """Makes the runs of one replicate, whose logs and traces are kept."""

    @cache
    def log(source: str, load: float) -> Workload:
        return sources[source].log(replicate, load)

    @cache
    def trace(source: str, mtbf: float) -> FailureTrace | None:
        return sources[source].failures(replicate, mtbf) if mtbf else None

    def made(k: Key) -> Run:
        inputs = log(k.source, k.load), trace(k.source, k.mtbf)
        return run(*inputs, k, parameters, estimates=sources[k.source].estimates, seed=seed)

    return made
