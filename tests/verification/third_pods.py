"""The third program on pods: every slice of a small pod as a set of hosts, from the model page alone.

What the page says of boxes on a torus holds for slices, so that all but the list of slices is `third_failures`.
"""

import itertools

import third_failures
import third_program


class Slices:
    """Every slice by its number of hosts; those that are free are found by trying all, and are in contract order."""

    def __init__(self, cubes, edge, hosts, wiring, aligned, largest):
        self.hosts, self.wiring = hosts, wiring
        n = cubes[0] * cubes[1] * cubes[2]
        whole = [tuple(range(cube * hosts, (cube + 1) * hosts)) for cube in range(n)]
        self.slices = {}
        for count in range(1, (largest or n) + 1):
            if wiring == "ocs":
                sets = itertools.combinations(range(n), count)
            elif aligned:
                sets = self.blocks(cubes, count)
            else:  # the boxes of a torus whose nodes are the cubes
                boxes = third_program.Torus(*cubes, True, "extents-descending").boxes
                sets = [box.nodes for box in boxes.get(count, ())]
            for cubes_of in sets:
                nodes = frozenset(host for cube in cubes_of for host in whole[cube])
                self.slices.setdefault(count * hosts, []).append(nodes)
        self.inside = {}
        extents, k = [edge] * 3, hosts
        while True:
            longest = extents.index(max(extents))
            if extents[longest] % 2 or k % 2:
                break
            extents[longest] //= 2
            k //= 2
            self.inside[k] = [frozenset(cube[i : i + k]) for cube in whole for i in range(0, hosts, k)]
        self.whole = [frozenset(cube) for cube in whole]
        self.sizes = sorted({*self.slices, *self.inside})

    @staticmethod
    def blocks(cubes, count):
        """Aligned blocks of so many cubes, of their one shape, by base."""
        axes = sorted(range(3), key=lambda axis: (cubes[axis], axis))
        shapes = [
            (a, b, c)
            for a, b, c in itertools.product(range(1, count + 1), repeat=3)
            if a <= b <= c
            and a * b * c == count
            and all(extent <= cubes[axis] for extent, axis in zip((a, b, c), axes, strict=True))
        ]
        if not shapes:
            return []
        shape = min(shapes, key=lambda s: (s[0] * s[1] + s[1] * s[2] + s[0] * s[2], s))
        extents = [0, 0, 0]
        for extent, axis in zip(shape, axes, strict=True):
            extents[axis] = extent
        bases = itertools.product(*(range(0, d - e + 1, e) for d, e in zip(cubes, extents, strict=True)))
        return [
            [((x + i) * cubes[1] + y + j) * cubes[2] + z + k for i, j, k in itertools.product(*map(range, extents))]
            for x, y, z in bases
        ]

    def around(self, nodes, free):
        """Hosts of the largest free slice around a slice inside a cube."""
        around = [each for each in self.whole if nodes <= each <= free]
        around += [each for found in self.inside.values() for each in found if nodes <= each <= free]
        return max(map(len, around))

    def free_boxes(self, free, size):
        """Free slices of so many hosts, in the order of the page."""
        if size in self.inside:
            found = [nodes for nodes in self.inside[size] if nodes <= free]
            return sorted(found, key=lambda nodes: (self.around(nodes, free), min(nodes)))
        return [nodes for nodes in self.slices[size] if nodes <= free]

    def largest(self, free):
        """Hosts of the largest free slice."""
        return max((size for size in self.sizes if self.free_boxes(free, size)), default=0)

    def has_box(self, free, size):
        """Whether a slice of at least so many hosts is free."""
        return self.largest(free) >= size


class OnPod(third_failures.Third):
    """One run of a case on a pod."""

    def __init__(self, case):
        super().__init__(case)
        self.shape = "slices"
        self.torus = Slices(**case["pod"])
        for job in self.jobs:
            job.ask = min(size for size in self.torus.sizes if size >= job.size)
