"""All boxes of a torus or mesh as bit masks, in contract order (model.md#box-order).

A set of nodes is a Python integer: bit ``(x*Y + y)*Z + z`` stands for node (x, y, z) (model.md#time).  A box is
free when its mask and the occupancy have no bit in common.  That is all the geometry the reference engine knows.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from faultsim.errors import NotAvailableError
from faultsim.reference.torus.partition import BOX_ORDERS, all_boxes, nodes


class Box(NamedTuple):
    """A contiguous box: base, extent, and the set of its nodes."""

    x: int
    y: int
    z: int
    a: int
    b: int
    c: int
    size: int
    mask: int


class Segments(Box):
    """The boxes of a job of segments, as one place; its numbers are 0."""

    parts: tuple[Box, ...]

    @classmethod
    def of(cls, parts: tuple[Box, ...]) -> "Segments":
        """The place that consists of these boxes."""
        found = cls(0, 0, 0, 0, 0, 0, sum(box.size for box in parts), union(box.mask for box in parts))
        found.parts = parts
        return found


def node_mask(shape: tuple[int, int, int], box: tuple[int, int, int, int, int, int]) -> int:
    """The set of nodes of a box."""
    return sum(1 << int(node) for node in np.arange(np.prod(shape)).reshape(shape)[nodes(shape, box)].flat)


@lru_cache(maxsize=32)
def list_boxes(shape: tuple[int, int, int], wrap: bool, box_order: str) -> tuple[Box, ...]:
    """Every box of the machine, each once, in contract order."""
    if box_order not in BOX_ORDERS:
        raise NotAvailableError(f"box_order {box_order!r}: known are {', '.join(BOX_ORDERS)}")
    found = sorted(all_boxes(*shape, wrap), key=BOX_ORDERS[box_order])
    return tuple(Box(*box, box[3] * box[4] * box[5], node_mask(shape, box)) for box in found)


class BoxTable:
    """The boxes of one machine, by size.

    Attributes
    ----------
    are_boxes : bool
        Whether they are boxes of nodes with coordinates, which a torus has.
    shape : (X, Y, Z)
    nodes : int
    of_size : dict
        Size -> boxes of exactly that many nodes, in contract order.
    sizes : list of int
        The feasible sizes, ascending.
    """

    are_boxes = True
    place = "box"

    def __init__(self, shape: tuple[int, int, int], wrap: bool, box_order: str) -> None:
        self.shape = shape
        self.nodes = shape[0] * shape[1] * shape[2]
        self.of_size: dict[int, list[Box]] = {}
        for box in list_boxes(shape, wrap, box_order):
            self.of_size.setdefault(box.size, []).append(box)
        self.sizes = sorted(self.of_size)

    def round_up(self, size: int) -> int:
        """ "A size without a box is rounded up on arrival to the next size that has one." (model.md#machines)"""
        return min(q for q in self.sizes if q >= size)

    def asked(self, needs: int, rank: int) -> int:
        """What a job needs that requests a shape, which boxes do not distinguish."""
        return needs

    def sizes_between(self, low: int, high: int) -> list[int]:
        """Feasible sizes from low to high, both included, ascending."""
        return [q for q in self.sizes if low <= q <= high]

    def free_of_size(self, busy: int, size: int) -> list[Box]:
        """Every free box of exactly that many nodes, in contract order."""
        return [box for box in self.of_size.get(size, ()) if not box.mask & busy]

    def all_of_size(self, size: int) -> list[Box]:
        """Every box of exactly that many nodes, in contract order."""
        return self.of_size[size]

    def free_of_at_least(self, busy: int, size: int) -> list[Box]:
        """Every free box of that many nodes or more."""
        return [box for q in self.sizes if q >= size for box in self.free_of_size(busy, q)]

    def largest_free(self, busy: int) -> int:
        """MFP: the size of the largest free box, 0 when no node is free."""
        free = self.nodes - busy.bit_count()
        for q in reversed(self.sizes):
            if q <= free and any(not box.mask & busy for box in self.of_size[q]):
                return q
        return 0

    def fits(self, busy: int, size: int) -> bool:
        """Whether a box of at least that many nodes is free, that is, whether MFP >= size."""
        free = self.nodes - busy.bit_count()
        return any(not box.mask & busy for q in self.sizes if size <= q <= free for box in self.of_size[q])

    def closing(self, closed: int, claimed: int) -> int:
        """Nodes that are closed to a job, some of them `claimed` by users, as a part of an occupancy for its box.

        Which boxes are free does not depend on why nodes are closed.
        """
        return closed

    def keep_down(self, nodes: int) -> None:
        """These nodes are down now and of no job: which boxes there are does not depend on it."""

    def may_be_busy(self, nodes: int) -> bool:
        """Whether jobs may have these nodes."""
        return True


def union(masks: Iterable[int]) -> int:
    """The nodes of any of these sets."""
    nodes = 0
    for mask in masks:
        nodes |= mask
    return nodes
