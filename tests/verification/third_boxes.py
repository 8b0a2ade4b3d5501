"""The free boxes of a small torus, by trying all of them: for `third_failures.py`."""

import itertools


class Boxes:
    """Every box of a torus (or, without `wrap`, a mesh) as a set of nodes, in contract order."""

    def __init__(self, shape, wrap):
        _, Y, Z = shape
        self.by_size, self.all = {}, []
        for extents in itertools.product(*(range(n, 0, -1) for n in shape)):
            bases = (self.bases(n, e, wrap) for n, e in zip(shape, extents, strict=True))
            for base in itertools.product(*bases):
                axes = ([(at + i) % n for i in range(e)] for n, e, at in zip(shape, extents, base, strict=True))
                box = frozenset((x * Y + y) * Z + z for x, y, z in itertools.product(*axes))
                self.by_size.setdefault(len(box), []).append(box)
                self.all.append(box)
        self.sizes = sorted(self.by_size)

    @staticmethod
    def bases(n, extent, wrap):
        if extent == n:
            return range(1)
        return range(n) if wrap else range(n - extent + 1)

    def free_boxes(self, free, size):
        return [box for box in self.by_size[size] if box <= free]

    def largest(self, free):
        return max((len(box) for box in self.all if box <= free), default=0)

    def has_box(self, free, size):
        return any(self.free_boxes(free, q) for q in self.sizes if q >= size)
