"""A box of nodes of a torus."""

from typing import NamedTuple


class Box(NamedTuple):
    """A contiguous box of a torus: base (x, y, z) and extents (a, b, c), in nodes.

    It holds the nodes ((x + i) mod X, (y + j) mod Y, (z + k) mod Z) with i < a, j < b, k < c.  An extent that fills its
    axis has the base 0.

    Examples
    --------
    >>> import faultsim as fs
    >>> box = fs.Box(0, 0, 6, 4, 2, 3)
    >>> box.size
    24
    """

    x: int
    y: int
    z: int
    a: int
    b: int
    c: int

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self.a * self.b * self.c
