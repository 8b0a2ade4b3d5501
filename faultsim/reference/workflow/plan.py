"""The plan of HEFT: [topcuoglu2002], with insertion."""

import math

from faultsim.reference.workflow.state import WorkflowJob, WorkflowState


def plan(state: WorkflowState, jobs: list[WorkflowJob], planned: list[list[WorkflowJob]]) -> None:
    """ "Among the jobs whose predecessors are all planned, the one with the highest rank (as above) is next, ties to
    the lower number. [...] The node with the earliest finish takes it, ties to the lower number."
    """
    left = list(jobs)
    while left:
        ready = [job for job in left if not any(u in left for u, _ in job.inputs)]
        job = min(ready, key=lambda job: (-job.rank, job.key))
        begins = [begin_on(state, job, p, planned[p]) for p in range(state.nodes)]
        p = min(range(state.nodes), key=lambda p: (begins[p] + job.lengths[p], p))
        job.node, job.plan = p, (begins[p], begins[p] + job.lengths[p])
        planned[p].append(job)
        # "The jobs planned on p lie in order of (start, finish), those planned earlier first."
        planned[p].sort(key=lambda job: job.plan)
        left.remove(job)
        state.decisions.append((state.now, job.number, p, 0, *job.plan))


def begin_on(state: WorkflowState, job: WorkflowJob, p: int, planned: list[WorkflowJob]) -> float:
    """When a job would start on node p.

    "In the first gap, the one before the first job included and the one after the last, with S + D(j, p) <= the start
    of the job after the gap, where S is the later of R(p) and the finish of the job before the gap, it would start at
    S".
    """
    ready = state.now  # R(p) = "the largest of the arrival and, for each edge from u, ..."
    for u, size in job.inputs:
        ready = max(ready, u.plan[1] + state.moving_time(size, u.node, p))
    before = -math.inf
    for other in planned:
        begin = max(ready, before)
        if begin + job.lengths[p] <= other.plan[0]:
            return begin
        before = other.plan[1]
    return max(ready, before)
