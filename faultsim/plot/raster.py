"""Rectangles drawn as a bitmap of fixed size, for charts with more of them than a figure can hold as shapes.

Every rectangle counts with the exact share of each pixel that it covers, so the picture holds the same area as the
shapes would, and takes memory by its pixels, not by its rectangles.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from faultsim.arrays import Floats, LongIntegers


class Raster:
    """Coverage of `height` x `width` pixels by rectangles of several kinds.

    Parameters
    ----------
    kinds : int
        Number of kinds; a colour is given to each by `picture`.
    height, width : int
        Pixels.

    Examples
    --------
    >>> raster = Raster(kinds=1, height=2, width=2)
    >>> one = np.array([0.5]), np.array([2.0]), np.array([0.0]), np.array([1.0]), np.array([0])
    >>> raster.add(*one)
    >>> raster.coverage(0).tolist()
    [[0.5, 1.0], [0.0, 0.0]]
    """

    def __init__(self, kinds: int, height: int, width: int) -> None:
        self.kinds, self.height, self.width = kinds, height, width
        # Differences along both axes; a rectangle changes 16 of them, however large it is.
        self._changes = np.zeros((kinds, height + 2, width + 2))

    def add(self, left: Floats, right: Floats, low: Floats, high: Floats, kind: LongIntegers) -> None:
        """Add rectangles.

        Parameters
        ----------
        left, right : array of float, shape (n,)
            Horizontal extent, in pixels from 0 to `width`.
        low, high : array of float, shape (n,)
            Vertical extent, from 0 to `height`.
        kind : array of int, shape (n,)
            0 to `kinds` - 1.
        """
        flat = self._changes.reshape(-1)
        base = kind.astype(np.int64) * ((self.height + 2) * (self.width + 2))
        across = [*_edge(right, self.width, 1.0), *_edge(left, self.width, -1.0)]
        up = [*_edge(high, self.height, 1.0), *_edge(low, self.height, -1.0)]
        for row, by in up:
            line = base + row * (self.width + 2)
            for column, weight in across:
                np.add.at(flat, line + column, by * weight)

    def coverage(self, kind: int) -> Floats:
        """Share of each pixel that a kind covers, shape (height, width); row 0 is the lowest."""
        whole = np.cumsum(self._changes[kind], axis=0)
        np.cumsum(whole, axis=1, out=whole)
        return whole[: self.height, : self.width]

    def picture(self, colours: Sequence[str], alphas: Sequence[float]) -> NDArray[np.uint8]:
        """Red, green, blue and opacity of each pixel, shape (height, width, 4).

        A pixel has the color of the kind that covers most of it, since a mean of many colors would turn to mud; its
        opacity is the share that all kinds cover, each with its own opacity from `alphas`.
        """
        most = np.zeros((self.height, self.width))
        opaque = np.zeros_like(most)
        out = np.zeros((self.height, self.width, 4), dtype=np.uint8)
        for kind, (colour, alpha) in enumerate(zip(colours, alphas, strict=True)):
            share = self.coverage(kind)
            opaque += alpha * share
            more = share > most
            most[more] = share[more]
            out[more, :3] = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        out[..., 3] = np.rint(255.0 * np.clip(opaque, 0.0, 1.0))
        return out


def _edge(at: Floats, last: int, sign: float) -> list[tuple[LongIntegers, Floats]]:
    """An edge as two changes of the coverage along an axis: the pixel, and by how much.

    Up to the edge's pixel k the coverage is 1, in it the fraction f, after it 0: changes of f - 1 at k and -f after.
    """
    at = np.clip(at, 0.0, float(last))
    pixel = at.astype(np.int64)
    part = at - pixel
    return [(pixel, sign * (part - 1.0)), (pixel + 1, -sign * part)]
