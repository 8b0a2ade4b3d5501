"""Who holds which nodes of a torus or a pod at an instant, layer by layer or in space, and as a small animation."""

import io
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from faultsim import checks
from faultsim.arrays import Flags, Floats, LongIntegers, Values
from faultsim.data.whole_files import whole_file
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import (
    axes,
    inches,
    legend_below,
    new_figure,
    on,
    room,
    shapes_of,
    three_digits,
    time_unit,
    verbatim,
    wide,
    write_title,
)
from faultsim.plot.cubes import BROKEN, NOBODY, draw_cubes, name_cubes, pod_of, rim
from faultsim.plot.failure_marks import cross, crossed, swatch
from faultsim.plot.given import result_of
from faultsim.plot.held_runs import stay_nodes
from faultsim.plot.instant import NAMED, NAMED_IN_SMALL, Fills, fills_at
from faultsim.plot.theme import ThemeName, current, root_figure, themed, use_theme
from faultsim.plot.touching import FILLS, STRONG, job_colours, neighbours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from PIL import Image

    from faultsim.results.result import Result

View = Literal["slices", "space"]
EDGE, SPECK = 0.74, 0.16  # of a cube for a node that is held, and for a free one, between nodes 1 apart
COS, SIN = np.cos(np.pi / 6), 0.5
#: Corners of the three faces that are seen, as offsets from the cube's centre in half edges; how bright each is.
FACES = (
    (((-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)), 1.0),
    (((1, -1, -1), (1, 1, -1), (1, 1, 1), (1, -1, 1)), 0.82),
    (((-1, 1, -1), (1, 1, -1), (1, 1, 1), (-1, 1, 1)), 0.64),
)
LETTERS = 0.17  # inches that letters need up
ROOM = 0.8  # of the height of the axes, beside title and legend
SMALL = 4.5  # inches of a figure that has no room for a long legend
ENDS = (".gif", ".webp", ".png")


@entry
def occupancy(result: "Result", at: checks.Duration) -> LongIntegers:
    """Which job holds each node of a torus, or each host of a pod, at an instant.

    Parameters
    ----------
    result : Result
        A run on a torus or a pod, made with ``record=True``.
    at : float or duration
        Time since the first submit: seconds, text such as ``"12h"``, or a timedelta.

    Returns
    -------
    array of int, shape (X, Y, Z), or (cubes, hosts of a cube)
        Row of the job, -1 for a free node, -2 for a free one that is down.

    Raises
    ------
    OptionError
        If the machine is a cluster, the run was not recorded, or it was over by then.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import occupancy
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> run = fs.simulate(log, fs.Torus(1, 1, 4), record=True)
    >>> occupancy(run, at=2.0).tolist()
    [[[0, 0, 1, -1]]]
    """
    _places(result_of("occupancy", result))
    return _state(result, _moment(result, at))


def _moment(result: "Result", at: checks.Duration) -> float:
    """An instant on the clock of the run, from the time since the first submit."""
    begin, end = result.span
    since = checks.duration("at", at, low=0.0)
    if since > end - begin:
        raise OptionError(
            f"at must be at most {end - begin:.10g} seconds, when the run is over, since the first submit; got {at!r}"
        )
    return begin + since


def _down(result: "Result", at: float) -> Flags:
    """Which nodes are down at an instant on the clock of the run, in the shape of `occupancy`."""
    _, shape = _places(result)
    down = np.zeros(shape, dtype=bool)
    if result.failures is not None:
        trace = result.failures.whole_nodes()
        now = (trace.time <= at) & (at < trace.time + trace.downtime)
        down.reshape(-1)[trace.node[now]] = True
    return down


def _state(result: "Result", at: float) -> LongIntegers:
    """The array of `occupancy`, at an instant on the clock of the run."""
    held, shape = _places(result)
    state = np.where(_down(result, at), BROKEN, NOBODY).astype(np.int64)
    there = np.flatnonzero((held["begin"] <= at) & (at < held["end"])).tolist()
    if len(shape) == 2:
        offsets, nodes = held["node_offsets"], held["nodes"]
        for row in there:
            state.reshape(-1)[nodes[offsets[row] : offsets[row + 1]]] = held["job"][row]
        return state
    for row in there:
        x, y, z, a, b, c = (int(held[name][row]) for name in "xyzabc")
        inside = ((x + np.arange(a)) % shape[0], (y + np.arange(b)) % shape[1], (z + np.arange(c)) % shape[2])
        state[np.ix_(*inside)] = held["job"][row]
    return state


def _places(result: "Result") -> tuple[Mapping[str, Values], tuple[int, ...]]:
    """Who held what, and the shape of the machine."""
    machine, held = result.machine, result.allocations
    if (pod := pod_of(result)) is not None:
        return held, (pod.n_cubes, pod.hosts)
    if "x" not in held or machine.shape is None:
        raise OptionError(f"jobs on {machine} have no boxes; draw a run on a Torus or a Pod, or use plot_gantt")
    return held, machine.shape


def _check_view(result: "Result", view: View) -> None:
    checks.choice("view", view, ("slices", "space"))
    if view == "space" and pod_of(result) is not None:
        raise OptionError("view='space' draws the nodes of a torus; the cubes of a pod are drawn with view='slices'")


def busiest(result: "Result") -> float:
    """The first instant at which most nodes are held, in seconds since the first submit.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> busiest(fs.simulate(log, fs.Torus(1, 1, 4), record=True))
    1.0
    """
    held, _ = _places(result)
    times = np.concatenate([held["begin"], held["end"]])
    nodes = stay_nodes(held)
    at, where = np.unique(times, return_inverse=True)
    level = np.cumsum(np.bincount(where, weights=np.concatenate([nodes, -nodes]), minlength=len(at)))
    return float(at[int(level.argmax())]) - result.span[0] if len(at) else 0.0


@entry
@themed
def plot_occupancy(
    result: "Result",
    at: checks.Duration | None = None,
    *,
    view: View = "slices",
    ax: "Axes | None" = None,
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw the nodes of a torus or a pod at an instant, each in the color of the job that holds it.

    Each of the ten largest jobs has a color of its own, and the legend names it by the ``id`` of the log; smaller jobs
    are pale, and those that touch differ. Where there is room, the id is also written on the nodes. Crosses are nodes
    that are down, dark if no job holds them.

    In slices all nodes are seen: a grid for each layer of equal z, x to the right and y up. In space there is a cube
    for each node, smaller if it is free, x to the lower right, y to the lower left, z up. A box that wraps around
    appears at both ends.

    Of a pod a square is a cube: one piece if one job has it or it is free, else with its hosts, row by row, and framed
    if one of them is down, which takes it from slices of whole cubes. Cubes of one color are one slice. Wired cubes are
    in layers, like the nodes of a torus; switched ones in the order of their numbers, which stand at the left.

    Parameters
    ----------
    result : Result
        A run on a torus or a pod, made with ``record=True``.
    at : float or duration, optional
        Time since the first submit: seconds, text such as ``"12h"``, or a timedelta. By default the first instant at
        which most nodes are held.
    view : {"slices", "space"}
        Layers side by side, or, of a torus, cubes in space, of which near ones hide others.

    Raises
    ------
    OptionError
        If the machine is a cluster, the run was not recorded, it was over by then, or there is no such view.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_occupancy
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> ax = plot_occupancy(fs.simulate(log, fs.Torus(1, 1, 4), record=True), at=2.0)
    >>> ax.get_title()
    '2 s after the first submit\\n2 jobs on 3 of 4 nodes'
    """
    _check_view(result_of("plot_occupancy", result), view)
    moment = _moment(result, busiest(result) if at is None else at)
    state = _state(result, moment)
    small = ax is not None and min(inches(ax)) < SMALL
    fills = fills_at(state, neighbours(result), job_colours(result), NAMED_IN_SMALL if small else NAMED)
    drawn = _draw(result, moment, view, ax, fills)
    if (engine := root_figure(drawn).get_layout_engine()) is not None:
        engine.execute(root_figure(drawn))  # boxes of equal scale need a second round, which drawing brings
    return drawn


def _draw(result: "Result", moment: float, view: View, ax: "Axes | None", fills: Fills) -> "Axes":
    """The picture at an instant on the clock of the run; the legend names jobs if `fills` does."""
    _, shape = _places(result)
    state, down, colours = _state(result, moment), _down(result, moment), fills.of_job
    names = [str(name) for name in result.jobs["id"].tolist()] if fills.named else []
    if (pod := pod_of(result)) is not None:
        ax = draw_cubes(ax, pod, state, _paints(state, colours))
        name_cubes(ax, pod, state, names, FILLS, colours)
    elif view == "slices":
        ax = _slices(ax, state, down, names, colours)
    else:
        ax = axes(ax, 6.0, 5.5)
        ax.add_collection(_cubes(state, colours))
        corners = _flat(np.array([(i * shape[0], j * shape[1], k * shape[2]) for i, j, k in np.ndindex(2, 2, 2)]) - 0.5)
        (left, low), (right, top) = corners.min(axis=0), corners.max(axis=0)
        _name_axes(ax, (shape[0], shape[1], shape[2]))
        ax.set_xlim(left - 1.0, right + 1.0)
        ax.set_ylim(low - 1.0, top + 0.6)
    ax.set_aspect("equal")
    ax.set_axis_off()
    write_title(ax, _caption(result, state, moment))
    node = "host" if len(shape) == 2 else "node"
    marks = [
        swatch(f"job {verbatim(names[job])}, {_amount(state, job, node)}", FILLS[colours[job]], 1.0, None)
        for job in fills.named
    ]
    others = len(np.unique(state[state >= 0])) - len(fills.named)
    if fills.named and others:
        marks.append(swatch(f"{others:,} smaller job{'s' * (others > 1)}", FILLS[len(STRONG)], 1.0, None))
    if (state == NOBODY).any():
        marks.append(swatch(f"{node} free", current().free, 1.0, None))
    if down.any():
        slices = view == "slices" and len(shape) == 3
        marks.append(crossed(f"{node} down") if slices else swatch(f"{node} down", current().soft, 1.0, None))
    if len(shape) == 2 and (state == BROKEN).any():
        marks.append(rim("cube with a host that is down"))
    legend_below(ax, marks, bare=True)
    return ax


def _amount(state: LongIntegers, job: int, node: str) -> str:
    """How many nodes, or whole cubes, a job holds."""
    mine = state == job
    whole = state.ndim == 2 and bool((mine.all(axis=1) == mine.any(axis=1)).all())
    count, what = (int(mine.all(axis=1).sum()), "cube") if whole else (int(mine.sum()), node)
    return f"{count:,} {what}{'s' * (count > 1)}"


def _paints(state: LongIntegers, colours: LongIntegers) -> Floats:
    """Red, green and blue of each node, by the job that holds it."""
    names = [*FILLS, current().free, current().soft]
    rgb = np.array([[int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)] for name in names])
    of_job = colours[np.maximum(state, 0)] if len(colours) else np.zeros(state.shape, dtype=np.int64)
    paints: Floats = rgb[np.where(state >= 0, of_job, len(FILLS) + (state == BROKEN))]
    return paints


def _slices(ax: "Axes | None", state: LongIntegers, down: Flags, names: list[str], colours: LongIntegers) -> "Axes":
    """The layers of equal z as grids in rows, as many side by side as make the picture about as wide as it may be."""
    from matplotlib.collections import PolyCollection

    nx, ny, nz = state.shape
    step_x, step_y = nx + max(0.8, 0.12 * nx), ny + max(1.2, 0.3 * ny)
    wide_over_high = 1.4 if ax is None else room(ax) / max(room(ax, across=False), 0.1)
    columns = min(nz, max(1, round(float(np.sqrt(nz * wide_over_high * step_y / step_x)))))
    rows = -(-nz // columns)
    columns = -(-nz // rows)
    ax = axes(ax, 7.0, float(np.clip(1.3 + 6.4 * rows * step_y / (columns * step_x), 2.5, 9.0)))
    nodes = np.argwhere(np.ones(state.shape, dtype=bool))
    row, column = np.divmod(nodes[:, 2], columns)
    left, low = nodes[:, 0] + column * step_x, nodes[:, 1] + (rows - 1 - row) * step_y
    half = 0.5 * (EDGE + 0.16)
    corners = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
    squares = shapes_of(np.stack([left, low], axis=-1)[:, None, :] + corners)
    ax.add_collection(
        PolyCollection(squares, facecolors=_paints(state, colours).reshape(-1, 3), linewidths=0.0, rasterized=True)
    )
    flags = down[tuple(nodes.T)]
    cross(ax, left[flags], low[flags], 0.5 * half, _crosses(state[tuple(nodes.T)][flags], colours))
    cell = min(room(ax) / (columns * step_x), ROOM * room(ax, across=False) / (rows * step_y))
    if names and cell > LETTERS:
        _name_boxes(ax, state, nodes, left, low, cell, names, colours)
    across = room(ax) / columns
    for k in range(nz):
        x, y = (k % columns) * step_x - 0.5, (rows - 1 - k // columns) * step_y + ny - 0.35
        if across > 0.45 or k == 0:
            ax.text(x, y, f"z = {k}", color=current().ink, fontsize=8, ha="left", va="bottom")
    ax.set_xlim(-0.8, columns * step_x - (step_x - nx) - 0.2)
    ax.set_ylim(-1.9, rows * step_y)
    arrow = {"arrowstyle": "->", "color": current().soft, "linewidth": 0.9}
    ax.annotate("", (min(nx, 3) - 0.5, -1.0), (-0.5, -1.0), arrowprops=arrow)
    ax.text(min(nx, 3) - 0.4, -1.0, "x", color=current().ink, fontsize=8, va="center")
    ax.annotate("", (-1.0, min(ny, 3) - 0.5), (-1.0, -0.5), arrowprops=arrow, annotation_clip=False)
    ax.text(-1.0, min(ny, 3) - 0.4, "y", color=current().ink, fontsize=8, ha="center", va="bottom")
    return ax


def _crosses(jobs: LongIntegers, colours: LongIntegers) -> list[str]:
    """The colour of the cross on each node that is down: readable on what it is drawn on."""
    return [on(FILLS[colours[job]]) if job >= 0 else current().ground for job in jobs.tolist()]


def _name_boxes(
    ax: "Axes", state: LongIntegers, nodes: LongIntegers, left: Floats, low: Floats, cell: float,
    names: list[str], colours: LongIntegers,
) -> None:  # fmt: skip
    """The id of each job in the middle of its nodes in each layer, if its row of nodes there is long enough."""
    held = state[tuple(nodes.T)]
    for job in np.unique(held[held >= 0]).tolist():
        for k in np.unique(nodes[held == job, 2]).tolist():
            mine = np.flatnonzero((held == job) & (nodes[:, 2] == k))
            x, y = left[mine], low[mine]
            middle = mine[np.argmin((x - x.mean()) ** 2 + (y - y.mean()) ** 2)]
            row = x[y == low[middle]]
            if wide([names[job]], 8) < cell * (0.9 + min(left[middle] - row.min(), row.max() - left[middle])):
                ax.text(
                    left[middle], low[middle], verbatim(names[job]), color=on(FILLS[colours[job]]), fontsize=8,
                    ha="center", va="center",
                )  # fmt: skip


def _flat(points: Values) -> Floats:
    """Points in space, shape (..., 3), projected: seen from where x, y and z are large."""
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    return np.stack([(x - y) * COS, z - (x + y) * SIN], axis=-1)


def _cubes(state: LongIntegers, colours: LongIntegers) -> "PolyCollection":
    """One cube per node as polygons, the far ones first so that the near ones hide them."""
    from matplotlib.collections import PolyCollection

    nodes = np.argwhere(np.ones(state.shape, dtype=bool))
    nodes = nodes[np.argsort(nodes.sum(axis=1), kind="stable")]
    job = state[tuple(nodes.T)]
    half = np.where(job == NOBODY, SPECK, EDGE)[:, None, None] / 2
    paint = _paints(job, colours)
    shapes = [_flat(nodes[:, None, :] + half * np.array(corners)) for corners, _ in FACES]
    lit = [paint * light for _, light in FACES]
    return PolyCollection(
        shapes_of(np.stack(shapes, axis=1).reshape(-1, 4, 2)),
        facecolors=np.stack(lit, axis=1).reshape(-1, 3),
        linewidths=0.0,
        rasterized=state.size > 1024,
    )


def _name_axes(ax: "Axes", shape: tuple[int, int, int]) -> None:
    nx, ny, nz = shape
    arrows = {
        "x": ((-0.5, ny, -0.8), (nx - 0.7, ny, -0.8), "top", "right"),
        "y": ((nx, -0.5, -0.8), (nx, ny - 0.7, -0.8), "top", "left"),
        "z": ((-0.8, ny - 0.2, -0.5), (-0.8, ny - 0.2, nz - 0.5), "center", "right"),
    }
    for name, (begin, end, up, across) in arrows.items():
        tail, head = _flat(np.array(begin)), _flat(np.array(end))
        ax.annotate(
            "",
            (head[0], head[1]),
            (tail[0], tail[1]),
            arrowprops={"arrowstyle": "->", "color": current().soft, "linewidth": 0.9},
        )
        x, y = (tail + head) / 2
        ax.text(x, y, f" {name} ", color=current().ink, fontsize=9, va=up, ha=across)


def _caption(result: "Result", state: LongIntegers, moment: float) -> str:
    begin, end = result.span
    unit, seconds = time_unit(end - begin)
    jobs, nodes = len(np.unique(state[state >= 0])), int((state >= 0).sum())
    broken = int((state == BROKEN).sum())
    number = three_digits((moment - begin) / seconds)
    when = f"{number} {'s' if unit == 'seconds' else unit.removesuffix('s') if number == '1' else unit}"
    down = f", {broken:,} down" if broken else ""
    what = "nodes"
    if state.ndim == 2:
        what, cubes = "hosts", int((state == BROKEN).any(axis=1).sum())
        down += f" in {cubes:,} cube{'s' if cubes != 1 else ''}" if broken else ""
    held = f"{jobs:,} job{'s' * (jobs != 1)}"
    return f"{when} after the first submit\n{held} on {nodes:,} of {state.size:,} {what}{down}"


@entry
def animate_occupancy(
    result: "Result",
    path: str | os.PathLike[str],
    *,
    frames: int = 40,
    begin: checks.Duration | None = None,
    end: checks.Duration | None = None,
    pause: float = 0.12,
    view: View = "slices",
    theme: ThemeName | None = None,
) -> None:
    """Write a small animation of the nodes of a torus or a pod over time, frames as `plot_occupancy` draws them.

    Parameters
    ----------
    result : Result
        A run on a torus or a pod, made with ``record=True``.
    path : path
        File to write: .gif, .webp or .png (an animated one).
    frames : int
        Number of frames, at equal distances in time.
    begin, end : float or duration, optional
        From when to when, as time since the first submit; by default the whole run.
    pause : float
        Seconds for which a frame is shown.
    view : {"slices", "space"}
        As in `plot_occupancy`.
    theme : {"light", "dark"}, optional
        By default that of `use_theme`.

    Raises
    ------
    OptionError
        If the machine is a cluster, the run was not recorded, there are no frames, or the file name has another
        extension.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs, os, tempfile
    >>> from faultsim.plot import animate_occupancy
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "torus.gif")
    >>> animate_occupancy(fs.simulate(log, fs.Torus(1, 1, 4), record=True), path, frames=3)
    """
    result_of("animate_occupancy", result)
    name = checks.file_name(path)
    kind = os.path.splitext(name)[1].lower()
    if kind not in ENDS:
        raise OptionError(f"{name}: an animation is written as {', '.join(ENDS)}")
    checks.whole("frames", frames, low=1, high=100_000)
    pause = checks.number("pause", pause, low=0.0, high=3600.0, unit="seconds")
    _check_view(result, view)
    _places(result)
    with use_theme(theme or current().name):
        pictures = _frames(result, frames, begin, end, view)
    memory = io.BytesIO()
    pictures[0].save(memory, kind[1:], save_all=True, append_images=pictures[1:], duration=round(1000 * pause), loop=0)
    with whole_file(name) as file:
        file.write(memory.getbuffer())


def _frames(
    result: "Result", frames: int, begin: checks.Duration | None, end: checks.Duration | None, view: View
) -> "list[Image.Image]":
    figure = new_figure(4.8, 4.6)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image  # matplotlib needs it too

    first, last = result.span
    from_, to = (first if begin is None else _moment(result, begin), last if end is None else _moment(result, end))
    times = np.linspace(from_, to, frames + 1)
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(80)
    ax, pictures, fills = figure.add_subplot(), [], Fills(job_colours(result), [])
    for moment in (times[:-1] + times[1:]) / 2:
        ax.clear()
        _draw(result, float(moment), view, ax, fills)
        canvas.draw()  # type: ignore[no-untyped-call]
        figure.set_layout_engine("none")  # the same place in every frame
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])  # type: ignore[no-untyped-call]
        pictures.append(picture.quantize(64, dither=Image.Dither.NONE))
    return pictures
