"""Where the node-seconds went (model.md#goodput), plainly: without the ledger.

What is down, free, asked for and rounded up is counted node by node from the schedule and the trace. Run times, lost
work, checkpoints, slowness and waits for repair are the columns of the jobs, and what is restarting is the rest of the
time on nodes, so that these five cannot but sum to it.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import fsum
from typing import Any

#: A job that held these nodes from one time to another.
Stay = tuple[int, float, float, Sequence[int]]


def goodput(
    nodes: int,
    begin: float,
    end: float,
    jobs: Sequence[Mapping[str, Any]],
    stays: Sequence[Stay],
    failures: Sequence[tuple[float, int, float]],
    *,
    hold: Sequence[float],
) -> dict[str, float]:
    """Node-seconds of each group of accounts from the first submit to the last finish.

    Parameters
    ----------
    nodes : int
        Of the machine.
    begin, end : float
        First submit and last finish.
    jobs : sequence of mapping
        Rows of the columns of the result.
    stays : sequence of (job, begin, end, nodes)
        Who held what.
    failures : sequence of (time, node, down time)
        All of the trace.
    hold : sequence of float
        Seconds for which each job waited on its nodes for a repair (`hold_times`).
    """
    times = {begin, end, *(job["submit"] for job in jobs)}
    times |= {time for _, since, until, _ in stays for time in (since, until)}
    times |= {time for at, _, down in failures for time in (at, at + down)}
    sums: dict[str, list[float]] = {name: [] for name in ("down", "wanted", "free", "surplus")}
    for left, right in pairwise(sorted(time for time in times if begin <= time <= end)):
        gap = right - left
        here = [(job, places) for job, since, until, places in stays if since <= left and right <= until]
        held = {node for _, places in here for node in places}
        # "nodes that are down and not held by a job, over time"
        down = {node for at, node, length in failures if at <= left < at + length} - held
        free = nodes - len(held) - len(down)
        running = {job for job, _ in here}
        asked = sum(
            job["size"]
            for row, job in enumerate(jobs)
            if job["submit"] <= left and right <= job["finish"] and row not in running
        )
        wanted = min(free, asked)  # "min(free, nodes requested by the queue), over time"
        sums["down"].append(len(down) * gap)
        sums["wanted"].append(wanted * gap)
        sums["free"].append((free - wanted) * gap)
        # "(allocated - requested) times the time held"
        sums["surplus"].append(sum(len(places) - jobs[job]["size"] for job, places in here) * gap)
    busy = fsum(jobs[job]["size"] * (until - since) for job, since, until, _ in stays)
    waited = fsum(job["size"] * seconds for job, seconds in zip(jobs, hold, strict=True))
    found = {
        "productive": fsum(job["size"] * job["runtime"] for job in jobs if job["state"] != "timed out"),
        "cut_at_limit": fsum(job["size"] * job["runtime"] for job in jobs if job["state"] == "timed out"),
        "rolled_back": fsum(job["lost_work"] for job in jobs),
        "checkpointing": fsum(job["size"] * job["checkpoint_time"] for job in jobs),
        "slowed": fsum(job["size"] * job["slowed_time"] for job in jobs),
    }
    return {
        **found,
        "restarting": busy - fsum(found.values()) - waited,
        "waiting_for_repair": fsum(sums["down"]) + waited,
        "rounded_up": fsum(sums["surplus"]),
        "idle_despite_demand": fsum(sums["wanted"]),
        "idle_without_demand": fsum(sums["free"]),
    }


def hold_times(
    jobs: Sequence[Mapping[str, float]], stays: Sequence[Stay], *, holds: bool, start_delay: float
) -> list[float]:
    """Seconds for which each job waited on its nodes for a repair: `failure_wait` less waits in the queue.

    With Hold a job is in the queue again only where a scheduler has stopped it.  That wait, too, is in its
    `failure_wait`, until the next start, start delay included.

    Examples
    --------
    >>> stays = [(0, 0.0, 20.0, [0]), (0, 50.0, 90.0, [0])]
    >>> hold_times([{"failure_wait": 45.0}], stays, holds=True, start_delay=5.0)
    [10.0]
    """
    if not holds:
        return [0.0] * len(jobs)
    queued: list[list[float]] = [[] for _ in jobs]
    last: dict[int, float] = {}
    for row, since, until, _ in sorted(stays, key=lambda stay: stay[:3]):
        if since > last.get(row, since):
            queued[row].append(since - last[row] + start_delay)
        last[row] = until
    return [job["failure_wait"] - fsum(waits) for job, waits in zip(jobs, queued, strict=True)]
