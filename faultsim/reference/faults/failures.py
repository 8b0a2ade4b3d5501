"""Failures, repairs and what becomes of the job that is hit (model.md#failures)."""

import math
from bisect import insort
from collections.abc import Generator
from functools import reduce

from faultsim.errors import EngineError
from faultsim.reference.capacity import Amounts
from faultsim.reference.job import Job, close_stretch, duration, set_out, unpause
from faultsim.reference.state import (
    CONTINUED,
    FAILURE,
    FINISH,
    HELD,
    PART_DOWN,
    PART_FAILED,
    PART_UP,
    REPAIR,
    REQUEUED,
    LostPart,
    State,
)


def before_the_first_submit(state: State) -> int:
    """model.md#early-failures: "they count for `LeastFailuresFirst`, and take their node down if it is not up again by
    then [...], but appear in no record and no count."

    Returns how many there are.
    """
    early = [row for row in state.world.failures if row[0] < state.now]
    up: dict[int, float] = {}
    parts: list[LostPart] = []
    for time, node, downtime, part, _ in early:
        state.failures_of[node] += 1
        if part is None:
            up[node] = max(up.get(node, -math.inf), time + downtime)
            continue
        down = [lost.amounts for lost in parts if lost.node == node and lost.until > time]
        there = reduce(lambda left, other: left.plus(other, -1), down, state.site.amounts[node])
        parts.append(LostPart(node, Amounts(*map(min, part, there)), time + downtime))
    for node, until in up.items():
        if until > state.now:
            state.take_down(node, until)
    for lost in parts:
        if lost.until > state.now and any(lost.amounts):
            state.lose(lost)
    return len(early)


def fail(
    state: State, node: int, downtime: float, part: Amounts | None = None, unit: float = 0.0
) -> Generator[str, None, bool]:
    """FAILURE of a node, or of a part of it, now; whether it had an effect.

    "A failure has an effect if it kills, takes a node down, makes an up time later, or takes a node from a job with hot
    spares." (model.md#effect)
    """
    state.failures_of[node] += 1
    state.failures += 1
    if part is not None:
        return fail_part(state, node, downtime, part, unit)
    if state.shares:
        return (yield from fail_shared(state, node, downtime))
    job = state.holder(node)
    killed = job if job is not None and not job.held else None
    if killed is not None:
        yield from state.ask("failure", killed, node=node, until=state.now + downtime)
    relieve = getattr(state.rules["recovery"], "relieve", None)
    worked = relieve(state, killed, node) if relieve is not None and killed is not None else None
    if worked is not None:
        killed = None
        state.failures_hit += worked
    if killed is not None:
        state.failures_hit += 1
        if killed is state.holder(node) and not killed.held:
            kill(state, killed)
    state.write(FAILURE, killed, node)
    later = stay_down(state, node, state.now + downtime)
    effect = killed is not None or worked is not None or later
    if effect:
        state.disturb()
    return effect


def fail_shared(state: State, node: int, downtime: float) -> Generator[str, None, bool]:
    """model.md#site-failures: "A failure kills every job on the node that is not held, by index: one row of the record
    for each, and one failure of the counts."
    """
    killed = [job for job in state.jobs_on(node) if not job.held]
    state.failures_hit += bool(killed)
    if not killed:
        state.write(FAILURE, None, node)
    for job in killed:
        yield from state.ask("failure", job, node=node, until=state.now + downtime)
        state.write(FAILURE, job, node)
        if job in state.running and not job.held:
            kill(state, job)
    later = stay_down(state, node, state.now + downtime)
    if killed or later:
        state.disturb()
    return bool(killed) or later


def fail_part(state: State, node: int, downtime: float, part: Amounts, unit: float) -> bool:
    """model.md#site-parts: "The units that are up are numbered: first those of the jobs on the node, by index, then
    the free ones. Those that fail are consecutive, the last followed by the first, and begin at number floor(x n)".
    """
    jobs = state.jobs_on(node)
    (at,) = (i for i, amount in enumerate(part) if amount)
    up = [job.grant[node][at] - state.units_down(job, node, at) for job in jobs]
    n = sum(up) + state.left[node][at]
    count, first = min(part[at], n), math.floor(unit * n)
    failing: dict[Job, int] = {}  # how many units of a job fail
    number = 0  # of the first unit of the next job
    for job, units in zip(jobs, up, strict=True):
        last = first + count
        hit = max(0, min(number + units, last) - max(number, first)) + max(0, min(number + units, last - n) - number)
        failing |= {job: hit} if hit else {}
        number += units
    killed = [job for job in failing if not job.held]
    lost = count > 0 and downtime > 0
    state.write_part(PART_DOWN, len(state.all_lost) if lost else -1, node)
    state.failures_hit += bool(killed)
    if not killed:
        state.write(FAILURE, None, node)
    for job in killed:
        state.write(FAILURE, job, node)
        kill(state, job)
    state.write_part(PART_FAILED, -1, node)
    if lost:
        held = {job.index: units for job, units in failing.items() if job.held}
        free = one_resource(at, count - sum(held.values()))
        until = state.now + downtime
        state.lose(LostPart(node, free, until, {job: one_resource(at, units) for job, units in held.items()}))
        for job in failing:
            if job.held:
                foresee_hold(state, job)
                remember_hit(state, job)
    if killed or lost:
        state.disturb()
    return bool(killed) or lost


def one_resource(at: int, amount: int) -> Amounts:
    """An amount of one resource."""
    return Amounts(*(amount if i == at else 0 for i in range(3)))


def fail_now(state: State, node: int, downtime: float) -> bool:
    """The same where nobody is asked."""
    steps = fail(state, node, downtime)
    try:
        next(steps)
    except StopIteration as end:
        return bool(end.value)
    raise EngineError(f"somebody is asked at {state.now} who is not there")


def stay_down(state: State, node: int, until: float) -> bool:
    """The node is down until then; whether that is later than what was known."""
    if until <= state.up.get(node, state.now):
        return False
    if node in state.up:
        state.up[node] = until
    else:
        state.take_down(node, until)
    for job in state.jobs_on(node):
        foresee_hold(state, job)
        remember_hit(state, job)
    return True


def repair_part(state: State, number: int) -> None:
    """A part of a node that is down is up again; a held job that waits for nothing else goes on."""
    part = state.lost[number]
    state.write_part(PART_UP, number, part.node)
    state.write(REPAIR, node=part.node)
    state.regain(number)
    state.disturb()
    for job in state.jobs_on(part.node):
        if job.index in part.held and is_whole(state, job):
            end_hold(state, job)


def repair(state: State, node: int) -> None:
    """ "A node that is down until u is free again at u, as an event (repair)"; a job whose last node it was goes on."""
    state.write(REPAIR, node=node)
    state.bring_up(node)
    state.disturb()
    for job in state.jobs_on(node):
        if job.held and is_whole(state, job):
            end_hold(state, job)


# -- the job


def kill(state: State, job: Job) -> None:
    """model.md#kill: "A kill at t loses the work that is not safe, by the clock [...]. Time already spent on a start
    delay, restart, checkpoint or migration that it interrupts stays in its own account."
    """
    roll_back(state, job)
    recover = state.rules["recovery"]
    if recover is None:
        raise EngineError(f"job {job.index} was killed at {state.now}, and recovery is None")
    recover(state, job)


def kill_for_good(state: State, job: Job, cause: str) -> None:
    """ "It is done, and what it has saved is its run time" (model.md#acts)."""
    roll_back(state, job)
    job.start = min(job.start, state.now)
    job.runtime = job.done = job.safe
    job.killed = True
    job.finish = state.now
    state.write_kill(job, cause)
    state.write(FINISH, job)
    state.leave(job)
    state.close(job)
    state.events += 1
    state.disturb()


def roll_back(state: State, job: Job) -> None:
    """The job stops and loses what is not safe."""
    here = close_stretch(job, state.now)
    unpause(job, state.now)
    job.lost += here.unsaved
    job.safe = job.after = here.safe
    job.restarts += 1
    job.last_kill = state.now


def go_back(state: State, job: Job) -> None:
    """`Requeue`."""
    requeue(state, job, state.settings.policy("recovery")["place"])


def requeue(state: State, job: Job, place: str, cause: str = "failure") -> None:
    """model.md#requeue: "the job leaves its nodes (those that are up are free at once) and is requeued"."""
    state.write_kill(job, cause)
    state.write(REQUEUED, job)
    state.leave(job)
    if job.waiting_since is None:
        job.waiting_since = state.now
    if place == "tail":
        state.queue.append(job)  # "behind all jobs that wait now and ahead of all that come later"
    else:
        insort(state.queue, job, key=lambda waiting: waiting.entry)


def hold(state: State, job: Job) -> None:
    """model.md#hold: "the job keeps its nodes"; "a job killed in its start delay gets start = t (and first_start, if
    that was its first)".
    """
    job.held = True
    job.start = min(job.start, state.now)
    state.note_start(job)
    state.write_kill(job, "failure")
    state.write(HELD, job)
    job.waiting_since = state.now
    foresee_hold(state, job)
    remember_hit(state, job)


def remember_hit(state: State, job: Job) -> None:
    """Holds that end in one instant end in the order in which their jobs were hit."""
    if job.held and job not in state.hit:
        state.hit.append(job)


def is_whole(state: State, job: Job) -> bool:
    """Whether a held job's nodes, and its parts of them, are all up."""
    parts = (job.index in part.held for part in state.lost.values())
    return not any(job.has(node) for node in state.up) and not any(parts)


def end_holds(state: State) -> None:
    """ "When none of its nodes is down (after all failures of the instant, or at a repair)"."""
    for job in state.hit:
        if job.held and is_whole(state, job):
            end_hold(state, job)
    state.hit.clear()


def end_hold(state: State, job: Job) -> None:
    """ "a lead phase of `restart_cost` seconds begins, and then it works: t0 = h + restart_cost"."""
    assert job.waiting_since is not None
    state.write(CONTINUED, job)
    job.held = False
    job.hold += state.now - job.waiting_since
    job.slowed -= job.slowed_between(job.waiting_since, state.now)
    job.failure_wait += state.now - job.waiting_since
    job.waiting_since = None
    begin = job.own(state.now)
    set_out(job, "restart", begin, begin + job.restart_cost, job.safe, job.safe, 0.0, since=begin, now=state.now)


def foresee_hold(state: State, job: Job) -> None:
    """ "While it is held its expected end is (h + restart_cost) + (Le + n(Le) C) for the latest known up time h, and
    infinite with `repairs="unknown"`."
    """
    job.finish = job.ends = math.inf
    up = [until for node, until in state.up.items() if job.has(node)]
    up += [part.until for part in state.lost.values() if job.index in part.held]
    if not state.repairs_known:
        job.expected = math.inf
    elif up:
        job.expected = (max(up) + job.restart_cost) + duration(job, max(0.0, job.estimate - job.safe))
