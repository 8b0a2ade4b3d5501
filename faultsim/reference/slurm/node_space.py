"""The table of the backfill loop: which nodes are free of plans in which intervals (model.md#slurm-backfill)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Slot:
    """An interval [begin, end) in seconds, and the nodes that no plan holds in it."""

    begin: float
    end: float
    nodes: frozenset[int]


class NodeSpace:
    """Slots that follow each other without a gap.

    Parameters
    ----------
    begin, end : float
        Of the window, in seconds.
    nodes : frozenset of int
        Nodes that are up.

    Examples
    --------
    >>> space = NodeSpace(0.0, 600.0, frozenset({0, 1}))
    >>> space.add(120.0, 300.0, {1}, resolution=60.0)
    >>> [(slot.begin, slot.end, sorted(slot.nodes)) for slot in space]
    [(0.0, 120.0, [0, 1]), (120.0, 300.0, [0]), (300.0, 600.0, [0, 1])]
    >>> space.records
    3
    """

    def __init__(self, begin: float, end: float, nodes: frozenset[int]) -> None:
        self._slots = [Slot(begin, end, nodes)]
        #: Records that Slurm's table would have taken: those of merged slots are not given back.
        self.records = 1

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._slots)

    def collides(self, begin: float, end: float, nodes: set[int]) -> bool:
        """Whether some of the nodes are not free somewhere in [begin, end)."""
        return any(slot.end > begin and slot.begin < end and not nodes <= slot.nodes for slot in self._slots)

    def add(self, begin: float, end: float, nodes: set[int], resolution: float) -> None:
        """Enter a plan: take whole nodes out of [begin, end), which lasts at least `resolution` seconds."""
        end = max(end, begin + resolution)
        slots = self._slots
        first = next((at for at, slot in enumerate(slots) if slot.end >= begin), None)
        if first is None:
            return
        if slots[first].end > begin:
            # A plan at the begin of the first slot leaves an empty slot before it, as in Slurm.
            slots.insert(first + 1, Slot(begin, slots[first].end, slots[first].nodes))
            slots[first].end = begin
            self.records += 1
        for at in range(first + 1, len(slots)):
            if end < slots[at].end:
                slots.insert(at + 1, Slot(end, slots[at].end, slots[at].nodes))
                slots[at].end = end
                self.records += 1
                break
            if end == slots[at].end:
                break
        for slot in slots:
            if slot.begin >= begin and begin < slot.end <= end:
                slot.nodes = slot.nodes - nodes
        self._merge(first)

    def _merge(self, first: int) -> None:
        """Merge the first two neighbours that are equal, from a slot on."""
        slots = self._slots
        for at in range(first, len(slots) - 1):
            if slots[at].nodes == slots[at + 1].nodes:
                slots[at].end = slots[at + 1].end
                del slots[at + 1]
                return
