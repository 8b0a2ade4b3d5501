"""The slices of a small pod as the places of the reference engine: the six numbers of each are those of the core."""

from collections.abc import Sequence
from math import prod

from faultsim.data.lowered import Lowered
from faultsim.errors import NotAvailableError
from faultsim.reference.pod.slices import Place, Shaped, Slices, count, surface
from faultsim.reference.torus.boxes import Box, BoxTable

#: Cubes that optical switches may join here.
MOST_SWITCHED = 12


class PodTable(BoxTable):
    """A `BoxTable` whose boxes are slices; with optical switches every set of cubes is one, so cubes must be few."""

    are_boxes = False
    place = "slice"

    def __init__(self, machine: Lowered, listed: bool = True) -> None:
        """`listed`: with a list of all slices, `of_size`."""
        x, y, z = machine["cubes"]
        if listed and machine["wiring"] == "ocs" and x * y * z > MOST_SWITCHED:
            raise NotAvailableError(
                f"engine='reference' lists every set of switched cubes, and takes at most {MOST_SWITCHED} cubes, not "
                f"{x * y * z}: use engine='core'"
            )
        inside = halves(machine["cube"][0], machine["hosts"])
        most, spares = machine["largest"] or 0, machine.get("spares", 0)
        self.slices = Slices((x, y, z), machine["hosts"], inside, machine["wiring"], machine["aligned"], most, spares)
        self.nodes = prod(machine["cubes"]) * machine["hosts"]
        self.shape = (self.nodes, 1, 1)
        self.sizes = self.slices.sizes
        self.of_size = {size: self.free_of_size(0, size) for size in self.sizes} if listed else {}

    def asked(self, needs: int, rank: int) -> int:
        """What a job needs that asks for a shape: the rank-th most cubic of its size, from 1 on; 0: for none."""
        if rank == 0:
            return needs
        shapes = [shape for shape in self.slices.shapes if count(shape) * self.slices.hosts == needs]
        return Shaped(needs, sorted(shapes, key=lambda shape: (surface(shape), shape))[rank - 1])

    def sizes_between(self, low: int, high: int) -> list[int]:
        """Sizes from low to high; "never another or a larger one" (model.md#shapes) where low has a shape."""
        if isinstance(low, Shaped):
            return [low] if low <= high else []
        return super().sizes_between(low, high)

    def all_of_size(self, size: int) -> list[Box]:
        """Every slice of exactly that many hosts, or of this shape."""
        return self.free_of_size(0, size) if isinstance(size, Shaped) else super().all_of_size(size)

    def free_of_at_least(self, busy: int, size: int) -> list[Box]:
        """Every free slice of that many hosts or more, or of this shape."""
        return self.free_of_size(busy, size) if isinstance(size, Shaped) else super().free_of_at_least(busy, size)

    def free_of_size(self, busy: int, size: int) -> list[Box]:
        """Every free slice of exactly that many hosts, in order."""
        return [self.box(place) for place in self.slices.free_of_size(busy, size)] if size in self.sizes else []

    def fits(self, busy: int, size: int) -> bool:
        """Whether a slice of at least that many hosts is free, or of its shape."""
        asks = self.slices.spares or isinstance(size, Shaped)
        return self.slices.fits(busy, size) if asks else super().fits(busy, size)

    def largest_free(self, busy: int) -> int:
        """The size of the largest free slice, 0 if there is none."""
        return self.slices.largest_free(busy) if self.slices.spares else super().largest_free(busy)

    def closing(self, closed: int, claimed: int) -> int:
        """Where cubes are held back, hosts that are closed and not reserved for users do not count as in use."""
        return claimed | closed << self.nodes if self.slices.spares else closed

    def keep_down(self, nodes: int) -> None:
        """These hosts are down now and of no job."""
        self.slices.down = nodes

    def may_be_busy(self, nodes: int) -> bool:
        """Whether all cubes but the spare ones are in use at most."""
        held = nodes & ~self.slices.down
        used = [cube for cube in range(self.slices.n_cubes) if self.slices.cube_mask(cube) & held]
        return len(used) <= self.slices.n_cubes - self.slices.spares

    def first(self, candidates: Sequence[Box], occupied: int) -> Box:
        """The first of these, in the order of what is free of this occupancy."""
        if candidates[0].size >= self.slices.hosts and self.slices.wiring == "static":
            return candidates[0]  # whatever is occupied
        return min(candidates, key=self.free_of_size(occupied, candidates[0].size).index)

    def box(self, place: Place) -> Box:
        """A set of cubes, 32 in a number, and the hosts of a cube; or a cube, its first host, how many, and -1."""
        if place.size < self.slices.hosts:
            return Box(place.cubes[0], place.first, place.size, 0, 0, -1, place.size, place.mask)
        bits = sum(1 << cube for cube in place.cubes)
        words = [(bits >> 32 * i & 0xFFFFFFFF ^ 0x80000000) - 0x80000000 for i in range(5)]  # signed
        return Box(words[0], words[1], words[2], words[3], words[4], self.slices.hosts, place.size, place.mask)


def halves(edge: int, hosts: int) -> list[int]:
    """The sizes of the slices inside a cube of edge**3 chips, which is halved along its longest extent."""
    found, extents = [], [edge, edge, edge]
    while hosts % 2 == 0 and max(extents) % 2 == 0:
        longest = extents.index(max(extents))
        extents[longest] //= 2
        hosts //= 2
        found.append(hosts)
    return found
