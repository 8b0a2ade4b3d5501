"""The capacity ledger: it accounts for every node-second, as stacked bars."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, inches, inked, legend_below, on, room, tidy, verbatim, wide, wrapped
from faultsim.plot.given import labelled, result_of, results_of
from faultsim.plot.theme import ThemeName, current, themed
from faultsim.results.ledger import LEDGER_ACCOUNTS, account_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

#: Blue is work, warm colors are the cost of failures and checkpoints, gray is idle; grays are those of the theme.
ACCOUNT_COLOURS = {
    "useful": "#0072B2",
    "cut_at_limit": "#3A2D7F",
    "lost": "#C5221F",
    "checkpoint": "#E69F00",
    "restart": "#D55E00",
    "migration": "#CC79A7",
    "slowed": "#F0E442",
    "start_delay": "#56B4E9",
    "growth": "#009E73",
    "held_for_repair": "#8C510A",
    "down": "#5F6368",
    "reserved": "#9AA0A6",
    "drained": "#80868B",
    "idle_no_demand": "#E8EAED",
    "idle_demand": "#BDC1C6",
}
WRITTEN_FROM = 0.38  # inches that a part needs to have its number inside


@entry
@themed
def plot_ledger(
    runs: "Result | Mapping[str, Result | Mapping[str, float]]",
    *,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw the ledger of one run, or of several to compare, as stacked bars of shares of the capacity.

    The legend of one run has the share of each account.

    Parameters
    ----------
    runs : Result, or mapping of str to Result or to a ledger
        A run; or label of the bar -> a run, or account -> node-seconds. Accounts that are empty in all runs are
        omitted.
    title : str
        Title.

    Raises
    ------
    OptionError
        If there is no run, or an account is unknown.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_ledger
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> ax = plot_ledger(fs.simulate(log, fs.Cluster(4)))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['useful, 75 %', 'idle without demand, 25 %']
    """
    ledgers = _ledgers(runs)
    unknown = sorted({account for ledger in ledgers.values() for account in ledger} - set(LEDGER_ACCOUNTS))
    if unknown:
        raise OptionError(f"unknown account {unknown[0]!r}; accounts: {', '.join(LEDGER_ACCOUNTS)}")
    ax = axes(ax, 7.5, 1.7 + 0.5 * len(ledgers))
    amount = np.array([[float(ledger.get(a, 0.0)) for a in LEDGER_ACCOUNTS] for ledger in ledgers.values()])
    total = amount.sum(axis=1, keepdims=True)
    share = np.divide(100.0 * amount, total, out=np.zeros_like(amount), where=total > 0)
    before, rows = np.zeros(len(share)), np.arange(len(share))
    for account, width in zip(LEDGER_ACCOUNTS, share.T, strict=True):
        if not width.any():
            continue
        fill = inked(ACCOUNT_COLOURS[account])
        label = account_words(account)
        if len(ledgers) == 1:  # parts too narrow for a number have it here
            label += f", {width[0]:.3g} %"
        edge = current().ground
        ax.barh(rows, width, left=before, height=0.7, color=fill, edgecolor=edge, linewidth=0.6, label=label)
        for row in rows[width >= 100 * WRITTEN_FROM / room(ax)]:
            ax.text(
                before[row] + width[row] / 2, row, f"{width[row]:.1f}", ha="center", va="center", fontsize=8,
                color=on(fill),
            )  # fmt: skip
        before += width
    names = [wrapped(verbatim(label), 0.3 * inches(ax)[0], 9) for label in ledgers]
    taken = max(0.0, wide([line for name in names for line in name.split("\n")], 9) - 0.4)
    ax.set_yticks(rows, names)
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    tidy(ax, x="share of the capacity (%)", title=verbatim(title), grid=False, taken=taken)
    if share.any():
        # Below the label of the axis, which is as far away in points however high the bars are.
        legend_below(ax)
    return ax


def _ledgers(runs: Any) -> dict[str, Mapping[str, float]]:
    """Label -> ledger; a ledger alone has an empty label, like a run alone."""
    if isinstance(runs, Mapping) and runs and set(runs) <= set(LEDGER_ACCOUNTS):
        runs = {"": runs}
    if not isinstance(runs, Mapping) or not any(isinstance(run, Mapping) for run in runs.values()):
        return {label: run.ledger for label, run in results_of("plot_ledger", runs).items()}
    found: dict[str, Mapping[str, float]] = {}
    for label, run in labelled("plot_ledger", runs).items():
        ledger = run if isinstance(run, Mapping) else result_of(f"plot_ledger, run {label!r},", run).ledger
        for account, amount in ledger.items():
            checks.number(f"ledger {label!r}, {account}", amount, low=0.0)
        found[label] = ledger
    return found
