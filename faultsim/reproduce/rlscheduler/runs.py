"""The runs of the table: two logs, five heuristics, with and without backfilling, under three sets of rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from faultsim.arrays import Floats
from faultsim.machines import Cluster
from faultsim.policies import EasyBackfill, External, Fcfs
from faultsim.reproduce.data_files import JobLog
from faultsim.reproduce.rlscheduler.inputs import NODES, sequences
from faultsim.reproduce.rlscheduler.rules import SCORES, WAITING, RuledRun, Rules, Scored
from faultsim.results.result import Result
from faultsim.sweep.run_list import Columns, RunList

#: Its rules; its rules with the time that jobs have waited; FCFS and EASY of model.md#queue, the queue sorted again in
#: every pass.
RULES = ("published", "waiting time", "textbook")


def longest_wait(result: Result) -> float:
    """Of a job, in seconds."""
    return float(result.jobs["wait"].max())


#: Column -> what of a run.
COLUMNS: Columns = {"slowdown": "mean_bounded_slowdown", "longest_wait": longest_wait}


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


def run_list(logs: Mapping[str, JobLog], what: Plan) -> RunList[Key]:
    """The runs of a plan."""
    parts = {name: sequences(source.log, what.sequences, what.length) for name, source in logs.items()}

    def made(key: Key, sequence: int) -> RuledRun:
        log, machine = parts[key.log][sequence], Cluster(NODES[key.log])
        if key.rules == "textbook":
            return RuledRun(log, machine, scheduler=(EasyBackfill if key.backfill else Fcfs)(order=Scored(key.policy)))
        rules = Rules(key.policy, key.backfill, real_wait=key.rules == "waiting time")
        return RuledRun(log, machine, scheduler=External(), rules=rules)

    within = {"replicate": range(what.sequences)}
    return RunList("rlscheduler", dict.fromkeys(what.settings(), within), made, COLUMNS)
