"""The Gantt chart: which job held which nodes, and when."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faultsim.data.event_kinds import EventKind
from faultsim.plot.base import GREY, axes, legend_below, tidy, time_unit
from faultsim.plot.raster import Raster
from faultsim.results.held import Held

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

Runs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]  # row of the allocation, first node, node count

#: Fills of the jobs: pale enough that edges show, far enough apart for colour-blind readers.
FILLS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#88CCEE", "#999933", "#AA4499")
EDGES_UP_TO = 3000  # rectangles; more would be all edge
SHAPES_UP_TO = 30_000  # rectangles; more are drawn as a bitmap of this size, whatever their number
PIXELS = (640, 1280)
BLOCK = 1 << 19  # nodes looked at at a time, so that a long list needs no copy of itself, nor a picture of many shapes
PALE = 0.6  # opacity of stays that a failure ended
DOWN, KILLS = "#BDC1C6", "#C5221F"


def _box_runs(held: Mapping[str, NDArray[Any]], shape: tuple[int, int, int]) -> Runs:
    """Boxes as runs of consecutive nodes: one along z for each (x, y), two where it wraps; whole planes joined."""
    ny, nz = shape[1], shape[2]
    x, y, z, a, b, c = (np.asarray(held[name], dtype=np.int64) for name in "xyzabc")
    lines = a * b
    row = np.repeat(np.arange(len(x)), lines)
    k = np.arange(lines.sum()) - np.repeat(np.cumsum(lines) - lines, lines)
    line = ((x[row] + k // b[row]) % shape[0]) * ny + (y[row] + k % b[row]) % ny
    head = np.minimum(c[row], nz - z[row])
    tail = c[row] - head
    wraps = tail > 0
    rows = np.concatenate([row, row[wraps]])
    first = np.concatenate([line * nz + z[row], line[wraps] * nz])
    count = np.concatenate([head, tail[wraps]])
    return _joined(rows, first, count)


def _joined(row: NDArray[np.int64], first: NDArray[np.int64], count: NDArray[np.int64]) -> Runs:
    """Join runs of one allocation that touch."""
    order = np.lexsort((first, row))
    row, first, count = row[order], first[order], count[order]
    begins = np.ones(len(row), dtype=bool)
    begins[1:] = (row[1:] != row[:-1]) | (first[1:] != first[:-1] + count[:-1])
    start = np.flatnonzero(begins)
    return row[start], first[start], np.add.reduceat(count, start) if len(start) else count


def _list_runs(held: Mapping[str, NDArray[Any]]) -> Runs:
    """Sorted node lists as runs of consecutive nodes."""
    offsets, nodes = np.asarray(held["node_offsets"]), np.asarray(held["nodes"])
    begins = np.ones(len(nodes), dtype=bool)
    np.not_equal(nodes[1:] - nodes[:-1], 1, out=begins[1:])
    begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    start = np.flatnonzero(begins)
    row = np.searchsorted(offsets, start, side="right") - 1
    return row, nodes[start].astype(np.int64), np.diff(np.append(start, len(nodes)))


def _blocks(held: Mapping[str, NDArray[Any]], shape: tuple[int, int, int] | None) -> Iterator[Runs]:
    """The runs of all stays, a block of stays at a time."""
    rows = len(held["job"])
    if shape is not None:
        ends = np.cumsum(np.asarray(held["a"], dtype=np.int64) * held["b"])
    elif isinstance(held, Held):
        ends = held.range_offsets[1:]
    else:
        ends = np.asarray(held["node_offsets"][1:])
    lo = 0
    while lo < rows:
        before = int(ends[lo - 1]) if lo else 0
        hi = max(lo + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
        if shape is not None:
            row, first, count = _box_runs({name: held[name][lo:hi] for name in "xyzabc"}, shape)
        elif isinstance(held, Held):
            first, count = held.ranges[before : ends[hi - 1]].astype(np.int64).T
            row = np.repeat(np.arange(hi - lo), np.diff(held.range_offsets[lo : hi + 1]))
        else:
            offsets = held["node_offsets"][lo : hi + 1]
            part = {"node_offsets": offsets - offsets[0], "nodes": held["nodes"][offsets[0] : offsets[-1]]}
            row, first, count = _list_runs(part)
        yield row + lo, first, count
        lo = hi


def plot_gantt(result: "Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw which job held which nodes when: time across, node numbers up, one color per job (they repeat).

    On a torus node numbers are (x*Y + y)*Z + z, so a box shows as stripes. Nodes are held from the decision on, so
    start delays are part of a bar. A cross marks each failure, red if it killed a job; down nodes are gray, and stays
    ended by a failure (or `NodeStealing`) are hatched.

    More than 30,000 rectangles are drawn as a bitmap of 1280 x 640 pixels: a pixel has the color of the job (or jobs of
    one color) that held most of it, as opaque as it was in use, and stays ended by a failure are paler. So hundreds of
    thousands of jobs take seconds, and no more memory than a few hundred.

    Parameters
    ----------
    result : Result
        A run made with ``record=True``.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If the run was not recorded.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_gantt
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> ax = plot_gantt(fs.simulate(log, fs.Cluster(2), record=True))
    >>> ax.get_ylabel()
    'node'
    """
    held = result.allocations
    ax = axes(ax, 9.0, 5.0)
    machine = result.machine
    origin, finish = result.span
    unit, seconds = time_unit(finish - origin)

    def scaled(times: NDArray[np.float64]) -> NDArray[np.float64]:
        return (np.asarray(times) - origin) / seconds

    ax.set_xlim(0, max((finish - origin) / seconds, 1e-9))
    ax.set_ylim(0, machine.nodes)
    lost = _killed(result)
    failures = result.failures is not None and len(result.failures) > 0
    marks: list[Any] = _draw_failures(ax, result, scaled) if failures else []
    begin, end = scaled(held["begin"]), scaled(held["end"])
    colour = np.asarray(held["job"]) % len(FILLS)
    few, blocks = _first(_blocks(held, machine.shape if "x" in held else None))
    if few is None:
        bars = ((begin[row], end[row], first, count, colour[row], lost[row]) for row, first, count in blocks)
        _paint(ax, bars, pale=bool(lost.any()))
    else:
        row, first, count = few
        for rows, hatch in ((~lost[row], None), (lost[row], "/////")):
            if rows.any() or hatch is None:
                corners = _rectangles(begin[row][rows], end[row][rows], first[rows], count[rows])
                fills = np.array(FILLS)[colour[row][rows]]
                _draw_bars(ax, corners, fills, hatch=hatch, few=len(row) <= EDGES_UP_TO)
    if lost.any():
        marks.append(_swatch("a stay that a failure ended", FILLS[0], PALE, None if few is None else "/////"))
    if marks:
        legend_below(ax, marks)
    ax.set_xlabel(f"time since the first submit ({unit})")
    ax.set_ylabel("node")
    ax.set_title(f"{len(result):,} jobs on {machine}", fontsize=11)
    return tidy(ax, grid=False)


def _first(blocks: Iterator[Runs]) -> tuple[Runs | None, Iterator[Runs]]:
    """All runs at once if they are few enough to draw as shapes; else None, and their blocks."""
    seen: list[Runs] = []
    total = 0
    for block in blocks:
        seen.append(block)
        total += len(block[0])
        if total > SHAPES_UP_TO:
            return None, chain(seen, blocks)
    empty = np.empty(0, np.int64)
    row, first, count = (np.concatenate([empty, *parts]) for parts in zip(*seen, strict=True)) if seen else (empty,) * 3
    return (row, first, count), iter(())


def _paint(ax: "Axes", bars: Iterable[tuple[NDArray[Any], ...]], *, pale: bool) -> None:
    """Paint bars (begin, end, first node, node count, colour, whether a failure ended it) as one picture."""
    (right, top), kinds = (ax.get_xlim()[1], ax.get_ylim()[1]), len(FILLS)
    height, width = min(int(top), PIXELS[0]), PIXELS[1]
    opacities = [1.0] * kinds + [PALE] * (kinds * pale)
    raster = Raster(len(opacities), height, width)
    across, up = width / right, height / top
    for begin, end, first, count, colour, lost in bars:
        raster.add(begin * across, end * across, first * up, (first + count) * up, colour + kinds * lost)
    ax.imshow(
        raster.picture((FILLS * 2)[: len(opacities)], opacities),
        extent=(0.0, right, 0.0, top),
        origin="lower",
        aspect="auto",
        interpolation="antialiased",
        zorder=2,
    )


def _rectangles(
    left: NDArray[np.float64], right: NDArray[np.float64], first: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[np.float64]:
    corners = np.empty((len(left), 4, 2))
    corners[:, [0, 3], 0], corners[:, [1, 2], 0] = left[:, None], right[:, None]
    corners[:, [0, 1], 1], corners[:, [2, 3], 1] = first[:, None], (first + count)[:, None]
    return corners


def _draw_bars(
    ax: "Axes", corners: NDArray[np.float64], colours: NDArray[np.str_], *, hatch: str | None, few: bool
) -> None:
    from matplotlib.collections import PolyCollection

    ax.add_collection(
        PolyCollection(
            list(corners),
            facecolors=colours.tolist(),
            edgecolors="white" if few or hatch else "none",
            linewidths=0.3 if few else 0.0,
            hatch=hatch,
            alpha=0.6 if hatch else None,
            rasterized=True,
        )
    )


def _killed(result: "Result") -> NDArray[np.bool_]:
    """Which rows of the allocations a failure ended, or the theft of their nodes."""
    held, events = result.allocations, result.events
    stops = (events["kind"] == EventKind.RESCHEDULE) | (events["kind"] == EventKind.FAILURE)
    hit = stops & (events["job"] >= 0)
    if not hit.any():
        return np.zeros(len(held["job"]), dtype=bool)
    kills = set(zip(events["job"][hit].tolist(), events["time"][hit].tolist(), strict=True))
    return np.array([row in kills for row in zip(held["job"].tolist(), held["end"].tolist(), strict=True)], dtype=bool)


def _swatch(words: str, colour: str, opacity: float, hatch: str | None) -> Any:
    """What the legend shows of a kind of bars."""
    from matplotlib.patches import Patch

    return Patch(
        facecolor=colour, alpha=opacity, hatch=hatch, edgecolor="white" if hatch else "none", linewidth=0.0, label=words
    )


def _draw_failures(ax: "Axes", result: "Result", scaled: Callable[[Any], NDArray[np.float64]]) -> list[Any]:
    """Down times in grey, below the jobs that wait in them; a cross for each failure, red where it killed a job.

    Returns the entries of the legend.
    """
    trace, events = result.failures, result.events
    assert trace is not None
    down = trace.downtime > 0
    if down.any():
        begin, end = scaled(trace.time[down]), scaled(trace.time[down] + trace.downtime[down])
        corners = _rectangles(begin, end, trace.node[down].astype(np.int64), np.ones(int(down.sum()), np.int64))
        _draw_bars(ax, corners, np.full(len(corners), DOWN), hatch=None, few=False)
    failed = events["kind"] == EventKind.FAILURE
    marks: list[Any] = []
    for kills, colour, label in ((False, GREY, "failure"), (True, KILLS, "failure that kills a job")):
        rows = failed & ((events["job"] >= 0) == kills)
        marks += ax.plot(
            scaled(events["time"][rows]),
            events["node"][rows] + 0.5,
            linestyle="none",
            marker="x",
            markersize=4.0,
            color=colour,
            label=label,
            zorder=3,
            rasterized=True,
        )
    if down.any():
        marks.append(_swatch("node down", DOWN, 1.0, None))
    return marks
