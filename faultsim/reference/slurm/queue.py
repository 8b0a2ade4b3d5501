"""The queue of both loops: one record for each job and partition (model.md#slurm-queue)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key

from faultsim.reference.slurm.state import Reserved, Running, SlurmNodes, State, Waiting

Pair = tuple[Waiting, str]


def may_preempt(site: SlurmNodes, job: Waiting, partition: str, other: Waiting | Running, of: str) -> bool:
    """Whether a job in a partition may take the place of another in its partition.

    Parameters
    ----------
    site : SlurmNodes
        The site.
    job, other : Waiting or Running
        The jobs.
    partition, of : str
        Their partitions.
    """
    if not site.preempts:
        return False
    if site.by_qos:
        own = site.conf.qos.get(job.qos)
        return own is not None and other.qos in own.preempt
    first, second = site.partitions[partition], site.partitions[of]
    if first.priority_tier <= second.priority_tier:
        return False
    return not set(site.nodes_of[partition]).isdisjoint(site.nodes_of[of])


def within_limits(site: SlurmNodes, job: Waiting, partition: str) -> bool:
    """Whether a partition takes a job of this size, time limit, account and QOS."""
    part = site.partitions.get(partition)
    if part is None or part.state.upper() in ("DOWN", "INACTIVE"):
        return False
    if part.max_time is not None and 60.0 * job.limit > part.max_time:
        return False
    most = part.max_nodes
    if most is not None and job.ask.min_nodes > most:
        return False
    if job.ask.max_nodes and job.ask.max_nodes < part.min_nodes:
        return False
    if part.allow_accounts and job.account not in part.allow_accounts:
        return False
    if part.deny_accounts and job.account in part.deny_accounts:
        return False
    if part.allow_qos and job.qos not in part.allow_qos:
        return False
    return not (part.deny_qos and job.qos in part.deny_qos)


def queue_of(state: State, now: float) -> list[Pair]:
    """All records, in their order.

    Parameters
    ----------
    state : State
        Whose waiting jobs are those that may start: neither held nor waiting for others or for a time.
    now : float
        Seconds.
    """
    site = state.site
    active = {each.name for each in state.reservations if each.start <= now < each.end}
    pairs: list[Pair] = []
    for job in state.waiting:
        if job.left <= 0 or (job.reservation and job.reservation not in active):
            continue
        for partition in job.partitions:
            if within_limits(site, job, partition):
                pairs.append((job, partition))

    def compare(one: Pair, other: Pair) -> int:
        (first, first_part), (second, second_part) = one, other
        if site.preempts:
            if may_preempt(site, first, first_part, second, second_part):
                return -1
            if may_preempt(site, second, second_part, first, first_part):
                return 1
        left = _key(site, first, first_part)
        right = _key(site, second, second_part)
        return -1 if left < right else int(left > right)

    if not site.preempts:
        return sorted(pairs, key=cmp_to_key(compare))
    return _merged(pairs, compare)


def _merged(pairs: list[Pair], compare: Callable[[Pair, Pair], int]) -> list[Pair]:
    """Sorted by halves that are merged, as qsort does it of which Slurm makes use.

    With preemption the algorithm matters: that one goes before another does not say which goes before a third.
    """
    if len(pairs) < 2:
        return pairs
    half = len(pairs) // 2
    first, second = _merged(pairs[:half], compare), _merged(pairs[half:], compare)
    found, at = [], 0
    for pair in second:
        while at < len(first) and compare(first[at], pair) <= 0:
            found.append(first[at])
            at += 1
        found.append(pair)
    return found + first[at:]


def _key(site: SlurmNodes, job: Waiting, partition: str) -> tuple[bool, int, int, float, int]:
    tier = site.partitions[partition].priority_tier
    return not job.reservation, -tier, -job.priority_in(partition), job.submit, job.job


def reserved_away(
    reservations: Sequence[Reserved], job: Waiting, start: float, end: float
) -> tuple[set[int], Reserved | None]:
    """Nodes that reservations of others keep from a job, and its own reservation.

    Parameters
    ----------
    reservations : sequence of Reserved
        All that exist.
    job : Waiting
        The job.
    start, end : float
        Of its run, by its limit.
    """
    away: set[int] = set()
    own = None
    for each in reservations:
        if job.reservation and each.name == job.reservation:
            own = each
        elif each.meets(start, end):
            away |= each.nodes
    return away, own
