"""Who holds which nodes of a torus: in 3D at an instant, and as a small animation."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faultsim.errors import OptionError
from faultsim.plot.base import axes, new_figure, time_unit
from faultsim.plot.gantt import DOWN, FILLS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

FREE = "#DADCE0"
EDGE, SPECK = 0.74, 0.16  # of a cube for a node that is held, and for a free one, between nodes 1 apart
COS, SIN = np.cos(np.pi / 6), 0.5
#: Corners of the three faces that are seen, as offsets from the cube's centre in half edges; how bright each is.
FACES = (
    (((-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)), 1.0),
    (((1, -1, -1), (1, 1, -1), (1, 1, 1), (1, -1, 1)), 0.82),
    (((-1, 1, -1), (1, 1, -1), (1, 1, 1), (-1, 1, 1)), 0.64),
)
NOBODY, BROKEN = -1, -2
ENDS = (".gif", ".webp", ".png")


def occupancy(result: "Result", at: float) -> NDArray[np.int64]:
    """Which job holds each node of a torus at an instant.

    Parameters
    ----------
    result : Result
        A run on a torus, made with ``record=True``.
    at : float
        Seconds, on the clock of ``result.jobs["start"]``.

    Returns
    -------
    array of int, shape (X, Y, Z)
        Row of the job, -1 for a free node, -2 for a free one that is down.

    Raises
    ------
    OptionError
        If the machine is not a torus or the run was not recorded.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import occupancy
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> run = fs.simulate(log, fs.Torus(1, 1, 4), record=True)
    >>> occupancy(run, at=2.0).tolist()
    [[[0, 0, 1, -1]]]
    """
    held, shape = _boxes(result)
    state = np.full(shape, NOBODY, dtype=np.int64)
    trace = result.failures
    if trace is not None:
        down = (trace.time <= at) & (at < trace.time + trace.downtime)
        state.reshape(-1)[trace.node[down]] = BROKEN
    for row in np.flatnonzero((held["begin"] <= at) & (at < held["end"])).tolist():
        x, y, z, a, b, c = (int(held[name][row]) for name in "xyzabc")
        inside = ((x + np.arange(a)) % shape[0], (y + np.arange(b)) % shape[1], (z + np.arange(c)) % shape[2])
        state[np.ix_(*inside)] = held["job"][row]
    return state


def _boxes(result: "Result") -> tuple[Mapping[str, NDArray[Any]], tuple[int, int, int]]:
    machine, held = result.machine, result.allocations
    if "x" not in held or machine.shape is None:
        raise OptionError(f"jobs on {machine} have no boxes; draw a run on a Torus, or use plot_gantt")
    return held, machine.shape


def busiest(result: "Result") -> float:
    """The first instant (s) at which most nodes are held.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> busiest(fs.simulate(log, fs.Torus(1, 1, 4), record=True))
    1.0
    """
    held, _ = _boxes(result)
    times = np.concatenate([held["begin"], held["end"]])
    nodes = (held["a"] * held["b"] * held["c"]).astype(np.int64)
    at, where = np.unique(times, return_inverse=True)
    level = np.cumsum(np.bincount(where, weights=np.concatenate([nodes, -nodes]), minlength=len(at)))
    return float(at[int(level.argmax())]) if len(at) else result.span[0]


def plot_occupancy(result: "Result", at: float | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the nodes of a torus in 3D at an instant: a cube for each, in the color of the job that holds it.

    Colors are those of `plot_gantt`. Free nodes are specks, and gray cubes are down. x goes to the lower right, y to
    the lower left, z up; a box that wraps around appears at both ends.

    Parameters
    ----------
    result : Result
        A run on a torus, made with ``record=True``.
    at : float, optional
        Seconds, on the clock of ``result.jobs["start"]``; by default the first instant at which most nodes are held.
    ax : Axes, optional
        Where to draw (ordinary axes, not 3-D ones); a new figure when not given.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If the machine is not a torus or the run was not recorded.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_occupancy
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    >>> ax = plot_occupancy(fs.simulate(log, fs.Torus(1, 1, 4), record=True), at=2.0)
    >>> ax.get_title()
    '2 s after the first submit\\n2 jobs on 3 of 4 nodes'
    """
    _, shape = _boxes(result)
    ax = axes(ax, 6.0, 5.5)
    moment = busiest(result) if at is None else float(at)
    state = occupancy(result, moment)
    ax.add_collection(_cubes(state))
    corners = _flat(np.array([(i * shape[0], j * shape[1], k * shape[2]) for i, j, k in np.ndindex(2, 2, 2)]) - 0.5)
    (left, low), (right, top) = corners.min(axis=0), corners.max(axis=0)
    _name_axes(ax, shape)
    ax.set_xlim(left - 1.0, right + 1.0)
    ax.set_ylim(low - 1.0, top + 0.6)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(_caption(result, state, moment), fontsize=11)
    return ax


def _flat(points: NDArray[Any]) -> NDArray[np.float64]:
    """Points in space, shape (..., 3), projected: seen from where x, y and z are large."""
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    return np.stack([(x - y) * COS, z - (x + y) * SIN], axis=-1)


def _cubes(state: NDArray[np.int64]) -> Any:
    """One cube per node as polygons, the far ones first so that the near ones hide them."""
    from matplotlib.collections import PolyCollection

    nodes = np.argwhere(np.ones(state.shape, dtype=bool))
    nodes = nodes[np.argsort(nodes.sum(axis=1), kind="stable")]
    job = state[tuple(nodes.T)]
    half = np.where(job == NOBODY, SPECK, EDGE)[:, None, None] / 2
    names = [*FILLS, FREE, DOWN]
    rgb = np.array([[int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)] for name in names])
    paint = rgb[np.where(job >= 0, job % len(FILLS), len(FILLS) + (job == BROKEN))]
    shapes = [_flat(nodes[:, None, :] + half * np.array(corners)) for corners, _ in FACES]
    colours = [paint * light for _, light in FACES]
    polygons: Any = np.stack(shapes, axis=1).reshape(-1, 4, 2)
    return PolyCollection(
        polygons,
        facecolors=np.stack(colours, axis=1).reshape(-1, 3),
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
            arrowprops={"arrowstyle": "->", "color": "#5F6368", "linewidth": 0.9},
        )
        x, y = (tail + head) / 2
        ax.text(x, y, f" {name} ", color="#5F6368", fontsize=9, va=up, ha=across)


def _caption(result: "Result", state: NDArray[np.int64], moment: float) -> str:
    begin, end = result.span
    unit, seconds = time_unit(end - begin)
    jobs, nodes = len(np.unique(state[state >= 0])), int((state >= 0).sum())
    broken = int((state == BROKEN).sum())
    number = f"{(moment - begin) / seconds:,.4g}"
    when = f"{number} {'s' if unit == 'seconds' else unit.removesuffix('s') if number == '1' else unit}"
    down = f", {broken:,} down" if broken else ""
    return f"{when} after the first submit\n{jobs:,} jobs on {nodes:,} of {state.size:,} nodes{down}"


def animate_occupancy(
    result: "Result",
    path: str | os.PathLike[str],
    *,
    frames: int = 40,
    begin: float | None = None,
    end: float | None = None,
    pause: float = 0.12,
) -> None:
    """Write a small animation of the nodes of a torus over time, frames as `plot_occupancy` draws them.

    Parameters
    ----------
    result : Result
        A run on a torus, made with ``record=True``.
    path : path
        File to write: .gif, .webp or .png (an animated one).
    frames : int
        Number of frames, at equal distances in time.
    begin, end : float, optional
        From when to when (s); by default the whole run.
    pause : float
        Seconds for which a frame is shown.

    Raises
    ------
    OptionError
        If the machine is not a torus, the run was not recorded, there are no frames, or the file name has another
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
    name = os.fspath(path)
    if os.path.splitext(name)[1].lower() not in ENDS:
        raise OptionError(f"{name}: an animation is written as {', '.join(ENDS)}")
    if frames < 1:
        raise OptionError(f"frames: got {frames}, at least 1 is needed")
    _boxes(result)
    figure = new_figure(4.8, 4.6)
    from PIL import Image  # matplotlib needs it too

    first, last = result.span
    times = np.linspace(first if begin is None else begin, last if end is None else end, frames + 1)
    canvas: Any = figure.canvas
    figure.set_dpi(80)
    ax, pictures = figure.add_subplot(), []
    for moment in (times[:-1] + times[1:]) / 2:
        ax.clear()
        plot_occupancy(result, float(moment), ax=ax)
        canvas.draw()
        figure.set_layout_engine("none")  # the same place in every frame
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
        pictures.append(picture.quantize(64, dither=Image.Dither.NONE))
    pictures[0].save(name, save_all=True, append_images=pictures[1:], duration=round(1000 * pause), loop=0)
