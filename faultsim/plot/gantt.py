"""The Gantt chart: which job held which nodes, and when."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from faultsim import checks
from faultsim.arrays import Flags, Floats, LongIntegers, Values
from faultsim.data.event_kinds import EventKind
from faultsim.entries import entry
from faultsim.plot.base import axes, legend_below, room, tidy, time_unit
from faultsim.plot.failure_marks import (
    HATCH,
    PALE,
    Down,
    down_times,
    draw_failures,
    draw_parts,
    draw_rectangles,
    swatch,
)
from faultsim.plot.given import result_of
from faultsim.plot.held_runs import Runs, blocks, joined, stay_nodes
from faultsim.plot.lanes import lanes
from faultsim.plot.raster import Raster
from faultsim.plot.reserved_times import draw_reservations
from faultsim.plot.shades import BYS, By, classes
from faultsim.plot.theme import ThemeName, themed
from faultsim.plot.touching import FILLS, job_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

EDGES_UP_TO = 3000  # rectangles; more would be all edge
SHAPES_UP_TO = 30_000  # rectangles; more are drawn as a bitmap of this size, whatever their number
PIXELS = (640, 1280)
RowKind = Literal["nodes", "allocation"]


@entry
@themed
def plot_gantt(
    result: "Result",
    *,
    by: By = "job",
    rows: RowKind | None = None,
    ax: "Axes | None" = None,
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw which job held which nodes when: time across, nodes up.

    Jobs that touch have different colors (with `by`, those of its class), unless one touches 20 or more others, or the
    run is so long that a job is smaller than a pixel. Nodes are held from the decision on, so start delays are part of
    a bar. A cross marks each failure, red if it killed a job; down nodes are gray, parts of nodes that are down are
    dotted, as high as their share of the node, and stays ended by a failure (or `NodeStealing`) are hatched.
    Reservations are hatched areas behind the jobs; where rows are no particular nodes, only those of all nodes are
    drawn.

    More than 30,000 rectangles are drawn as a bitmap of 1280 x 640 pixels: a pixel has the color of the job (or jobs of
    one color) that held most of it, as opaque as it was in use, and stays ended by a failure are paler. So hundreds of
    thousands of jobs take seconds, and no more memory than a few hundred.

    Parameters
    ----------
    result : Result
        A run made with ``record=True``.
    by : {"job", "user", "size", "wait", "restarts"}
        What the colors tell: jobs apart, or the class of a job, which the legend names.
    rows : {"nodes", "allocation"}, optional
        What the rows are. "nodes": node numbers; on a torus these are (x*Y + y)*Z + z, so a box shows as stripes.
        "allocation": as many rows side by side for each job as it has nodes, as they are free when it begins; so a box
        is one bar, and the rows are no particular nodes. By default "allocation" on a torus, else "nodes".

    Raises
    ------
    OptionError
        If the run was not recorded, or `by` or `rows` is unknown.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_gantt
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> ax = plot_gantt(fs.simulate(log, fs.Cluster(2), record=True), by="size")
    >>> ax.get_ylabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('node', ['1 node', '2 nodes'])
    """
    return drawn_gantt(result_of("plot_gantt", result), by, rows, ax)[0]


def drawn_gantt(
    result: "Result", by: By = "job", rows: RowKind | None = None, ax: "Axes | None" = None
) -> tuple["Axes", Runs | None]:
    """The same, and its bars: row of the allocation, lowest row of the chart, number of rows.

    None if there are too many to draw them as shapes.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> ax, bars = drawn_gantt(fs.simulate(log, fs.Cluster(2), record=True))
    >>> [column.tolist() for column in bars]
    [[0, 1], [0, 0], [2, 1]]
    """
    checks.choice("by", by, BYS)
    checks.choice("rows", rows or "nodes", ("nodes", "allocation"))
    held = result.allocations
    machine = result.machine
    stacked = rows == "allocation" or (rows is None and "x" in held)
    origin, finish = result.span
    unit, seconds = time_unit(finish - origin)

    def scaled(times: Floats) -> Floats:
        return (np.asarray(times) - origin) / seconds

    ax = axes(ax, 9.0, 5.0)
    ax.set_xlim(0, max((finish - origin) / seconds, 1e-9))
    ax.set_ylim(0, machine.nodes)
    begin, end = np.asarray(held["begin"], dtype=float), np.asarray(held["end"], dtype=float)
    down = down_times(result, free=stacked)
    placed = _stacked(result, down) if stacked else None
    of_jobs = None if placed is None else _where(placed, placed[0] < len(begin))
    few, rest = _few(result, of_jobs)
    kind, fills, words = classes(result, by) if by != "job" else (job_colours(result, of_jobs), list(FILLS), [])
    kind = kind[np.asarray(held["job"])]
    lost = killed(result)
    marks = [swatch(text, fill, 1.0, None) for text, fill in zip(words, fills, strict=False)]
    marks += draw_reservations(ax, result, scaled, whole=stacked)
    marks += draw_failures(ax, result, scaled, down, placed)
    left, right = scaled(begin), scaled(end)
    if few is None:
        bars = ((left[row], right[row], first, count, kind[row], lost[row]) for row, first, count in rest)
        _paint(ax, bars, fills[: int(kind.max(initial=0)) + 1], pale=bool(lost.any()))
    else:
        row, first, count = few
        for some, hatch in ((~lost[row], None), (lost[row], HATCH)):
            if some.any() or hatch is None:
                sides = left[row][some], right[row][some], first[some], count[some]
                few_bars = len(row) <= EDGES_UP_TO
                draw_rectangles(ax, *sides, fills, kind[row][some], hatch=hatch, edges=few_bars)
    if not stacked:
        marks += draw_parts(ax, result, scaled)
    if lost.any():
        marks.append(swatch("ended by a failure", FILLS[0], PALE, None if few is None else HATCH))
    label = "nodes, as they were allocated" if stacked else "node"
    name_nodes(ax, machine.nodes)
    tidy(ax, x=f"time since the first submit ({unit})", y=label, title=f"{len(result):,} jobs on {machine}", grid=False)
    if marks:
        legend_below(ax, marks)
    # Parts of rows are no runs of nodes, by which the view of a page finds jobs.
    return ax, None if few is None or few[1].dtype.kind == "f" else few


def _few(result: "Result", stacked: Runs | None) -> tuple[Any, Iterator[Runs]]:
    """All bars at once if they are few enough to draw as shapes; else None, and their blocks."""
    if stacked is not None:
        return (stacked, iter(())) if len(stacked[0]) <= SHAPES_UP_TO else (None, iter([stacked]))
    held = result.allocations
    amounts = result.machine.node_amounts()
    if amounts is not None and result.capacity != result.machine.nodes:
        shared = _within_nodes(result, amounts[:, 0])
        if len(shared[0]) <= SHAPES_UP_TO:
            return shared, iter(())
    return _first(blocks(held, result.machine.shape if "x" in held else None))


def _within_nodes(result: "Result", cores: LongIntegers) -> tuple[LongIntegers, Floats, Floats]:
    """Rows of the jobs that share nodes: of each node, one on top of another, as high as their part of its cores."""
    held = result.allocations
    count = np.diff(held["node_offsets"])
    stay = np.repeat(np.arange(len(count)), count)
    node = np.asarray(held["nodes"])
    share = np.maximum(result.jobs["allocated"][held["job"]] // np.maximum(count, 1), 1)[stay]
    parts: list[tuple[LongIntegers, Floats, Floats]] = []
    for one in np.unique(node).tolist():
        here = np.flatnonzero(node == one)
        most = int(cores[one])
        row, first, high = lanes(
            held["begin"][stay[here]], held["end"][stay[here]], np.minimum(share[here], most), most
        )
        parts.append((stay[here][row], one + first / most, high / most))
    rows, firsts, highs = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(firsts), np.concatenate(highs)


def name_nodes(ax: "Axes", nodes: int) -> None:
    """Whole numbers for rows from 0 up: in their middle if all have one."""
    from matplotlib.ticker import MaxNLocator

    if nodes <= min(20, 72 * room(ax, across=False) / 11):
        ax.set_yticks(np.arange(nodes) + 0.5, [str(node) for node in range(nodes)])
    else:
        ax.yaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 4, 5, 10]))


def _where(runs: Runs, chosen: Flags) -> Runs:
    row, first, count = runs
    return row[chosen], first[chosen], count[chosen]


def _stacked(result: "Result", down: Down) -> Runs:
    """Rows of all stays, then of all down times, as they are free."""
    held = result.allocations
    begin, end = np.concatenate([held["begin"], down.begin]), np.concatenate([held["end"], down.end])
    return lanes(
        begin, end, np.concatenate([stay_nodes(held), np.ones(len(down.node), np.int64)]), result.machine.nodes
    )


def _first(parts: Iterator[Runs]) -> tuple[Runs | None, Iterator[Runs]]:
    """All runs at once if they are few enough to draw as shapes; else None, and their blocks."""
    seen: list[Runs] = []
    total = 0
    for part in parts:
        seen.append(part)
        total += len(part[0])
        if total > SHAPES_UP_TO:
            return None, chain(seen, parts)
    return joined(seen), iter(())


def _paint(ax: "Axes", bars: Iterable[tuple[Values, ...]], fills: list[str], *, pale: bool) -> None:
    """Paint bars (begin, end, first node, node count, colour, whether a failure ended it) as one picture."""
    (right, top), kinds = (ax.get_xlim()[1], ax.get_ylim()[1]), len(fills)
    height, width = min(int(top), PIXELS[0]), PIXELS[1]
    opacities = [1.0] * kinds + [PALE] * (kinds * pale)
    raster = Raster(len(opacities), height, width)
    across, up = width / right, height / top
    for begin, end, first, count, colour, lost in bars:
        raster.add(begin * across, end * across, first * up, (first + count) * up, colour + kinds * lost)
    ax.imshow(
        raster.picture((fills * 2)[: len(opacities)], opacities),
        extent=(0.0, right, 0.0, top),
        origin="lower",
        aspect="auto",
        interpolation="antialiased",
        zorder=2,
    )


def killed(result: "Result") -> Flags:
    """Which rows of the allocations a failure ended, or the theft of their nodes."""
    held, events = result.allocations, result.events
    stops = (events["kind"] == EventKind.RESCHEDULE) | (events["kind"] == EventKind.FAILURE)
    hit = stops & (events["job"] >= 0)
    if not hit.any():
        return np.zeros(len(held["job"]), dtype=bool)
    kills = set(zip(events["job"][hit].tolist(), events["time"][hit].tolist(), strict=True))
    return np.array([row in kills for row in zip(held["job"].tolist(), held["end"].tolist(), strict=True)], dtype=bool)
