"""Checkpoints: those that a job plans and those that are asked for (model.md#checkpoints)."""

import math
from typing import Any

from faultsim.reference.job import Job, close_stretch, set_out, where
from faultsim.reference.state import CHECKPOINT, State

__all__ = ["PLANNED", "REQUESTED", "alarm", "alarms_come_first", "ask", "interval_of", "next_request"]

PLANNED = ("periodic", "young", "daly", "max_availability")
REQUESTED = ("before_failure", "predicted_windows", "risk_based")


def interval_of(rule: dict[str, Any] | None, size: int) -> float:
    """W of a policy that plans its checkpoints (model.md#planned); 0 when nothing is planned."""
    if rule is None or rule["name"] not in PLANNED:
        return 0.0
    if rule["name"] == "periodic":
        return float(rule["interval"])
    cost, mtbf = float(rule["cost"]), float(rule["mtbf"])
    if rule["name"] == "young":
        return math.sqrt(((2.0 * cost) * mtbf) / size)
    m = mtbf / size
    if rule["name"] == "max_availability":
        return math.sqrt(((2.0 * (m + float(rule["repair"]))) * cost) + cost * cost)
    if cost >= 2.0 * m:
        return m
    x = cost / (2.0 * m)
    return (math.sqrt((2.0 * cost) * m) * ((1.0 + math.sqrt(x) / 3.0) + x / 9.0)) - cost


# -- requested ones


def may_begin(state: State, job: Job, cost: float) -> bool:
    """model.md#requested: "A request at t is granted if the job works (t >= t0, and not in a pause of `Defragment`), is
    not held, has work that is not safe (t > t0) and runtime - progress > C".
    """
    if job.held or state.now < job.pause_until:
        return False
    here = where(job, state.now)
    return here.phase == "work" and state.now > job.t0 and job.runtime - here.progress > cost


def take(state: State, job: Job, cost: float) -> None:
    """ "Then a lead phase of C seconds begins; at its end, t0' = t + C, that progress is safe [...]. A kill before t0'
    loses the work since the old safe point; with C = 0 it is safe at once."
    """
    state.write(CHECKPOINT, job)
    state.checkpoints += 1
    here = close_stretch(job, state.now)
    set_out(job, "checkpoint", state.now, state.now + cost, here.safe, here.progress, here.unsaved)
    state.disturb()  # "The scheduler does not foresee *requested* checkpoints."


def alarms_come_first(state: State) -> bool:
    """ "`BeforeFailure` with cost 0 [...]: its requests at an instant are handled right before the failures"."""
    rule = state.settings["checkpointing"]
    return bool(rule["name"] == "before_failure" and rule["cost"] == 0)


def alarm(state: State, node: int) -> None:
    """A request from outside: to the job that holds the node; node -1: to victims among all jobs."""
    rule = state.settings["checkpointing"]
    cost = float(rule["cost"])
    asked = [job for job in state.running if job.has(node)] if node >= 0 else victims(state, rule["victims"])
    for job in sorted(asked, key=lambda job: job.index):
        if may_begin(state, job, cost):
            take(state, job, cost)


def victims(state: State, rule: dict[str, Any]) -> list[Job]:
    """model.md#predicted-windows: "`AllJobs`; `LongJobs(s)`, those with now - start >= s [...]; `BigJobs(k)`, the k of
    largest requested size, ties to the lower index."
    """
    running = [job for job in state.running if not job.held]
    if rule["name"] == "all":
        return running
    if rule["name"] == "long":
        return [job for job in running if state.now - job.start >= rule["seconds"]]
    return sorted(running, key=lambda job: (-job.size, job.index))[: rule["k"]]


# -- requested by the job itself: risk-based


def next_request(state: State, job: Job) -> float:
    """When the job asks next: "at t0 + i W, [...] of each stretch of work" (model.md#risk-based); inf when it has
    finished by then, is held, or another policy rules.
    """
    rule = state.settings["checkpointing"]
    if rule is None or rule["name"] != "risk_based" or job.held:
        return math.inf
    t = job.t0 + (job.asked + 1) * float(rule["interval"])
    return t if t < job.finish else math.inf


def ask(state: State, job: Job) -> None:
    """ "granted only if also (P i) W >= C, where P = 1 - (1 - p)^k by k multiplications and k is the number of its
    nodes with a prediction in the window from t to t + (W + C)."
    """
    rule = state.settings["checkpointing"]
    interval, cost = float(rule["interval"]), float(rule["cost"])
    job.asked += 1
    k = sum(job.has(node) for node in state.world.failing(state.now, state.now + (interval + cost)))
    if may_begin(state, job, cost) and (state.world.probability(k) * job.asked) * interval >= cost:
        take(state, job, cost)
