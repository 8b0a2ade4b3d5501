"""HEFT, the baseline that plans and follows its plan: Topcuoglu, Hariri and Wu 2002, with insertion."""

import math
from dataclasses import dataclass, field

from faultsim.errors import EngineError
from faultsim.reference.workflow_state import ARRIVAL, FAILURE, FINISH, KILL, REPAIR, START, WorkflowJob, WorkflowState

__all__ = ["plan_and_follow"]


@dataclass
class Transfer:
    """An output on its way to another node: waiting for both to be up while it has no end."""

    source: WorkflowJob
    target: WorkflowJob
    size: float
    end: float | None = None
    there: bool = False


@dataclass
class Plan:
    """The jobs of each node in the plan's order, with their planned start and finish, and what is being sent."""

    rows: list[list[WorkflowJob]]
    start: dict[WorkflowJob, float] = field(default_factory=dict)
    finish: dict[WorkflowJob, float] = field(default_factory=dict)
    transfers: list[Transfer] = field(default_factory=list)


def plan_and_follow(state: WorkflowState) -> None:
    """ "every workflow is planned as a whole when it arrives [...] Every job keeps its node, and every node the order
    of its plan. The events of an instant are handled in the order finishes, ends of transfers, repairs, failures,
    arrivals (each of which plans its workflow). [...] What then is to happen at this very instant [...] is handled
    next, in the same way."
    """
    plan = Plan([[] for _ in range(state.nodes)])
    failures = list(state.failures)
    arrivals = sorted((time, i) for i, time in enumerate(state.arrivals))
    while True:
        under_way = [transfer for transfer in plan.transfers if transfer.end is not None and not transfer.there]
        times = [job.finish for job in state.running] + [transfer.end for transfer in under_way]
        times += [*state.up.values(), *(row[0] for row in failures[:1]), *(row[0] for row in arrivals[:1])]
        if not times:
            raise EngineError(f"reference engine at time {state.now}: jobs wait for ever")
        state.now = min(time for time in times if time is not None)
        for job in sorted((job for job in state.running if job.finish == state.now), key=lambda job: job.key):
            end(state, plan, job)
            if all(other.done for other in state.jobs):
                return
        for transfer in under_way:
            transfer.there = transfer.end == state.now
        for node in sorted(node for node, time in state.up.items() if time == state.now):
            del state.up[node]
            state.write(REPAIR, node=node)
        while failures and failures[0][0] == state.now:
            fail(state, plan, *failures.pop(0)[1:])
        while arrivals and arrivals[0][0] == state.now:
            i = arrivals.pop(0)[1]
            state.write(ARRIVAL, workflow=i)
            plan_workflow(state, plan, [job for job in state.jobs if job.key[0] == i])
        begin_transfers(state, plan)
        start_jobs(state, plan)


# -- the plan


def plan_workflow(state: WorkflowState, plan: Plan, jobs: list[WorkflowJob]) -> None:
    """ "Among the jobs whose predecessors are all planned, the one of the highest rank (as above) is next, ties to the
    lower number. [...] The node of the earliest finish takes it, ties to the lower number."
    """
    while left := [job for job in jobs if job not in plan.start]:
        ready = [job for job in left if all(u in plan.start for u, _ in job.inputs)]
        job = min(ready, key=lambda job: (-job.rank, job.key))
        starts = [start_on(state, plan, job, p) for p in range(state.nodes)]
        p = min(range(state.nodes), key=lambda p: (starts[p] + job.lengths[p], p))
        job.node, plan.start[job], plan.finish[job] = p, starts[p], starts[p] + job.lengths[p]
        # "in order of (start, finish), those planned earlier first"
        plan.rows[p].append(job)
        plan.rows[p].sort(key=lambda job: (plan.start[job], plan.finish[job]))
        state.decisions.append((state.now, job.number, p, 0, plan.start[job], plan.finish[job]))


def start_on(state: WorkflowState, plan: Plan, job: WorkflowJob, p: int) -> float:
    """When a job would start on node p, by the plan.

    "In the first gap, the one before the first job included and the one after the last, with S + D(j, p) <= the start
    of the job after the gap, where S is the later of R(p) and the finish of the job before the gap, it would start at
    S".
    """
    ready = state.now  # R(p) = "the largest of the arrival and, for each edge from u, ..."
    for u, size in job.inputs:
        ready = max(ready, plan.finish[u] + state.moving_time(size, u.node, p))
    before = -math.inf
    for other in plan.rows[p]:
        start = max(ready, before)
        if start + job.lengths[p] <= plan.start[other]:
            return start
        before = plan.finish[other]
    return max(ready, before)


# -- following it


def begin_transfers(state: WorkflowState, plan: Plan) -> None:
    """ "transfers begin: one over an edge (u, j, x) whose nodes differ begins at the first such moment, from the finish
    of u on, at which both nodes are up, and ends m(e) later".
    """
    for transfer in plan.transfers:
        p, q = transfer.source.node, transfer.target.node
        if transfer.end is None and p not in state.up and q not in state.up:
            transfer.end = state.now + state.moving_time(transfer.size, p, q)


def start_jobs(state: WorkflowState, plan: Plan) -> None:
    """ "jobs start, on each node, in order of node, that is up and free: the first job of its plan that is not done, if
    all its inputs are there (an output of the same node is there at once). It finishes at now + D(j, p)."
    """
    for p in state.free_nodes():
        job = next((job for job in plan.rows[p] if not job.done), None)
        if job is None or not all(u.done for u, _ in job.inputs):
            continue
        if all(transfer.there for transfer in plan.transfers if transfer.target is job):
            job.put, job.finish = state.now, state.now + job.lengths[p]
            state.running.append(job)
            state.write(START, job, p)


def end(state: WorkflowState, plan: Plan, job: WorkflowJob) -> None:
    """A job is done, and its output is to be sent to other nodes."""
    job.done = True
    state.running.remove(job)
    state.write(FINISH, job, job.node)
    plan.transfers += [Transfer(job, v, size) for v, size in job.outputs if v.node != job.node]


def fail(state: WorkflowState, plan: Plan, q: int, downtime: float) -> None:
    """ "A failure of q at t kills the job on q, which loses the time since its start, and is the first of q's plan that
    is not done, as before. All transfers from and to q that are under way are broken off, and begin anew as in 1.
    Inputs that are there stay there. q is down as above (3)."
    """
    state.write(FAILURE, node=q)
    for job in [job for job in state.running if job.node == q]:
        state.loss_time += state.now - job.put
        state.reschedulings += 1
        job.kills += 1
        state.running.remove(job)
        state.write(KILL, job, q)
    for transfer in plan.transfers:
        if not transfer.there and q in (transfer.source.node, transfer.target.node):
            transfer.end = None
    until = state.now + downtime
    if until > state.up.get(q, state.now):
        state.up[q] = until
