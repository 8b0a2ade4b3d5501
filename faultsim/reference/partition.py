"""Boxes of a torus, the slow and obvious way: the twin of ``faultsim._core`` 's torus, finders and placement rules.

``busy`` is a bool array (X, Y, Z); a box is a tuple (x, y, z, a, b, c): base and extents.  A box may run over the rim if
``wrap``; a full extent has the one base 0.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BOX_ORDERS",
    "all_boxes",
    "choose",
    "feasible_sizes",
    "find_partitions",
    "fill",
    "is_free",
    "max_free_partition",
    "next_feasible",
    "permitted",
    "pop_steps",
]

Box = tuple[int, int, int, int, int, int]
Busy = NDArray[np.bool_]

# What "first" means (MODEL.md 5): name -> sort key of a box.
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


def nodes(shape: tuple[int, ...], box: Box) -> tuple[NDArray[np.intp], ...]:
    """The box as an index into an array of that shape."""
    return np.ix_(*((np.arange(box[i + 3]) + box[i]) % shape[i] for i in range(3)))


def is_free(busy: Busy, box: Box) -> bool:
    return not busy[nodes(busy.shape, box)].any()


def fill(busy: Busy, box: Box) -> Busy:
    """A copy with the box busy."""
    busy = busy.copy()
    busy[nodes(busy.shape, box)] = True
    return busy


def feasible_sizes(x: int, y: int, z: int) -> list[int]:
    """The sizes that some box has."""
    return sorted({a * b * c for a in range(1, x + 1) for b in range(1, y + 1) for c in range(1, z + 1)})


def next_feasible(x: int, y: int, z: int, size: int) -> int:
    """The smallest feasible size >= `size`; 0 = none."""
    return min((s for s in feasible_sizes(x, y, z) if s >= size), default=0)


def find_partitions(busy: Busy, size: int, wrap: bool = True, box_order: str = "extents-descending") -> list[Box]:
    """Every free box of exactly `size` nodes, in order."""
    x, y, z = busy.shape
    return sorted((box for box in all_boxes(x, y, z, wrap, size) if is_free(busy, box)), key=BOX_ORDERS[box_order])


def max_free_partition(busy: Busy, wrap: bool = True) -> Box | None:
    """The largest free box, the first in contract order; None where every node is busy."""
    x, y, z = busy.shape
    for size in reversed(feasible_sizes(x, y, z)):
        free = [box for box in all_boxes(x, y, z, wrap, size) if is_free(busy, box)]
        if free:
            return min(free, key=BOX_ORDERS["extents-descending"])
    return None


def max_free(busy: Busy, wrap: bool = True) -> int:
    """The size of the largest free box."""
    box = max_free_partition(busy, wrap)
    return box[3] * box[4] * box[5] if box else 0


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
        boxes = [box for box in boxes if max_free(fill(later, box), wrap) >= need]
    return boxes


def choose(rule: str, busy: Busy, size: int, **options: object) -> Box | None:
    """Where the rule ("first_fit" or "max_free_partition") places a job; None = nowhere.  Options: those of `permitted`."""
    boxes = permitted(busy, size, **options)  # type: ignore[arg-type]
    if rule == "first_fit" or not boxes:
        return boxes[0] if boxes else None
    wrap = bool(options.get("wrap", True))
    return max(boxes, key=lambda box: max_free(fill(busy, box), wrap))  # max() keeps the first of equals


def pop_steps(busy: NDArray[np.bool_], base: tuple[int, int]) -> list[int]:
    """Krevat's projection of columns in two dimensions (appendix A, Fig. 9), step by step.

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
