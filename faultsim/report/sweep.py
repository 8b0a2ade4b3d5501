"""The report of a sweep: means with intervals, paired differences, figures, and the rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from faultsim.arrays import Values
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot import plot_differences, plot_heatmap, plot_sweep, require_matplotlib
from faultsim.plot.given import sweep_of
from faultsim.plot.sweeps import MOST_LINES, Cells, SweepLike, metric_label, value_text
from faultsim.report.metric_tables import explained
from faultsim.report.numbers import Amount, Term
from faultsim.report.page import Page, Part, Picture, Section, Text
from faultsim.report.run import Pictures, pictures
from faultsim.report.table import Cell, Table
from faultsim.results.metrics import METRICS
from faultsim.results.workflow_metrics import WORKFLOW_METRICS

#: Metrics that a report shows by default, of jobs or of workflows.
SHOWN = ("mean_wait", "mean_bounded_slowdown", "utilization")
SHOWN_OF_WORKFLOWS = ("mean_makespan", "loss_time", "reschedulings")
#: Inputs of runs, in the order of the page.
_INPUTS = ("log", "workflows", "machine", "resources", "failures")
#: Rows that a page holds; a store has all of them.
MOST_ROWS = 2000
#: Most rows that can be distinguished in a figure of differences; most notes shown.
MOST_DIFFERENCES, MOST_NOTES = 60, 20


class SweepRows(SweepLike, Protocol):
    """The part of a `faultsim.SweepTable` that a report needs."""

    name: str
    command: str
    expected: int

    @property
    def base(self) -> Mapping[str, object]:
        """What its runs have in common, in words."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def errors(self) -> Mapping[int, str]:
        """Row -> why that run failed."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about runs."""

    @property
    def metrics(self) -> Sequence[str]:
        """Names of the columns that are numbers of runs."""

    def select(self, **axes: object) -> "SweepRows": ...


@entry
def report_sweep(
    table: SweepRows,
    *,
    metrics: Sequence[str] = (),
    x: str | None = None,
    against: tuple[str, object] | None = None,
    confidence: float = 0.95,
    title: str = "",
    command: str = "",
) -> Page:
    """A page about a sweep: for each metric its means with intervals, and how the policies differ.

    Parameters
    ----------
    table : SweepTable
        Rows of a sweep, or of a part of it.
    metrics : sequence of str
        Columns to show; by default three: waits, slowdowns and utilization, or of workflows makespans, loss and kills.
    x : str, optional
        The axis along which curves run; by default the numeric one with most values.
    against : (str, label), optional
        An axis and the value of it that the others are compared with; by default the first non-numeric axis with
        several values, and its first value.
    confidence : float
        Of intervals and tests.
    title, command : str
        Heading of the page, and what made it; by default the sweep's name and command.

    Returns
    -------
    Page
        ``page.write(path)`` writes it.

    Raises
    ------
    OptionError
        If there is no such axis, value or metric, or no row.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.report import report_sweep
    >>> base = {"log": lambda rng: fs.synthetic.nasa_like(100, rng=rng), "machine": fs.Cluster(128)}
    >>> sweep = fs.Sweep(base, {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}, replicates=3)
    >>> page = report_sweep(sweep.run(), metrics=["mean_wait"])
    >>> [section.title for section in page.sections]
    ['What was run', 'mean wait (s)', 'Rows']
    """
    sweep_of("report_sweep", table)
    require_matplotlib()
    if not table.n_rows:
        raise OptionError("the sweep has no rows yet: there is nothing to report")
    metrics = metrics or (SHOWN_OF_WORKFLOWS if SHOWN_OF_WORKFLOWS[0] in table.metrics else SHOWN)
    for name in metrics:
        if name not in table.metrics:
            raise OptionError(f"no metric {name!r}; metrics: {', '.join(table.metrics)}")
    varied = [name for name in table.axes if len(_values(table[name])) > 1]
    along = x if x is not None else _along(table, varied)
    pair = against if against is not None else _baseline(table, varied, along)
    draw = pictures()
    sections = [Section("What was run", [*_base(table), *_axes(table)])]
    for metric in metrics:
        parts = list(_metric(table, metric, varied, along, pair, confidence, draw))
        sections.append(Section(metric_label(metric)[0], parts))
    sections.append(Section("Rows", list(_rows(table, metrics))))
    about = [f"{table.n_rows:,} rows" + ("" if table.n_rows == table.expected else f" of {table.expected:,}; not done")]
    if table.errors:
        about.append(f"{len(table.errors):,} runs failed; their numbers are missing")
    inputs = "; ".join(f"{name}: {table.base[name]}" for name in _INPUTS if name in table.base)
    about += [inputs] if inputs else []
    made_by = command or table.command
    return Page(title or table.name or "Sweep", sections, about=about, command=made_by, warnings=table.warnings)


def _values(column: Values) -> list[object]:
    """Each value once."""
    return list(dict.fromkeys(None if value != value else value for value in column.tolist()))


def _along(table: SweepRows, varied: Sequence[str]) -> str | None:
    numbers = [name for name in varied if table[name].dtype.kind in "iuf"]
    return max(numbers or varied, key=lambda name: len(_values(table[name])), default=None)


def _baseline(table: SweepRows, varied: Sequence[str], along: str | None) -> tuple[str, object] | None:
    for name in varied:
        if name != along and table[name].dtype.kind not in "iuf":
            return name, _values(table[name])[0]
    return None


def _base(table: SweepRows) -> Iterator[Part]:
    rows: list[list[Cell]] = [[name, value_text(value)] for name, value in table.base.items() if name not in table.axes]
    if rows:
        order = {name: at for at, name in enumerate(_INPUTS)}
        rows.sort(key=lambda row: order.get(str(row[0]), len(order)))
        yield Table(["option", "value"], rows, "The same in all runs")


def _axes(table: SweepRows) -> Iterator[Part]:
    rows: list[list[Cell]] = [
        [name, len(values), ", ".join(map(value_text, values))]
        for name in table.axes
        for values in (_values(table[name]),)
    ]
    rows.append(["replicate", len(_values(table["replicate"])), "shared by all cells: the same jobs and failures"])
    yield Table(["axis", "values", "which"], rows, "What differs")
    if table.errors:
        failed = list(dict.fromkeys(table.errors.values()))
        yield Text([f"failed: {error}" for error in failed[:20]], bullets=True, note=True)


def _metric(
    table: SweepRows,
    metric: str,
    varied: Sequence[str],
    along: str | None,
    pair: tuple[str, object] | None,
    confidence: float,
    draw: Pictures,
) -> Iterator[Part]:
    label, scale = metric_label(metric)
    means = table.summary(metric, confidence=confidence)
    if along is not None:
        yield from _curves(table, metric, varied, along, confidence, draw)
    numbers = [name for name in varied if table[name].dtype.kind in "iuf"]
    if len(varied) == 2 and len(numbers) == 2:
        across, up = numbers
        words = f"{label} over {across} and {up}, as colours"
        yield draw(lambda: plot_heatmap(table, metric, x=across, y=up), words, words)
    level = f"{100 * confidence:g} %"
    columns = [("mean", label, scale), ("half", f"\N{PLUS-MINUS SIGN} ({level})", scale), ("n", "replicates", 1.0)]
    yield _cells(table, metric, means, columns, f"Means over replicates, with {level} intervals")
    yield from _notes(means)
    if pair is None:
        return
    axis, baseline = pair
    found = table.compare(metric, axis, baseline, confidence=confidence)
    if len(found["n"]) <= MOST_DIFFERENCES:
        alt = f"Differences of the {label} from {value_text(baseline)}; the table has their numbers"
        caption = "Paired by replicate; full marks are significant after Holm's correction for the number of rows"
        yield draw(lambda: plot_differences(table, metric, axis, baseline, confidence=confidence), alt, caption)
    yield from _notes(found)
    columns = [
        ("difference", "difference", scale), ("low", "from", scale), ("high", "to", scale),
        ("relative", "relative (%)", 100.0), ("p_holm", "p (Holm)", 1.0), ("significant", "significant", 1.0),
        ("n", "pairs", 1.0),
    ]  # fmt: skip
    yield _cells(table, metric, found, columns, f"{label} against {axis} = {value_text(baseline)}, {level} intervals")


def _curves(
    table: SweepRows, metric: str, varied: Sequence[str], along: str, confidence: float, draw: Pictures
) -> Iterator[Picture | Text]:
    """One figure, or one for each value of the last axis where one had too many lines."""
    label = metric_label(metric)[0]
    others = [name for name in varied if name != along]
    if math.prod(len(_values(table[name])) for name in others) <= MOST_LINES:
        lines = f", a line for each {', '.join(others)}" if others else ""
        words = f"{label} along {along}{lines}"
        alt = f"{words}; the table of means has the numbers"
        yield draw(lambda: plot_sweep(table, metric, x=along, confidence=confidence), alt, words)
        return
    last = others[-1]
    if len(_values(table[last])) > 12:
        yield Text([f"Not drawn: {', '.join(others)} make too many curves; give a part of the table."], note=True)
        return
    for value in _values(table[last]):
        part = table.select(**{last: value})
        inner = [name for name in varied if name != last]
        for found in _curves(part, metric, inner, along, confidence, draw):
            if isinstance(found, Picture):
                where = f"{last} = {value_text(value)}"
                caption = f"{where}, {found.caption}" if found.caption else where
                yield replace(found, caption=caption)
            else:
                yield found


def _cells(table: SweepRows, metric: str, found: Cells, columns: Sequence[tuple[str, str, float]], title: str) -> Table:
    where: list[list[Cell]] = [_shown(found[name]) for name in table.axes]
    numbers: list[list[Cell]] = []
    for name, _, scale in columns:
        values = found[name].tolist()
        if found[name].dtype.kind == "b":
            numbers.append(["yes" if value else "no" for value in values])
        else:
            numbers.append([value if isinstance(value, int) else scale * value for value in values])
    head = [*table.axes, *(explained(metric, words) if name == "mean" else words for name, words, _ in columns)]
    return Table(head, list(zip(*where, *numbers, strict=True)), title)


def _shown(column: Values) -> list[Cell]:
    """Values of an axis as cells: numbers stay numbers, "none" among them does not."""
    values: list[float] = column.tolist()
    if column.dtype.kind in "iuf" and not np.isnan(column.astype(float)).any():
        return [Amount(value, value_text(value)) for value in values]
    return [value_text(value) for value in values]


def _notes(found: Cells) -> Iterator[Text]:
    if found.notes:
        more = len(found.notes) - MOST_NOTES
        said = [*found.notes[:MOST_NOTES], *([f"and {more:,} more of this kind"] if more > 0 else [])]
        yield Text(said, bullets=True, note=True, broad=False)


def _rows(table: SweepRows, metrics: Sequence[str]) -> Iterator[Part]:
    known = dict.fromkeys((*METRICS, *WORKFLOW_METRICS))
    chosen = [*metrics, *(name for name in known if name in table.metrics and name not in metrics)]
    chosen = [name for name in chosen if not np.isnan(table[name].astype(float)).all()]
    names = [*table.axes, "replicate", "run:seed" if "seed" in table.axes else "seed", *chosen, "run"]
    columns: list[list[Cell]] = []
    heads: list[str | Term] = []
    for name in names:
        first = table[name][:MOST_ROWS]
        label, scale = metric_label(name) if name in chosen else (name, 1.0)
        heads.append(explained(name, label) if name in chosen else name)
        columns.append((scale * first).tolist() if name in chosen else _shown(first))
    if table.n_rows > MOST_ROWS:
        yield Text([f"The first {MOST_ROWS:,} of {table.n_rows:,} rows; faultsim status STORE --csv FILE writes all."])
    yield Table(heads, list(zip(*columns, strict=True)))
