"""The figures and tables of the study."""

from typing import TYPE_CHECKING

import numpy as np

from faultsim.plot import PALETTE
from faultsim.plot.base import new_figure, tidy
from faultsim.reproduce.report import Grid
from faultsim.reproduce.site.inputs import ALL, GPU, KINDS, LARGE, LIGHT, SMALL
from faultsim.reproduce.site.runs import CHANGES, EASY, NOW, Evidence, Key
from faultsim.reproduce.study import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from faultsim.reproduce.claims import Row

_PANELS = (ALL, GPU, LARGE, SMALL)
_TODAY = Key(NOW)


def _quick(e: Evidence) -> str:
    return "  [quick run]" if e.quick else ""


def changes_figure(e: Evidence) -> "Figure":
    """A panel for each kind of job: by how much each change alters the mean wait, with intervals over days."""
    names = CHANGES[1:]
    figure = new_figure(10.4, 4.6)
    for ax, kind in zip(figure.subplots(1, len(_PANELS), sharey=True), _PANELS, strict=True):
        found = [e.change("wait", _TODAY, Key(name), kind) for name in names]
        at = np.array([100 * each.value for each in found])
        half = np.nan_to_num(np.array([100 * each.half for each in found]))
        ax.axvline(0.0, color="#808080", linewidth=0.8)
        ax.errorbar(at, range(len(names)), xerr=half, fmt="o", color=PALETTE[0], markersize=4, linewidth=1)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        most = max(20.0, 1.25 * float(np.nanmax(np.abs(at), initial=0.0)))
        ax.set_xlim(max(-most, -110.0), most)  # a wait falls by 100 % at most
        tidy(ax, title=f"{kind}\n{e.mean('wait', _TODAY, kind):.2f} h today")
    figure.suptitle(f"Change of the mean wait, %; 95 % over days of one week, cut at the edges{_quick(e)}", fontsize=11)
    return figure


def failures_figure(e: Evidence) -> "Figure":
    """What failures cost, with and without checkpoints: time in the system beyond the run time, and wasted work."""
    figure = new_figure(8.4, 4.4)
    left, right = figure.subplots(1, 2)
    place = np.arange(len(e.what.rates))
    for number, kept in enumerate((False, True)):
        keys = [Key(NOW, rate, kept) for rate in e.what.rates]
        label = "checkpoints" if kept else "no checkpoints"
        shift = 0.1 * (2 * number - 1)
        for ax, values in (
            (left, [e.sums("delay", key).sum(-1) / e.sums("jobs", key).sum(-1) for key in keys]),
            (right, [e.runs[key._replace(change=EASY)]["lost"] for key in keys]),
        ):
            for at, each in zip(place, values, strict=True):
                ax.plot(
                    np.full(len(each), at + shift), each, ("o", "s")[number], color=PALETTE[number], markersize=5,
                    label=label if at == 0 else None,
                )  # fmt: skip
    base = e.sums("delay", _TODAY).sum(-1) / e.sums("jobs", _TODAY).sum(-1)
    most = [float(ax.dataLim.y1) for ax in (left, right)]
    left.axhspan(base.min(), base.max(), color="#c0c0c0", alpha=0.6, label="without failures")
    titles = ("Hours beyond the run time", "Work lost or on checkpoints, %, exact EASY")
    for ax, title, top in zip((left, right), titles, most, strict=True):
        ax.set_xticks(place, [f"{rate:g}" for rate in e.what.rates])
        ax.set_xlim(-0.6, len(place) - 0.4)
        tidy(ax, x="failures of a node in a year", title=title)
        ax.set_ylim(0, 1.1 * top)
    left.legend(frameon=False, fontsize=9, loc="best")
    figure.suptitle(f"What failures cost: a dot for each replicate{_quick(e)}", fontsize=11)
    return figure


def rates_figure(e: Evidence) -> "Figure":
    """What changes are worth at each rate of failures, a dot for each replicate."""
    changes = e.what.failing[1:]
    columns = [(0.0, False), *((rate, kept) for rate in e.what.rates for kept in (False, True))]
    figure = new_figure(9.6, 4.4)
    for ax, change in zip(figure.subplots(1, len(changes), sharey=True), changes, strict=True):
        ax.axhline(0.0, color="#808080", linewidth=0.8)
        for at, (rate, kept) in enumerate(columns):
            base, other = (
                e.sums("delay", Key(name, rate, kept)).sum(-1) / e.sums("jobs", Key(name, rate, kept)).sum(-1)
                for name in (NOW, change)
            )
            more = 100 * (other / base - 1)
            ax.plot(np.full(len(more), at), more, ("o", "s")[kept], color=PALETTE[kept], markersize=4)
            ax.plot([at - 0.3, at + 0.3], [more.mean()] * 2, color=PALETTE[kept], linewidth=1.5)
        ax.set_xticks(range(len(columns)), ["none", *(f"{rate:g}{' c' if kept else ''}" for rate, kept in columns[1:])])
        tidy(ax, x="failures a year, c: checkpoints", title=change)
    figure.suptitle(f"Change of the hours in the system beyond the run time, %{_quick(e)}", fontsize=11)
    return figure


def run_rows(e: Evidence) -> Rows:
    """Of each setting the means over jobs and replicates."""
    yield ["change", "failures a year", "checkpoints", *(f"wait {kind}" for kind in KINDS), "delay", "lost", "killed"]
    for key, columns in e.runs.items():
        waits = [e.mean("wait", key, kind) for kind in KINDS]
        lost, killed = float(columns["lost"].mean()), float(columns["killed"].mean())
        yield [key.change, key.rate, int(key.checkpoints), *waits, e.mean("delay", key), lost, killed]


def grids(e: Evidence, rows: "Sequence[Row]") -> list[Grid]:
    """Mean waits by kind of job."""
    kinds = (ALL, GPU, LARGE, SMALL, LIGHT)
    body = [[name, *(f"{e.mean('wait', Key(name), kind):.2f}" for kind in kinds)] for name in CHANGES]
    return [Grid("Mean wait in hours, without failures", [["change", *kinds], *body])]


FIGURES = {"changes": (changes_figure, None), "failures": (failures_figure, None), "rates": (rates_figure, None)}
