"""`LeastFailuresMigration`: running jobs leave nodes that failed often (MODEL.md section 8, reading F12)."""

from faultsim.reference.job import Job, close_stretch, set_out, unpause
from faultsim.reference.state import State

__all__ = ["migrate"]


def migrate(state: State, finished: Job) -> None:
    """ "at every FINISH, right after its nodes are freed and before the pass: jobs whose last start is later than the
    finished job's, in order of last start then index".

    F12: "for running jobs with start > the finished job's start and start <= now and finish > now and not held";
    "migrations_attempted += 1 per FINISH at which at least one such job existed, migrations_successful += 1 if one
    moved."
    """
    rule = state.settings["migration"]
    if rule is None or rule["name"] != "least_failures":
        return
    younger = [
        job
        for job in sorted(state.running, key=lambda job: (job.start, job.index))
        if finished.start < job.start <= state.now < job.finish and not job.held
    ]
    moved = [job for job in younger if improve(state, job, float(rule["threshold"]), float(rule["cost"]))]
    state.attempted += bool(younger)
    state.successful += bool(moved)


def improve(state: State, job: Job, threshold: float, cost: float) -> bool:
    """ "repeatedly the worst node (ties lowest) against the best idle node (ties lowest) while the difference of
    failure counts exceeds the threshold. The cost is one phase; its end is a safe point; a failure in it rolls back to
    the older one."  Whether the job moved.
    """
    count = state.failures_of
    have, idle = list(job.nodes), list(state.free_nodes)
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
    # F12: "the current lead phase (restart, migration; or a checkpoint, planned or requested) is broken off, its spent
    # time stays in its account; unsaved work so far is carried (by the clock) and lost if a failure comes before t0' =
    # now + cost; at t0' the safe point is the progress at the move."
    here = close_stretch(job, state.now)
    unpause(job, state.now)
    set_out(job, "migration", state.now, state.now + cost, here.safe, here.progress, here.unsaved)
    state.disturb()
    return True
