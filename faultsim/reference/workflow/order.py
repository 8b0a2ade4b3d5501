"""Upward ranks."""

from faultsim.reference.workflow.state import WorkflowJob, WorkflowState


def set_ranks(state: WorkflowState) -> None:
    """ "rank(j) = M(j) + max over edges (j, v, x) of (C(x) + rank(v)), rank(j) = M(j) without a successor, where M(j)
    is the sum over all nodes p, ascending, of W(j, p), divided by the number of nodes".
    """
    ranked: set[WorkflowJob] = set()
    while len(ranked) < len(state.jobs):
        for job in reversed(state.jobs):
            if job not in ranked and all(v in ranked for v, _ in job.outputs):
                total = 0.0
                for length in job.lengths:
                    total += length
                mean = total / len(job.lengths)
                job.rank = mean
                if job.outputs:
                    job.rank = mean + max(mean_moving_time(state, size) + v.rank for v, size in job.outputs)
                ranked.add(job)


def mean_moving_time(state: WorkflowState, size: float) -> float:
    """ "C(x) = x / bandwidth, or, with a matrix, C(x) = x * B with B the sum of 1 / bandwidth[p, q] over p and then q,
    both ascending, q other than p, divided by the number of these pairs (0 with one node)".
    """
    if not isinstance(state.bandwidth, list):
        return float(size / state.bandwidth)
    total, pairs = 0.0, 0
    for p in range(state.nodes):
        for q in range(state.nodes):
            if q != p:
                total += 1.0 / state.bandwidth[p][q]
                pairs += 1
    return size * (total / pairs) if pairs else 0.0
