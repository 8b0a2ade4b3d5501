"""Boxes of a torus, the slow and obvious way: the reference for torus, finders and placement rules of
``faultsim._core``.

``busy`` is a bool array (X, Y, Z); a box is a tuple (x, y, z, a, b, c): base and extents.  A box may wrap around if
``wrap``; a full extent has only base 0.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from faultsim.arrays import Flags, Indices

Box = tuple[int, int, int, int, int, int]
Busy = Flags

# What "first" means (model.md#box-order): name -> sort key of a box.
BOX_ORDERS = {
    "extents-descending": lambda box: (-box[3], -box[4], -box[5], *box[:3]),
    "extents-ascending": lambda box: (*box[3:], *box[:3]),
    "bases": lambda box: box,
}


def bases(axis: int, extent: int, wrap: bool) -> range:
    """Where a run of `extent` may begin on an axis."""
    if extent == axis:
        return range(1)
    return range(axis if wrap else axis - extent + 1)


def all_boxes(x: int, y: int, z: int, wrap: bool = True, size: int | None = None) -> Iterator[Box]:
    """Every box of the torus, or every box of one size."""
    for a in range(1, x + 1):
        for b in range(1, y + 1):
            for c in range(1, z + 1):
                if size is not None and a * b * c != size:
                    continue
                for i in bases(x, a, wrap):
                    for j in bases(y, b, wrap):
                        for k in bases(z, c, wrap):
                            yield i, j, k, a, b, c


def nodes(shape: tuple[int, ...], box: Box) -> tuple[Indices, ...]:
    """The box as an index into an array of that shape."""
    return np.ix_(*((np.arange(box[i + 3]) + box[i]) % shape[i] for i in range(3)))


def is_free(busy: Busy, box: Box) -> bool:
    return not busy[nodes(busy.shape, box)].any()


def fill(busy: Busy, box: Box) -> Busy:
    """A copy with the box busy."""
    busy = busy.copy()
    busy[nodes(busy.shape, box)] = True
    return busy


def is_outside(shape: tuple[int, int, int], box: Box) -> Busy:
    """Which nodes do not belong to the box."""
    return ~fill(np.zeros(shape, bool), box)


def feasible_sizes(x: int, y: int, z: int) -> list[int]:
    """The sizes that some box has."""
    return sorted({a * b * c for a in range(1, x + 1) for b in range(1, y + 1) for c in range(1, z + 1)})


def next_feasible(x: int, y: int, z: int, size: int) -> int:
    """The smallest feasible size >= `size`; 0 = none."""
    return min((s for s in feasible_sizes(x, y, z) if s >= size), default=0)


def free_bases(busy: Busy, a: int, b: int, c: int, wrap: bool = True) -> Busy:
    """Where a free box of extents (a, b, c) may begin: the whole machine shifted over itself."""
    free = ~busy
    for axis, extent in enumerate((a, b, c)):  # rows of a nodes, then rectangles of b rows, then boxes of c rectangles
        free = np.logical_and.reduce([np.roll(free, -i, axis) for i in range(extent)])
    for axis, extent in enumerate((a, b, c)):
        beyond: list[slice] = [slice(None)] * 3
        beyond[axis] = slice(len(bases(busy.shape[axis], extent, wrap)), None)
        free[tuple(beyond)] = False
    return free


def find_partitions(busy: Busy, size: int, wrap: bool = True, box_order: str = "extents-descending") -> list[Box]:
    """Every free box of exactly `size` nodes, in order."""
    x, y, z = busy.shape
    boxes: list[Box] = []
    for a in range(1, x + 1):
        for b in range(1, y + 1):
            c = size // (a * b)
            if a * b * c == size and c <= z:
                boxes += [(i, j, k, a, b, c) for i, j, k in np.argwhere(free_bases(busy, a, b, c, wrap)).tolist()]
    return sorted(boxes, key=BOX_ORDERS[box_order])


def max_free_partition(busy: Busy, wrap: bool = True) -> Box | None:
    """The largest free box, the first in contract order; None where every node is busy."""
    for size in reversed(feasible_sizes(*busy.shape)):
        if size <= np.count_nonzero(~busy):
            boxes = find_partitions(busy, size, wrap)
            if boxes:
                return boxes[0]
    return None


@lru_cache(maxsize=32)
def masks(x: int, y: int, z: int, wrap: bool) -> dict[Box, int]:
    """Every box as a whole number with a bit set for each of its nodes, larger boxes first."""
    numbers = np.arange(x * y * z).reshape(x, y, z)
    slabs: list[dict[tuple[int, int], int]] = []  # (base, extent) -> the nodes between two planes, one dict an axis
    for axis, length in enumerate((x, y, z)):
        planes = [sum(1 << int(node) for node in np.take(numbers, i, axis).flat) for i in range(length)]
        slabs.append(
            {
                (base, extent): sum(planes[(base + i) % length] for i in range(extent))
                for extent in range(1, length + 1)
                for base in bases(length, extent, wrap)
            }
        )
    boxes = sorted(all_boxes(x, y, z, wrap), key=lambda box: -box[3] * box[4] * box[5])
    return {b: slabs[0][b[0], b[3]] & slabs[1][b[1], b[4]] & slabs[2][b[2], b[5]] for b in boxes}


def max_free(busy: Busy, wrap: bool = True, without: int = 0) -> int:
    """The size of the largest free box, the nodes of the mask `without` taken as busy too."""
    taken = mask(busy) | without
    for box, nodes_of_box in masks(*busy.shape, wrap).items():
        if not nodes_of_box & taken:
            return box[3] * box[4] * box[5]
    return 0


def mask(busy: Busy) -> int:
    """The busy nodes as a whole number, one bit a node."""
    return int.from_bytes(np.packbits(busy.ravel(), bitorder="little").tobytes(), "little")


def permitted(
    busy: Busy,
    size: int,
    wrap: bool = True,
    box_order: str = "extents-descending",
    forbidden: Busy | None = None,
    later: Busy | None = None,
    need: int = 0,
) -> list[Box]:
    """The candidates for a job of `size` nodes, in order.

    A candidate is free, touches no `forbidden` node, and leaves a free box of at least `need` nodes in `later`.
    """
    boxes = find_partitions(busy, size, wrap, box_order)
    if forbidden is not None:
        boxes = [box for box in boxes if is_free(forbidden, box)]
    if later is not None:
        boxes = [box for box in boxes if max_free(later, wrap, masks(*busy.shape, wrap)[box]) >= need]
    return boxes


def choose(rule: str, busy: Busy, size: int, **options: object) -> Box | None:
    """Where the rule ("first_fit" or "max_free_partition") places a job, or None.  Options: those of `permitted`."""
    boxes = permitted(busy, size, **options)  # type: ignore[arg-type]
    if rule == "first_fit" or not boxes:
        return boxes[0] if boxes else None
    wrap = bool(options.get("wrap", True))
    table = masks(*busy.shape, wrap)
    return max(boxes, key=lambda box: max_free(busy, wrap, table[box]))  # max() keeps the first of equals


def pop_steps(busy: Flags, base: tuple[int, int]) -> list[int]:
    """Krevat's projection of columns in two dimensions ([krevat2002] Figure 9), step by step.

    The largest rectangle found so far after each column taken in, until a column with a busy first node stops it.
    `busy` is (X, Y), a torus.
    """
    x, y = busy.shape
    found: list[int] = []
    least, best = y, 0
    for step in range(x):
        column = busy[(base[0] + step) % x]
        run = 0
        while run < y and not column[(base[1] + run) % y]:
            run += 1
        if run == 0:
            break
        least = min(least, run)
        best = max(best, (step + 1) * least)
        found.append(best)
    return found
