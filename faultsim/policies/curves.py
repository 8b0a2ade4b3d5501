"""Curves through the nodes of a mesh, as orders of their numbers (model.md#snake, model.md#hilbert)."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from faultsim.arrays import Integers, LongIntegers

__all__ = ["CURVES", "nodes_along"]

Shape = tuple[int, int, int]


@lru_cache(maxsize=16)
def nodes_along(curve: str, shape: Shape) -> Integers:
    """The nodes of a mesh in the order of a curve of `CURVES`.

    Examples
    --------
    >>> nodes_along("snake", (1, 2, 3)).tolist(), nodes_along("hilbert", (1, 2, 2)).tolist()
    ([0, 1, 2, 5, 4, 3], [0, 1, 3, 2])
    """
    order = CURVES[curve](shape).astype(np.int32)
    order.setflags(write=False)
    return order


def _snake(shape: Shape) -> LongIntegers:
    nodes = np.arange(shape[0] * shape[1] * shape[2]).reshape(shape)
    nodes[1::2] = nodes[1::2, ::-1]
    rows = nodes.reshape(-1, shape[2])
    rows[1::2] = rows[1::2, ::-1]
    return rows.ravel()


def _hilbert(shape: Shape) -> LongIntegers:
    """Cubes are replaced by their parts until they are nodes; those outside of the mesh are left out on the way."""
    axes = sorted((axis for axis in range(3) if shape[axis] > 1), key=lambda axis: shape[axis])
    extents = np.array([shape[axis] for axis in axes], dtype=np.int64)
    if len(axes) < 2:
        return np.arange(max(shape))
    parts = _PARTS[len(axes)]
    base = np.zeros((1, len(axes)), dtype=np.int64)
    turn = np.eye(len(axes), dtype=np.int64)[None]  # the parts' coordinates to those of the mesh
    side = 1 << int(extents.max() - 1).bit_length()
    while side > 1:
        side //= 2
        # A part's place within a cube, 0 or 1 along each axis, turned around the middle of the cube.
        place = (np.einsum("cij,pj->cpi", turn, 2 * parts[0] - 1) + 1) // 2
        base = (base[:, None] + side * place).reshape(-1, len(axes))
        turn = np.einsum("cij,pjk->cpik", turn, parts[1]).reshape(-1, len(axes), len(axes))
        inside = (base < extents).all(axis=1)
        base, turn = base[inside], turn[inside]
    where = np.zeros((len(base), 3), dtype=np.int64)
    where[:, axes] = base
    return (where[:, 0] * shape[1] + where[:, 1]) * shape[2] + where[:, 2]


def _parts(*rows: tuple[str, str]) -> tuple[LongIntegers, LongIntegers]:
    """Rows of the table in model.md#hilbert as arrays: places, and the matrices of the turns."""
    letters = "uvw"[: len(rows[0][0])]
    turns = [
        [[1 if term == letter else -1 if term == f"-{letter}" else 0 for letter in letters] for term in turn.split()]
        for _, turn in rows
    ]
    return np.array([[int(bit) for bit in place] for place, _ in rows]), np.array(turns)


#: By the number of axes.
_PARTS = {
    2: _parts(("00", "v u"), ("01", "u v"), ("11", "u v"), ("10", "-v -u")),
    3: _parts(
        ("000", "v w u"),
        ("001", "v u w"),
        ("011", "u v w"),
        ("010", "-w v -u"),
        ("110", "w v u"),
        ("111", "u v w"),
        ("101", "-v -u w"),
        ("100", "-v w -u"),
    ),
}

#: Name -> the nodes of a mesh in its order.
CURVES: dict[str, Callable[[Shape], LongIntegers]] = {"snake": _snake, "hilbert": _hilbert}
