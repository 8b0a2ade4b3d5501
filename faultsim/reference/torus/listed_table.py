"""A torus on which jobs hold listed boxes only (model.md#slurm-torus): its table of boxes, and the scores."""

from collections.abc import Sequence

from faultsim.policies.shapes import Shape
from faultsim.reference.torus.boxes import Box, BoxTable, node_mask
from faultsim.reference.torus.listed_shapes import Grid, ListedTorus

_WORD = 2**64 - 1


class Segmented(int):
    """A number of nodes that are to be boxes of `each` nodes."""

    each: int

    def __new__(cls, size: int, each: int) -> "Segmented":
        found = super().__new__(cls, size)
        found.each = each
        return found


class ListedTable(BoxTable):
    """The listed boxes of a torus by size: by shape as listed, then by anchor.

    Every job has a box of exactly its size, or boxes of a part of it; larger sizes are considered only if `larger`.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        shapes: Sequence[Shape],
        exact: bool = False,
        larger: bool = False,
        tori: int = 1,
    ) -> None:
        self.exact = exact  # no size is rounded up
        self.larger = larger
        self.tori = tori
        self.shape = shape
        x, y, z = self.dims = shape[0] // tori, shape[1], shape[2]
        self.nodes = tori * x * y * z
        self.of_size = {}
        self.shape_of: dict[Box, int] = {}
        self.listed: list[ListedTorus] = []
        for first in range(0, shape[0], x):
            # Nodes are numbered with z fastest, cells with x fastest.
            cells = [((first + i) * y + j) * z + k for k in range(z) for j in range(y) for i in range(x)]
            torus = ListedTorus(self.dims, cells, [Grid(*each) for each in shapes])
            self.listed.append(torus)
            for number, listed in enumerate(torus.shapes):
                for anchor in listed.anchors:
                    base = (first + anchor.base[0], *anchor.base[1:])
                    box = Box(*base, *listed.grid.extents, listed.size, anchor.nodes)
                    if box not in self.shape_of:
                        self.shape_of[box] = number
                        self.of_size.setdefault(listed.size, []).append(box)
        self.sizes = sorted(self.of_size)

    def box(self, numbers: Sequence[int]) -> Box:
        """The box with these bases and extents: a listed one, or a part of one without joints."""
        x, y, z, a, b, c = numbers
        return Box(x, y, z, a, b, c, a * b * c, node_mask(self.shape, (x, y, z, a, b, c)))

    def fullest(self, candidates: list[Box], taken: int) -> tuple[list[Box], int]:
        """The candidates of the torus of least idle count that has one, the first of equals; the nodes of the others.

        "The idle count of a torus is the number of available nodes in it."
        """
        of_torus: dict[int, list[Box]] = {}
        for box in candidates:
            of_torus.setdefault(box.x // self.dims[0], []).append(box)
        best = min(of_torus, key=lambda torus: ((self.listed[torus].nodes & ~taken).bit_count(), torus))
        return of_torus[best], ((1 << self.nodes) - 1) & ~self.listed[best].nodes

    def without_joints(self, box: Box) -> list[Box]:
        """A box of one torus as one or, if it wraps around along x, two boxes of the joined torus."""
        x = self.dims[0]
        if self.tori == 1 or box.x % x + box.a <= x:
            return [box]
        first = x - box.x % x
        extents = ((box.x, first), (box.x - box.x % x, box.a - first))
        return [self.box((base, box.y, box.z, a, box.b, box.c)) for base, a in extents]

    def round_up(self, size: int) -> int:
        return size if self.exact else super().round_up(size)

    def asked(self, needs: int, rank: int) -> int:
        """What a job needs: one box, or (`rank` = 2 + i) boxes of 2^i nodes."""
        return needs if rank < 2 else Segmented(needs, 1 << (rank - 2))

    def sizes_between(self, low: int, high: int) -> list[int]:
        if self.larger:
            return super().sizes_between(low, high)
        if isinstance(low, Segmented):
            return [low] if low <= high else []
        return [low] if low in self.of_size and low <= high else []

    def free_of_at_least(self, busy: int, size: int) -> list[Box]:
        return super().free_of_at_least(busy, size) if self.larger else self.free_of_size(busy, size)

    def free_of_size(self, busy: int, size: int) -> list[Box]:
        """Of segments the boxes that can be one, if they are enough: they do not overlap."""
        if not isinstance(size, Segmented):
            return super().free_of_size(busy, size)
        free = super().free_of_size(busy, size.each)
        return free if len(free) * size.each >= size else []

    def fits(self, busy: int, size: int) -> bool:
        if self.larger:
            return super().fits(busy, size)
        if isinstance(size, Segmented):
            return bool(self.free_of_size(busy, size))
        return any(not box.mask & busy for box in self.of_size.get(size, ()))

    # -- scores: the best of some candidates, which are in order, where `taken` is not available

    def free_of_shape(self, number: int, taken: int) -> list[int]:
        """The nodes of each anchor of a shape whose nodes are all available."""
        anchors = [anchor for torus in self.listed for anchor in torus.shapes[number].anchors]
        return [anchor.nodes for anchor in anchors if not anchor.nodes & taken]

    def slurm(self, candidates: list[Box], taken: int, failing: int = 0) -> Box:
        """ "the first listed shape that has a candidate, and of its candidates the one of least cost"; of equal ones
        the first without a `failing` node, if there is one.
        """
        first = self.shape_of[candidates[0]]
        torus = self.listed[candidates[0].x // self.dims[0]]
        free = torus.free_larger(torus.shapes[first], ~taken & ((1 << self.nodes) - 1))
        of_shape = [box for box in candidates if self.shape_of[box] == first]
        return min(of_shape, key=lambda box: (met(box, free), bool(box.mask & failing)))

    def next_size(self, candidates: list[Box], taken: int) -> Box:
        """ "counts the free anchors of all shapes of the next larger size, and takes the least cost of all shapes"."""
        larger = min((size for size in self.sizes if size > candidates[0].size), default=0)
        numbers = [number for number, shape in enumerate(self.listed[0].shapes) if shape.size == larger]
        free = [nodes for number in numbers for nodes in self.free_of_shape(number, taken)]
        return min(candidates, key=lambda box: met(box, free))

    def largest_left(self, candidates: list[Box], taken: int) -> Box:
        """ "leaves the largest listed box free"."""
        return max(candidates, key=lambda box: self.largest_free(taken | box.mask))

    def by_chance(self, candidates: list[Box], key: int) -> Box:
        """The one of least hash."""

        def hashed(box: Box) -> int:
            base = splitmix64((key + (box.x * self.shape[1] + box.y) * self.shape[2] + box.z) & _WORD)
            return splitmix64((base + (box.a << 42) + (box.b << 21) + box.c) & _WORD)

        return min(candidates, key=hashed)


def met(box: Box, free: list[int]) -> int:
    """How many of the free boxes share a node with a box."""
    return sum(bool(box.mask & nodes) for nodes in free)


def splitmix64(x: int) -> int:
    """The first number of splitmix64 from a state ([steele2014])."""
    x = (x + 0x9E3779B97F4A7C15) & _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)
