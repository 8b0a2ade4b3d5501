"""Failures, repairs and what becomes of the job that is hit (MODEL.md section 9, readings F6 to F9)."""

import math
from bisect import insort

from faultsim.errors import EngineError
from faultsim.reference.job import Job, close_stretch, duration, set_out, unpause
from faultsim.reference.state import FAILURE, REPAIR, State

__all__ = ["before_the_first_submit", "end_holds", "fail", "repair", "requeue", "roll_back"]


def before_the_first_submit(state: State) -> int:
    """F6: "Failures with time < first submit: handled before the simulation begins: they count for LeastFailuresFirst
    and take their node down (if up time > first submit); no events, no ledger, no pass, not in `failures`."

    Returns how many there are.
    """
    early = [row for row in state.world.failures if row[0] < state.now]
    up: dict[int, float] = {}
    for time, node, downtime in early:
        state.failures_of[node] += 1
        up[node] = max(up.get(node, -math.inf), time + downtime)
    for node, until in up.items():
        if until > state.now:
            state.take_down(node, until)
    return len(early)


def fail(state: State, node: int, downtime: float) -> bool:
    """FAILURE of a node now; whether it had an effect.

    MODEL.md 9: "A failure on a free node only takes it down. On a busy node it kills the job"; "A failure during a down
    time extends it to the later end."; "Down time 0 never makes a node down and creates no repair; alone, on a free
    node, it runs no pass."
    """
    state.failures_of[node] += 1
    state.failures += 1
    job = state.holder(node)
    killed = job if job is not None and not job.held else None
    state.write(FAILURE, killed, node)
    if killed is not None:
        kill(state, killed)
        state.failures_hit += 1
    later = stay_down(state, node, state.now + downtime)
    if killed is not None or later:
        state.disturb()
    return killed is not None or later


def stay_down(state: State, node: int, until: float) -> bool:
    """The node is down until then; whether that is later than what was known."""
    if until <= state.up.get(node, state.now):
        return False
    if node in state.up:
        state.up[node] = until
    else:
        state.take_down(node, until)
    job = state.holder(node)
    if job is not None:
        foresee_hold(state, job)
    return True


def repair(state: State, node: int) -> None:
    """F8: "REPAIR at up time (end of the latest outage) [...] In a held job: when all the job's nodes are up: the hold
    ends at this instant".
    """
    state.write(REPAIR, node=node)
    state.bring_up(node)
    state.disturb()
    job = state.holder(node)
    if job is not None and is_whole(state, job):
        end_hold(state, job)


# -- the job


def kill(state: State, job: Job) -> None:
    """F9: "lost seconds = unsaved work by the clock [...]; broken-off checkpoint / restart / migration time stays in
    its account, a broken start delay in start_delay. restarts += 1. Safe progress stays."
    """
    roll_back(state, job)
    recovery = state.settings.get("recovery")
    if recovery is None:
        raise EngineError(f"job {job.index} was killed at {state.now}, and recovery is None")
    if recovery["name"] == "requeue":
        requeue(state, job, recovery["place"])
    else:
        hold(state, job)


def roll_back(state: State, job: Job) -> None:
    """The job stops and loses what is not safe."""
    here = close_stretch(job, state.now)
    unpause(job, state.now)
    job.lost += here.unsaved
    job.safe = job.after = here.safe
    job.restarts += 1
    job.last_kill = state.now


def requeue(state: State, job: Job, place: str) -> None:
    """MODEL.md 9: "`Requeue()` (O, Z): back to the queue; [...] its other nodes are free at once"; MODEL.md 6: "A
    requeued job keeps its key (`requeue="arrival"`; or `"tail"`), so it can become the head".
    """
    state.leave(job)
    if job.waiting_since is None:
        job.waiting_since = state.now
    if place == "tail":
        state.queue.append(job)  # "behind all that wait now, before arrivals of this instant and later ones"
    else:
        insort(state.queue, job, key=lambda waiting: (waiting.submit, waiting.index))


def hold(state: State, job: Job) -> None:
    """MODEL.md 9: "`Hold()` (F): the job stays on its nodes until the failed node is repaired".

    F9: "`start` stays (but a job killed in its start delay gets start = t, and first_start = t if that was its first)".
    """
    job.held = True
    job.start = min(job.start, state.now)
    state.note_start(job)
    job.waiting_since = state.now
    foresee_hold(state, job)


def is_whole(state: State, job: Job) -> bool:
    """Whether a held job's nodes are all up."""
    return not any(job.has(node) for node in state.up)


def end_holds(state: State) -> None:
    """F9: "After all failures of the instant: if none of its nodes is down, the hold ends at t."."""
    for job in state.running:
        if job.held and is_whole(state, job):
            end_hold(state, job)


def end_hold(state: State, job: Job) -> None:
    """MODEL.md 9: "then pays the restart cost and resumes from the last safe point".

    F9: "When the hold ends at h: lead phase "restart" [h, t0), t0 = h + r, then WORK from the safe progress".
    """
    assert job.waiting_since is not None
    job.held = False
    job.hold += state.now - job.waiting_since
    job.failure_wait += state.now - job.waiting_since
    job.waiting_since = None
    set_out(job, "restart", state.now, state.now + job.restart_cost, job.safe, job.safe, 0.0)


def foresee_hold(state: State, job: Job) -> None:
    """F9: "While held: expected end = (h + r) + (Le + n(Le)*C) with h the known latest up time; repairs="unknown" (or
    fcfs, where it does not matter): inf until repaired."
    """
    job.finish = math.inf
    up = [until for node, until in state.up.items() if job.has(node)]
    if not state.repairs_known:
        job.expected = math.inf
    elif up:
        job.expected = (max(up) + job.restart_cost) + duration(job, max(0.0, job.estimate - job.safe))
