"""Listed shapes at listed anchors: the rule of Slurm's topology/torus3d ([slurm2026]), plainly (model.md#slurm-torus).

Sets of nodes are Python integers with bit ``node``, as everywhere in the reference.  Cells are numbered as in Slurm:
cell (x, y, z) is ``x + X (y + Y z)``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import NamedTuple

Three = tuple[int, int, int]
#: Outcomes of a decision; all but the first have no nodes.
PLACED, NO_BOX, NO_SEGMENTS, NO_SHAPE, OUTSIDE, TOO_MANY, TOO_FEW = (
    "placed", "no box", "no segments", "no shape", "required outside", "too many required", "too few nodes",
)  # fmt: skip


class Grid(NamedTuple):
    """A shape with its anchors; a spacing of 0 is the extent on that axis."""

    extents: Three
    spacing: Three = (0, 0, 0)
    seed: Three = (0, 0, 0)


class Anchor(NamedTuple):
    """The box at one anchor: its base, its nodes, and whether no cell of it is empty."""

    base: Three
    nodes: int
    is_complete: bool


def positions(length: int, spacing: int, seed: int) -> list[int]:
    """ "seed, seed + spacing, ... modulo the length of the axis, until the seed returns" (model.md#anchors)."""
    found = [seed]
    while (at := (found[-1] + spacing) % length) != seed:
        found.append(at)
    return found


@dataclass(eq=False)
class Shape:
    """A shape of a torus, with its boxes in the order of anchors: x outermost, each axis in walking order."""

    grid: Grid
    spacing: Three
    size: int
    anchors: list[Anchor]
    overlaps: bool = False  # with itself or another of its size


@dataclass(eq=False)
class ListedTorus:
    """A torus: extents, the node in each cell (-1: empty), and its shapes, sorted by size, equal ones as listed."""

    dims: Three
    cells: Sequence[int]
    grids: Sequence[Grid]
    nodes: int = 0
    shapes: list[Shape] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = sum(1 << node for node in self.cells if node >= 0)
        self.shapes = sorted((self._shape(grid) for grid in self.grids), key=lambda shape: shape.size)
        for i, one in enumerate(self.shapes):
            axes = zip(one.spacing, self.dims, one.grid.extents, strict=True)
            one.overlaps = any(gcd(s, n) < a for s, n, a in axes)
            for other in self.shapes[:i]:
                if other.size == one.size and self._can_meet(one, other):
                    one.overlaps = other.overlaps = True

    def _shape(self, grid: Grid) -> Shape:
        spacing = tuple(s or a for s, a in zip(grid.spacing, grid.extents, strict=True))
        walks = [positions(n, s, d) for n, s, d in zip(self.dims, spacing, grid.seed, strict=True)]
        anchors = [self._anchor((x, y, z), grid.extents) for x in walks[0] for y in walks[1] for z in walks[2]]
        a, b, c = grid.extents
        return Shape(grid, (spacing[0], spacing[1], spacing[2]), a * b * c, anchors)

    def _anchor(self, base: Three, extents: Three) -> Anchor:
        """A box, which wraps around."""
        x, y, z = (
            [(first + i) % n for i in range(extent)] for first, extent, n in zip(base, extents, self.dims, strict=True)
        )
        nodes = [self.cells[i + self.dims[0] * (j + self.dims[1] * k)] for k in z for j in y for i in x]
        return Anchor(base, sum([1 << node for node in nodes if node >= 0]), min(nodes) >= 0)

    def _can_meet(self, one: Shape, other: Shape) -> bool:
        """Whether boxes of two shapes can meet: on all three axes."""
        for axis, n in enumerate(self.dims):
            low, high = sorted((one, other), key=lambda shape: shape.grid.seed[axis])
            step = gcd(gcd(low.spacing[axis], high.spacing[axis]), n)
            r = (high.grid.seed[axis] - low.grid.seed[axis]) % step
            if low.grid.seed[axis] == high.grid.seed[axis]:
                continue
            if not (r < low.grid.extents[axis] or step - r < high.grid.extents[axis]):
                return False
        return True

    def larger(self, shape: Shape) -> Shape | None:
        """The reference shape: "the first one that is larger"."""
        return next((other for other in self.shapes if other.size > shape.size), None)

    def free_larger(self, shape: Shape, available: int) -> list[int]:
        """Anchors of the reference shape "whose nodes are all available": complete or not."""
        larger = self.larger(shape)
        return [] if larger is None else [other.nodes for other in larger.anchors if not other.nodes & ~available]


class Choice(NamedTuple):
    """What the rule decides: an outcome, and the nodes of each box."""

    outcome: str
    boxes: tuple[int, ...] = ()
    shapes: tuple[Shape, ...] = ()

    @property
    def nodes(self) -> int:
        """All nodes, as a set."""
        return sum(self.boxes)


class ListedShapes:
    """The tori of a topology, in the order of the file, over numbered nodes.

    Parameters
    ----------
    tori : sequence of ListedTorus
    weights : sequence of int, optional
        Scheduling weight of each node; all equal by default.
    order : callable, optional
        The nodes in the order in which a failed choice of segments takes them out; by number by default.
    """

    def __init__(
        self,
        tori: Sequence[ListedTorus],
        weights: Sequence[int] | None = None,
        order: Callable[[int], int] = lambda node: node,
    ) -> None:
        self.tori, self.weights, self.order = list(tori), weights, order
        self.inside = 0
        for torus in self.tori:
            if torus.shapes:
                self.inside |= torus.nodes

    def weight(self, nodes: int) -> int:
        """ "the largest scheduling weight of its nodes"."""
        return 0 if self.weights is None else max(self.weights[node] for node in members(nodes))

    def has_shape(self, size: int) -> bool:
        """Whether any torus has a shape of exactly this size."""
        return any(shape.size == size for torus in self.tori for shape in torus.shapes)

    def best_box(self, size: int, available: int, required: int = 0) -> tuple[int, Shape] | None:
        """The nodes and the shape of the best candidate; None if there is none."""
        best: tuple[tuple[int, ...], int, Shape] | None = None
        for t, torus in enumerate(self.tori):
            idle = (torus.nodes & available).bit_count()
            for s, shape in enumerate(torus.shapes):
                if shape.size != size:
                    continue
                free_larger = torus.free_larger(shape, available)
                for k, anchor in enumerate(shape.anchors):
                    if not anchor.is_complete or anchor.nodes & ~available or required & ~anchor.nodes:
                        continue
                    cost = sum(bool(other & anchor.nodes) for other in free_larger)  # fragmentation cost
                    key = (self.weight(anchor.nodes), idle, t, s, cost, k)
                    if best is None or key < best[0]:
                        best = key, anchor.nodes, shape
        return None if best is None else best[1:]

    def attempt(self, count: int, size: int, available: int) -> Choice:
        """`count` boxes, "chosen greedily, each [...] with the nodes of the earlier ones no longer available"."""
        boxes: list[int] = []
        shapes: list[Shape] = []
        for _ in range(count):
            found = self.best_box(size, available)
            if found is None:
                return Choice(NO_BOX, tuple(boxes), tuple(shapes))
            boxes.append(found[0])
            shapes.append(found[1])
            available &= ~found[0]
        return Choice(PLACED, tuple(boxes), tuple(shapes))

    def segments(self, count: int, size: int, available: int) -> Choice:
        """With what a failed attempt has chosen taken out node by node (model.md#segments)."""
        found = self.attempt(count, size, available)
        if found.outcome == NO_BOX and not any(shape.overlaps for shape in found.shapes):
            return Choice(NO_BOX)
        order = sorted(members(available), key=lambda node: (self.order(node), node))
        pointer = 0
        while found.outcome == NO_BOX and any(shape.overlaps for shape in found.shapes):
            node = next((node for node in order[pointer:] if found.nodes >> node & 1), None)
            if node is None or available.bit_count() <= count * size:
                break
            available &= ~(1 << node)
            pointer += node == order[pointer]
            found = self.attempt(count, size, available)
        return found if found.outcome == PLACED else Choice(NO_SEGMENTS)

    def choose(
        self, size: int, available: int, *, segment: int = 0, required: int = 0, most: int | None = None
    ) -> Choice | None:
        """What a job of `size` nodes gets; None if no available node is in a torus that has shapes."""
        if available.bit_count() < size or required & ~available:
            return Choice(TOO_FEW)
        if not available & self.inside:
            return None
        segment = 0 if segment > size else segment
        if segment and size % segment:
            return Choice(NO_SHAPE)
        each = segment or size
        if not self.has_shape(each):
            return Choice(NO_SHAPE)
        if required & ~self.inside:
            return Choice(OUTSIDE)
        if required.bit_count() > (size if most is None else most):
            return Choice(TOO_MANY)
        if size == each:
            found = self.best_box(each, available, required)
            return Choice(NO_BOX) if found is None else Choice(PLACED, found[:1], found[1:])
        if required:
            if required.bit_count() < size:
                return Choice(NO_SHAPE)
            available = required
        return self.segments(size // each, each, available)

    def fragmentation(self, available: int) -> int:
        """ "the sum over all tori, shapes and anchors of the size of the shape where the anchor's box meets
        nodes that are not available".
        """
        return sum(
            shape.size
            for torus in self.tori
            for shape in torus.shapes
            for anchor in shape.anchors
            if anchor.nodes & ~available
        )


def members(nodes: int) -> Iterator[int]:
    """The nodes of a set, ascending."""
    while nodes:
        low = nodes & -nodes
        yield low.bit_length() - 1
        nodes ^= low


def runs(available: int, weights: Sequence[int] | None, size: int) -> int:
    """Where no torus has an available node: runs of consecutive nodes of equal weight, as on a plain cluster."""
    found: list[list[int]] = []
    weigh = (lambda node: 0) if weights is None else weights.__getitem__
    for node in members(available):
        if found and found[-1][-1] == node - 1 and weigh(found[-1][-1]) == weigh(node):
            found[-1].append(node)
        else:
            found.append([node])
    chosen: list[int] = []
    for weight in sorted({weigh(run[0]) for run in found}):
        left = [run for run in found if weigh(run[0]) == weight]
        while left and len(chosen) < size:
            wanted = size - len(chosen)
            enough = [run for run in left if len(run) >= wanted]
            run = min(enough, key=len) if enough else max(left, key=len)
            chosen += run[:wanted]
            left.remove(run)
    return sum(1 << node for node in chosen)
