"""The tables and the figure: the same heuristics under three sets of rules, beside the published values."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faultsim.plot import PALETTE
from faultsim.plot.base import new_figure, tidy
from faultsim.reproduce.claims import Row
from faultsim.reproduce.pictures import legend_below
from faultsim.reproduce.report import Grid
from faultsim.reproduce.rlscheduler.inputs import PUBLISHED
from faultsim.reproduce.rlscheduler.rules import SCORES
from faultsim.reproduce.rlscheduler.runs import RULES, Evidence
from faultsim.reproduce.study import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"published": "its rules", "waiting time": "its rules, real waiting time", "textbook": "textbook"}
_MARKS = {"published": ("o", PALETTE[0]), "waiting time": ("^", PALETTE[2]), "textbook": ("s", PALETTE[1])}


def _title(e: Evidence, log: str, backfill: bool) -> str:
    return f"{e.logs[log].label}, {'with' if backfill else 'without'} backfilling"


def grids(e: Evidence, judged: Sequence[Row]) -> list[Grid]:
    """Heuristic against rules, a table for each row of the published one."""
    found = []
    for (log, backfill), published in PUBLISHED.items():
        rows = [["heuristic", "published", *_NAMES.values(), "textbook / published"]]
        for policy in SCORES:
            ours = [e.mean(log, backfill, policy, rules) for rules in RULES]
            cells = [f"{value:.2f}" for value in (published[policy], *ours)]
            rows.append([policy, *cells, f"{ours[-1] / published[policy]:.2f}"])
        rows.append(["RL, not run here", f"{published['RL']:.2f}", *[""] * 4])
        found.append(Grid(f"{_title(e, log, backfill)}: mean bounded slowdown", rows))
    return found


def _table(e: Evidence) -> "Figure":
    """Every value of the table, published and ours, in four panels."""
    figure = new_figure(9.6, 7.2)
    panels = figure.subplots(2, 2)
    across = np.arange(len(SCORES))
    for ax, ((log, backfill), published) in zip(panels.flat, PUBLISHED.items(), strict=True):
        ax.plot(across, [published[policy] for policy in SCORES], "_", color="black", markersize=22, label="published")
        for step, rules in enumerate(RULES):
            mark, colour = _MARKS[rules]
            heights = [e.mean(log, backfill, policy, rules) for policy in SCORES]
            ax.plot(across + 0.18 * (step - 1), heights, mark, color=colour, markersize=6, label=_NAMES[rules])
        ax.axhline(published["RL"], color="black", linestyle=":", linewidth=1.0, label="RL, published")
        ax.set_yscale("log")
        ax.set_xticks(across, list(SCORES))
        tidy(ax, y="mean bounded slowdown", title=_title(e, log, backfill))
    legend_below(figure, panels[0, 0], 5)
    figure.suptitle("RLScheduler's heuristics under three sets of rules" + ("  [quick run]" if e.quick else ""))
    return figure


#: Name -> (the figure, no numbers of its own: runs.csv has those of all).
FIGURES: dict[str, tuple[Callable[[Evidence], "Figure"], None]] = {"table": (_table, None)}


def run_rows(e: Evidence) -> Rows:
    """Every run: its setting, its sequence, its slowdown."""
    yield ("log", "backfilling", "heuristic", "rules", "sequence", "mean_bounded_slowdown")
    for key, values in e.runs.items():
        for i, value in enumerate(values):
            yield (e.logs[key.log].label, int(key.backfill), key.policy, key.rules, i, float(value))
