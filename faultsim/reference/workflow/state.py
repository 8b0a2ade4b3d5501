"""Jobs of workflows, nodes and the pool of the plain workflow engine; what moving, putting and killing mean."""

from typing import Any

import numpy as np

from faultsim.policies.settings import WorkflowSettings

FINISH, REPAIR, FAILURE, KILL, WAKE_UP, ARRIVAL, START = range(7)


class WorkflowJob:
    """A job of a workflow.

    Attributes
    ----------
    key : (int, int)
        "Job (i, j)" is job j of workflow i; "the order of jobs across workflows is that of (i, j)".
    number : int
        Its place in this order.
    lengths : list of float
        W(j, p) for each node p.
    inputs : list of (WorkflowJob, float)
        Its edges in order: whose output, of which size.
    outputs : list of (WorkflowJob, float)
        Its edges out of it in order.
    rank : float
        Its local rank.
    entered : float
        When it last entered the pool.
    node, put, finish : int, float, float
        Where it is or was last, since when, and until when; node -1 before.
    transfers : list of float
        When the transfer over each edge ends, while it is on a node.
    done : bool
        Whether its output is there.
    plan : (float, float)
        Where `Heft` plans: when it is to begin and to finish.
    kills : int
        How often it was killed.
    """

    def __init__(self, workflow: int, index: int, number: int, lengths: list[float]) -> None:
        self.key = (workflow, index)
        self.number = number
        self.lengths = lengths
        self.inputs: list[tuple[WorkflowJob, float]] = []
        self.outputs: list[tuple[WorkflowJob, float]] = []
        self.rank = 0.0
        self.entered = 0.0
        self.node = -1
        self.put = 0.0
        self.finish = 0.0
        self.transfers: list[float] = []
        self.done = False
        self.plan = (0.0, 0.0)
        self.kills = 0


class WorkflowState:
    """The clock, the nodes, the pool and what is counted.

    Attributes
    ----------
    up : dict of int to float
        When each node that is down is up again.
    pool, running : list of WorkflowJob
        The jobs that could be put on a node, and those that are on one.
    wake_up : float or None
        When the scheduler is to look again although nothing happened.
    """

    def __init__(self, settings: WorkflowSettings, tables: dict[str, Any], scheduler: Any) -> None:
        self.scheduler = scheduler
        self.in_turn: bool = settings.transfers == "in_turn"
        self.shared: bool = settings.outputs is not None
        self.nodes = len(tables["speed"])
        self.bandwidth = np.asarray(tables["bandwidth"], dtype=np.float64).tolist()
        self.arrivals: list[float] = np.asarray(tables["arrival"], dtype=np.float64).tolist()
        self.jobs = make_jobs(settings, tables)
        self.now = 0.0
        self.up: dict[int, float] = {}
        self.pool: list[WorkflowJob] = []
        self.running: list[WorkflowJob] = []
        self.wake_up: float | None = None
        self.failures: list[tuple[float, int, float]] = []
        self.predictions: list[tuple[float, float, int]] = []
        self.diary: list[tuple[float, int, int, int, int]] = []
        self.decisions: list[tuple[float, int, int, int, float, float]] = []
        self.loss_time = 0.0
        self.reschedulings = 0
        self.asked_per_pass = self.right_per_pass = 0
        self.asked_per_node = self.right_per_node = 0

    def write(self, kind: int, job: WorkflowJob | None = None, node: int = -1, workflow: int = -1) -> None:
        """A row of the events: "`time`, `kind`, `workflow`, `job`, `node`, -1 where there is none"."""
        i, g = (workflow, -1) if job is None else (job.key[0], job.number)
        self.diary.append((self.now, kind, i, g, node))

    # -- nodes

    def free_nodes(self) -> list[int]:
        """ "Each node serves one job at a time and is free, busy, or down"."""
        busy = {job.node for job in self.running}
        return [node for node in range(self.nodes) if node not in busy and node not in self.up]

    def take_down(self, q: int, downtime: float) -> bool:
        """ "If q is down already, it stays so until the later of its up time and t + d. Otherwise, if t + d > t, it is
        down until t + d"; whether that takes it down or makes its up time later.
        """
        until = self.now + downtime
        later = until > self.up.get(q, self.now)
        if later:
            self.up[q] = until
        return later

    def moving_time(self, size: float, p: int, q: int) -> float:
        """ "Moving it from node p to another node q takes x / bandwidth seconds, or x / bandwidth[p, q] where the
        bandwidth is a matrix; on the same node it takes 0."
        """
        if p == q:
            return 0.0
        return float(size / (self.bandwidth[p][q] if isinstance(self.bandwidth, list) else self.bandwidth))

    def inputs_on(self, job: WorkflowJob, p: int) -> tuple[float, list[float]]:
        """The input time I of a job that is put on node p now, and when the transfer over each edge ends.

        ``transfers="parallel"``: "The one over edge e = (u, j, x), with m(e) its time from node(u) to p, ends at t +
        m(e); the input time is I = the largest m(e), 0 without edges."  ``"in_turn"``: "the one over the k-th edge ends
        at t + (m(1) + ... + m(k)), and I is the sum of all m."
        """
        longest = total = 0.0
        ends = []
        for u, size in job.inputs:
            m = self.moving_time(size, u.node, p)
            longest = max(longest, m)
            total = total + m
            ends.append(self.now + (total if self.in_turn else m))
        return (total if self.in_turn else longest), ends

    def finish_on(self, job: WorkflowJob, p: int) -> float:
        """ "Its finish is (t + I) + W(j, p)"."""
        return (self.now + self.inputs_on(job, p)[0]) + job.lengths[p]

    # -- jobs

    def enter_pool(self, job: WorkflowJob) -> None:
        """A job is ready, or ready again."""
        job.entered = self.now
        self.pool.append(job)

    def put_on(self, job: WorkflowJob, p: int, asked: int) -> None:
        """ "A job that is put on node p at time t holds it from t on. First its inputs move there, then it computes
        (and copies)"; a row of the decisions.
        """
        input_time, job.transfers = self.inputs_on(job, p)
        job.finish = self.finish_on(job, p)
        job.node, job.put = p, self.now
        self.pool.remove(job)
        self.running.append(job)
        self.decisions.append((self.now, job.number, p, asked, self.now + input_time, job.finish))
        self.write(START, job, p)

    def end(self, job: WorkflowJob) -> None:
        """ "Finish. The node is free; each successor whose predecessors are now all done enters the pool"."""
        job.done = True
        self.running.remove(job)
        self.write(FINISH, job, job.node)
        for successor, _ in job.outputs:
            if all(u.done for u, _ in successor.inputs):
                self.enter_pool(successor)

    def kill(self, job: WorkflowJob) -> None:
        """ "A job that is killed at time t', after it was put on its node at t, loses t' - t seconds: all of its time
        on the node, including transfers. It starts over from scratch."; "A killed job re-enters the pool at once".
        """
        self.loss_time += self.now - job.put
        self.reschedulings += 1
        job.kills += 1
        self.running.remove(job)
        self.write(KILL, job, job.node)
        self.enter_pool(job)


def make_jobs(settings: WorkflowSettings, tables: dict[str, object]) -> list[WorkflowJob]:
    """The jobs of all workflows, one workflow after the other.

    "job j takes D(j, p) seconds on node p: `cost[j, p]` where the costs are a matrix, else `cost[j] / speed[p]`"; with
    `SharedOutputs(c)` "every job that has a successor copies its output to shared storage before it is done, in c
    seconds [...]: for such a job W(j, p) = D(j, p) + c, for all others W(j, p) = D(j, p)".

    "Edges into a job are ordered by (u, order given), edges out of it by (v, order given)."
    """
    given = {name: np.asarray(column).tolist() for name, column in tables.items()}
    firsts = given["first_job"]
    jobs = []
    for i in range(len(firsts) - 1):
        for g in range(firsts[i], firsts[i + 1]):
            cost = given["cost"][g]
            lengths = cost if isinstance(cost, list) else [cost / speed for speed in given["speed"]]
            has_successor = given["successor_start"][g] < given["successor_start"][g + 1]
            if settings.outputs is not None and has_successor:
                lengths = [d + settings.outputs for d in lengths]
            jobs.append(WorkflowJob(i, g - firsts[i], g, lengths))
    for job in jobs:
        for name, row in (("predecessor", job.inputs), ("successor", job.outputs)):
            for e in range(given[name + "_start"][job.number], given[name + "_start"][job.number + 1]):
                row.append((jobs[given[name][e]], given[name + "_transfer"][e]))
    return jobs
