"""The runs of Oliner's schedulers against a real failure record: policies, loads, maps, and their metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from faultsim.arrays import Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.reproduce.bluegene.inputs import MAPS, Jobs, Record, aligned, mapped
from faultsim.reproduce.oliner2004.runs import run
from faultsim.results.result import Result
from faultsim.simulation.run import Run
from faultsim.sweep.run_list import Columns, RunList

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


def lost_work(result: Result) -> float:
    """Rolled-back work as a share of what the jobs need."""
    return result.metrics["service_unit_loss"] / result.ledger["useful"]


#: Column -> what of a run.
COLUMNS: Columns = {
    "slowdown": "mean_bounded_slowdown",
    "response": "mean_response",
    "utilized": "capacity_utilized",
    "unused": "capacity_unused",
    "lost": "capacity_lost",
    "kills": "failures_hit",
    "failed_jobs": "failed_jobs",
    "lost_work": lost_work,
    "events": "events",
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


def run_list(records: Mapping[str, Record], logs: Mapping[str, Jobs], what: Plan, seed: int) -> RunList[Key]:
    """The runs of a plan.

    Replicate r of R runs the jobs from r/R of the log on, so that other jobs meet the same failures.
    """
    span = records["hardware"].trace.span if what.days is None else what.days * 86_400.0

    @lru_cache(maxsize=4)  # runs with the same jobs follow one another
    def jobs(log: str, load: float, r: int) -> Workload:
        return aligned(logs[log], r / what.replicates, span, load)

    @cache
    def trace(record: str, on: str, r: int) -> FailureTrace:
        return mapped(records[record], on, r, seed=seed)

    def made(k: Key, r: int) -> Run:
        failures = None if k.policy == CLEAN else trace(k.record, k.map, r)
        return run(jobs(k.log, k.load, r), *POLICIES.get(k.policy, ("balancing", 0.0)), failures)

    within = {"replicate": range(what.replicates)}
    settings = dict.fromkeys(what.settings(records, logs), within)
    return RunList("bluegene", settings, made, COLUMNS, order=lambda k, r: (k.log, k.load, r))
