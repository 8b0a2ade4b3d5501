"""Free boxes of a torus: the finders on their own, and the feasible sizes.

Two questions, and four algorithms that give identical answers: all free boxes of a given size, and the largest free
box. The order of boxes (``box_order``) is part of the contract, since ties go to the first.
"""

import operator
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faultsim import checks
from faultsim._core.torus.finders import Finder, table
from faultsim._core.torus.occupancy import Torus
from faultsim.arrays import Integers
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.machines.box import Box

__all__ = ["ALGORITHMS", "BOX_ORDERS", "Algorithm", "feasible_sizes", "find_partitions", "max_free_partition"]

#: What "first" means: name -> order of boxes.
BOX_ORDERS = MappingProxyType(
    {
        "extents-descending": "extents (a, b, c) descending, then bases (x, y, z) ascending",
        "extents-ascending": "extents (a, b, c) ascending, then bases (x, y, z) ascending",
        "bases": "bases (x, y, z) ascending, then extents (a, b, c) ascending",
    }
)
_ORDER_NUMBER = {name: number for number, name in enumerate(BOX_ORDERS)}


class Algorithm(NamedTuple):
    """A row of `ALGORITHMS`: the cost is that of finding the largest free box of an M x M x M torus.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.partition.ALGORITHMS["pop"].source
    '[krevat2002] appendix A'
    """

    number: int
    name: str
    complexity: str
    source: str


#: The finders, the default first: name -> row.
ALGORITHMS = MappingProxyType(
    checks.Named("algorithm", {row[0]: Algorithm(number, *row) for number, row in enumerate(table())})
)

#: That a finder takes: its tables hold twice as many int32.
MOST_NODES = 2**30 - 1

_torus = lru_cache(maxsize=16)(Torus)


def _grid(busy: ArrayLike) -> NDArray[np.uint8]:
    """`busy` in the form that the core takes, or an InputError."""
    array = np.asarray(busy)
    if array.ndim == 2:
        raise InputError(f"busy has the shape {array.shape}: a torus has three axes; a flat one is busy[:, :, None]")
    if array.ndim != 3:
        raise InputError(f"busy has {array.ndim} dimensions: expected a bool array of shape (X, Y, Z)")
    if array.dtype != np.bool_:
        raise InputError(f"busy has the dtype {array.dtype}: expected bool, True where a node is busy")
    if 0 in array.shape:
        raise InputError(f"busy has the shape {array.shape}: every extent must be at least 1")
    if array.size > MOST_NODES:
        raise InputError(f"busy has the shape {array.shape}: at most {MOST_NODES:,} nodes")
    return np.ascontiguousarray(array).view(np.uint8)


def _finder(busy: ArrayLike, algorithm: str, wrap: bool) -> tuple[Finder, int]:
    """A finder for one occupancy, and the number of nodes."""
    grid = _grid(busy)
    if algorithm not in ALGORITHMS:
        raise OptionError(f"unknown algorithm {algorithm!r}: known are {', '.join(ALGORITHMS)}")
    return Finder(_torus(*grid.shape, bool(wrap)), ALGORITHMS[algorithm].number, grid[None]), grid.size


@entry
def feasible_sizes(x: int, y: int, z: int, wrap: bool = True) -> list[int]:
    """The sizes that some box of the torus has, ascending.

    A job of any other size is given the next larger feasible one ([krevat2002] section 3.2).

    Parameters
    ----------
    x, y, z : int
        Extents in nodes, at least 1.
    wrap : bool
        A torus, or a mesh; both have the same sizes.

    Raises
    ------
    OptionError
        An extent is not a whole number of at least 1, or there are more than 2**31 - 2 nodes.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.partition.feasible_sizes(4, 4, 8)[9:16]
    [10, 12, 14, 15, 16, 18, 20]
    """
    extents = []
    for name, value in (("x", x), ("y", y), ("z", z)):
        try:
            extent = operator.index(value)
        except TypeError:
            extent = 0
        if extent < 1:
            raise OptionError(f"{name}={value!r}: the extents of a torus are whole numbers of at least 1")
        extents.append(extent)
    if extents[0] * extents[1] * extents[2] > 2**31 - 2:
        raise OptionError(f"a torus of {x} x {y} x {z}: at most 2**31 - 2 nodes")
    return _torus(*extents, bool(wrap)).feasible_sizes()


@entry
def find_partitions(
    busy: ArrayLike,
    size: int,
    algorithm: str = "bitmap",
    wrap: bool = True,
    box_order: str = "extents-descending",
) -> Integers:
    """Every free box of exactly `size` nodes.

    Parameters
    ----------
    busy : bool array of shape (X, Y, Z)
        True where a node is busy.
    size : int
        Nodes, 1 .. X*Y*Z.  A size without a box (`feasible_sizes`) has no free one either.
    algorithm : str
        A key of `ALGORITHMS`: "bitmap", "divisor" ([oliner2004] appendix 9), "pop" ([krevat2002]
        appendix A) or "naive".  All give the same boxes.
    wrap : bool
        A torus, or (False) a mesh, whose boxes do not wrap around.
    box_order : str
        A key of `BOX_ORDERS`.

    Returns
    -------
    int32 array of shape (k, 6)
        Rows x, y, z, a, b, c: base and extents (`Box`), in order.

    Raises
    ------
    InputError
        `busy` is no bool array with three axes.
    OptionError
        `size` is no whole number in range, or the algorithm or order is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import faultsim as fs
    >>> busy = np.zeros((4, 4, 8), dtype=bool)
    >>> busy[:, :, 3] = True
    >>> fs.partition.find_partitions(busy, 112)
    array([[0, 0, 4, 4, 4, 7]], dtype=int32)
    """
    finder, nodes = _finder(busy, algorithm, wrap)
    if box_order not in BOX_ORDERS:
        raise OptionError(f"unknown box order {box_order!r}: known are {', '.join(BOX_ORDERS)}")
    try:
        count = operator.index(size)
    except TypeError:
        count = 0
    if not 1 <= count <= nodes:
        raise OptionError(f"size={size!r}: expected a whole number of nodes, 1 to {nodes}")
    return np.frombuffer(finder.boxes(count, _ORDER_NUMBER[box_order]), np.int32).reshape(-1, 6).copy()


@entry
def max_free_partition(busy: ArrayLike, algorithm: str = "bitmap", wrap: bool = True) -> Box | None:
    """The largest free box; among equals the first, extents descending, then bases ascending.

    Parameters
    ----------
    busy : bool array of shape (X, Y, Z)
        True where a node is busy.
    algorithm : str
        A key of `ALGORITHMS`.
    wrap : bool
        A torus, or (False) a mesh.

    Returns
    -------
    Box or None
        None where every node is busy.

    Raises
    ------
    InputError
        `busy` is no bool array with three axes.
    OptionError
        The algorithm is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import faultsim as fs
    >>> busy = np.zeros((4, 4, 8), dtype=bool)
    >>> busy[1, 2, 3] = True
    >>> fs.partition.max_free_partition(busy)
    Box(x=0, y=0, z=4, a=4, b=4, c=7)
    >>> fs.partition.max_free_partition(busy).size
    112
    """
    finder, _ = _finder(busy, algorithm, wrap)
    row = np.empty((1, 6), np.int32)
    finder.largest(row)
    return Box(*row[0].tolist()) if row[0, 3] else None
