"""How a quantity is distributed over the jobs of a run: what share of them had at most so much of it."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, colour, legend_below, room, three_digits, tidy, verbatim
from faultsim.plot.curves import plain_log
from faultsim.plot.given import results_of
from faultsim.plot.theme import ThemeName, current, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

Quantity = Literal["wait", "response", "slowdown"]
#: Quantity -> column of the jobs, words of the axis, and the least value that is shown apart.
QUANTITIES = {
    "wait": ("wait", "wait", 1.0),
    "response": ("response", "response time", 1.0),
    "slowdown": ("bounded_slowdown", "bounded slowdown", 1.0),
}
#: Times that people know.
_TIMES = (
    (1.0, "1 s"), (10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"), (21_600.0, "6 h"),
    (86_400.0, "1 day"), (604_800.0, "1 week"), (2_629_800.0, "1 month"), (31_557_600.0, "1 year"),
)  # fmt: skip
_SAID_FROM = 50.0  # % of the jobs at the least value from which on the legend gives their share
_ZOOM_FROM = 75.0  # % of the jobs at the least value of all lines from which on the ordinate begins higher than 0
_POINTS = 2000  # more than a figure can show


@entry
@themed
def plot_distribution(
    runs: "Result | Mapping[str, Result]",
    what: Quantity = "wait",
    *,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw which share of the jobs waits at most so long, on a logarithmic axis; a line for each run.

    A mean hides that most jobs wait for seconds and a few for days: here both are seen. The dot at which a line begins
    is the share of what is at most 1 second, or at a slowdown of 1; if that is most of the jobs of all runs, the
    ordinate begins a little below it and not at 0. Median and 95th percentile are in the legend.

    Parameters
    ----------
    runs : Result, or mapping of str to Result
        A run; or label -> run. Of a run that is not over, jobs that have ended count.
    what : {"wait", "response", "slowdown"}
        Time from submit to start, time from submit to end, or the bounded slowdown (model.md#ledger).
    title : str
        Title.

    Raises
    ------
    OptionError
        If there is no run, a run has no job that has ended, or there is no such quantity.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_distribution
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[100, 50, 60], size=[2, 2, 1])
    >>> ax = plot_distribution(fs.simulate(log, fs.Cluster(2)))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['median 1.65 min, 95th percentile 2.38 min']
    """
    checks.choice("what", what, QUANTITIES)
    named = results_of("plot_distribution", runs)
    column, words, least = QUANTITIES[what]
    values = {}
    for label, run in named.items():
        values[label] = np.sort(run.jobs[column][run.ended].astype(np.float64))
        if not len(values[label]):
            raise OptionError(f"{label or 'the run'}: no job has ended, so there is no distribution")
    ax = axes(ax)
    most = max(2.0 * least, *(float(found[-1]) for found in values.values()))
    in_time = what != "slowdown"
    for i, (label, found) in enumerate(values.items()):
        at, share = _steps(found, least)
        shown = ", ".join(
            f"{name} {_said(float(np.quantile(found, q)), in_time)}"
            for name, q in (("median", 0.5), ("95th percentile", 0.95))
        )
        style = "-" if i < 7 else "--"
        if share[0] >= _SAID_FROM:
            bound = "at most 1 s" if in_time else "of 1"
            shown += f"; {_percent(share[0])} % {bound}"
        text = f"{verbatim(label)}: {shown}" if label else shown
        ax.scatter([least], [share[0]], s=25, color=colour(i), clip_on=False, zorder=4)
        ax.step(
            np.append(at, 1.2 * most), np.append(share, 100.0), where="post", color=colour(i), linewidth=1.5,
            linestyle=style, label=text,
        )  # fmt: skip
    plain_log(ax.xaxis)
    ax.set_xlim(least, 1.2 * most)
    first = min(float(_steps(found, least)[1][0]) for found in values.values())
    # If most jobs have none of it, the others are what is to be seen.
    bottom = 0.0 if first < _ZOOM_FROM or first >= 100.0 else math.floor(first - 0.25 * (100.0 - first))
    ax.set_ylim(bottom, 100.0 + 0.02 * (100.0 - bottom))
    if first >= 100.0:
        none = "no job waits longer than 1 s" if what == "wait" else f"no {words} is above 1" + " s" * in_time
        ax.text(0.5, 0.5, none, transform=ax.transAxes, ha="center", fontsize=10, color=current().soft)
    y = "share of jobs that had no more (%)"
    tidy(ax, x=words if in_time else f"{words} (response / run time of at least 10 s)", y=y, title=verbatim(title))
    if in_time:
        name_times(ax, most)
    legend_below(ax)
    return ax


def _steps(values: Floats, least: float) -> tuple[Floats, Floats]:
    """Abscissae and the share (%) that has no more, from `least` on."""
    share = 100.0 * np.arange(1, len(values) + 1) / len(values)
    last = np.append(values[1:] > values[:-1], True)  # of equal values the last one tells
    at, share = values[last], share[last]
    if len(at) > _POINTS:
        kept = np.unique(np.linspace(0, len(at) - 1, _POINTS).round().astype(int))
        at, share = at[kept], share[kept]
    below = float(share[at <= least][-1]) if (at <= least).any() else 0.0
    return np.append(least, at[at > least]), np.append(below, share[at > least])


def name_times(ax: "Axes", most: float) -> None:
    """Ticks at seconds, minutes, hours and days, as many as fit."""
    inch = room(ax) / np.log(1.2 * most)
    shown: list[tuple[float, str]] = []
    for at, text in _TIMES:
        if at <= 1.2 * most and (not shown or inch * np.log(at / shown[-1][0]) > 0.62):
            shown.append((at, text))
    ax.set_xticks(
        [at for at, _ in shown], ["\N{LESS-THAN OR EQUAL TO} 1 s" if at == 1.0 else text for at, text in shown]
    )
    ax.set_xticks([], minor=True)


def _percent(share: float) -> str:
    """A share that is not rounded up to all.

    Examples
    --------
    >>> _percent(95.0), _percent(99.97), _percent(100.0)
    ('95', '99.97', '100')
    """
    return f"{math.floor(100 * share) / 100:.4g}"


def _said(value: float, in_time: bool) -> str:
    """A value in words: times in the unit in which they are small numbers."""
    if not in_time:
        return three_digits(value)
    for least, name, seconds in ((172_800.0, "d", 86_400.0), (3600.0, "h", 3600.0), (60.0, "min", 60.0)):
        if value >= least:
            return f"{three_digits(value / seconds)} {name}"
    return f"{three_digits(value)} s"
