"""`Fars`: running jobs leave nodes that are predicted to fail (model.md#rescheduling).

One tick is `act`: who is suspicious, how many nodes are spare, what each move is worth, which jobs move; then they do.
How one job moves, and what a move costs it, is in `moves`.
"""

from typing import NamedTuple

from faultsim.data.lowered import Lowered
from faultsim.reference.fars.knapsack import knapsack
from faultsim.reference.fars.moves import Promise, change_box, change_nodes
from faultsim.reference.faults.failures import requeue, roll_back
from faultsim.reference.job import Job, where
from faultsim.reference.state import THEFT, State


class Suspect(NamedTuple):
    """A suspicious job: "k >= 1 of their nodes suspicious"."""

    job: Job
    nodes: list[int]  # the suspicious ones, ascending

    @property
    def k(self) -> int:
        return len(self.nodes)


def act(state: State) -> int:
    """A tick, with `state.suspicious` those of its interval; how many jobs moved.

    "If there is a suspicious job, that is an attempt"; "A tick at which a job moved is a success and a disturbance".
    """
    suspects = suspicious_jobs(state)
    if not suspects:
        return 0
    state.attempted += 1
    spare = spare_nodes(state)
    gain = state.rules["strategy"].gain
    gains = [gain(state, suspect.job, state.world.probability(suspect.k)) for suspect in suspects]
    moving = chosen(state, suspects, gains, spare)
    # "All victims are stopped, in the order found, before the first move."
    promise = None if state.table is None else Promise(state)
    moved = 0
    for suspect in suspects:  # "Jobs move in order of their index."
        nodes = moving.get(suspect.job.index)
        if nodes is None:
            continue
        if promise is None:
            moved += change_nodes(state, suspect.job, nodes)
        else:
            moved += change_box(state, suspect.job, promise)
    if moved:
        state.successful += 1
        state.disturb()
    return moved


def runs(state: State, job: Job) -> bool:
    """ "those that run, are not held, have started (start <= t), do not end now"."""
    return not job.held and job.start <= state.now < job.finish


def suspicious_jobs(state: State) -> list[Suspect]:
    """By job index."""
    found = []
    for job in sorted(state.running, key=lambda job: job.index):
        nodes = sorted(node for node in state.suspicious if job.has(node))
        if nodes and runs(state, job):
            found.append(Suspect(job, nodes))
    return found


# -- 1. spare nodes


def spare_nodes(state: State) -> int:
    """S: "H is the number of free nodes that are not suspicious"; never below 0."""
    healthy = len(healthy_nodes(state))
    rule = state.settings.policy("rescheduling")
    if rule["spares"] != "dynamic":
        return min(int(rule["spares"]["nodes"]), healthy)
    if not state.queue:
        return healthy
    return max(0, int(min(healthy, state.rules["scheduler"].unpromised(state))))


def healthy_nodes(state: State) -> list[int]:
    """Free nodes that are not suspicious, nor reserved or drained now, ascending."""
    absences = state.absences
    taken = ~state.free_mask if absences is None else ~state.free_mask | absences.drained | absences.active(state.now)
    return [node for node in range(state.nodes) if not taken >> node & 1 and node not in state.suspicious]


# -- 2. gains


def at_risk(state: State, job: Job) -> float:
    """Seconds that a failure in the middle of the interval would lose."""
    return (state.now + float(state.settings.policy("rescheduling")["interval"]) / 2.0) - job.was(
        where(job, state.now).since
    )


def overhead(state: State) -> float:
    """Seconds of a move."""
    rule = state.settings.policy("rescheduling")
    restart = float(rule["restart_cost"])
    return restart if rule["live"] else float(rule["checkpoint_cost"]) + restart


class ServiceUnitLoss:
    """The gains v of jobs whose moves change their probability to fail by f."""

    steals = False

    def __init__(self, rule: Lowered) -> None:
        self.rule = rule

    def gain(self, state: State, job: Job, f: float) -> float:
        return (f * job.size) * (at_risk(state, job) - overhead(state))


class JobFailureRate(ServiceUnitLoss):
    def gain(self, state: State, job: Job, f: float) -> float:
        return f


class FailureSlowdown(ServiceUnitLoss):
    def gain(self, state: State, job: Job, f: float) -> float:
        restart = float(state.settings.policy("rescheduling")["restart_cost"])
        delay = (at_risk(state, job) + queue_cost(state)) + restart
        return (f * (delay - overhead(state))) / max(job.estimate, 10.0)


class NodeStealing(ServiceUnitLoss):
    """`steal` looks for a victim where the spare nodes are too few."""

    steals = True


def queue_cost(state: State) -> float:
    """O_q: "the last [...] or the mean [...] of the waits so far [...]; 0 before the first"."""
    if not state.waits:
        return 0.0
    if state.settings.policy("rescheduling")["queue_cost"] == "last":
        return state.waits[-1]
    total = 0.0
    for wait in state.waits:
        total += wait
    return total / len(state.waits)


# -- 3. and 4. who moves


def chosen(state: State, suspects: list[Suspect], gains: list[float], spare: int) -> dict[int, list[int]]:
    """Job index -> the nodes that it moves from."""
    weights = [suspect.k if state.table is None else suspect.job.allocated for suspect in suspects]
    taken, _ = knapsack(gains, weights, spare)
    moving = {suspect.job.index: suspect.nodes for suspect, take in zip(suspects, taken, strict=True) if take}
    left = spare - sum(weight for weight, take in zip(weights, taken, strict=True) if take)
    others = [(suspect, v) for suspect, v, take in zip(suspects, gains, taken, strict=True) if not take]
    if state.table is not None:
        return moving
    if state.rules["strategy"].steals:
        return moving | steal(state, others, left)
    return moving | residual(state, [suspect for suspect, _ in others], left)


def residual(state: State, others: list[Suspect], left: int) -> dict[int, list[int]]:
    """ "if R = S - (the weights chosen) > 0: of the suspicious jobs not chosen with k > R, the one of the largest gain,
    ties to the lower index, moves the R lowest of its suspicious nodes, if that gain is above 0".
    """
    if left <= 0:
        return {}
    best, best_gain = None, 0.0
    for suspect in others:
        if suspect.k <= left:
            continue
        f = state.world.probability(suspect.k - left)
        if state.settings.policy("rescheduling")["residual"] == "difference":
            f = state.world.probability(suspect.k) - f
        v = state.rules["strategy"].gain(state, suspect.job, f)
        if v > best_gain:
            best, best_gain = suspect, v
    return {} if best is None else {best.job.index: best.nodes[:left]}


# -- node stealing


def steal(state: State, others: list[tuple[Suspect, float]], left: int) -> dict[int, list[int]]:
    """model.md#node-stealing: "for each suspicious job that was not chosen and has v > 0, by falling gain, ties to the
    lower index: with r the spare nodes that are left, a job with k <= r takes them [...]. Otherwise a *victim* is
    sought".
    """
    moving: dict[int, list[int]] = {}
    stopped: list[Job] = []
    suspected = {suspect.job.index for suspect in suspicious_jobs(state)}
    for suspect, v in sorted((row for row in others if row[1] > 0.0), key=lambda row: (-row[1], row[0].job.index)):
        if suspect.k > left:
            victim = cheapest(state, suspect, suspected, stopped, left)
            if victim is None or not loss(state, victim) < v:
                continue
            stopped.append(victim)
            left += victim.allocated
        left -= suspect.k
        moving[suspect.job.index] = suspect.nodes
    for victim in stopped:
        stop(state, victim)
    return moving


def cheapest(state: State, suspect: Suspect, suspected: set[int], stopped: list[Job], left: int) -> Job | None:
    """ "among the jobs that run, are not held, have started, do not end now, are not suspicious, were not stolen from
    before, have a smaller requested size than the job, and at least k - r nodes; it is the one of least loss [...],
    ties to the lower index".
    """
    able = [
        job
        for job in state.running
        if runs(state, job)
        and job.index not in suspected
        and job not in stopped
        and job.size < suspect.job.size
        and job.allocated >= suspect.k - left
    ]
    return min(able, key=lambda job: (loss(state, job), job.index), default=None)


def loss(state: State, job: Job) -> float:
    """ "size_v (t - t_last)"."""
    return job.size * (state.now - job.was(where(job, state.now).since))


def stop(state: State, job: Job) -> None:
    """ "It is stopped as by a kill (records show it with kind 4) and requeued as the recovery says, or as by
    `Requeue()` with the same restart cost if that is `Hold`."
    """
    state.write(THEFT, job)
    roll_back(state, job)
    recovery = state.settings.policy("recovery")
    requeue(state, job, "arrival" if recovery is None else recovery.get("place", "arrival"), "rescheduling")
