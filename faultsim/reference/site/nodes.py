"""The nodes of a site and what jobs ask of them (model.md#site-jobs)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from faultsim.data.lowered import Lowered
from faultsim.data.world import AskRows
from faultsim.reference.capacity import Amounts

#: Node -> what a job has of it.
Grant = dict[int, Amounts]


class Ask(NamedTuple):
    """What a job asks for; `model.md#site-jobs` has the meaning."""

    nodes: int  # 0: any number
    cores: int  # on each node, or in all
    memory: int  # on each node, or of each core
    gpus: int  # on each node
    by_core: bool
    exclusive: bool
    classes: int  # one bit for each class that may serve

    @property
    def needed(self) -> int:
        """How many nodes, or cores, it needs in all."""
        return self.nodes or self.cores


class Nodes:
    """What each node has."""

    def __init__(self, machine: Lowered) -> None:
        self.amounts: list[Amounts] = []
        self.class_of: list[int] = []
        self.weight: list[int] = []
        for at, row in enumerate(machine["classes"]):
            self.amounts += [Amounts(row["cores"], row["memory"], row["gpus"])] * row["count"]
            self.class_of += [at] * row["count"]
            self.weight += [row["weight"]] * row["count"]
        self.cores = sum(has.cores for has in self.amounts)

    def __len__(self) -> int:
        return len(self.amounts)

    def available(self, ask: Ask, node: int, free: Amounts | None) -> int:
        """The cores that a node can give to a job, where this is free; None: the node is down.

        model.md#site-jobs: "all its free cores. Where memory is requested per core, it offers no more cores than
        its free memory has room for. For an exclusive job it offers all cores of a node that is empty."
        """
        if free is None or not ask.classes >> self.class_of[node] & 1:
            return 0
        if ask.exclusive and free != self.amounts[node]:
            return 0
        if ask.gpus > free.gpus or (not ask.by_core and ask.memory > free.memory):
            return 0
        cores = free.cores
        if ask.by_core and ask.memory > 0:
            cores = min(cores, free.memory // ask.memory)
        return cores if cores >= (ask.cores if ask.nodes else 1) else 0

    def offers(self, ask: Ask, node: int, free: Amounts | None, cores: int) -> bool:
        """Whether a node has so many cores for a job, and what comes with them."""
        if free is None or not ask.classes >> self.class_of[node] & 1:
            return False
        if ask.exclusive and free != self.amounts[node]:
            return False
        return self.share(ask, node, cores).within(free)

    def share(self, ask: Ask, node: int, cores: int) -> Amounts:
        """What a job takes of a node that gives it so many cores."""
        if ask.exclusive:
            return self.amounts[node]
        return Amounts(cores, ask.memory * cores if ask.by_core else ask.memory, ask.gpus)

    def served(self, ask: Ask, node: int, free: Amounts | None) -> int:
        """How much of what a job needs a node can serve: 1 node, or so many cores."""
        there = self.available(ask, node, free)
        return min(there, 1) if ask.nodes else there

    def all_served(self, ask: Ask, free: Sequence[Amounts | None]) -> int:
        """The same of all nodes."""
        return sum(self.served(ask, node, left) for node, left in enumerate(free))

    def fits(self, ask: Ask, free: Sequence[Amounts | None]) -> bool:
        """Whether a job has room in what is free."""
        return self.all_served(ask, free) >= ask.needed


def asks_of(rows: AskRows) -> list[Ask]:
    """The requests of all jobs."""
    return [Ask(*row) for row in zip(*(np.asarray(column).tolist() for column in rows.columns()), strict=True)]


def less(free: Amounts | None, taken: Amounts | None) -> Amounts | None:
    """What is left of a node.

    model.md#site-schedulers: "A node has nothing left where reservations claim more of it than is free".
    """
    if free is None or taken is None:
        return free
    return free.plus(taken, -1) if taken.within(free) else Amounts()


def meet(free: Amounts | None, other: Amounts | None) -> Amounts | None:
    """What is free at both times."""
    return None if free is None or other is None else Amounts(*map(min, free, other))
