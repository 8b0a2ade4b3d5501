"""One scheduling pass over the pool: which job goes where, and what the predictor is asked."""

from faultsim.reference.workflow.state import WorkflowJob, WorkflowState


def scheduling_pass(state: WorkflowState) -> None:
    """ "The pass goes through the jobs of the pool in this order, and ends when no node is free. All free nodes are
    up"."""
    state.wake_up = None  # "Each pass cancels the wake-up of the one before."
    refusing: list[float] = []  # the ends of the predictions that made for a yes
    refused = False
    counted = False
    for job in state.scheduler.ordered(state.pool):
        free = state.free_nodes()
        if not free:
            break
        if is_blocked(state, job):
            continue
        if not counted:
            count_per_pass(state, job, free)
            counted = True
        refused |= not place(state, job, free, refusing)
    # "If at the end of a pass no job is on any node [...], and there was a job for which the predictor said yes about
    # all free nodes, that job might wait forever: so a wake-up is set, at the earliest end e of the predictions that
    # caused a yes in this pass."
    if not state.running and refused:
        state.wake_up = min(refusing)


def is_blocked(state: WorkflowState, job: WorkflowJob) -> bool:
    """ "With `outputs="node"` a job one of whose predecessors has its output on a node that is down is *blocked*: it
    stays in the pool, and the next job follows. Every edge counts, even one with x = 0; only nodes that are down now
    count."
    """
    return not state.shared and any(u.node in state.up for u, _ in job.inputs)


def place(state: WorkflowState, job: WorkflowJob, free: list[int], refusing: list[float]) -> bool:
    """Put a job on the first node that takes it; whether one did.

    "The free nodes are tried in order of (F(p), p), ascending: the earliest finish first, ties to the lower number.";
    "`Flaw`, and `Fifo(aware=True)`: for each node in turn the predictor is *asked*; the first about which it says no
    takes the job. If it says yes about all of them, the job stays in the pool".
    """
    for asked, (finish, p) in enumerate(sorted((state.finish_on(job, p), p) for p in free), start=1):
        reasons = predicted(state, p, finish)
        state.asked_per_node += 1
        state.right_per_node += bool(reasons) == fails(state, p, finish)
        if not reasons:
            state.put_on(job, p, asked)
            return True
        refusing += reasons
    return False


def count_per_pass(state: WorkflowState, job: WorkflowJob, free: list[int]) -> None:
    """ "in every pass, the first job that is not blocked (if there is one while a node is free) counts one question
    about each node that is free at the beginning of the pass, with its own F(p), whether asked or not".
    """
    for p in free:
        finish = state.finish_on(job, p)
        state.asked_per_pass += 1
        state.right_per_pass += bool(predicted(state, p, finish)) == fails(state, p, finish)


# -- the question: does node p fail in the open window (now, F(p))?


def predicted(state: WorkflowState, p: int, finish: float) -> list[float]:
    """The ends of the predictions that make for a yes; none is a no.

    "The answer is yes if there is a prediction for node p, from b to e (b = e for a dated one), with b < F(p) and e >
    now"; "A scheduler that does not ask (`RankHybd`, `Fifo`) counts as one that is always answered no."
    """
    if not state.scheduler.asks:
        return []
    return [e for b, e, node in state.predictions if node == p and b < finish and e > state.now]


def fails(state: WorkflowState, p: int, finish: float) -> bool:
    """ "the node has a failure at some time f with now < f < F(p) [...]; all failures of the trace count, whatever
    their down time, even on a node that is then down".
    """
    return any(node == p and state.now < f < finish for f, node, _ in state.failures)
