"""The runs of the table: two logs, five heuristics, with and without backfilling, under three sets of rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from faultsim.machines import Cluster
from faultsim.policies import EasyBackfill, Fcfs
from faultsim.reproduce.data_files import JobLog
from faultsim.reproduce.rlscheduler.inputs import NODES, sequences
from faultsim.reproduce.rlscheduler.rules import SCORES, WAITING, Floats, Scored, under_its_rules
from faultsim.reproduce.study import by_column, counted, simulated
from faultsim.results.metrics import mean_bounded_slowdown
from faultsim.results.result import Result
from faultsim.simulation.progress import Progress
from faultsim.simulation.run import Run

#: Its rules; its rules with the time that jobs have waited; FCFS and EASY of model.md#queue, the queue sorted again in
#: every pass.
RULES = ("published", "waiting time", "textbook")


COLUMNS: dict[str, Callable[[Result], float]] = {
    "slowdown": mean_bounded_slowdown,
    "longest_wait": lambda result: float(result.jobs["wait"].max()),
}


class Key(NamedTuple):
    """One setting; its sequences are one entry of the evidence."""

    log: str
    backfill: bool
    policy: str
    rules: str


@dataclass(frozen=True)
class Plan:
    """What to run."""

    sequences: int = 10
    length: int = 1024

    @property
    def whole(self) -> bool:
        """Whether these are the published sequences."""
        return self == Plan()

    def settings(self) -> list[Key]:
        """Every setting, once."""
        return [
            Key(log, backfill, policy, rules)
            for log in NODES
            for backfill in (False, True)
            for policy in SCORES
            for rules in RULES
            if rules != "waiting time" or policy in WAITING
        ]


def plan(quick: bool) -> Plan:
    """The full plan, or the quick one: the first three sequences."""
    return Plan(sequences=3) if quick else Plan()


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at: `runs` maps a setting to its columns, each an array over the sequences."""

    logs: Mapping[str, JobLog]
    runs: Mapping[Key, Mapping[str, Floats]]
    what: Plan
    quick: bool = False

    def mean(self, log: str, backfill: bool, policy: str, rules: str, column: str = "slowdown") -> float:
        """Mean over the sequences."""
        if rules == "waiting time" and policy not in WAITING:
            rules = "published"
        return float(self.runs[Key(log, backfill, policy, rules)][column].mean())

    def comparable(self, log: str) -> bool:
        """Whether a number can be held against a published one: the real log, all sequences."""
        return self.logs[log].real and self.what.whole


def collect(
    logs: Mapping[str, JobLog], what: Plan, *, workers: int, progress: Progress | None = None
) -> dict[Key, dict[str, Floats]]:
    """Run the plan: textbook rules on `workers` threads, the others, which Python decides, one after the other."""
    parts = {name: sequences(source.log, what.sequences, what.length) for name, source in logs.items()}
    keys = what.settings()
    step = counted(progress, len(keys) * what.sequences)
    rows: dict[Key, list[list[float]]] = {key: [] for key in keys}

    def keep(key: Key, result: Result) -> None:
        rows[key].append([column(result) for column in COLUMNS.values()])

    for key in keys:
        if key.rules != "textbook":
            real_wait = key.rules == "waiting time"
            for part in parts[key.log]:
                nodes = NODES[key.log]
                keep(key, under_its_rules(part, nodes, key.policy, backfill=key.backfill, real_wait=real_wait))
            step(what.sequences)
    tasks = [(key, part) for key in keys if key.rules == "textbook" for part in range(what.sequences)]

    def made(task: tuple[Key, int]) -> Run:
        key, part = task
        scheduler = (EasyBackfill if key.backfill else Fcfs)(order=Scored(key.policy))
        return Run(parts[key.log][part], Cluster(NODES[key.log]), scheduler=scheduler)

    for (key, _), result in simulated(tasks, made, batch=24 * workers, workers=workers, step=step):
        keep(key, result)
    return {key: by_column(COLUMNS, values) for key, values in rows.items()}
