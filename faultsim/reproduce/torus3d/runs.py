"""The runs: lists of shapes, scores and sizes without a shape, each varied alone on the same windows of jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from faultsim.arrays import Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines.torus import Torus
from faultsim.policies import (
    Backfill,
    Balancing,
    Confidence,
    Defragment,
    EasyBackfill,
    Fcfs,
    MaxFreePartition,
    Placement,
    Scheduler,
    SlurmTorus,
)
from faultsim.policies.shapes import shapes_of
from faultsim.reproduce.torus3d.inputs import Jobs, failures, window
from faultsim.results.result import Result
from faultsim.simulation.run import Run
from faultsim.sweep.run_list import Columns, RunList

Three = tuple[int, int, int]
MACHINES: dict[str, Three] = {"4x4x8": (4, 4, 8), "8x8x8": (8, 8, 8), "8x8x16": (8, 8, 16), "16x16x16": (16, 16, 16)}
LOADS = (0.5, 0.65, 0.8, 0.95)
#: The load of all comparisons but that of loads.
USUAL = 0.8
SCORES = ("slurm", "first", "mfp", "random")
#: Scores with a predictor -> the same without one.
FORESEEING = {"tie-breaking": "slurm", "balancing": "mfp"}
#: What becomes of sizes without a shape, and what figures and tables call it.
UNLISTED = {"round_up": "rounded up", "segments": "segments", "refuse": "refused"}
#: Lists of shapes, from the shortest to the longest.
LISTS = ("powers", "one per size", "rotations", "every box", "every box, every node")
REVERSED = "rotations, reversed"
#: Two tori of half the extent along the longest axis, and what is run on them.
TWO_TORI = "two tori"
ON_TWO_TORI = (("powers", "segments"), ("powers", "round_up"), ("one per size", "round_up"), ("rotations", "round_up"))
#: MaxFreePartition: every box at every node, and a larger one if none of the size is free.
KREVAT = "krevat"
FAILURES = ("none", "single 1 h", "single 24 h", "burst 1 h", "burst 24 h")
#: Lists of every box are made on machines of at most so many nodes.
MOST_FOR_EVERY_BOX = 1024
_SCHEDULERS: dict[str, Scheduler] = {
    "fcfs": Fcfs(),
    "easy": EasyBackfill(reservation="fixed"),
    "backfill": Backfill(depth=10, reservation="fixed"),
}


class Key(NamedTuple):
    """One setting; its windows are one entry of the evidence."""

    log: str
    machine: str
    load: float
    scheduler: str
    shapes: str
    score: str = "slurm"
    unlisted: str = "round_up"
    failures: str = "none"
    extra: str = ""


def _rotations(dims: Three) -> list[str]:
    """One shape of each size in all its rotations that fit."""
    found: list[str] = []
    for shape in shapes_of("one-per-size", "", "", dims):
        a, b, c = shape.extents
        turned = dict.fromkeys([(a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)])
        found += [f"{x}x{y}x{z}" for x, y, z in turned if x <= dims[0] and y <= dims[1] and z <= dims[2]]
    return found


def tori_of(key: Key) -> tuple[int, Three]:
    """How many tori the machine of a setting has, and the extents of each."""
    x, y, z = MACHINES[key.machine]
    return (2, (x, y, z // 2)) if key.extra == TWO_TORI else (1, (x, y, z))


def placement(key: Key) -> Placement:
    """The placement of a setting."""
    if key.shapes == KREVAT:
        return Balancing() if key.extra == "predictor" else MaxFreePartition()
    tori, dims = tori_of(key)
    rest = {"score": key.score, "unlisted": key.unlisted, "larger": key.extra == "larger", "tori": tori}
    made: dict[str, dict[str, str]] = {
        "powers": {"shapes": "powers-of-two"},
        "one per size": {"shapes": "one-per-size"},
        "rotations": {"shapes": "+".join(_rotations(dims))},
        REVERSED: {"shapes": "+".join(reversed(_rotations(dims)))},
        "every box": {"shapes": "every-box"},
        "every box, every node": {"shapes": "every-box", "spacing": "1x1x1"},
    }
    return SlurmTorus(**made[key.shapes], **rest)  # type: ignore[arg-type]


# -- what is kept of a run


def _slowdown(result: Result, low: float, high: float) -> float:
    """Geometric mean of the bounded slowdown of jobs of more than `low` to `high` of the machine."""
    share = result.jobs["size"] / result.capacity
    chosen = result.jobs["bounded_slowdown"][(share > low) & (share <= high)]
    return float(np.exp(np.log(chosen).mean())) if len(chosen) else float("nan")


def slowdown(result: Result) -> float:
    """Geometric mean of the bounded slowdown of all jobs."""
    return _slowdown(result, 0.0, 1.0)


def slowdown_small(result: Result) -> float:
    """Of jobs of at most 1/16 of the machine."""
    return _slowdown(result, 0.0, 1 / 16)


def slowdown_middle(result: Result) -> float:
    """Of jobs of more than 1/16 to 1/4 of the machine."""
    return _slowdown(result, 1 / 16, 1 / 4)


def slowdown_large(result: Result) -> float:
    """Of jobs of more than 1/4 of the machine."""
    return _slowdown(result, 1 / 4, 1.0)


def saturation(result: Result) -> float:
    """Asked node-seconds per node-second until the last start: the utilization while jobs wait."""
    jobs = result.jobs
    begin, end = float(jobs["submit"].min()), float(jobs["start"].max())
    if end <= begin:
        return float("nan")
    busy = np.minimum(jobs["finish"], end) - np.maximum(jobs["start"], begin)
    return float((jobs["size"] * busy).sum() / (result.capacity * (end - begin)))


def waits_beside_free(result: Result) -> float:
    """Share of the passes with waiting jobs in which the first of them asks for no more nodes than are free."""
    jobs = result.jobs
    start, finish, submit, size = jobs["start"], jobs["finish"], jobs["submit"], jobs["size"]
    times = np.unique(np.concatenate([submit, finish]))
    taken = np.zeros(len(times))
    np.add.at(taken, np.minimum(np.searchsorted(times, start), len(times) - 1), jobs["allocated"])
    np.add.at(taken, np.searchsorted(times, finish), -jobs["allocated"])
    free = result.capacity - np.cumsum(taken)
    waiting = beside = first = 0
    for now, nodes in zip(times.tolist(), free.tolist(), strict=True):
        while first < len(start) and start[first] <= now:
            first += 1
        if first < len(start) and submit[first] <= now:
            waiting += 1
            beside += size[first] <= nodes
    return beside / waiting if waiting else float("nan")


def refused(result: Result) -> float:
    """Share of jobs without a shape of their size."""
    left_out = sum(result.dropped.values())
    return left_out / (left_out + len(result))


#: Column -> what of a run.
COLUMNS: Columns = {
    "slowdown": slowdown,
    "small": slowdown_small,
    "middle": slowdown_middle,
    "large": slowdown_large,
    "saturation": saturation,
    "lost": "capacity_lost",
    "beside": waits_beside_free,
    "refused": refused,
    "kills": "failed_jobs",
}


@dataclass(frozen=True)
class Plan:
    """What to run: windows of a log, jobs of a window, machines, logs, loads, failures."""

    replicates: int = 12
    jobs: int = 1000
    machines: Sequence[str] = tuple(MACHINES)
    logs: Sequence[str] = ("sdsc", "mira", "curie")
    loads: Sequence[float] = LOADS
    failures: Sequence[str] = FAILURES

    @property
    def parted(self) -> str:
        """The machine that is compared with two tori."""
        return self.machines[min(2, len(self.machines) - 1)]

    def lists(self, machine: str) -> list[str]:
        """The lists of shapes that are made on a machine."""
        few = int(np.prod(MACHINES[machine])) > MOST_FOR_EVERY_BOX
        return [name for name in LISTS if not (few and name.startswith("every"))]

    def settings(self) -> list[Key]:
        """Every setting, once."""
        found: list[Key] = []
        for log in self.logs:
            for machine in self.machines:
                for at, scheduler in ((0.0, "fcfs"), (USUAL, "easy")):
                    base = Key(log, machine, at, scheduler, "")
                    found += self._comparison(base)
                    if machine == self.parted:
                        split = base._replace(extra=TWO_TORI)
                        found += [split._replace(shapes=name, unlisted=word) for name, word in ON_TWO_TORI]
            machine = self.machines[min(1, len(self.machines) - 1)]
            shown = [*self.lists(machine), KREVAT]
            easy = Key(log, machine, USUAL, "easy", "")
            found += [easy._replace(load=at, shapes=name) for at in self.loads for name in shown]
            found += [easy._replace(scheduler="backfill", shapes=name) for name in shown]
            found += [easy._replace(failures=kind, shapes=name) for kind in self.failures for name in shown]
            bursts = easy._replace(failures=self.failures[-1])
            found.append(bursts._replace(shapes=KREVAT, extra="predictor"))
            for name in self.lists(machine):
                found.append(bursts._replace(shapes=name, score="mfp"))
                found += [bursts._replace(shapes=name, score=score, extra="predictor") for score in FORESEEING]
        return list(dict.fromkeys(found))

    def _comparison(self, base: Key) -> list[Key]:
        lists = self.lists(base.machine)
        found = [base._replace(shapes=name) for name in (*lists, REVERSED, KREVAT)]
        scored = [name for name in ("one per size", "rotations", "every box, every node") if name in lists]
        found += [base._replace(shapes=name, score=score) for name in scored for score in SCORES]
        found += [base._replace(shapes="rotations", score="next-size")]
        if base.log != "curie":  # of its sizes, scaled, windows may have none with a shape
            found += [base._replace(shapes=name, unlisted="refuse") for name in ("powers", "one per size")]
        found += [base._replace(shapes=name, unlisted="segments") for name in ("powers", "one per size")]
        found += [base._replace(shapes=name, extra="migration") for name in ("one per size", KREVAT)]
        found += [base._replace(shapes=name, extra="larger") for name in ("powers", "one per size")]
        return found


def plan(quick: bool, replicates: int | None = None) -> Plan:
    """The full plan, or the quick one: three windows of 300 jobs, one machine, two logs, two loads."""
    if quick:
        return Plan(replicates or 3, 300, ("4x4x8",), ("sdsc", "mira"), (0.5, USUAL), ("none", "burst 24 h"))
    return Plan(replicates=replicates or 12)


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at: `runs` maps a setting to its columns, each an array over the windows."""

    logs: Mapping[str, Jobs]
    runs: Mapping[Key, Mapping[str, Floats]]
    what: Plan
    quick: bool = False

    def values(self, column: str, key: Key) -> Floats:
        """Column of one setting, over the windows."""
        return self.runs[key][column]

    @property
    def cases(self) -> list[tuple[str, str]]:
        """Log and machine of each comparison."""
        return [(log, machine) for log in self.what.logs for machine in self.what.machines]

    @property
    def failing(self) -> str:
        """The machine of the runs with failures and other loads."""
        return self.what.machines[min(1, len(self.what.machines) - 1)]

    def at(self, log: str, machine: str) -> str:
        """A case in words."""
        return f"{self.logs[log].label} {machine}"


def run_list(logs: Mapping[str, Jobs], what: Plan, seed: int) -> RunList[Key]:
    """The runs of a plan: window r of R begins at r/R of the log."""

    @cache
    def jobs(log: str, machine: str, offered: float, r: int) -> Workload:
        nodes = int(np.prod(MACHINES[machine]))
        return window(logs[log], r / what.replicates, what.jobs, nodes, offered)

    @cache
    def trace(log: str, machine: str, offered: float, kind: str, r: int) -> FailureTrace | None:
        part = jobs(log, machine, offered, r)
        return failures(kind, int(np.prod(MACHINES[machine])), 2.0 * float(part.submit[-1]), r, seed)

    def made(k: Key, r: int) -> Run:
        tori, (x, y, z) = tori_of(k)
        return Run(
            jobs(k.log, k.machine, k.load, r),
            Torus(tori * x, y, z),
            scheduler=_SCHEDULERS[k.scheduler],
            placement=placement(k),
            migration=Defragment() if k.extra == "migration" else None,
            failures=trace(k.log, k.machine, k.load, k.failures, r),
            predictor=Confidence(0.5) if k.extra == "predictor" else None,
            seed=seed,
            oversized="drop",
        )

    settings = {key: {"replicate": range(what.replicates)} for key in what.settings()}
    return RunList("torus3d", settings, made, COLUMNS, order=lambda k, r: (k.log, k.machine, k.load, r))
