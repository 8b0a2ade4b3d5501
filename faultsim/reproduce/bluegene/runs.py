"""The runs of Oliner's schedulers against a real failure record: policies, loads, maps, and their metrics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faultsim.data.workload import Workload
from faultsim.reproduce.bluegene.inputs import MAPS, Jobs, Record, aligned, mapped
from faultsim.reproduce.oliner2004.runs import run
from faultsim.reproduce.study import by_column, counted, simulated
from faultsim.simulation.progress import Progress
from faultsim.simulation.run import Run

Floats = NDArray[np.float64]

#: Name -> (scheduler, confidence or accuracy).  Without prediction both schedulers are Krevat's.
POLICIES: dict[str, tuple[str, float]] = {
    "no prediction": ("balancing", 0.0),
    **{f"{name} {a:g}": (name, a) for name in ("balancing", "tie-breaking") for a in (0.1, 0.5, 1.0)},
}
CLEAN = "no failures"
LOADS = (0.5, 0.65, 0.8)
#: Policies that meet all messages, too, not only those of hardware.
WITH_ALL = ("no prediction", "balancing 0.1", "balancing 1", "tie-breaking 1")


class Key(NamedTuple):
    """One setting; its replicates are one entry of the evidence."""

    record: str
    log: str
    load: float
    map: str
    policy: str


COLUMNS: dict[str, Callable[[Any], float]] = {
    "slowdown": lambda r: r.metrics["mean_bounded_slowdown"],
    "response": lambda r: r.metrics["mean_response"],
    "utilized": lambda r: r.metrics["capacity_utilized"],
    "unused": lambda r: r.metrics["capacity_unused"],
    "lost": lambda r: r.metrics["capacity_lost"],
    "kills": lambda r: r.metrics["failures_hit"],
    "failed_jobs": lambda r: r.metrics["failed_jobs"],
    # Rolled-back work as a share of what the jobs need.
    "lost_work": lambda r: r.metrics["service_unit_loss"] / r.ledger["useful"],
    "events": lambda r: r.counters["events"],
}


@dataclass(frozen=True)
class Plan:
    """What to run; `days` cuts the record, for tests."""

    replicates: int = 10
    loads: Sequence[float] = LOADS
    policies: Sequence[str] = tuple(POLICIES)
    days: float | None = None

    def settings(self, records: Mapping[str, Record], logs: Mapping[str, Jobs]) -> list[Key]:
        """Every setting, once."""
        found = []
        for log in logs:
            for load in self.loads:
                found.append(Key("hardware", log, load, MAPS[0], CLEAN))
                found += [Key("hardware", log, load, m, p) for m in MAPS for p in self.policies]
            if "all" in records:
                middle = self.loads[len(self.loads) // 2]
                found += [Key("all", log, middle, MAPS[0], p) for p in WITH_ALL if p in self.policies]
        return found


def plan(quick: bool, replicates: int | None = None) -> Plan:
    """The full plan, or the quick one: two replicates, two loads, confidences .1 and 1."""
    if quick:
        few = [name for name in POLICIES if not name.endswith("0.5")]
        return Plan(replicates=replicates or 2, loads=(0.5, 0.8), policies=few)
    return Plan(replicates=replicates or 10)


@dataclass(frozen=True)
class Evidence:
    """All that the expectations look at: `runs` maps a setting to its columns, each an array over the replicates."""

    records: Mapping[str, Record]
    logs: Mapping[str, Jobs]
    runs: Mapping[Key, Mapping[str, Floats]]
    what: Plan
    quick: bool = False

    def values(
        self, column: str, log: str, load: float, policy: str, *, on: str = MAPS[0], record: str = "hardware"
    ) -> Floats:
        """Column of one setting, over the replicates."""
        return self.runs[Key(record, log, load, MAPS[0] if policy == CLEAN else on, policy)][column]


def collect(
    records: Mapping[str, Record],
    logs: Mapping[str, Jobs],
    what: Plan,
    *,
    seed: int,
    workers: int,
    progress: Progress | None = None,
) -> dict[Key, dict[str, Floats]]:
    """Run the plan on `workers` threads.

    Replicate r of R runs the jobs from r/R of the log on, so that other jobs meet the same failures.
    """
    span = records["hardware"].trace.span if what.days is None else what.days * 86_400.0
    traces = {(name, m, r): mapped(record, m, r, seed=seed) for name, record in records.items() for m in MAPS
              for r in range(what.replicates)}  # fmt: skip
    keys = what.settings(records, logs)
    tasks = sorted(((k, r) for k in keys for r in range(what.replicates)), key=lambda t: (t[0].log, t[0].load, t[1]))
    rows: dict[Key, list[list[float]]] = {k: [[] for _ in range(what.replicates)] for k in keys}

    @lru_cache(maxsize=4)  # tasks with the same jobs follow one another
    def jobs(log: str, load: float, r: int) -> Workload:
        return aligned(logs[log], r / what.replicates, span, load)

    def made(task: tuple[Key, int]) -> Run:
        k, r = task
        trace = None if k.policy == CLEAN else traces[k.record, k.map, r]
        return run(jobs(k.log, k.load, r), *POLICIES.get(k.policy, ("balancing", 0.0)), trace)

    step = counted(progress, len(tasks))
    for (k, r), result in simulated(tasks, made, batch=24 * workers, workers=workers, step=step):
        rows[k][r] = [float(column(result)) for column in COLUMNS.values()]
    return {k: by_column(COLUMNS, values) for k, values in rows.items()}
