"""The metrics of runs as tables: one run, or several with their differences; each metric explains itself."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from faultsim.report.numbers import MINUS, Amount, Term, exact, suited, three_digits
from faultsim.report.table import Cell, Table
from faultsim.results.metric_table import Metric
from faultsim.results.metrics import METRICS
from faultsim.results.workflow_metrics import WORKFLOW_METRICS

if TYPE_CHECKING:
    from faultsim.results.result import Result

Results = Mapping[str, "Result"]
_LEAST_POINTS = 0.01  # points of a percentage, below which a difference has no digits of its own


def explained(metric: str, words: str = "") -> Term | str:
    """The name of a metric, with formula, unit and source where one points; other names as they are.

    Examples
    --------
    >>> explained("mean_wait").hint
    'mean(start - submit), in s; [krevat2002] section 3.2'
    >>> explained("of my own")
    'of my own'
    """
    name = metric.removeprefix("metric:")
    if (row := METRICS.get(name)) is not None:
        return Term(words or _name(row), _hint(row.formula, row.unit, row.source))
    if (of_workflows := WORKFLOW_METRICS.get(name)) is not None:
        hint = _hint(of_workflows.meaning, of_workflows.unit.removesuffix("1"), of_workflows.source)
        return Term(words or name.replace("_", " "), hint)
    return words or name.replace("_", " ")


def _hint(formula: str, unit: str, source: str) -> str:
    in_unit = f", in {'%' if unit == 'fraction' else unit}" if unit else ""
    return f"{formula}{in_unit}" + (f"; {source}" if source else "")


def _name(row: Metric) -> str:
    return "jobs" if row.name == "n_jobs" else row.name.replace("_", " ").replace("p95 ", "95 % ")


def metric_tables(runs: Results) -> list[Table]:
    """Three tables, of the metrics of the whole, of how jobs, users and sizes differ, and of goodput.

    Several runs stand side by side, and each but the first of the others, which is the baseline, has its difference
    from that one.
    """
    rows = METRICS.values()
    kinds = [
        ("Metrics", [row for row in rows if not row.on_request]),
        ("How jobs, users and sizes differ", [row for row in rows if row.spread]),
        ("Goodput", [row for row in rows if row.goodput]),
    ]
    return [Table(_head(runs), list(_rows(rows, runs)), title) for title, rows in kinds]


def baseline_of(runs: Results) -> str | None:
    """The run that the others are compared with: the second; none if there is one run."""
    return list(runs)[1] if len(runs) > 1 else None


def _head(runs: Results) -> list[str | Term]:
    base = baseline_of(runs)
    if base is None:
        return ["metric", "value", "unit"]
    minus, told = f" {MINUS} {base}", f"the difference, in the unit of the metric, and its share of {base}"
    return ["metric", *runs, *(Term(label + minus, told) for label in runs if label != base)]


def _rows(rows: Sequence[Metric], runs: Results) -> Iterator[list[Cell]]:
    base = baseline_of(runs)
    for row in rows:
        values = {label: run.metrics[row.name] for label, run in runs.items()}
        if row.quiet and not any(value and math.isfinite(value) for value in values.values()):
            continue
        unit, factor = suited(row.unit, values.values())
        words = f"{_name(row)} ({unit})" if base is not None and unit not in ("", _name(row)) else ""
        cells: list[Cell] = [explained(row.name, words)]
        cells += [_amount(value, row.unit, factor) for value in values.values()]
        if base is None:
            cells.append(unit)
        else:
            others = [values[label] for label in runs if label != base]
            cells += [_difference(value, values[base], row.unit, factor) for value in others]
        yield cells


def _amount(value: float, unit: str, factor: float) -> Amount:
    if isinstance(value, int) and factor == 1.0:
        return Amount(value, f"{value:,}")
    text = three_digits(float(value) * factor)
    return Amount(value, text, "" if math.isnan(value) else exact(value, unit))


def _difference(value: float, base: float, unit: str, factor: float) -> Amount:
    """By how much a value is above the baseline, and that as a share of it."""
    more = value - base
    if not more:
        return Amount(0.0, "same")
    if math.isnan(more):
        return Amount(more, "n/a")
    sign = "+" if more > 0 else MINUS
    size = abs(more)
    text = f"{sign}{size:,}" if isinstance(more, int) and factor == 1.0 else f"{sign}{three_digits(size * factor)}"
    if unit == "fraction":
        # Of shares that differ by less than is written of them, no power of ten.
        text = (
            f"{sign}{three_digits(size * factor)} points" if size * factor >= _LEAST_POINTS else f"{sign}<0.01 points"
        )
    share = f" ({sign}{three_digits(100.0 * size / abs(base))} %)" if base and unit != "fraction" else ""
    return Amount(more, text + share, exact(more, unit))
