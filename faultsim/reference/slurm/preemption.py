"""Which running jobs end to make room for a job (model.md#slurm-preemption)."""

from __future__ import annotations

from collections.abc import Sequence

from faultsim.reference.slurm.queue import may_preempt
from faultsim.reference.slurm.selection import Selection
from faultsim.reference.slurm.state import Room, Running, SlurmNodes, Waiting


def mode_of(site: SlurmNodes, job: Running) -> str:
    """What happens to a job that is preempted: "OFF", "REQUEUE", "CANCEL" or another mode of Slurm."""
    if site.by_qos:
        qos = site.conf.qos.get(job.qos)
        mode = qos.preempt_mode.upper() if qos is not None else "CLUSTER"
        return site.mode if mode in ("CLUSTER", "") else mode
    return site.partitions[job.partition].preempt_mode.upper()


def grace_of(site: SlurmNodes, job: Running) -> float:
    """Seconds between its warning and its end."""
    if site.by_qos:
        qos = site.conf.qos.get(job.qos)
        return qos.grace_time if qos is not None else 0.0
    return site.partitions[job.partition].grace_time


def victims_for(
    site: SlurmNodes, job: Waiting, partition: str, running: Sequence[Running], now: float
) -> list[Running]:
    """Running jobs that a job may preempt, in the order in which they are tried."""
    if not site.preempts:
        return []
    settings = site.conf.settings
    nodes = site.nodes_of[partition]
    found = []
    for each in running:
        if not may_preempt(site, job, partition, each, each.partition) or mode_of(site, each) == "OFF":
            continue
        if set(each.nodes).isdisjoint(nodes):
            continue
        if each.start > now - settings["PreemptExemptTime"] and settings["PreemptExemptTime"]:
            continue
        found.append(each)
    if site.by_qos:
        found.sort(key=lambda each: site.conf.qos[each.qos].priority if each.qos in site.conf.qos else 0)
    else:
        found.sort(key=lambda each: site.partitions[each.partition].priority_tier * 65536 + len(each.nodes))
    if settings["preempt_youngest_first"]:
        found.sort(key=lambda each: -each.start)
    return found


def choose_with_victims(
    selection: Selection,
    job: Waiting,
    partition: str,
    candidates: Sequence[int],
    room: Room,
    victims: Sequence[Running],
) -> tuple[dict[int, int] | None, list[Running]]:
    """Nodes for a job, and the running jobs that must end before; none if it fits without.

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
        What is free of them.
    victims : sequence of Running
        Jobs that it may preempt, in their order.
    """
    part = room.site.partitions[partition]
    found = selection.choose(job.ask, candidates, room, part)
    if found is not None or not victims:
        return found, []
    order = list(victims)
    rounds = int(room.site.conf.settings["preempt_reorder_count"])
    for pass_ in range(rounds + 2):
        space = room.copy()
        removed: list[Running] = []
        found = None
        for each in order:
            space.give(each)
            removed.append(each)
            found = selection.choose(job.ask, candidates, space, part)
            if found is not None:
                break
        if found is None:
            return None, []
        chosen = set(found)
        if pass_ > rounds - 1 or len(order) == 1:
            break
        count = {id(each): len(chosen & set(each.nodes)) for each in removed}
        count[id(removed[-1])] = 9999
        order.sort(key=lambda each: -count.get(id(each), 0))
    assert found is not None
    ended = [each for each in removed if not set(each.nodes).isdisjoint(found)]
    return found, ended
