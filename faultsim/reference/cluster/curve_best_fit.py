"""CurveBestFit (model.md#curve-best-fit), and the curves that it follows."""

from itertools import groupby

Point = tuple[int, ...]  # a node's coordinates


def curve_best_fit(order: list[int], free: set[int], count: int) -> list[int]:
    """The nodes that a job takes, of at least `count` that are free.

    "While a job still needs nodes, it takes the beginning of the smallest free interval that has as many as it still
    needs; if there is none, it takes the whole of the largest one. Ties go to the first along the curve."
    """
    intervals = [list(nodes) for is_free, nodes in groupby(order, key=lambda node: node in free) if is_free]
    taken: list[int] = []
    while len(taken) < count:
        needs = count - len(taken)
        enough = [nodes for nodes in intervals if len(nodes) >= needs]
        chosen = min(enough, key=len) if enough else max(intervals, key=len)  # both keep the first of equals
        intervals.remove(chosen)
        taken += chosen[:needs]
    return taken


def nodes_along(curve: str, shape: tuple[int, int, int]) -> list[int]:
    """The numbers of the nodes in the order of a curve."""
    points = snake(shape) if curve == "snake" else hilbert(shape)
    return [(x * shape[1] + y) * shape[2] + z for x, y, z in points]


def snake(shape: tuple[int, int, int]) -> list[Point]:
    """ "x ascends; y ascends where x is even and descends where it is odd; z ascends in the first row, descends in the
    second, and alternates from row to row".
    """
    points: list[Point] = []
    z_ascends = True
    for x in range(shape[0]):
        for y in range(shape[1]) if x % 2 == 0 else reversed(range(shape[1])):
            points += [(x, y, z) for z in (range(shape[2]) if z_ascends else reversed(range(shape[2])))]
            z_ascends = not z_ascends
    return points


def hilbert(shape: tuple[int, int, int]) -> list[Point]:
    """ "Its axes are those of the machine whose extent is above 1, by ascending extent, ties in the order x, y, z. Its
    side is the least power of two that is at least every extent; nodes outside the machine are skipped."
    """
    axes = sorted((axis for axis in range(3) if shape[axis] > 1), key=lambda axis: shape[axis])
    points: list[Point] = []
    side = 1
    while side < max(shape):
        side *= 2
    for point in walk(len(axes), side):
        if all(u < shape[axis] for u, axis in zip(point, axes, strict=True)):
            where = dict(zip(axes, point, strict=True))
            points.append((where.get(0, 0), where.get(1, 0), where.get(2, 0)))
    return points


def walk(axes: int, side: int) -> list[Point]:
    """The Hilbert curve of a line, square or cube, as the table of model.md#hilbert has it."""
    if side == 1 or axes < 2:
        return [(u,) * axes for u in range(side if axes else 1)]
    h = side // 2
    last = h - 1
    part = walk(axes, h)
    if axes == 2:
        return [
            *((v, u) for u, v in part),
            *((u, v + h) for u, v in part),
            *((u + h, v + h) for u, v in part),
            *((last - v + h, last - u) for u, v in part),
        ]
    return [
        *((v, w, u) for u, v, w in part),
        *((v, u, w + h) for u, v, w in part),
        *((u, v + h, w + h) for u, v, w in part),
        *((last - w, v + h, last - u) for u, v, w in part),
        *((w + h, v + h, u) for u, v, w in part),
        *((u + h, v + h, w + h) for u, v, w in part),
        *((last - v + h, last - u, w + h) for u, v, w in part),
        *((last - v + h, w, last - u) for u, v, w in part),
    ]
