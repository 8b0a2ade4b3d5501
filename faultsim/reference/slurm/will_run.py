"""When a job could start: the test of the backfill loop, which lets running jobs end (model.md#slurm-backfill)."""

from __future__ import annotations

from collections.abc import Sequence

from faultsim.reference.slurm.preemption import victims_for
from faultsim.reference.slurm.selection import Selection
from faultsim.reference.slurm.state import Room, Running, Waiting

#: Seconds to which ends of jobs are taken together at first.
FIRST_WINDOW = 30.0


def will_run(
    selection: Selection,
    job: Waiting,
    partition: str,
    candidates: Sequence[int],
    room: Room,
    running: Sequence[Running],
    now: float,
) -> tuple[float, dict[int, int]] | None:
    """The earliest time, as Slurm computes it, at which a job fits, and its nodes; None if it never does.

    Parameters
    ----------
    selection : Selection
        The tests.
    job : Waiting
        The job.
    partition : str
        In which it would run.
    candidates : sequence of int
        Nodes, rising.
    room : Room
        What is free of them now.
    running : sequence of Running
        Jobs that run, in the order of their creation.
    now : float
        Seconds.
    """
    site = room.site
    part, settings = site.partitions[partition], site.conf.settings
    found = selection.choose(job.ask, candidates, room, part)
    if found is not None:
        return now, found
    space = room.copy()
    victims = victims_for(site, job, partition, running, now)
    if victims:
        for each in victims:
            space.give(each)
        found = selection.choose(job.ask, candidates, space, part)
        if found is not None:
            return now, found
    gone = {id(each) for each in victims}
    rest = sorted((each for each in running if id(each) not in gone), key=lambda each: (each.end, each.job))
    idle = None
    if site.busy_first:
        busy = {node for each in running for node in each.nodes}
        idle = [node not in busy for node in range(len(site.names))]
    usable = set(candidates)
    window, linear = FIRST_WINDOW, float(settings["bf_window_linear"])
    base: float | None = None
    at = 0
    while at < len(rest):
        last: Running | None = None
        while at < len(rest):
            each = rest[at]
            at += 1
            if usable.isdisjoint(each.nodes):
                continue
            space.give(each)
            last = each
            if base is None:
                base = each.end + FIRST_WINDOW - each.end % FIRST_WINDOW
            if at < len(rest) and rest[at].end > base + window:
                break
        if last is None or base is None:
            return None
        window = window + linear if linear else 2 * window
        while at < len(rest) and rest[at].end > base + window:
            window = window + linear if linear else 2 * window
        found = selection.choose(job.ask, candidates, space, part, idle_now=idle)
        if found is not None:
            late = settings["KillWait"] + 60.0 * (settings["OverTimeLimit"] or 0.0)
            return (last.end if last.end > now else max(last.end + late, now + 1)), found
    return None
