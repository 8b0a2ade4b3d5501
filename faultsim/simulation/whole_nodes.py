"""Sites whose jobs all take whole nodes, as clusters that count cores.

The engine of a site keeps what is free of each node.  "Where each job takes all cores of its nodes, and all nodes are
of one class, a job fits if enough cores are free, whichever nodes others have" (model.md#site-whole): a node is empty
or has no free core, so n nodes are empty if n times their cores are free, and a job takes and returns all cores of n
nodes.  So schedulers that only compare what is free, now or after some releases, decide as on a cluster of as many
"nodes" as the site has cores, with sizes and accounts in cores as before.  With EASY, a job that outlives the shadow
time costs the head each node that it takes, which is the comparison with the extra nodes of a cluster.
"""

from dataclasses import replace

import numpy as np

from faultsim.arrays import Integers
from faultsim.data.lowered import Lowered
from faultsim.data.world import AskRows, World
from faultsim.policies.settings import Settings
from faultsim.simulation.core_engine import REQUEUE

#: Schedulers without reservations of nodes.
_SCHEDULERS = ("fcfs", "easy", "preemptive")


def as_counts(settings: Settings, size: Integers, world: World) -> tuple[Settings, World]:
    """The settings and world of the cluster that has the same run; those given, if a run needs the nodes of its site.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.simulation.lowering import lower
    >>> log = fs.Workload([0, 0], [9, 9], [8, 4], columns={"cores": [8, 4]})
    >>> given = lower(fs.Run(log, "site:n=3x4c"))
    >>> as_counts(given.settings, given.log.size, given.world)[0].machine
    {'name': 'cluster', 'nodes': 12}
    """
    asks, machine = world.asks, settings.machine
    if asks is None or _names_nodes(settings, world) or not _fill_nodes(machine, size, asks):
        return settings, world
    cluster: Lowered = {"name": "cluster", "nodes": machine["nodes"] * machine["classes"][0]["cores"]}
    # Where nodes have no numbers, no rule chooses among them.
    placement: Lowered = {**settings.placement, "name": "first_fit"}
    return replace(settings, machine=cluster, placement=placement), replace(world, asks=None)


def _names_nodes(settings: Settings, world: World) -> bool:
    """Whether something of the run is by node."""
    policies = (settings.scheduler["order"], settings.placement, settings.recovery, settings.checkpointing)
    return (
        settings.record
        or world.live
        or settings.scheduler["name"] not in _SCHEDULERS
        or settings.rescheduling is not None
        or (settings.recovery or REQUEUE)["name"] != REQUEUE["name"]
        or any("object" in policy for policy in policies if policy is not None)  # written in Python
        or any(
            each is not None
            for each in (world.failures, world.predictions, world.alarms, world.ticks, world.clocks, world.absences)
        )
    )


def _fill_nodes(machine: Lowered, size: Integers, asks: AskRows) -> bool:
    """Whether all nodes are equal, and each job takes all cores of its nodes and gets no more than it asked for."""
    if len(machine["classes"]) > 1:
        return False
    cores, memory = machine["classes"][0]["cores"], machine["classes"][0]["memory"]
    # Of any number of nodes: each offers all its cores, so that they are as few as there can be.
    offered = ~asks.by_core | (asks.memory.astype(np.int64) * cores <= memory)
    filled = np.where(asks.nodes > 0, (asks.cores == cores) & (size == asks.nodes * cores), size % cores == 0)
    return bool((filled & offered).all())
