"""The head of the queue stops running jobs of a lower rank (model.md#preemptive)."""

from faultsim.reference.faults.failures import requeue, roll_back
from faultsim.reference.job import Job
from faultsim.reference.scheduling.queueing import check_start, fcfs, queue_order
from faultsim.reference.scheduling.schedulers import Easy
from faultsim.reference.scheduling.site_schedulers import room_without
from faultsim.reference.state import THEFT, State
from faultsim.reference.torus.boxes import Box


class Preemptive(Easy):
    def goes_by_order(self, state: State) -> bool:
        return True

    def run_pass(self, state: State, order: list[Job]) -> None:
        """ "Then the head starts, and the pass begins again, in the order of the queue as it is then"."""
        head = order[0] if order else None
        fcfs(state, order)
        while order and preempt(state, order[0]):
            order[:] = queue_order(state)
            fcfs(state, order)
        check_start(state, head)
        if order:
            self.backfill(state, order)

    def backfill(self, state: State, order: list[Job]) -> None:
        if self.rule["backfill"]:
            super().backfill(state, order)

    def unpromised(self, state: State) -> float:
        return super().unpromised(state) if self.rule["backfill"] else float("inf")

    def promised(self, state: State) -> tuple[float, int, Box | None]:
        return super().promised(state) if self.rule["backfill"] else (float("inf"), 0, None)


def preempt(state: State, head: Job) -> bool:
    """Stop the jobs whose nodes the head needs; whether any was stopped."""
    victims = victims_of(state, head)
    for job in victims:
        stop(state, job)
    if victims:
        state.disturb()
    return bool(victims)


def victims_of(state: State, head: Job) -> list[Job]:
    """ "the largest key first, ties to the latest decision, then to the larger index, until there are enough nodes for
    the head, not counting those that are closed to it. If all of them together are too few, no job is stopped. Of
    these, from the last to the first, each whose nodes are not needed goes on."
    """
    missing, closed = head.needs - state.open_to_start, state.closed(head, state.now)

    def enough(stopped: list[Job]) -> bool:
        if state.shares:
            return room_without(state, head, stopped)
        if closed:
            free = state.free_mask | sum(job.node_mask for job in stopped)
            if (free & ~closed).bit_count() < head.needs:
                return False
        return nodes_of(stopped) >= missing

    lower = [job for job in state.running if may_be_stopped(state, job) and key(state, job) > key(state, head)]
    lower.sort(key=lambda job: (-key(state, job), -job.decision, -job.index))
    chosen: list[Job] = []
    for job in lower:
        if not enough(chosen):
            chosen.append(job)
    if not enough(chosen):
        return []
    for job in reversed(list(chosen)):
        if enough([other for other in chosen if other is not job]):
            chosen.remove(job)
    return chosen


def may_be_stopped(state: State, job: Job) -> bool:
    """ "that run, are not held, have started and do not end now"."""
    return not job.held and job.start <= state.now < job.finish


def nodes_of(jobs: list[Job]) -> int:
    return sum(job.allocated for job in jobs)


def key(state: State, job: Job) -> float:
    """The rank of a job, the smallest first."""
    rule = state.settings.scheduler["order"]
    return float(state.rules["order"]([job], state.now, rule, state.world.columns)[0])


def stop(state: State, job: Job) -> None:
    """ "stopped, in the order in which they were taken, as by a kill (records show it with kind 4), and requeued as the
    recovery says, or as by `Requeue()` with the same restart cost if that is `Hold`".
    """
    state.write(THEFT, job)
    roll_back(state, job)
    recovery = state.settings.policy("recovery")
    requeue(state, job, "arrival" if recovery is None else recovery.get("place", "arrival"), "preemption")
