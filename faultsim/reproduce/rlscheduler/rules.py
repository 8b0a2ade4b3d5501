"""RLScheduler's simulator as a caller of ours: it decides through `External`, and keeps to that program's rules.

They are not the textbook's:

- The first job of the sorted queue is *committed*: nothing that arrives later replaces it, and the queue is sorted by
  score again only when it has started. Of events at one time arrivals come first, one by one, then ends, one by one,
  and jobs may start after each.
- Backfilling: while the committed job does not fit, every job that fits and is expected to end strictly before the
  committed job's start is started at every event, in order of submit time. That start is computed once, when the
  committed job was found not to fit. A job that would end later does not start, even if it left enough nodes.
- The published code takes for the waiting time scheduled time - submit, where the scheduled time of a job that waits is
  still -1: that is -1 - submit, whatever the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from faultsim.arrays import Floats, Integers
from faultsim.data.workload import Workload
from faultsim.machines import Cluster
from faultsim.policies import External, QueueOrder
from faultsim.policies.orders import WaitingJobs
from faultsim.results.result import Result
from faultsim.simulation.execution import Execution, Stopped
from faultsim.simulation.options import EngineName
from faultsim.simulation.run import Run
from faultsim.simulation.stepping import Simulation


@dataclass(frozen=True)
class Columns:
    """What a score looks at; the waiting jobs of a `QueueOrder` have the same."""

    submit: Floats
    estimate: Floats
    size: Integers

    def __getitem__(self, rows: list[int]) -> "Columns":
        return Columns(self.submit[rows], self.estimate[rows], self.size[rows])


#: What the scores read: the columns of a log, or of the waiting jobs of a `QueueOrder`.
_Jobs = Columns | WaitingJobs


def columns(log: Workload) -> Columns:
    """Of a log; a missing estimate is the run time."""
    return Columns(log.submit, np.where(log.estimate < 0, log.runtime, log.estimate), log.size)


def _log10(values: Floats) -> Floats:
    found: Floats = np.log10(np.where(values == 0, 0.1, values))
    return found


def _f1(jobs: _Jobs, wait: Floats) -> Floats:
    found: Floats = _log10(jobs.estimate) * jobs.size + 870 * _log10(jobs.submit)
    return found


def _wfp3(jobs: _Jobs, wait: Floats) -> Floats:
    found: Floats = -((wait / jobs.estimate) ** 3) * jobs.size
    return found


def _unicef(jobs: _Jobs, wait: Floats) -> Floats:
    found: Floats = -(wait + 1e-15) / (np.log2(jobs.size + 1e-15) * jobs.estimate)
    return found


#: The heuristics of the published table (WFP3 and UNICEF of [tang2009], F1 of [carastan2017]), as its code has them:
#: jobs and their waiting times -> what they are sorted by, the smallest first.
SCORES: Mapping[str, Callable[[_Jobs, Floats], Floats]] = {
    "FCFS": lambda jobs, wait: jobs.submit,
    "WFP3": _wfp3,
    "UNICEF": _unicef,
    "SJF": lambda jobs, wait: jobs.estimate,
    "F1": _f1,
}
#: Those that look at the waiting time.
WAITING = ("WFP3", "UNICEF")


class Scored(QueueOrder):
    """A heuristic as a queue order, with the time that jobs have waited."""

    def __init__(self, policy: str) -> None:
        self.policy = policy

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """The score."""
        return SCORES[self.policy](queue, now - queue.submit)


class Caller:
    """Decides as RLScheduler's simulator does, with the published waiting time or the real one."""

    def __init__(self, log: Workload, nodes: int, policy: str, *, backfill: bool, real_wait: bool) -> None:
        self.jobs, self.runtime = columns(log), log.runtime
        self.policy, self.backfill, self.real_wait = policy, backfill, real_wait
        self.free = nodes
        self.waiting: list[int] = []  # as sorted last: equal scores keep their order
        self.running: dict[int, float] = {}  # row -> start
        self.arrived = 0
        self.committed: int | None = None
        self.expected = 0.0  # when the committed job is expected to start

    def decide(self, d: Any) -> None:
        """Go through what has happened since the last decision, event by event, and start jobs."""
        still = set(d.running)
        ended = [(start + self.runtime[job], job) for job, start in self.running.items() if job not in still]
        for end, job in ended:
            if end < d.now:  # nobody was waiting then
                self._end(job)
        for job in [job for job in d.queue if job >= self.arrived]:
            self.waiting.append(job)
            self.arrived = job + 1
            self._settle(d)
        for end, job in ended:
            if end >= d.now:
                self._end(job)
                self._settle(d)

    def _settle(self, d: Any) -> None:
        """Start all that the rules start before the next event."""
        size = self.jobs.size
        while self.waiting:
            if self.committed is None:
                self._sort(d.now)
                self.committed = self.waiting[0]
                self.expected = self._expected_start(self.committed, d.now)
            if size[self.committed] > self.free:
                if self.backfill:
                    self.waiting.sort(key=self.jobs.submit.__getitem__)
                    for job in list(self.waiting):
                        if size[job] <= self.free and d.now + self.jobs.estimate[job] < self.expected:
                            self._start(d, job)
                return
            self._start(d, self.committed)
            self.committed = None

    def _sort(self, now: float) -> None:
        jobs = self.jobs[self.waiting]
        score = SCORES[self.policy](jobs, (now if self.real_wait else -1) - jobs.submit)
        order = np.lexsort((jobs.submit, score)) if self.policy == "SJF" else np.argsort(score, kind="stable")
        self.waiting = [self.waiting[i] for i in order]

    def _expected_start(self, job: int, now: float) -> float:
        """When it fits if running jobs end by their estimates; now, if it fits."""
        free = self.free
        for end, other in sorted((start + self.jobs.estimate[other], other) for other, start in self.running.items()):
            if free >= self.jobs.size[job]:
                break
            free, now = free + self.jobs.size[other], end
        return now

    def _start(self, d: Any, job: int) -> None:
        d.start(job)
        self.free -= self.jobs.size[job]
        self.waiting.remove(job)
        self.running[job] = d.now

    def _end(self, job: int) -> None:
        del self.running[job]
        self.free += self.jobs.size[job]


@dataclass(frozen=True)
class Rules:
    """Its rules, with the published waiting time or the real one."""

    policy: str
    backfill: bool
    real_wait: bool = False


@dataclass(frozen=True)
class RuledRun(Run):
    """A run that may be under its rules, as a task of a sweep: ``scheduler=External()`` and `rules`, or neither."""

    rules: Rules | None = None

    def lower(self) -> dict[str, object]:
        """With the rules."""
        return super().lower() | {"rules": self.rules and vars(self.rules)}

    def begin(self, engine: EngineName = "core") -> "Execution | RuledExecution":
        """What makes it, in place of the usual `Execution`."""
        return Execution(self, engine) if self.rules is None else RuledExecution(self, self.rules, engine)


class RuledExecution:
    """One run under its rules: goes on like an `Execution`."""

    def __init__(self, run: Run, rules: Rules, engine: EngineName) -> None:
        self._simulation = Simulation(run.log, run.machine, scheduler=run.scheduler, engine=engine)
        self._caller = Caller(
            run.log, run.machine.nodes, rules.policy, backfill=rules.backfill, real_wait=rules.real_wait
        )

    def go_on(self, *, stop: Callable[[], bool] | None = None) -> None:
        """To the end, unless `stop` says otherwise."""
        while (decision := self._simulation.advance()) is not None:
            self._caller.decide(decision)
            if stop is not None and stop():
                raise Stopped

    def result(self) -> Result:
        """Once it is over."""
        return self._simulation.result()


def under_its_rules(
    log: Workload, nodes: int, policy: str, *, backfill: bool, real_wait: bool = False, engine: EngineName = "core"
) -> Result:
    """Run a log under RLScheduler's rules.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[1, 2, 3, 4], runtime=[10, 10, 5, 4], size=[2, 4, 2, 2], estimate=[10, 10, 8, 4])
    >>> under_its_rules(log, 4, "SJF", backfill=True).jobs["start"]  # the fourth; the third would end at 11
    array([ 1., 11., 21.,  4.])
    """
    run = RuledRun(log, Cluster(nodes), scheduler=External(), rules=Rules(policy, backfill, real_wait))
    execution = run.begin(engine)
    execution.go_on()
    return execution.result()
