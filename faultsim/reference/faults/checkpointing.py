"""Checkpoints: those that a job plans and those that are asked for (model.md#checkpoints)."""

import math
from collections.abc import Generator

from faultsim.data.lowered import Lowered
from faultsim.reference.job import Job, close_stretch, set_out, where
from faultsim.reference.state import CHECKPOINT, State

# -- the policies


class NoCheckpoint:
    """Jobs save nothing."""

    #: Whether requests come from outside, and whether those of an instant come before its failures.
    takes_alarms = False
    alarms_come_first = False

    def __init__(self, rule: Lowered) -> None:
        self.rule = rule

    def interval_of(self, size: int) -> float:
        """W of a policy that plans its checkpoints (model.md#planned); 0 when nothing is planned."""
        return 0.0

    def next_request(self, job: Job) -> float:
        """When the job asks next; inf when it does not."""
        return math.inf

    def skip_requests(self, job: Job) -> None:
        """What the job would ask for before the end of its pause is left out."""

    def asked_by(self, state: State, node: int) -> list[Job]:
        """Who is asked by a request from outside for the job that holds the node, or, with -1, for victims."""
        return [job for job in state.running if job.has(node)]


class Written(NoCheckpoint):
    """Planned by a method in Python, before the run: `faultsim.reference.engine` has the intervals."""


class Periodic(NoCheckpoint):
    def interval_of(self, size: int) -> float:
        return float(self.rule["interval"])


class Young(NoCheckpoint):
    def interval_of(self, size: int) -> float:
        return math.sqrt(((2.0 * self.rule["cost"]) * self.rule["mtbf"]) / size)


class Daly(NoCheckpoint):
    def interval_of(self, size: int) -> float:
        cost, m = self.rule["cost"], self.rule["mtbf"] / size
        if cost >= 2.0 * m:
            return float(m)
        x = cost / (2.0 * m)
        return float((math.sqrt((2.0 * cost) * m) * ((1.0 + math.sqrt(x) / 3.0) + x / 9.0)) - cost)


class MaxAvailability(NoCheckpoint):
    def interval_of(self, size: int) -> float:
        cost, m = self.rule["cost"], self.rule["mtbf"] / size
        return math.sqrt(((2.0 * (m + self.rule["downtime"])) * cost) + cost * cost)


class BeforeFailure(NoCheckpoint):
    takes_alarms = True

    def __init__(self, rule: Lowered) -> None:
        super().__init__(rule)
        # `BeforeFailure` with cost 0 [...]: its requests at an instant are handled right before the failures".
        self.alarms_come_first = rule["cost"] == 0


class PredictedWindows(NoCheckpoint):
    takes_alarms = True

    def asked_by(self, state: State, node: int) -> list[Job]:
        return super().asked_by(state, node) if node >= 0 else victims(state, self.rule["victims"])


class RiskBased(NoCheckpoint):
    def next_request(self, job: Job) -> float:
        """When the job asks next: "at t0 + i W, [...] of each stretch of work" (model.md#risk-based); inf when it has
        finished by then, is held, or another policy rules.
        """
        if job.held:
            return math.inf
        t = job.t0 + (job.asked + 1) * float(self.rule["interval"])
        return job.will_be(t, job.as_of) if t < job.ends else math.inf

    def skip_requests(self, job: Job) -> None:
        """ "requests of `RiskBased` at t0 + i W that are before the end of the pause are skipped"."""
        while job.t0 + (job.asked + 1) * float(self.rule["interval"]) < job.pause_until:
            job.asked += 1


class Asked(RiskBased):
    """Jobs ask themselves as with `RiskBased`; a method in Python answers."""


# -- requested ones


def may_begin(state: State, job: Job, cost: float) -> bool:
    """model.md#requested: "A request at t is granted if the job works (t >= t0, and not in a pause of `Defragment`), is
    not held, has work that is not safe (t > t0) and runtime - progress > C".
    """
    if job.held or job.own(state.now) < job.pause_until:
        return False
    here = where(job, state.now)
    return here.phase == "work" and here.unsaved > 0.0 and job.runtime - here.progress > cost


def take(state: State, job: Job, cost: float) -> None:
    """ "Then a lead phase of C seconds begins; at its end, t0' = t + C, that progress is safe [...]. A kill before t0'
    loses the work since the old safe point; with C = 0 it is safe at once."
    """
    state.write(CHECKPOINT, job)
    state.checkpoints += 1
    here, begin = close_stretch(job, state.now), job.own(state.now)
    set_out(
        job,
        "checkpoint",
        begin,
        begin + cost,
        here.safe,
        here.progress,
        here.unsaved,
        since=here.since,
        now=state.now,
        saves=True,
    )
    state.disturb()  # "The scheduler does not foresee *requested* checkpoints."


def alarm(state: State, node: int) -> Generator[str, None, None]:
    """A request from outside: to the job that holds the node; node -1: to victims among all jobs."""
    rule = state.rules["checkpointing"]
    cost = float(rule.rule["cost"])
    for job in sorted(rule.asked_by(state, node), key=lambda job: job.index):
        if may_begin(state, job, cost) and (yield from grants(state, job, by_rule=True)):
            take(state, job, cost)


def grants(state: State, job: Job, *, by_rule: bool) -> Generator[str, None, bool]:
    """Whether a job that can save does: the policy says so, unless somebody outside is asked, who may have begun it."""
    if "object" in state.settings.policy("checkpointing") or "checkpoint" in state.settings.scheduler.get("at", ()):
        granted = yield from state.ask("checkpoint", job, asked=job.asked)
        return bool(granted) and not state.acted
    return by_rule


def victims(state: State, rule: dict[str, object]) -> list[Job]:
    """model.md#predicted-windows: "`AllJobs`; `LongJobs(s)`, those with now - start >= s [...]; `BigJobs(count)`, the
    `count` of largest requested size, ties to the lower index."
    """
    running = [job for job in state.running if not job.held]
    chosen: list[Job] = state.rules["victims"](state, running, rule)
    return chosen


def all_jobs(state: State, running: list[Job], rule: dict[str, object]) -> list[Job]:
    return running


def long_jobs(state: State, running: list[Job], rule: Lowered) -> list[Job]:
    return [job for job in running if state.now - job.start >= rule["seconds"]]


def big_jobs(state: State, running: list[Job], rule: Lowered) -> list[Job]:
    return sorted(running, key=lambda job: (-job.size, job.index))[: rule["count"]]


# -- requested by the job itself: risk-based


def ask(state: State, job: Job) -> Generator[str, None, None]:
    """ "granted only if also (P i) W >= C, where P = 1 - (1 - p)^k by k multiplications and k is the number of its
    nodes with a prediction in the window from t to t + (W + C)."
    """
    rule = state.settings.policy("checkpointing")
    interval, cost = float(rule["interval"]), float(rule["cost"])
    job.asked += 1
    k = sum(job.has(node) for node in state.world.failing(state.now, state.now + (interval + cost)))
    is_worth_it = (state.world.probability(k) * job.asked) * interval >= cost
    if may_begin(state, job, cost) and (yield from grants(state, job, by_rule=is_worth_it)):
        take(state, job, cost)
