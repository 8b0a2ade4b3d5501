"""The tables and the figure: the same heuristics under three sets of rules, beside the published values."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faultsim.plot import PALETTE, plot_curves
from faultsim.plot.base import new_figure
from faultsim.reproduce.claims import Row
from faultsim.reproduce.pictures import legend_below
from faultsim.reproduce.report import Grid
from faultsim.reproduce.rlscheduler.inputs import PUBLISHED
from faultsim.reproduce.rlscheduler.rules import SCORES
from faultsim.reproduce.rlscheduler.runs import COLUMNS, RULES, Evidence
from faultsim.reproduce.study import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"published": "its rules", "waiting time": "its rules, real waiting time", "textbook": "textbook"}
_STYLES: dict[str, dict[str, object]] = {
    "published": {
        "marker": "_",
        "markersize": 22,
        "color": "black",
        "markeredgecolor": "black",
        "markeredgewidth": 1.4,
        "linestyle": "",
    },
    **{
        _NAMES[rules]: {"marker": mark, "markersize": 7, "color": colour, "linestyle": ""}
        for rules, mark, colour in zip(RULES, "o^s", (PALETTE[0], PALETTE[2], PALETTE[1]), strict=True)
    },
}


def _title(e: Evidence, log: str, backfill: bool) -> str:
    return f"{e.logs[log].label}, {'with' if backfill else 'without'} backfilling"


def grids(e: Evidence, judged: Sequence[Row]) -> list[Grid]:
    """Heuristic against rules, a table for each row of the published one."""
    found = []
    for (log, backfill), published in PUBLISHED.items():
        rows = [["heuristic", "published", *_NAMES.values(), "factor of the waiting time", "of the other rules"]]
        for policy in SCORES:
            ours = [e.mean(log, backfill, policy, rules) for rules in RULES]
            cells = [f"{value:.2f}" for value in (published[policy], *ours)]
            rows.append([policy, *cells, f"{ours[0] / ours[1]:.2f}", f"{ours[1] / ours[2]:.2f}"])
        rows.append(["RL, not run here", f"{published['RL']:.2f}", *[""] * 5])
        found.append(Grid(f"{_title(e, log, backfill)}: mean bounded slowdown", rows))
    return found


def _table(e: Evidence) -> "Figure":
    """Every value of the table, published and ours, in four panels."""
    figure = new_figure(9.6, 7.2)
    panels = figure.subplots(2, 2)
    across = np.arange(len(SCORES), dtype=float)
    for ax, ((log, backfill), published) in zip(panels.flat, PUBLISHED.items(), strict=True):
        curves = {"published": (list(across), [published[policy] for policy in SCORES])}
        for step, rules in enumerate(RULES):
            heights = [e.mean(log, backfill, policy, rules) for policy in SCORES]
            curves[_NAMES[rules]] = (list(across + 0.18 * (step - 1)), heights)
        ax.axhline(published["RL"], color="black", linestyle=":", linewidth=1.0, label="RL, published")
        title = _title(e, log, backfill)
        plot_curves(curves, ax=ax, y="mean bounded slowdown", title=title, log=True, styles=_STYLES)
        ax.set_xticks(across, list(SCORES))
    legend_below(figure, panels[0, 0], 5)
    figure.suptitle("RLScheduler's heuristics under three sets of rules" + ("  [quick run]" if e.quick else ""))
    return figure


#: Name -> (the figure, no numbers of its own: runs.csv has those of all).
FIGURES: dict[str, tuple[Callable[[Evidence], "Figure"], None]] = {"table": (_table, None)}


def run_rows(e: Evidence) -> Rows:
    """Every run: its setting, its sequence, its columns."""
    yield ("log", "backfilling", "heuristic", "rules", "sequence", *COLUMNS)
    for key, columns in e.runs.items():
        for i in range(e.what.sequences):
            setting = (e.logs[key.log].label, int(key.backfill), key.policy, key.rules, i)
            yield (*setting, *(float(columns[name][i]) for name in COLUMNS))
