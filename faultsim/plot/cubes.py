"""The cubes of a pod on paper: where each cube and each of its hosts is drawn, and which are neighbours there."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from faultsim.arrays import Flags, Floats, LongIntegers
from faultsim.plot.base import axes, on, room, shapes_of, verbatim, wide
from faultsim.plot.theme import current

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

Ints = LongIntegers
#: Of a cube's edge: between cubes next to each other, around its hosts, and between these.
GAP, RIM, SEAM = 0.16, 0.04, 0.03
NOBODY, BROKEN = -1, -2


@runtime_checkable
class Cubes(Protocol):
    """What is needed of a `faultsim.Pod`."""

    @property
    def cubes(self) -> tuple[int, int, int]: ...
    @property
    def hosts(self) -> int: ...
    @property
    def wiring(self) -> str: ...
    @property
    def n_cubes(self) -> int: ...


def pod_of(result: "Result") -> Cubes | None:
    """The machine of a run, if it is a pod."""
    machine = result.machine
    return machine if isinstance(machine, Cubes) else None


class Layout(NamedTuple):
    """Column and row of each cube, row 0 on top, and what stands beside them."""

    column: Floats
    row: Floats
    words: list[tuple[float, float, str]]  # where a text begins


def rows_of(n: int) -> tuple[int, int]:
    """Rows and columns of a grid of n, as many columns as rows or more; no gaps if it need not be far from a square.

    Examples
    --------
    >>> rows_of(64), rows_of(140), rows_of(8), rows_of(13)
    ((8, 8), (10, 14), (2, 4), (4, 4))
    """
    least = math.isqrt(n - 1) + 1
    columns = next((c for c in range(least, int(2.5 * least) + 1) if n % c == 0), least)
    return -(-n // columns), columns


def layout(pod: Cubes) -> Layout:
    """Switched cubes in the order of their numbers, as text is read; wired ones in layers of equal z, x to the right
    and y up, as on a torus.
    """
    number = np.arange(pod.n_cubes)
    if pod.wiring == "ocs":
        _, columns = rows_of(pod.n_cubes)
        row, column = np.divmod(number, columns)
        words = [(-0.62, float(at), str(at * columns) if at else "cube 0") for at in range(int(row[-1]) + 1)]
        return Layout(column.astype(float), row.astype(float), words)
    nx, ny, nz = pod.cubes
    columns = nz if nz <= 3 else rows_of(nz)[1]
    x, y, z = number // (ny * nz), number // nz % ny, number % nz
    down, across = np.divmod(z, columns)
    words = [(k % columns * (nx + 0.7) - 0.5, k // columns * (ny + 0.9) - 0.62, f"z = {k}") for k in range(nz)]
    return Layout(across * (nx + 0.7) + x, down * (ny + 0.9) + (ny - 1 - y), words)


def beside(pod: Cubes) -> list[Callable[[Ints], Ints]]:
    """The neighbours of a host to the right and below: in its cube, and the same host of the cubes around."""
    nodes, hosts = pod.n_cubes * pod.hosts, pod.hosts
    _, inside = rows_of(hosts)
    place = layout(pod)
    at = {key: cube for cube, key in enumerate(zip(place.column.tolist(), place.row.tolist(), strict=True))}
    steps: list[Callable[[Ints], Ints]] = [lambda node: node + 1, lambda node: node + inside]
    for right, below in ((1.0, 0.0), (0.0, 1.0)):
        cube = np.array([at.get((column + right, row + below), pod.n_cubes) for column, row in at], dtype=np.int64)
        steps.append(_same_host(cube, hosts, nodes))
    return steps


def _same_host(cube: Ints, hosts: int, nodes: int) -> Callable[[Ints], Ints]:
    """The host of the same number in another cube; beyond the last where there is none."""

    def neighbour(node: Ints) -> Ints:
        there: Ints = np.minimum(cube[node // hosts] * hosts + node % hosts, nodes)
        return there

    return neighbour


def draw_cubes(ax: "Axes | None", pod: Cubes, state: Ints, paints: Floats) -> "Axes":
    """Squares for cubes that one job has as a whole, or nobody, and in other cubes a square for each host.

    Parameters
    ----------
    state : array of int, shape (cubes, hosts)
        As `occupancy` gives it.
    paints : array of float, shape (cubes, hosts, 3)
        Red, green and blue of each host.
    """
    from matplotlib.collections import PolyCollection

    place = layout(pod)
    wide, high = place.column.max() + 1, place.row.max() + 1
    ax = axes(ax, 7.0, float(np.clip(1.2 + 6.2 * high / wide, 2.5, 9.0)))
    left, low = place.column - 0.5 + GAP / 2, -place.row - 0.5 + GAP / 2
    edge = 1.0 - GAP
    whole = (state == state[:, :1]).all(axis=1) & (state[:, 0] != BROKEN)
    squares = [_squares(left[whole], low[whole], edge, edge)]
    colours = [paints[whole, 0]]
    rows, columns = rows_of(pod.hosts)
    step_x, step_y = (edge - 2 * RIM) / columns, (edge - 2 * RIM) / rows
    host = np.arange(pod.hosts)
    for cube in np.flatnonzero(~whole).tolist():
        x = left[cube] + RIM + host % columns * step_x
        y = low[cube] + edge - RIM - (host // columns + 1) * step_y
        across, up = _joined(state[cube], columns)
        squares.append(_squares(x, y + SEAM * ~up, step_x - SEAM * ~across, step_y - SEAM * ~up))
        colours.append(paints[cube])
    corners = np.concatenate(squares)
    ax.add_collection(
        PolyCollection(
            shapes_of(corners), facecolors=np.concatenate(colours), linewidths=0.0, rasterized=len(corners) > 4096
        )
    )
    broken = (state == BROKEN).any(axis=1)
    rims = _squares(left[broken] - 0.03, low[broken] - 0.03, edge + 0.06, edge + 0.06)
    ax.add_collection(PolyCollection(shapes_of(rims), facecolors="none", edgecolors=current().down, linewidths=1.3))
    if room(ax) / wide > 0.16:
        ha = "right" if pod.wiring == "ocs" else "left"
        for x, y, text in place.words:
            ax.text(x, -y, text, color=current().ink, fontsize=8, ha=ha, va="center")
    ax.set_xlim(-1.6 if pod.wiring == "ocs" else -0.7, wide - 0.3)
    ax.set_ylim(0.3 - high, 0.7 if pod.wiring == "ocs" else 1.0)
    return ax


def name_cubes(ax: "Axes", pod: Cubes, state: Ints, names: Sequence[str], fills: Sequence[str], colours: Ints) -> None:
    """The id of the job on each cube that one job has as a whole, where there is room for it."""
    place = layout(pod)
    inch = min(room(ax) / (place.column.max() + 2), 0.55 * room(ax, across=False) / (place.row.max() + 1))
    for cube in (
        np.flatnonzero((state == state[:, :1]).all(axis=1) & (state[:, 0] >= 0)).tolist()
        if names and inch > 0.2
        else ()
    ):
        job = int(state[cube, 0])
        if wide([names[job]], 8) < (1.0 - GAP) * inch:
            ax.text(
                place.column[cube], -place.row[cube], verbatim(names[job]), color=on(fills[colours[job]]), fontsize=8,
                ha="center", va="center",
            )  # fmt: skip


def rim(words: str) -> "Artist":
    """What the legend shows of a cube with a frame."""
    from matplotlib.patches import Patch

    return Patch(facecolor="none", edgecolor=current().down, linewidth=1.3, label=words)


def _joined(state: Ints, columns: int) -> tuple[Flags, Flags]:
    """Whether a host is drawn in one with the next to the right, and with that below: those of one job."""
    hosts = len(state)
    host = np.arange(hosts)
    same = np.zeros((2, hosts), dtype=bool)
    same[0, :-1] = (state[1:] == state[:-1]) & (host[1:] % columns != 0)
    same[1, : max(hosts - columns, 0)] = state[columns:] == state[:-columns] if hosts > columns else False
    same &= state >= 0
    return same[0], same[1]


def _squares(left: Floats, low: Floats, wide: ArrayLike, high: ArrayLike) -> Floats:
    """Corners of rectangles, shape (n, 4, 2)."""
    right, top = np.add(left, wide), np.add(low, high)
    corners = ((left, low), (right, low), (right, top), (left, top))
    return np.stack([np.stack(pair, axis=-1) for pair in corners], axis=-2)
