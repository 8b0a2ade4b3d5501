"""What the page of a run says of a site whose nodes jobs share: resources, waits by partition, what jobs waited for."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from faultsim.errors import OptionError
from faultsim.plot.groups import plot_waits_by
from faultsim.plot.resources import plot_resources
from faultsim.report.numbers import Amount, exact, three_digits
from faultsim.report.page import Part, Picture, Text
from faultsim.report.table import Cell, Table
from faultsim.results.reasons import RESOURCE_WORDS
from faultsim.results.site_use import RESOURCES

if TYPE_CHECKING:
    from faultsim.data.tabular import Columns
    from faultsim.results.result import Result

Draw = Callable[..., Picture]
_WORDS = dict(zip(RESOURCES, RESOURCE_WORDS, strict=True))


def shared_nodes(result: "Result", draw: Draw) -> Iterator[Part]:
    """Tables and pictures of the resources and waits of a site; nothing where jobs take whole nodes."""
    if result.machine.asks(result.workload) is None:
        return
    column = next((name for name in ("partition", "account") if name in result.jobs), "size_class")
    if result.ended.any():
        said = f"Waits by {column.replace('_', ' ')}: mean, and from the median to the 95th percentile"
        yield draw(lambda: plot_waits_by(result, column), said, said)
    if not result.settings["record"]:
        yield Text(["Resources are not shown: the run was made without record=True."], note=True)
        return
    try:
        ledger = result.resources
    except OptionError as error:  # how the cores of a job of any number of nodes are shared out is not recorded
        yield Text([str(error)], note=True)
        return
    yield _ledger(ledger)
    for name in ledger["resource"].tolist():
        word = _WORDS[name].capitalize() if name != "gpus" else "GPUs"
        said = f"{word} over time: held, stranded (free, and of no use), and down"
        yield draw(lambda name=name: plot_resources(result, name), said, said)
    yield _reasons(result, column)


def _ledger(ledger: "Columns") -> Table:
    rows = []
    for at, name in enumerate(ledger["resource"].tolist()):
        row: list[Cell] = [f"{_WORDS[name]} ({ledger['unit'][at]})"]
        whole = float(ledger["capacity"][at])
        for account in ("capacity", "held", "stranded", "down", "idle"):
            amount = float(ledger[account][at])
            row.append(Amount(amount, three_digits(amount), exact(amount, str(ledger["unit"][at]))))
            row += [] if account == "capacity" else [100 * amount / whole]
        rows.append(row)
    heads = ["capacity", "held", "held (%)", "stranded", "stranded (%)", "down", "down (%)", "idle", "idle (%)"]
    return Table(["resource", *heads], rows, "Every core-second, MiB-second and GPU-second")


def _reasons(result: "Result", column: str) -> Table:
    """What GPU jobs and others waited for, and the jobs of each partition."""
    rows: list[list[Cell]] = []
    for by in (None, column):
        table = result.waits_for(by)
        group = "group" if by is None else by
        for name, reason, hours, share in zip(
            *(table[k].tolist() for k in (group, "reason", "hours", "share")), strict=True
        ):
            label = name if by is None else f"{column.replace('_', ' ')} {name}"
            rows.append([str(label), str(reason), Amount(hours, three_digits(hours), exact(hours, "h")), 100 * share])
    return Table(["jobs", "waited for", "hours", "share (%)"], rows, "What jobs waited for")
