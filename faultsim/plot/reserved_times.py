"""Reservations in a chart of nodes over time: hatched areas behind the jobs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import Floats, LongIntegers
from faultsim.plot.theme import current
from faultsim.results.reserved import reservations_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

HATCH = "\\\\\\"
AREAS_UP_TO = 10_000  # rectangles; more would hatch everything, at half a microsecond each


def reserved_areas(result: "Result", *, whole: bool) -> tuple[Floats, Floats, LongIntegers, LongIntegers]:
    """Begin and end (s), first node and number of nodes of the reservations of a run; `whole`: only of all nodes.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[1])
    >>> run = fs.simulate(log, fs.Cluster(4), reservations="0+2-3:begin=2,end=4")
    >>> [column.tolist() for column in reserved_areas(run, whole=False)]
    [[2.0, 2.0], [4.0, 4.0], [0, 2], [1, 2]]
    """
    origin, finish = result.span
    areas: list[tuple[float, float, int, int]] = []
    for each in reservations_of(result):
        nodes = each.node_numbers(result.machine)
        if whole and len(nodes) < result.machine.nodes:
            continue
        first = np.flatnonzero(np.diff(nodes, prepend=-2) > 1)
        count = np.diff(np.append(first, len(nodes)))
        period = each.every or np.inf
        k = 0 if each.end > origin or each.every is None else int((origin - each.end) / each.every)
        begin, end = each.begin + (k * period if k else 0.0), each.end + (k * period if k else 0.0)
        while begin < finish and len(areas) + len(first) <= AREAS_UP_TO:
            if end > origin:
                sides = max(begin, origin), min(end, finish)
                areas += [(*sides, int(nodes[i]), int(n)) for i, n in zip(first.tolist(), count.tolist(), strict=True)]
            begin, end = begin + period, end + period
    left, right, low, high = np.array(areas, dtype=float).reshape(-1, 4).T
    return left, right, low.astype(np.int64), high.astype(np.int64)


def draw_reservations(
    ax: "Axes", result: "Result", scaled: Callable[[Floats], Floats], *, whole: bool
) -> "list[Artist]":
    """Hatch the reservations of a run, below everything else.  Returns what the legend shows."""
    from matplotlib.collections import PathCollection
    from matplotlib.patches import Patch
    from matplotlib.path import Path

    begin, end, first, count = reserved_areas(result, whole=whole)
    if not len(begin):
        return []
    corners = np.empty((len(begin), 5, 2))
    corners[:, [0, 3, 4], 0], corners[:, [1, 2], 0] = scaled(begin)[:, None], scaled(end)[:, None]
    corners[:, [0, 1, 4], 1], corners[:, [2, 3], 1] = first[:, None], (first + count)[:, None]
    codes = np.tile(np.array([Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY], np.uint8), len(begin))
    edge = current().soft
    area = Path(corners.reshape(-1, 2), codes)
    shape = PathCollection(
        [area], facecolors="none", edgecolor=edge, hatch=HATCH, linewidth=0.0, zorder=0.5, rasterized=True
    )
    ax.add_collection(shape, autolim=False)
    return [Patch(facecolor="none", edgecolor=edge, hatch=HATCH, linewidth=0.0, label="reserved")]
