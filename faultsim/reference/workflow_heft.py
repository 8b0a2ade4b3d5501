"""HEFT, the baseline that plans: Topcuoglu, Hariri and Wu 2002, with insertion."""

import math

from faultsim.reference.workflow_state import WorkflowJob, WorkflowState

__all__ = ["plan_all"]


def plan_all(state: WorkflowState) -> None:
    """ "every workflow is planned as a whole when it arrives, in order of (arrival, workflow), into the gaps that those
    before it left".
    """
    planned: list[list[WorkflowJob]] = [[] for _ in range(state.nodes)]
    for arrival, i in sorted(zip(state.arrivals, range(len(state.arrivals)), strict=True)):
        state.now = arrival
        plan(state, [job for job in state.jobs if job.key[0] == i], planned)


def plan(state: WorkflowState, jobs: list[WorkflowJob], planned: list[list[WorkflowJob]]) -> None:
    """ "Among the jobs whose predecessors are all planned, the one of the highest rank (as above) is next, ties to the
    lower number. [...] The node of the earliest finish takes it, ties to the lower number."
    """
    while left := [job for job in jobs if not job.done]:
        ready = [job for job in left if all(u.done for u, _ in job.inputs)]
        job = min(ready, key=lambda job: (-job.rank, job.key))
        starts = [start_on(state, job, p, planned[p]) for p in range(state.nodes)]
        p = min(range(state.nodes), key=lambda p: (starts[p] + job.lengths[p], p))
        job.node, job.put, job.finish, job.done = p, starts[p], starts[p] + job.lengths[p], True
        planned[p].append(job)
        state.decisions.append((state.now, job.number, p, 0, job.put, job.finish))


def start_on(state: WorkflowState, job: WorkflowJob, p: int, planned: list[WorkflowJob]) -> float:
    """When a job would start on node p.

    "In the first gap, the one before the first job included and the one after the last, with S + D(j, p) <= the start
    of the job after the gap, where S is the later of R(p) and the finish of the job before the gap, it would start at
    S".
    """
    ready = state.now  # R(p) = "the largest of the arrival and, for each edge from u, ..."
    for u, size in job.inputs:
        ready = max(ready, u.finish + state.moving_time(size, u.node, p))
    before = -math.inf
    for other in sorted(planned, key=lambda other: (other.put, other.finish)):
        start = max(ready, before)
        if start + job.lengths[p] <= other.put:
            return start
        before = other.finish
    return max(ready, before)
