"""What a pod can promise over the availability of its hosts, by switches and by wires."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Values
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, colour, legend_below, room, tidy, wide
from faultsim.plot.given import refuse
from faultsim.plot.theme import ThemeName, current, themed

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Lines of different colours, points of each, and the least and the largest share of time that hosts are down.
_SHAPES, _POINTS, _DOWN = 7, 481, (1e-4, 0.03)
_WORDS = {"ocs": "optical switches", "static": "static wiring"}
_STYLES: "dict[str, Literal['-', '--']]" = {"ocs": "-", "static": "--"}


class Wired(Protocol):
    """What is needed of a `faultsim.Pod`."""

    @property
    def wiring(self) -> Literal["ocs", "static"]: ...


class PlanLike(Protocol):
    """What is needed of a `faultsim.PodPlan`."""

    @property
    def pod(self) -> Wired:
        """The machine, with its wiring."""

    @property
    def wanted(self) -> Sequence[tuple[object, int]]:
        """Slices and how many of each."""

    @property
    def availability(self) -> float:
        """Share of the time that a host is up."""

    @property
    def promises(self) -> Mapping[str, Values]:
        """The table, which with a trace says what that promises."""

    def promised_share(self, shape: str, availability: ArrayLike, probability: float, wiring: str) -> Values:
        """Share of the chips of the pod."""


@entry
@themed
def plot_promises(
    plan: PlanLike,
    probability: float = 0.97,
    *,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw what share of a pod can be promised, over the availability of its hosts; a line for each shape and wiring.

    Hosts fail independently along the lines. A circle marks the plan; with a trace, a cross marks what was up over its
    span.

    Parameters
    ----------
    plan : PodPlan
        Of more than seven shapes seven are drawn, the first and the last among them.
    probability : float
        With which slices of one shape are up at once; a cross needs it to be one of the plan's.
    title : str
        Title.

    Raises
    ------
    OptionError
        For a probability that is not between 0 and 1.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_promises
    >>> ax = plot_promises(fs.plan("pod:tpu-v4", "4x4x4,8x8x16", availability=0.999))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['4x4x4', '8x8x16', 'optical switches', 'static wiring', 'planned']
    """
    if isinstance(plan, type) or not hasattr(plan, "promised_share"):
        refuse("plot_promises", "a PodPlan, which plan returns", plan)
    chance = checks.number("probability", probability, above=0.0)
    if chance >= 1.0:
        raise OptionError(f"probability must be below 1, such as 0.97, got {probability!r}")
    from matplotlib.lines import Line2D

    ax = axes(ax)
    rows = np.unique(np.linspace(0, len(plan.wanted) - 1, _SHAPES).round().astype(int)).tolist()
    planned = 1.0 - plan.availability
    least, most = min(_DOWN[0], planned / 2 or 1.0), min(0.9, max(_DOWN[1], 1.5 * planned))
    down = np.geomspace(least, most, _POINTS)
    handles: list[Artist] = []
    drawn = []
    ink = partial(Line2D, [], [], color=current().ink, linestyle="none", markersize=6.5)
    for i, row in enumerate(rows):
        shape = str(plan.wanted[row][0])
        lines = {wiring: 100.0 * plan.promised_share(shape, 1.0 - down, chance, wiring) for wiring in _WORDS}
        of_both = np.array_equal(lines["ocs"], lines["static"])
        for wiring, share in lines.items():
            if wiring == "static" and (of_both or np.isnan(share).all()):
                continue
            ax.plot(down, share, color=colour(i), linewidth=1.5, linestyle=_STYLES[wiring],
                    drawstyle="steps-mid")  # fmt: skip
            drawn.append(wiring)
        handles.append(Line2D([], [], color=colour(i), linewidth=2.5, label=shape))
        if 0.0 < planned < 1.0:
            at = 100.0 * float(plan.promised_share(shape, plan.availability, chance, plan.pod.wiring))
            ax.plot([planned], [at], "o", color=colour(i), markersize=6.5, markeredgecolor=current().ink, zorder=4,
                    clip_on=False)  # fmt: skip
        if (by_trace := _by_trace(plan.promises, shape, chance)) is not None and planned > 0.0:
            ax.plot([planned], [100.0 * by_trace], "X", color=colour(i), markersize=8, markeredgecolor=current().ink,
                    zorder=5, clip_on=False)  # fmt: skip
    soft = partial(Line2D, [], [], color=current().soft, linewidth=1.5)
    handles += [soft(linestyle=_STYLES[wiring], label=word) for wiring, word in _WORDS.items() if wiring in drawn]
    has_trace = "failures" in plan.promises and _by_trace(plan.promises, str(plan.wanted[0][0]), chance) is not None
    handles.append(ink(marker="o", label="planned"))
    if has_trace:
        handles.append(ink(marker="X", label="by the trace"))
    if planned > 0.0:
        ax.axvline(planned, color=current().soft, linewidth=0.8, linestyle=":", zorder=1)
    ax.set_xscale("log")
    ax.set_xlim(most, least)
    ax.set_ylim(0, 103)
    tidy(ax, x="time that a host is up", y="share of the pod (%)", title=title)
    _name_ticks(ax, least, most)
    legend_below(ax, handles, title=f"promised with a probability of {100 * chance:g} %")
    return ax


def _by_trace(promises: Mapping[str, Values], shape: str, chance: float) -> float | None:
    """What the trace of a plan promises of a shape."""
    column = f"share_{100 * chance:.10g}"
    if "failures" not in promises or column not in promises:
        return None
    rows = (promises["shape"] == shape) & (promises["failures"] == "trace")
    return float(promises[column][rows][0])


def _name_ticks(ax: "Axes", least: float, most: float) -> None:
    """Ticks at 99 %, 99.9 % and so on, and at halves and fifths between them as far as they fit."""
    inch = room(ax) / np.log(most / least)
    tens = [10.0**k for k in range(-9, 0) if least <= 1.0000001 * 10.0**k and 10.0**k <= most]
    others = [m * 10.0**k for k in range(-9, 0) for m in (5, 2) if least <= m * 10.0**k <= most]
    shown: dict[float, str] = {}
    for down in [*tens, *others]:
        text = f"{100 * (1 - down):.9g} %"
        if all(inch * abs(np.log(down / other)) > 0.12 + wide([text, near], 9) for other, near in shown.items()):
            shown[down] = text
    ax.set_xticks(list(shown), list(shown.values()))
    ax.set_xticks([], minor=True)
