"""What the figures of several studies share."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from faultsim.plot import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A dashed black curve with hollow marks: what the others are compared with.
HOLLOW: dict[str, object] = {
    "color": "#000000",
    "marker": "o",
    "linestyle": "--",
    "markerfacecolor": "white",
    "markeredgecolor": "#000000",
    "markeredgewidth": 0.9,
}


#: What a paper prints, beside what we measure.
IN_THE_PAPER = "in the paper"


def printed_points(ax: "Axes", x: Sequence[float], y: Sequence[float], *, least: bool = False) -> None:
    """Numbers that the paper prints, as stars; as triangles where it says "more than"."""
    ax.plot(
        x, y, linestyle="none", marker="^" if least else "*", markersize=7 if least else 11, color="#000000",
        markeredgecolor="white", markeredgewidth=0.8, zorder=6, label=f"{IN_THE_PAPER}{', at least' if least else ''}",
    )  # fmt: skip


def printed_lines(ax: "Axes", at: Iterable[tuple[float, str]], *, across: bool = False, words: str = "") -> None:
    """Numbers that the paper prints, as dotted lines up or across, each in a colour of its own."""
    for i, (value, colour) in enumerate(at):
        draw = ax.axhline if across else ax.axvline
        label = f"{words + ' ' if words else ''}{IN_THE_PAPER}" if i == 0 else "_again"
        draw(value, color=colour, linestyle=(0, (1.2, 1.6)), linewidth=1.5, zorder=1.5, label=label)


def printed_edges(ax: "Axes", x: Sequence[float], y: Sequence[float], words: str) -> None:
    """Numbers that the paper prints for edges inside bars, as lines into the bars at `x` from the left."""
    ax.hlines(
        y, [at - 0.45 for at in x], [at - 0.16 for at in x], colors="#000000", linewidths=2.0, zorder=6,
        label=f"{words} {IN_THE_PAPER}",
    )  # fmt: skip


def band(
    ax: "Axes", x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str, *, least: float = 0.0, most: float = np.inf
) -> None:  # fmt: skip
    """An interval around a curve, outlined so that bands that overlap can be told apart, within what can be."""
    from matplotlib.colors import to_rgba

    edges = np.clip(low, least, most), np.clip(high, least, most)
    ax.fill_between(x, *edges, facecolor=to_rgba(colour, 0.12), edgecolor=to_rgba(colour, 0.6), linewidth=0.5)


def legend_below(figure: "Figure", ax: "Axes", columns: int) -> None:
    """The legend of `ax` below all panels, its entries in rows: a legend fills its columns downwards."""
    handles, labels = ax.get_legend_handles_labels()
    order = [i for column in range(columns) for i in range(column, len(labels), columns)]
    figure.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
    )


class Replicated(Protocol):
    """What is needed of a plan."""

    @property
    def replicates(self) -> int: ...


class Shown(Protocol):
    """What is needed of the evidence of a study."""

    @property
    def what(self) -> Replicated: ...
    @property
    def quick(self) -> bool: ...


def titled(figure: "Figure", text: str, evidence: Shown) -> None:
    """The title of a figure, with the number of replicates, and whether it was a quick run."""
    count = evidence.what.replicates
    replicates = f"{count} replicate{'s' if count > 1 else ''}"
    figure.suptitle(f"{text}  [{'quick run, ' if evidence.quick else ''}{replicates}]", fontsize=12)


def fewer_colours(path: Path, colours: int) -> bytes:
    """A picture with so many colours, which takes a third of the bytes: lines, bands and letters need no more."""
    require_matplotlib()
    from PIL import Image  # which matplotlib needs

    out = io.BytesIO()
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(out, "PNG", optimize=True)
    return out.getvalue()
