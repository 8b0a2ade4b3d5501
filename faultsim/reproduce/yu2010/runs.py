"""The runs behind the figures of [yu2010]: how many workflows at a time, which scheduler, how accurate predictions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from faultsim.arrays import Floats
from faultsim.data.workflow import Workflow
from faultsim.machines.resources import Resources
from faultsim.policies import Blind, Fifo, Flaw, Perfect, Predictor, RankHybd, SharedOutputs, WorkflowScheduler
from faultsim.reproduce.yu2010.inputs import NODES, Record, Source, predicted, shares
from faultsim.simulation.workflow_run import WorkflowOptions, WorkflowRun
from faultsim.sweep.kinds import WORKFLOW_RUNS
from faultsim.sweep.run_list import RunList

#: Order of ready jobs while several workflows have some; the first is Yu and Shi's as others tell it, the second is the
#: only one that Figure 3 of [yu2010] shows.
READINGS = ("ascending", "descending")
#: Name -> the scheduler under a reading.
SCHEDULERS: dict[str, Callable[[Any], WorkflowScheduler]] = {
    "flaw": lambda reading: Flaw(across=reading),
    "fifo": lambda reading: Fifo(aware=True),
    "flaw, shared": lambda reading: Flaw(across=reading),
    "rank": lambda reading: RankHybd(across=reading),
    "plain fifo": lambda reading: Fifo(),
}
#: Seconds that a copy to shared storage takes in the runs beyond the paper.
COPY = 60.0
#: What the paper leaves open, read otherwise: name -> speeds of the nodes, order of transfers, factor on all times.
VARIANTS: dict[str, tuple[tuple[float, float], Literal["parallel", "in_turn"], float]] = {
    "transfers in turn": ((1.0, 1.0), "in_turn", 1.0),
    "speeds from .5 to 1.5": ((0.5, 1.5), "parallel", 1.0),
    "a unit of 20 minutes": ((1.0, 1.0), "parallel", 4.0),
}

#: Column -> what of a run.
COLUMNS = {
    "makespan": "mean_makespan",
    "end": "makespan",
    "loss": "loss_time",
    "reschedulings": "reschedulings",
    "aaa": "aaa_per_pass",
    "aaa_asked": "aaa_per_node",
    "aoa": "aoa",
}


class Key(NamedTuple):
    """What a set of runs has in common."""

    workload: str
    reading: str
    scheduler: str
    flows: int  # workflows at a time
    aoa: float  # NaN: no failures at all
    mix: bool = False  # whether the share of false positives takes given values instead of random ones
    nodes: int = NODES
    variant: str = ""
    redraw: int = 0  # with so much more than the study's seed


@dataclass(frozen=True)
class Plan:
    """What to run."""

    windows: int
    traces: int
    flows: tuple[int, ...]
    aoas: tuple[float, ...]
    mixes: int  # values of Fp / (Fp + Fn) from 0 to 1
    readings: tuple[str, ...] = READINGS
    mix_aoas: tuple[float, ...] = (0.5, 0.6)
    many: int = 10  # workflows at a time in Figures 9 and 14
    small: int = 16  # the smaller machine of L11
    variant_aoas: tuple[float, ...] = (0.0, 0.5, 0.9, 1.0)
    redraws: int = 0  # further seeds with which the claims are judged again

    def sets(self, workload: str) -> Iterator[Key]:
        """Every set of runs on a kind of workflows."""
        for reading in self.readings:
            for flows in self.flows:
                yield from (Key(workload, reading, "flaw", flows, aoa) for aoa in self.aoas)
            yield from (Key(workload, reading, "flaw", self.many, aoa, mix=True) for aoa in self.mix_aoas)
            for flows in {*self.flows, self.many}:
                yield Key(workload, reading, "rank", flows, np.nan)
            yield Key(workload, reading, "rank", self.many, np.nan, nodes=self.small)
        for aoa in self.aoas:
            yield Key(workload, READINGS[0], "fifo", self.many, aoa)
        yield from (Key(workload, READINGS[0], "flaw, shared", self.many, aoa) for aoa in (0.0, 0.5, 1.0))
        for variant in VARIANTS:
            for aoa in self.variant_aoas:
                yield Key(workload, READINGS[0], "flaw", self.many, aoa, variant=variant)
        if READINGS[1] not in self.readings:  # L11 compares with it
            for flows in {*self.flows, self.many}:
                yield Key(workload, READINGS[1], "rank", flows, np.nan)
        for flows in {*self.flows, self.many}:
            yield Key(workload, READINGS[0], "plain fifo", flows, np.nan)
        yield Key(workload, READINGS[0], "plain fifo", self.many, np.nan, nodes=self.small)

    def judged(self) -> list[Key]:
        """The sets of runs that decide the claims."""
        return [
            key
            for key in self.sets("bench")
            if not key.variant
            and key.scheduler != "flaw, shared"
            and (key.reading == READINGS[0] or key.aoa != key.aoa)
        ]

    def runs(self, key: Key) -> int:
        """Runs of a set in one window: one a prediction trace, one where there is nothing to draw."""
        if key.mix:
            return self.mixes
        return self.traces if 0 < key.aoa < 1 else 1

    @property
    def shares(self) -> Floats:
        """The shares of false positives in Figure 14."""
        return np.linspace(0, 1, self.mixes)


def plan(quick: bool) -> Plan:
    """The paper's plan, or the quick one."""
    if quick:
        return Plan(3, 2, (1, 10), (0.0, 0.5, 0.7, 0.9, 1.0), 4, readings=READINGS[:1])
    return Plan(10, 5, (1, 5, 10, 20), (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), 10, redraws=4)


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at."""

    record: Record
    sources: Mapping[str, Source]
    what: Plan
    tables: Mapping[Key, Mapping[str, Floats]]  # column -> values, shape (runs, windows)
    checks: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False
    seed: int = 0
    redraws: Sequence["Evidence"] = ()  # of the sets that decide the claims, with other seeds

    def view(self, workload: str, reading: str = READINGS[0]) -> "View":
        """The part of one kind of workflows under one reading."""
        return View(self, workload, reading)


@dataclass(frozen=True)
class View:
    """The runs on one kind of workflows under one reading of the order across them."""

    evidence: Evidence
    workload: str
    reading: str

    @property
    def what(self) -> Plan:
        """What was run."""
        return self.evidence.what

    def _table(self, key: Key, column: str) -> Floats:
        return self.evidence.tables[key][column]

    def __call__(self, column: str, flows: int, aoa: float, scheduler: str = "flaw", variant: str = "") -> Floats:
        """A column for each window: the mean over its prediction traces."""
        reading = self.reading if scheduler == "flaw" and not variant else READINGS[0]
        return _over_traces(self._table(Key(self.workload, reading, scheduler, flows, aoa, variant=variant), column))

    def along(self, column: str, flows: int) -> Floats:
        """A column over the accuracies, shape (accuracies, windows)."""
        return np.array([self(column, flows, aoa) for aoa in self.what.aoas])

    def mixed(self, column: str, aoa: float) -> Floats:
        """A column over the shares of false positives, shape (shares, windows)."""
        return self._table(Key(self.workload, self.reading, "flaw", self.what.many, aoa, mix=True), column)

    def calm(self, column: str, flows: int, scheduler: str, reading: str, nodes: int = NODES) -> Floats:
        """A column of the runs without failures, one value per window (the workflows differ)."""
        return _over_traces(self._table(Key(self.workload, reading, scheduler, flows, np.nan, nodes=nodes), column))


def _over_traces(values: Floats) -> Floats:
    means: Floats = values.mean(axis=0)
    return means


def run_list(
    draws: Sequence[tuple[Record, Mapping[str, Source]]], what: Plan, keys: Iterable[Key], seed: int
) -> RunList[Key]:
    """The runs of a plan on what was drawn with the study's seed, and with the next ones.

    A window's failures, predictions and workflows are the same for every scheduler, reading and number of workflows at
    a time, the first of which are also the first of a larger number.
    """

    @lru_cache(64)
    def flows(redraw: int, workload: str, window: int, count: int, factor: float) -> tuple[Workflow, ...]:
        chosen = draws[redraw][1][workload].groups[window][:count]
        if factor == 1.0:
            return tuple(chosen)
        return tuple(flow.with_cost_factor(factor).with_transfer_factor(factor) for flow in chosen)

    @lru_cache(64)
    def prediction(redraw: int, window: int, aoa: float, mix: bool, number: int) -> Predictor:
        if aoa in (0, 1):
            return Perfect() if aoa else Blind()
        share = (what.shares.tolist() if mix else shares(seed + redraw, window, what.traces))[number]
        number += 1000 * mix  # other draws than those of the random mixtures
        trace = draws[redraw][0].windows[window]
        return predicted(trace, aoa, share, seed=seed + redraw, window=window, number=number)

    def made(key: Key, number: int, window: int) -> WorkflowRun:
        speeds, transfers, factor = VARIANTS.get(key.variant, ((1.0, 1.0), "parallel", 1.0))
        options: WorkflowOptions = {"scheduler": SCHEDULERS[key.scheduler](key.reading)}
        if not np.isnan(key.aoa):
            options |= {
                "failures": draws[key.redraw][0].windows[window],
                "predictor": prediction(key.redraw, window, key.aoa, key.mix, number),
                "transfers": transfers,
                "outputs": SharedOutputs(COPY) if "shared" in key.scheduler else "node",
            }
        jobs = flows(key.redraw, key.workload, window, key.flows, factor)
        return WorkflowRun(jobs, Resources(speed=np.linspace(*speeds, key.nodes)), **options)

    return RunList(
        "yu2010",
        {key: {"draw": range(what.runs(key)), "replicate": range(what.windows)} for key in keys},
        made,
        COLUMNS,
        order=lambda key, number, window: (key.redraw, window),
        kind=WORKFLOW_RUNS,
    )
