"""Failures in a chart of nodes over time: crosses, down times, and bars that a failure ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import Flags, Floats, LongIntegers
from faultsim.data.event_kinds import EventKind
from faultsim.data.node_parts import parts_down
from faultsim.plot.base import shapes_of
from faultsim.plot.held_runs import Runs
from faultsim.plot.theme import current
from faultsim.results.held import nodes_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

CROSS = 4.5  # points
HALO = 2.6  # width of the edge in the ground's colour around a mark
PALE = 0.6  # opacity of stays that a failure ended
HATCH = "/////"
PART_HATCH = "....."
PAIRS = 1 << 20  # of an instant and a stay, compared at a time


@dataclass(frozen=True)
class Down:
    """When which nodes are down."""

    node: LongIntegers
    begin: Floats
    end: Floats


def down_times(result: "Result", *, free: bool) -> Down:
    """When nodes are down within the run; with `free` each node at a time once, and while nobody holds it.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[1])
    >>> trace = fs.FailureTrace([2, 3], [1, 1], [4, 5], span=60)
    >>> run = fs.simulate(log, fs.Cluster(2), failures=trace, record=True)
    >>> down_times(run, free=True)
    Down(node=array([1]), begin=array([2.]), end=array([8.]))
    """
    trace, (_, finish) = result.failures, result.span
    if trace is None:
        return Down(np.empty(0, np.int64), np.empty(0), np.empty(0))
    trace = trace.whole_nodes()
    shown = (trace.downtime > 0) & (trace.time <= finish)
    node = trace.node[shown].astype(np.int64)
    begin, end = trace.time[shown], np.minimum(trace.time[shown] + trace.downtime[shown], finish)
    if not free:
        return Down(node, begin, end)
    found: list[tuple[int, float, float]] = []
    for at in np.lexsort((begin, node)).tolist():
        one, since, until = int(node[at]), float(begin[at]), float(end[at])
        if found and found[-1][0] == one and since <= found[-1][2]:
            found[-1] = (one, found[-1][1], max(until, found[-1][2]))
        else:
            found.append((one, since, until))
    columns = np.array(found, dtype=float).reshape(-1, 3).T
    nodes = columns[0].astype(np.int64)
    kept = ~_is_held(result, nodes, columns[1])
    return Down(nodes[kept], columns[1][kept], columns[2][kept])


def draw_parts(ax: "Axes", result: "Result", scaled: Callable[[Floats], Floats]) -> "list[Artist]":
    """Parts of nodes that are down, dotted over the jobs, as high as their share of what the node has of the resource.

    Returns what the legend shows.
    """
    from matplotlib.patches import Patch

    has = result.machine.node_amounts()
    part = None if result.failures is None else result.failures.part_amounts()
    if result.failures is None or part is None or has is None:
        return []
    trace, finish = result.failures, result.span[1]
    rows = part.any(axis=1) & (trace.downtime > 0) & (trace.time <= finish)
    end = np.minimum((trace.time + trace.downtime)[rows], finish)
    parts = parts_down(trace.time[rows], end, trace.node[rows], part[rows], has)
    high = (parts.amounts / np.maximum(has[parts.node], 1)).max(axis=1, initial=0.0)
    if not high.any():
        return []
    first = parts.node + 1 - high
    corners = np.empty((len(high), 4, 2))
    corners[:, [0, 3], 0], corners[:, [1, 2], 0] = scaled(parts.begin)[:, None], scaled(parts.end)[:, None]
    corners[:, [0, 1], 1], corners[:, [2, 3], 1] = first[:, None], (first + high)[:, None]
    _hatch(ax, corners, PART_HATCH, current().kill)
    shown, said = current(), "part of a node down"
    return [
        Patch(facecolor=shown.ground, edgecolor=shown.kill, alpha=PALE, hatch=PART_HATCH, linewidth=0.0, label=said)
    ]


def _is_held(result: "Result", node: LongIntegers, at: Floats) -> Flags:
    """Whether a stay goes on at each of some instants on the node that belongs to it."""
    held, shape = result.allocations, result.machine.shape
    begin, end = held["begin"], held["end"]
    found = np.zeros(len(node), dtype=bool)
    step = max(1, PAIRS // max(1, len(begin)))
    for low in range(0, len(node), step):
        now = at[low : low + step, None]
        which, stay = np.divmod(np.flatnonzero((begin <= now) & (now < end)), max(1, len(begin)))
        if "x" in held:
            assert shape is not None
            inside = np.ones(len(which), dtype=bool)
            places = np.unravel_index(node[low + which], shape)
            for place, base, extent, length in zip(places, "xyz", "abc", shape, strict=True):
                inside &= (place - held[base][stay].astype(np.int64)) % length < held[extent][stay]
            found[low + which[inside]] = True
        else:
            begins = np.searchsorted(which, np.arange(len(now) + 1))
            for row in range(len(now)):
                there = nodes_of(held, stay[begins[row] : begins[row + 1]])
                found[low + row] = bool((there == node[low + row]).any())
    return found


def draw_failures(
    ax: "Axes",
    result: "Result",
    scaled: Callable[[Floats], Floats],
    down: Down,
    placed: Runs | None,
) -> "list[Artist]":
    """Down times in grey, below the jobs that wait in them; a cross for each failure, red where it killed a job.

    `placed` are the rows of all stays, then of the down times, if rows are not nodes. Returns what the legend shows.
    """
    if result.failures is None or not len(result.failures):
        return []
    events, stays = result.events, len(result.allocations["job"])
    if len(down.node):
        if placed is None:
            at, first = np.arange(len(down.node)), down.node
        else:
            here = placed[0] >= stays
            at, first = placed[0][here] - stays, placed[1][here]
        one = np.ones(len(at), np.int64)
        draw_rectangles(
            ax, scaled(down.begin[at]), scaled(down.end[at]), first, one, [current().down], np.zeros_like(one)
        )
    failed = np.flatnonzero(events["kind"] == EventKind.FAILURE)
    height = events["node"][failed] + 0.5 if placed is None else _heights(result, failed, down, placed)
    marks: list[Artist] = []
    for kills, colour, label in (
        (False, current().soft, "failure"),
        (True, current().kill, "failure that kills a job"),
    ):
        rows = (events["job"][failed] >= 0) == kills
        if not rows.any():
            continue
        where = scaled(events["time"][failed[rows]]), height[rows]
        marks.append(_crosses(ax, np.column_stack(where), colour, label))
    if len(down.node):
        marks.append(swatch("node down", current().down, 1.0, None))
    return marks


def _heights(result: "Result", failed: LongIntegers, down: Down, placed: Runs) -> Floats:
    """Rows of failures where rows are no nodes: of the job that was hit, or the node that is down; else the top."""
    events, held = result.events, result.allocations
    row, first, count = placed
    middle = dict(zip(row.tolist(), (first + count / 2).tolist(), strict=True))
    ends = {key: i for i, key in enumerate(zip(held["job"].tolist(), held["end"].tolist(), strict=True))}
    top, found = float(result.machine.nodes), []
    for event in failed.tolist():
        node, job, time = int(events["node"][event]), int(events["job"][event]), float(events["time"][event])
        if job >= 0:  # ended by it, or holding its nodes through it
            stay = ends.get((job, time))
            if stay is None:
                now = (held["job"] == job) & (held["begin"] <= time) & (time < held["end"])
                stay = int(now.argmax()) if now.any() else -1
        else:
            now = (down.node == node) & (down.begin <= time) & (time < down.end)
            stay = len(held["job"]) + int(now.argmax()) if now.any() else -1
        found.append(middle.get(stay, top))
    return np.array(found, dtype=float)


def _crosses(ax: "Axes", where: Floats, colour: str, label: str) -> "Artist":
    """Draw crosses, each on its halo, as one collection: with path effects each would be drawn by itself."""
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.markers import MarkerStyle
    from matplotlib.transforms import IdentityTransform

    cross = MarkerStyle("x")
    ax.add_collection(
        PathCollection(
            [cross.get_path().transformed(cross.get_transform())],
            sizes=[CROSS**2],
            offsets=np.repeat(where, 2, axis=0),
            offset_transform=ax.transData,
            transform=IdentityTransform(),
            facecolors="none",
            edgecolors=[current().ground, colour],
            linewidths=[HALO, 1.0],
            label=label,
            zorder=3,
            clip_on=False,
            rasterized=True,
        ),
        autolim=False,
    )
    return Line2D([], [], linestyle="none", marker=cross, markersize=CROSS, color=colour, label=label)


def halo() -> list[object]:
    """What lets a mark be seen on any colour: an edge in that of the ground."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=HALO, foreground=current().ground)]


def draw_rectangles(
    ax: "Axes",
    left: Floats,
    right: Floats,
    first: LongIntegers,
    count: LongIntegers,
    fills: Sequence[str],
    kind: LongIntegers,
    *,
    hatch: str | None = None,
    edges: bool = False,
) -> None:
    """Draw bars, each in one of the fills, as one collection that vector formats hold as a picture."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba_array

    corners = np.empty((len(left), 4, 2))
    corners[:, [0, 3], 0], corners[:, [1, 2], 0] = left[:, None], right[:, None]
    corners[:, [0, 1], 1], corners[:, [2, 3], 1] = first[:, None], (first + count)[:, None]
    ax.add_collection(
        PolyCollection(
            shapes_of(corners),
            facecolors=to_rgba_array(list(fills))[kind],
            edgecolors=current().ground if edges else "none",
            linewidths=0.4 if edges else 0.0,
            alpha=PALE if hatch else None,
            rasterized=True,
        ),
        autolim=False,
    )
    if hatch:
        _hatch(ax, corners, hatch, current().ground)


def _hatch(ax: "Axes", corners: Floats, hatch: str, colour: str) -> None:
    """Hatch bars as one shape: matplotlib draws the pattern once for each shape, in half a millisecond."""
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    points = np.concatenate([corners, corners[:, :1]], axis=1).reshape(-1, 2)
    codes = np.tile(np.array([Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY], np.uint8), len(corners))
    shape = PathCollection(
        [Path(points, codes)],
        facecolors="none",
        edgecolors=colour,
        linewidths=0.0,
        alpha=PALE,
        rasterized=True,
        hatch=hatch,
    )
    ax.add_collection(shape, autolim=False)


def cross(ax: "Axes", x: Floats, y: Floats, half: float, shades: list[str]) -> None:
    """Crosses on nodes that are down, in units of the axes; `half` is half of their edge."""
    from matplotlib.collections import LineCollection

    if not len(x):
        return
    up = np.stack([np.stack([x - half, y - half], axis=-1), np.stack([x + half, y + half], axis=-1)], axis=1)
    fall = np.stack([np.stack([x - half, y + half], axis=-1), np.stack([x + half, y - half], axis=-1)], axis=1)
    ax.add_collection(
        LineCollection(shapes_of(np.concatenate([up, fall])), colors=shades * 2, linewidths=1.1, zorder=3)
    )


def crossed(words: str) -> "Artist":
    """What the legend shows of nodes that are down."""
    from matplotlib.patches import Patch

    return Patch(facecolor=current().soft, hatch="xxx", edgecolor=current().ground, linewidth=0.0, label=words)


def swatch(words: str, colour: str, opacity: float, hatch: str | None) -> "Artist":
    """What the legend shows of a kind of bars."""
    from matplotlib.patches import Patch

    edge = current().ground if hatch else "none"
    return Patch(facecolor=colour, alpha=opacity, hatch=hatch, edgecolor=edge, linewidth=0.0, label=words)
