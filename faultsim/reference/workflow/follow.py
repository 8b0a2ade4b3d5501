"""HEFT at work: how its plans are followed when nodes fail."""

from faultsim.reference.workflow.plan import plan
from faultsim.reference.workflow.state import ARRIVAL, FAILURE, REPAIR, START, WorkflowJob, WorkflowState


def follow(state: WorkflowState) -> None:
    """ "Every job keeps its planned node, and every node keeps its planned order."

    "The events of an instant are handled in the order finishes, ends of transfers, repairs, failures, arrivals (each of
    which plans its workflow). Then [...] transfers begin [...] jobs start [...]. Whatever then is due at this same
    instant (transfers and jobs of zero length) is handled next, in the same way."
    """
    heft = Heft(state)
    while not heft.is_done():
        state.now = heft.next_time()
        heft.finishes()
        if heft.is_done():
            break  # "The run ends with the finish of the last job"
        heft.ends_of_transfers()
        heft.repairs()
        heft.failures()
        heft.arrivals()
        heft.begin_transfers()
        heft.start_jobs()


class Heft:
    """The plans, the transfers, and what is still to come.

    Attributes
    ----------
    plans : list of list of WorkflowJob
        The jobs of each node in the order of its plan.
    under_way : dict of (WorkflowJob, WorkflowJob) to float
        When the transfer from one job to another ends.
    there : set of (WorkflowJob, WorkflowJob)
        The edges over which the data have come.
    """

    def __init__(self, state: WorkflowState) -> None:
        self.state = state
        self.plans: list[list[WorkflowJob]] = [[] for _ in range(state.nodes)]
        self.under_way: dict[tuple[WorkflowJob, WorkflowJob], float] = {}
        self.there: set[tuple[WorkflowJob, WorkflowJob]] = set()
        self.still_to_fail = list(state.failures)
        self.still_to_arrive = sorted(zip(state.arrivals, range(len(state.arrivals)), strict=True))

    def is_done(self) -> bool:
        """Whether every job is."""
        return all(job.done for job in self.state.jobs)

    def next_time(self) -> float:
        """When something happens next."""
        times = [job.finish for job in self.state.running]
        times += self.under_way.values()
        times += self.state.up.values()
        times += [time for time, _, _ in self.still_to_fail[:1]]
        times += [time for time, _ in self.still_to_arrive[:1]]
        return min(times)

    def finishes(self) -> None:
        """In the order of jobs across workflows."""
        for job in sorted(self.state.running, key=lambda job: job.key):
            if job.finish == self.state.now:
                self.state.end(job)

    def ends_of_transfers(self) -> None:
        """The data are there, and "Inputs that have arrived stay"."""
        for edge, end in list(self.under_way.items()):
            if end == self.state.now:
                del self.under_way[edge]
                self.there.add(edge)

    def repairs(self) -> None:
        """By node."""
        for node, until in sorted(self.state.up.items()):
            if until == self.state.now:
                self.state.write(REPAIR, node=node)
                del self.state.up[node]

    def failures(self) -> None:
        """In the order of the trace.

        "A failure of q at t kills the job on q, which loses the time since its start [...]. All transfers in progress
        from and to q are aborted, and begin again as in 1. [...] q is down as above (3)."
        """
        while self.still_to_fail and self.still_to_fail[0][0] == self.state.now:
            _, q, downtime = self.still_to_fail.pop(0)
            self.state.write(FAILURE, node=q)
            for job in [job for job in self.state.running if job.node == q]:
                self.state.kill(job)
            self.under_way = {(u, v): end for (u, v), end in self.under_way.items() if q not in (u.node, v.node)}
            self.state.take_down(q, downtime)

    def arrivals(self) -> None:
        """In the order of workflows."""
        while self.still_to_arrive and self.still_to_arrive[0][0] == self.state.now:
            _, i = self.still_to_arrive.pop(0)
            self.state.write(ARRIVAL, workflow=i)
            plan(self.state, [job for job in self.state.jobs if job.key[0] == i], self.plans)

    def begin_transfers(self) -> None:
        """ "one over an edge (u, j, x) whose nodes differ begins at the first such moment, from the finish of u on, at
        which both nodes are up, and ends m(e) later".
        """
        for u in self.state.jobs:
            for v, size in u.outputs:
                new = (u, v) not in self.under_way and (u, v) not in self.there
                if u.done and u.node != v.node and new and not {u.node, v.node} & set(self.state.up):
                    self.under_way[u, v] = self.state.now + self.state.moving_time(size, u.node, v.node)

    def start_jobs(self) -> None:
        """ "jobs start, on each node, in order of node, that is up and free: the first job of its plan that is not
        done, if all its inputs have arrived (an output on the same node is available at once). It finishes at now +
        D(j, p)."
        """
        for p in self.state.free_nodes():
            for job in [job for job in self.plans[p] if not job.done][:1]:
                if all(u.done and (u.node == p or (u, job) in self.there) for u, _ in job.inputs):
                    job.put, job.finish = self.state.now, self.state.now + job.lengths[p]
                    self.state.running.append(job)
                    self.state.write(START, job, p)
