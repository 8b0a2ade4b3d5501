"""`LeastFailuresMigration`: running jobs leave nodes that failed often (model.md#least-failures-migration)."""

from copy import copy

from faultsim.data.lowered import Lowered
from faultsim.reference.job import Job, close_stretch, set_out, unpause
from faultsim.reference.scheduling.migration import NoMigration
from faultsim.reference.state import State


class LeastFailures(NoMigration):
    def at_finish(self, state: State, finished: Job) -> None:
        migrate(state, self.rule, finished)


def migrate(state: State, rule: Lowered, finished: Job) -> None:
    """ "at every finish, right after its nodes become free, the running jobs whose last start is later than that of the
    job that finished (and not later than now), that are not held and do not finish now, are examined in order of
    (start, index)"; "An attempt is a finish at which at least one such job runs, a success one at which a job moved."
    """
    younger = [
        job
        for job in sorted(state.running, key=lambda job: (job.start, job.index))
        if finished.start < job.start <= state.now < job.finish and not job.held
    ]
    moved = [job for job in younger if improve(state, job, float(rule["threshold"]), float(rule["cost"]))]
    state.attempted += bool(younger)
    state.successful += bool(moved)


def improve(state: State, job: Job, threshold: float, cost: float) -> bool:
    """ "While the worst of its nodes [...] and the best idle one [...] differ by more than `threshold` failures, the
    job exchanges the one for the other; the one it leaves is idle at once."  Whether the job moved.
    """
    count = state.failures_of
    moved = copy(job)
    interrupt(state, moved, cost)
    closed = state.closed_to(job, state.expected_end(moved))
    have, idle = list(job.nodes), [node for node in state.free_nodes if not closed >> node & 1]
    while idle:
        worst = min(have, key=lambda node: (-count[node], node))
        best = min(idle, key=lambda node: (count[node], node))
        if not count[worst] - count[best] > threshold:
            break
        have[have.index(worst)], idle[idle.index(best)] = best, worst
    given, taken = set(job.nodes) - set(have), set(have) - set(job.nodes)
    if not given:
        return False
    state.swap(job, list(given), list(taken))
    interrupt(state, job, cost)
    state.disturb()
    return True


def interrupt(state: State, job: Job, cost: float) -> None:
    """The job stops for the move."""
    # "The move interrupts a lead phase or a checkpoint, whose time so far stays in its account; work that was not safe
    # stays unsafe until the end of the phase."
    here, begin = close_stretch(job, state.now), job.own(state.now)
    unpause(job, state.now)
    set_out(
        job,
        "migration",
        begin,
        begin + cost,
        here.safe,
        here.progress,
        here.unsaved,
        since=here.since,
        now=state.now,
        saves=True,
    )
