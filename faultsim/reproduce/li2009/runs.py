"""The runs behind the figures of [li2009]: which methods, at which loads, MTBFs, precisions and recalls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from faultsim.arrays import Floats
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
from faultsim.reproduce.li2009.inputs import DAY, NODES, TRACE_LOADS, TRACE_MTBF, Drawn, Parameters, Source
from faultsim.simulation.options import Estimates, Options
from faultsim.simulation.run import Run
from faultsim.sweep.run_list import RunList

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

#: The baseline under other readings and parameters, which are our choices: name -> what differs.
VARIANTS: dict[str, Mapping[str, Any]] = {
    "as it is": {},
    "suspicious nodes used as any other": {"suspicious": "ignore"},
    "the same, recall .6": {"suspicious": "ignore", "recall": 0.6},
    "live migration": {"live": True},
    "a tick every 30 min": {"interval": 1800.0},
    "residual: difference": {"residual": "difference"},
    "MTTR 12 h": {"mttr": 12.0},
    "MTTR 9 h, run time 16,000 s, gap 446.4 s": {"mttr": 9.0, "runtime": 16_000.0, "gap": 446.4},
    "checkpoint and restart of 5 min": {"checkpoint_cost": 300.0, "restart_cost": 300.0},
    "printed run time of 1,500 s": {"runtime": 1_500.0},
}

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
    """One setting: its replicates are one entry of the evidence.

    An MTBF of 0 is a run without failures; without a variant the parameters are those of the baseline.
    """

    source: str
    load: float
    mtbf: float
    method: str
    precision: float
    recall: float
    variant: str = ""


def run(
    log: Workload, trace: FailureTrace | None, k: Key, parameters: Parameters, *, estimates: Estimates, seed: int
) -> Run:
    """One run: EASY on 512 nodes, jobs held until repair, Young's checkpoints, and what the method adds."""
    p = parameters
    options: Options = {"scheduler": EasyBackfill(), "estimates": estimates, "seed": seed}
    if trace is None:
        return Run(log, Cluster(NODES), **options)
    checkpointing: Checkpointing | None = Young(p.checkpoint_cost, f"{k.mtbf!r}d")
    if k.method != EASY:
        options["predictor"] = IntervalPredictor(k.precision, k.recall, p.interval)
        if k.method != "placement":
            options["rescheduling"] = Fars(
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
            options["placement"] = SafestFirst()
        if k.method == "both + checkpoints":
            # The interval that is best for the failures that are not predicted: sqrt(2 C M / (1 - recall))
            # ([aupy2014]); none is left where all are.
            checkpointing = Young(p.checkpoint_cost, f"{k.mtbf * DAY / (1 - k.recall)!r}s") if k.recall < 1 else None
    options |= {"failures": trace, "recovery": Hold(p.restart_cost), "checkpointing": checkpointing}
    return Run(log, Cluster(NODES), **options)


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
        for variant, words in VARIANTS.items():
            q = replace(p, **words)
            for method in (EASY, "SUL-D"):
                found[key("exp", q.load, q.mtbf, method, q.precision, q.recall)._replace(variant=variant)] = None
        return list(found)


def _pairs(values: Sequence[float]) -> Iterator[tuple[float, float]]:
    return ((a, b) for a in values for b in values)


def key(source: str, load: float, mtbf: float, method: str, precision: float = 0.0, recall: float = 0.0) -> Key:
    """The entry of a setting: without prediction, precision and recall do not matter.

    Examples
    --------
    >>> key("exp", 0.7, 56.0, EASY, 0.7, 0.45)
    Key(source='exp', load=0.7, mtbf=56.0, method='FCFS/EASY', precision=0.0, recall=0.0, variant='')
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

    def variant(self, name: str) -> dict[str, Mapping[str, Floats]]:
        """Method -> columns of the baseline under exponential failures, with what differs in a variant."""
        return {k.method: columns for k, columns in self.runs.items() if k.variant == name}


def run_list(sources: Mapping[str, Source], what: Plan, baseline: Parameters, seed: int) -> RunList[Key]:
    """The runs of a plan: one replicate after the other, in it one log and trace."""
    parameters = {"": baseline} | {name: replace(baseline, **words) for name, words in VARIANTS.items()}

    places: dict[tuple[str, str], Source] = {("", name): source for name, source in sources.items()}
    places |= {(name, "exp"): Drawn("", "exponential", parameters[name], seed) for name in VARIANTS}

    @lru_cache(4)
    def log(variant: str, source: str, load: float, replicate: int) -> Workload:
        return places[variant, source].log(replicate, load)

    @lru_cache(4)
    def trace(variant: str, source: str, mtbf: float, replicate: int) -> FailureTrace | None:
        return places[variant, source].failures(replicate, mtbf) if mtbf else None

    def made(k: Key, replicate: int) -> Run:
        place = k.variant, k.source
        inputs = log(*place, k.load, replicate), trace(*place, k.mtbf, replicate)
        # The predictions of a replicate are the same for all methods, and others in each replicate.
        seeded = 1000 * seed + replicate
        return run(*inputs, k, parameters[k.variant], estimates=places[place].estimates, seed=seeded)

    return RunList(
        "li2009",
        {k: {"replicate": range(what.replicates)} for k in what.settings(baseline)},
        made,
        {name: name for name in COLUMNS},
        order=lambda k, replicate: (replicate, k.variant, k.source, k.mtbf, k.load),
    )
