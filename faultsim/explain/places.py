"""Tables of places for large machines, which cannot list all of them as the reference tables do."""

import numpy as np
from numpy.typing import NDArray

from faultsim.kernels.partition import feasible_sizes, find_partitions, max_free_partition
from faultsim.policies.settings import Settings
from faultsim.reference.pod.table import PodTable
from faultsim.reference.state import table_of
from faultsim.reference.torus.boxes import Box, BoxTable


class FinderTable(BoxTable):
    """The boxes of a torus, found by the compiled finder when they are needed."""

    def __init__(self, shape: tuple[int, int, int], wrap: bool, box_order: str) -> None:
        self.shape, self.wrap, self.box_order = shape, wrap, box_order
        self.nodes = shape[0] * shape[1] * shape[2]
        self.sizes = feasible_sizes(*shape, wrap)

    def box(self, numbers: tuple[int, ...]) -> Box:
        """The box with these bases and extents."""
        x, y, z, a, b, c = numbers
        held = np.zeros(self.shape, np.bool_)
        parts = zip((x, y, z), (a, b, c), self.shape, strict=True)
        axes = [(base + np.arange(extent)) % whole for base, extent, whole in parts]
        held[np.ix_(*axes)] = True
        packed = np.packbits(held.ravel(), bitorder="little").tobytes()
        return Box(x, y, z, a, b, c, a * b * c, int.from_bytes(packed, "little"))

    def grid(self, busy: int) -> NDArray[np.bool_]:
        """A set of nodes as the finder takes it."""
        packed = np.frombuffer(busy.to_bytes((self.nodes + 7) // 8, "little"), np.uint8)
        return np.unpackbits(packed, count=self.nodes, bitorder="little").astype(np.bool_).reshape(self.shape)

    def free_of_size(self, busy: int, size: int) -> list[Box]:
        if self.nodes - busy.bit_count() < size:
            return []
        found = find_partitions(self.grid(busy), size, wrap=self.wrap, box_order=self.box_order)
        return [self.box(tuple(row)) for row in found.tolist()]

    def free_of_at_least(self, busy: int, size: int) -> list[Box]:
        return [box for q in self.sizes if q >= size for box in self.free_of_size(busy, q)]

    def largest_free(self, busy: int) -> int:
        found = max_free_partition(self.grid(busy), wrap=self.wrap)
        return 0 if found is None else found.size

    def fits(self, busy: int, size: int) -> bool:
        return self.nodes - busy.bit_count() >= size and self.largest_free(busy) >= size


class CountedTable(PodTable):
    """The slices of a pod, of which those of cubes that switches join are counted, not listed."""

    def __init__(self, machine: dict[str, object]) -> None:
        super().__init__(machine, listed=False)

    def fits(self, busy: int, size: int) -> bool:
        return self.slices.fits(busy, size)

    def largest_free(self, busy: int) -> int:
        return self.slices.largest_free(busy)


def places_of(settings: Settings) -> tuple[BoxTable | None, int]:
    """The machine's places (None for a cluster or a site) and its number of nodes."""
    machine = settings.machine
    if machine["name"] in ("cluster", "site"):
        return table_of(settings)
    if machine["name"] == "pod":
        pod = CountedTable(machine)
        return pod, pod.nodes
    if "shapes" in settings.placement:
        return table_of(settings)
    shape = (int(machine["x"]), int(machine["y"]), int(machine["z"]))
    order = settings.placement.get("box_order", "extents-descending")
    torus = FinderTable(shape, bool(machine.get("wrap", True)), order)
    return torus, torus.nodes
