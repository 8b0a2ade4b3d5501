"""The slices of a pod, the slow and obvious way.

Sizes are numbers of hosts.  A set of hosts is a Python integer: bit ``cube * hosts + h`` stands for host h of a cube,
cube ``(x * Y + y) * Z + z`` for the cube (x, y, z).  A slice has whole cubes, or hosts of one cube.

- Optical switches: any free cubes make a slice; their sets are ordered by numbers, so that it takes the lowest.
- Static wiring, aligned: a slice of a x b x c cubes is a box of the pod, its shortest extent along the pod's shortest
  and so on (of equal ones, along x before y before z); its base is a multiple of its extents.
- Static wiring, not aligned: a slice is a box of the torus of cubes.
- Static wiring, a shape that a job asks for: a box of that shape, which may be turned (model.md#shapes).
- Inside a cube: h hosts from a multiple of h on.
"""

from collections.abc import Iterable
from itertools import combinations, permutations
from typing import NamedTuple

from faultsim.reference.torus.boxes import list_boxes

Extents = tuple[int, int, int]


class Place(NamedTuple):
    """Where a slice is: its cubes, its first host in the cube (0 for whole cubes), how many hosts, and their set."""

    cubes: tuple[int, ...]
    first: int
    size: int
    mask: int


class Shaped(int):
    """A number of hosts that are to be a box of cubes of one shape: a size that only such a slice has."""

    shape: Extents

    def __new__(cls, size: int, shape: Extents) -> "Shaped":
        found = super().__new__(cls, size)
        found.shape = shape
        return found


class Slices:
    """The slices of one pod.

    Parameters
    ----------
    cubes : (int, int, int)
        Extents in cubes.
    hosts : int
        Hosts of a cube.
    inside : iterable of int
        The sizes of the slices inside a cube, in hosts.
    wiring : "ocs" or "static"
    aligned : bool
        Static wiring only.
    largest : int
        Cubes of the largest slice; 0: all.
    spares : int
        Cubes that are held back.

    Attributes
    ----------
    down : int
        The hosts that are down and of no job.

    Notes
    -----
    With `spares`, an occupancy may have a second bit for each host, behind those of all hosts: such a host is not free,
    and its cube is not in use by that (model.md#held-back).
    """

    def __init__(
        self,
        cubes: Extents,
        hosts: int,
        inside: Iterable[int] = (),
        wiring: str = "ocs",
        aligned: bool = True,
        largest: int = 0,
        spares: int = 0,
    ) -> None:
        self.spares, self.down = spares, 0
        self.cubes, self.hosts, self.wiring, self.aligned = cubes, hosts, wiring, aligned
        self.n_cubes = cubes[0] * cubes[1] * cubes[2]
        self.inside = sorted(inside)
        most = min(largest or self.n_cubes, self.n_cubes - spares)
        self.shapes = [s for s in ascending(self.n_cubes) if count(s) <= most]
        if wiring == "static":  # a shape must fit into the pod
            self.shapes = [s for s in self.shapes if all(a <= n for a, n in zip(s, sorted(cubes), strict=True))]
        self.sizes = [*self.inside, *sorted({count(shape) * hosts for shape in self.shapes})]

    def round_up(self, size: int) -> int:
        """The smallest size of a slice that is at least this one."""
        return min(q for q in self.sizes if q >= size)

    def default_shape(self, size: int) -> Extents:
        """The most cubic shape, in cubes, of a slice of whole cubes."""
        return min((s for s in self.shapes if count(s) * self.hosts == size), key=lambda s: (surface(s), s))

    # -- what is free

    def cube_mask(self, cube: int) -> int:
        """The hosts of a cube."""
        return ((1 << self.hosts) - 1) << (cube * self.hosts)

    @property
    def all_hosts(self) -> int:
        """The set of all hosts."""
        return (1 << self.n_cubes * self.hosts) - 1

    def taken(self, busy: int) -> int:
        """The hosts that are not free."""
        return (busy | busy >> self.n_cubes * self.hosts) & self.all_hosts

    def free_cubes(self, busy: int) -> list[int]:
        """The cubes of which all hosts are free."""
        return [cube for cube in range(self.n_cubes) if not self.cube_mask(cube) & busy]

    def holds_back(self, busy: int, place: Place) -> bool:
        """Whether at most all cubes but the spare ones are in use if a job has this place, too."""
        held = busy & self.all_hosts & ~self.down | place.mask
        used = [cube for cube in range(self.n_cubes) if self.cube_mask(cube) & held]
        return len(used) <= self.n_cubes - self.spares

    def free_of_size(self, busy: int, size: int, shape: Extents | None = None) -> list[Place]:
        """The free places of a slice in order; with optical switches all sets of free cubes, for small pods.

        A size that is `Shaped` has the places that a job has which asks for the shape.  Else a slice of whole cubes is
        not turned: it has the shape given or the default one; if it needs no alignment, any that is not given.
        """
        places = self.unoccupied(self.taken(busy), size, shape)
        return [place for place in places if self.holds_back(busy, place)] if self.spares else places

    def unoccupied(self, busy: int, size: int, shape: Extents | None = None) -> list[Place]:
        """The same but for what is held back."""
        if size < self.hosts:
            return self.free_inside(busy, size)
        if self.wiring == "ocs":
            return [self.place(chosen) for chosen in combinations(self.free_cubes(busy), size // self.hosts)]
        if isinstance(size, Shaped):
            boxes = self.turned(size.shape)
        else:
            boxes = self.blocks(shape or self.default_shape(size)) if self.aligned else self.boxes(size, shape)
        places = [self.place(box) for box in boxes]
        return [place for place in places if not place.mask & busy]

    def has(self, busy: int, size: int) -> bool:
        """Whether a slice of exactly that size is free."""
        if self.wiring == "ocs" and size >= self.hosts:
            free = self.free_cubes(self.taken(busy))[: size // self.hosts]
            return len(free) * self.hosts == size and self.holds_back(busy, self.place(free))
        return bool(self.free_of_size(busy, size))

    def place(self, cubes: Iterable[int]) -> Place:
        """Whole cubes as a place."""
        chosen = tuple(cubes)
        return Place(chosen, 0, len(chosen) * self.hosts, sum(self.cube_mask(cube) for cube in chosen))

    def free_inside(self, busy: int, size: int) -> list[Place]:
        """The free places of a slice inside a cube: those first that break up least, then by number.

        What a place breaks up is the largest free slice around it: one inside the cube, or the whole cube.
        """
        found = []
        for cube in range(self.n_cubes):
            for first in range(0, self.hosts, size):
                around = [self.inside_of(cube, first - first % q, q) for q in [*self.inside, self.hosts] if q >= size]
                free = [place.size for place in around if not place.mask & busy]
                if free:
                    found.append((max(free), self.inside_of(cube, first, size)))
        return [place for _, place in sorted(found, key=lambda item: (item[0], item[1].cubes, item[1].first))]

    def inside_of(self, cube: int, first: int, size: int) -> Place:
        """Hosts of a cube as a place."""
        return Place((cube,), first, size, ((1 << size) - 1) << (cube * self.hosts + first))

    def blocks(self, shape: Extents) -> list[list[int]]:
        """The aligned blocks of a shape that is not turned, by base; they have no cube in common."""
        return self.aligned_boxes(self.along_axes(shape))

    def turned(self, shape: Extents) -> list[list[int]]:
        """The boxes of a shape in all its orientations.

        "first comes the orientation of slices for which none was asked, shortest extent along shortest axis, then the
        others by extents (a, b, c) descending, and in each bases ascend."
        """
        if not self.aligned:
            return self.boxes(count(shape) * self.hosts, shape)
        first = self.along_axes(shape)
        others = sorted(set(permutations(shape)) - {first}, reverse=True)
        return [box for a, b, c in (first, *others) for box in self.aligned_boxes((a, b, c))]

    def aligned_boxes(self, extents: Extents) -> list[list[int]]:
        """The boxes with these extents along x, y and z whose base is a multiple of them, by base."""
        X, Y, Z = self.cubes
        a, b, c = extents
        return [
            [((x + i) * Y + y + j) * Z + z + k for i in range(a) for j in range(b) for k in range(c)]
            for x in range(0, X - a + 1, a)
            for y in range(0, Y - b + 1, b)
            for z in range(0, Z - c + 1, c)
        ]

    def along_axes(self, shape: Extents) -> Extents:
        """Extents along x, y and z: the shortest along the shortest axis and so on, of equal ones in this order."""
        axes = sorted(range(3), key=lambda axis: self.cubes[axis])
        extents = dict(zip(axes, sorted(shape), strict=True))
        return extents[0], extents[1], extents[2]

    def boxes(self, size: int, shape: Extents | None = None) -> list[list[int]]:
        """The boxes of a torus of cubes, in contract order (model.md#box-order); of a shape, or of all."""
        turned = set(permutations(shape)) if shape else None
        return [
            [cube for cube in range(self.n_cubes) if box.mask >> cube & 1]
            for box in list_boxes(self.cubes, True, "extents-descending")
            if box.size * self.hosts == size and (turned is None or (box.a, box.b, box.c) in turned)
        ]

    # -- what a schedule asks

    def fits(self, busy: int, size: int) -> bool:
        """Whether a slice of at least that size is free, or of its shape."""
        if isinstance(size, Shaped):
            return self.has(busy, size)
        return any(self.has(busy, q) for q in self.sizes if q >= size)

    def largest_free(self, busy: int) -> int:
        """The size of the largest free slice, 0 if there is none."""
        return max((q for q in self.sizes if self.has(busy, q)), default=0)

    def choose(
        self,
        busy: int,
        size: int,
        shape: Extents | None = None,
        forbidden: int = 0,
        later: int | None = None,
        need: int = 0,
    ) -> Place | None:
        """The first free place that touches no forbidden host, and leaves a slice of at least `need` in `later`."""
        if self.wiring == "ocs" and size >= self.hosts:
            return self.first_cubes(busy, forbidden, size // self.hosts, later, need)
        places = [place for place in self.free_of_size(busy, size, shape) if not place.mask & forbidden]
        if later is not None and need > 0:
            places = [place for place in places if self.fits(later | place.mask, need)]
        return places[0] if places else None

    def first_cubes(self, busy: int, forbidden: int, n: int, later: int | None, need: int) -> Place | None:
        """The first of all sets of n free cubes that is permitted, cube by cube.

        A cube is taken if the set can still be filled up, with cubes that the later slice has no use for if possible.
        """
        wanted = next((q for q in self.sizes if q >= need), 0)
        chosen: list[int] = []
        candidates = self.free_cubes(self.taken(busy | forbidden))
        for cube in candidates:
            rest = [other for other in candidates if other > cube]
            if later is not None and need > 0:
                rest.sort(key=lambda other: self.useful(other, later, wanted))
            trial = self.place([*chosen, cube, *rest[: n - len(chosen) - 1]])
            is_permitted = later is None or need < 1 or self.fits(later | trial.mask, need)
            is_permitted = is_permitted and self.holds_back(busy, trial)
            if len(chosen) < n <= len(trial.cubes) and is_permitted:
                chosen.append(cube)
        return self.place(chosen) if len(chosen) == n else None

    def useful(self, cube: int, later: int, wanted: int) -> bool:
        """Whether a slice of the wanted size could use the cube, or a part of it; 0: there is none."""
        if wanted == 0:
            return False
        if wanted >= self.hosts:
            return not self.cube_mask(cube) & self.taken(later)
        around = (self.inside_of(cube, first, wanted) for first in range(0, self.hosts, wanted))
        return any(not place.mask & self.taken(later) for place in around)


def ascending(most: int) -> list[Extents]:
    """All (a, b, c) with a <= b <= c and at most so many cubes."""
    numbers = range(1, most + 1)
    return [(a, b, c) for a in numbers for b in range(a, most // a + 1) for c in range(b, most // (a * b) + 1)]


def count(shape: Extents) -> int:
    return shape[0] * shape[1] * shape[2]


def surface(shape: Extents) -> int:
    """Half of it: of all shapes with as many cubes the most cubic one has the least."""
    a, b, c = shape
    return a * b + b * c + c * a
