"""Statistics of a sweep that stand up to review: intervals over replicates, and paired differences.

All cells of a replicate face the same jobs and failures (common random numbers), so two of them are compared replicate
by replicate: common variation cancels out. Rows that are the same run count once.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, LongIntegers, Values
from faultsim.data.notebook import table_html
from faultsim.data.tabular import Columns
from faultsim.errors import OptionError
from faultsim.sweep.axis_columns import as_column, labels_of, matches
from faultsim.sweep.hypothesis_tests import holm, needed, student_p, wilcoxon_p
from faultsim.sweep.intervals import Interval, interval_of_mean, interval_of_ratio, kind_of

#: Columns of `compare` that are computed row by row.
COMPARED = (
    *("n", "baseline", "mean", "difference", "low", "high", "relative", "relative_low", "relative_high"),
    *("correlation", "p", "p_wilcoxon", "needed"),
)


class Rows(Protocol):
    """The part of a `SweepTable` that the functions here use; it imports this module."""

    def __getitem__(self, name: str, /) -> Values: ...
    @property
    def axes(self) -> tuple[str, ...]: ...
    @property
    def metrics(self) -> tuple[str, ...]: ...
    @property
    def n_rows(self) -> int: ...


class Statistics(Columns):
    """Columns by name, one row per cell (or pair of cells), with notes for the reader.

    Attributes
    ----------
    axes : tuple of str
        Names of the columns that identify the cell.
    notes : tuple of str
        What the replicates do not show.
    """

    def __init__(self, columns: Mapping[str, Values], axes: Sequence[str], notes: Sequence[str], what: str) -> None:
        super().__init__(columns, what)
        self.axes: tuple[str, ...] = tuple(axes)
        self.notes: tuple[str, ...] = tuple(notes)
        self.what: str = what

    def __repr__(self) -> str:
        n = len(next(iter(self._columns.values())))
        return f"<{self.what}: {n} row{'s' if n != 1 else ''}; {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        """All rows and notes, for notebooks."""
        rows = zip(*(column.tolist() for column in self._columns.values()), strict=True)
        return table_html(self.what, list(self._columns), rows, self.notes)

    def __str__(self) -> str:
        cells = {name: [_text(value) for value in column.tolist()] for name, column in self._columns.items()}
        width = {name: max(len(name), *map(len, column)) for name, column in cells.items()}
        right = {name: column.dtype.kind in "iuf" for name, column in self._columns.items()}
        lines = [self.what, "  ".join(name.rjust(w) if right[name] else name.ljust(w) for name, w in width.items())]
        for row in zip(*cells.values(), strict=True):
            items = zip(row, width.items(), strict=True)
            lines.append("  ".join(text.rjust(w) if right[name] else text.ljust(w) for text, (name, w) in items))
        return "\n".join(line.rstrip() for line in [*lines, *(f"note: {note}" for note in self.notes)])


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return "-" if value is None else str(value)


def summary(table: Rows, metric: str, *, confidence: float = 0.95, interval: Interval = "t") -> Statistics:
    """Mean of a metric over the replicates of each cell, with its confidence interval.

    Parameters
    ----------
    table : SweepTable
    metric : str
        A column of numbers.
    confidence : float, default 0.95
    interval : {"t", "log", "bca", "bootstrap-t"}, default "t"
        What the interval is by: Student's t, Student's t for the logarithm, or a bootstrap; see
        `faultsim.sweep.intervals.interval_of_mean`.

    Returns
    -------
    Statistics
        The axes; ``n``, number of distinct runs; ``mean``, ``sd``; ``low`` and ``high``, the interval, and ``half``,
        half of its width (NaN for one run).

    Examples
    --------
    >>> import faultsim as fs
    >>> base = {"log": lambda rng: fs.synthetic.nasa_like(100, rng=rng), "machine": fs.Cluster(128)}
    >>> table = fs.Sweep(base, {"load": [0.7, 0.9]}, replicates=4).run()
    >>> means = summary(table, "mean_wait")
    >>> list(means), means["n"]
    (['load', 'n', 'mean', 'sd', 'half', 'low', 'high'], array([4, 4]))
    """
    level, kind = _level(confidence), kind_of(interval)
    values = _numbers(table, metric)
    cells = _cells(table, table.axes)
    rows, notes = [], []
    for places in cells.values():
        sample = _different(values[places], table["run"][places])
        n, mean, sd = len(sample), _mean(sample), _sd(sample)
        low, high = interval_of_mean(sample, level, kind)
        rows.append((n, mean, sd, 0.5 * (high - low), low, high))
    single = sum(row[0] == 1 for row in rows)
    if single:
        notes.append(_alone(table, single, len(rows)))
    if failed := int(np.isnan(values).sum()):
        notes.append(f"{failed} of {len(values)} rows have no {metric} and are excluded")
    if infinite := int(np.isinf(values).sum()):
        notes.append(f"{infinite} of {len(values)} rows are infinite: the mean of their cells has no interval")
    columns = _columns(table.axes, list(cells), ("n", "mean", "sd", "half", "low", "high"), rows)
    return Statistics(columns, table.axes, notes, f"{metric}: mean with {_said(float(confidence), kind)}")


def compare(
    table: Rows, metric: str, axis: str, baseline: object, *, confidence: float = 0.95, interval: Interval = "t"
) -> Statistics:
    """Paired differences of a metric between the values of an axis and a baseline, replicate by replicate.

    Parameters
    ----------
    table : SweepTable
    metric : str
        A column of numbers.
    axis : str
        What differs.
    baseline : label
        The value of `axis` that the others are compared with.
    confidence : float, default 0.95
    interval : {"t", "bca", "bootstrap-t"}, default "t"
        As for `summary`, of the differences.  The tests are the same for all.

    Returns
    -------
    Statistics
        The axes; ``n``, number of pairs of distinct runs; ``baseline`` and ``mean``, the two means; ``difference``
        (mean - baseline) with the interval ``low`` to ``high``; ``relative``, difference / baseline, with the interval
        ``relative_low`` to ``relative_high`` (of the logarithm of mean / baseline, see
        `faultsim.sweep.intervals.interval_of_ratio`; NaN where that cannot be); ``correlation`` of the pairs; ``p`` of
        the paired t test and ``p_wilcoxon`` of the signed-rank test, both two-sided; ``p_holm``, the former with Holm's
        correction for the number of rows; ``significant``: p_holm < 1 - confidence; ``needed``:
        replicates that would show a difference of this size in four of five sweeps.

    Notes
    -----
    `notes` says where there are too few replicates to confirm an apparent difference.

    Examples
    --------
    >>> import faultsim as fs
    >>> base = {"log": lambda rng: fs.synthetic.nasa_like(200, rng=rng), "machine": fs.Cluster(128), "load": 0.9}
    >>> table = fs.Sweep(base, {"scheduler": [fs.Fcfs(), fs.EasyBackfill()]}, replicates=5).run()
    >>> test = compare(table, "mean_wait", "scheduler", "fcfs")
    >>> bool(test["difference"][0] < 0), test["n"]
    (True, array([5]))
    """
    level, kind = _level(confidence), kind_of(interval)
    if kind == "log":
        raise OptionError(
            "interval 'log' is for means, as of summary(); relative_low and relative_high are by logarithms"
        )
    values = _numbers(table, metric)
    if axis not in table.axes:
        hint = checks.did_you_mean(axis, table.axes)
        raise OptionError(f"no axis {axis!r}{hint}; axes: {', '.join(table.axes)}")
    there = labels_of(table[axis])
    baseline = None if isinstance(baseline, float) and math.isnan(baseline) else baseline
    if not checks.is_label(baseline) or baseline not in there:
        raise OptionError(f"axis {axis} has no value {baseline!r}; it has: {', '.join(map(repr, there))}")
    others = [name for name in table.axes if name != axis]
    points: list[tuple[object, ...]] = []
    rows: list[list[float]] = []
    for rest, places in _cells(table, others).items():
        by_value = {value: places[matches(table[axis][places], value)] for value in there}
        if not len(by_value[baseline]):
            continue
        for value in there:
            if value == baseline or not len(by_value[value]):
                continue
            one, other = _pairs(table, values, by_value[value], by_value[baseline])
            points.append(tuple(value if name == axis else rest[others.index(name)] for name in table.axes))
            rows.append(_compared(one, other, level, kind))
    if not rows:
        raise OptionError(f"axis {axis} has no value to compare with {baseline!r} in the same settings")
    columns = _columns(table.axes, points, COMPARED, rows)
    columns["p_holm"] = holm(columns["p"])
    columns["significant"] = columns["p_holm"] < 1.0 - confidence
    notes = _remarks(columns, table, points, axis, baseline, 1.0 - confidence)
    columns["needed"] = columns.pop("needed")
    what = f"{metric}: {axis} against {baseline}, pairs of replicates, {_said(float(confidence), kind)}"
    return Statistics(columns, table.axes, notes, what)


def _said(confidence: float, kind: str) -> str:
    return f"{100 * confidence:g} % interval" + ("" if kind == "t" else f" ({kind})")


def _compared(one: Floats, other: Floats, level: float, kind: str) -> list[float]:
    """One row of numbers of `compare`."""
    difference = one - other
    n, mean, sd = len(difference), _mean(difference), _sd(difference)
    base = _mean(other)
    low, high = interval_of_mean(difference, level, kind)
    least, most = interval_of_ratio(one, other, level)
    together = math.nan
    if n > 2 and one.std() > 0 and other.std() > 0:
        together = float(np.corrcoef(one, other)[0, 1])
    return [
        n,
        base,
        _mean(one),
        mean,
        low,
        high,
        mean / base if base else math.nan,
        least - 1.0,
        most - 1.0,
        together,
        student_p(difference),
        wilcoxon_p(difference),
        needed(mean, sd, level),
    ]


def _remarks(
    columns: Mapping[str, Values],
    table: Rows,
    points: list[tuple[object, ...]],
    axis: str,
    baseline: object,
    alpha: float,
) -> list[str]:
    """What the replicates do not show."""
    notes = []
    single, none = int((columns["n"] == 1).sum()), int((columns["n"] == 0).sum())
    if single:
        notes.append(_alone(table, single, len(points)))
    if none:
        notes.append(f"{none} of {len(points)} rows have no replicate in which both runs succeeded")
    for row, point in enumerate(points):
        n, relative, want = int(columns["n"][row]), columns["relative"][row], columns["needed"][row]
        if n < 2 or columns["significant"][row] or not columns["difference"][row]:
            continue
        where = ", ".join(f"{name}={value}" for name, value in zip(table.axes, point, strict=True))
        more = f"about {want:,.0f} would be needed" if want > n else "and the tests of the other rows count against it"
        notes.append(f"{where}: {n} replicates do not show a difference of {100 * relative:+.2g} %; {more}")
    most = int(columns["n"].max())
    if most >= 2 and 2.0 ** (1 - most) > alpha:
        notes.append(f"p_wilcoxon of {most} pairs cannot be below {2.0 ** (1 - most):.3g}, whatever their values")
    return notes


def _alone(table: Rows, single: int, total: int) -> str:
    replicates = len(set(table["replicate"].tolist()))
    if replicates > 1:
        return f"{single} of {total} rows are a single run: they have no random inputs, so replicates do not differ"
    return f"{single} of {total} rows are a single run: give the sweep replicates and random inputs"


# -- samples


def _level(confidence: float) -> float:
    """The quantile that a two-sided interval needs."""
    return 0.5 + 0.5 * checks.number("confidence", confidence, above=0.0, high=0.999999)


def _numbers(table: Rows, metric: str) -> Floats:
    if metric not in table.metrics:
        hint = checks.did_you_mean(metric, table.metrics)
        raise OptionError(f"no metric {metric!r}{hint}; metrics: {', '.join(table.metrics)}")
    return np.asarray(table[metric], np.float64)


def _cells(table: Rows, axes: Sequence[str]) -> dict[tuple[object, ...], LongIntegers]:
    """Setting of these axes -> its rows."""
    found: dict[tuple[object, ...], list[int]] = {}
    columns = [table[name].tolist() for name in axes]
    columns = [[None if value != value else value for value in column] for column in columns]  # NaN equals nothing
    for row in range(table.n_rows):
        found.setdefault(tuple(column[row] for column in columns), []).append(row)
    return {point: np.array(rows) for point, rows in found.items()}


def _different(values: Floats, runs: Values) -> Floats:
    """Values of distinct runs that have one."""
    once = np.sort(np.unique(runs, return_index=True)[1])
    sample: Floats = values[once]
    return sample[~np.isnan(sample)]


def _pairs(table: Rows, values: Floats, one: LongIntegers, other: LongIntegers) -> tuple[Floats, Floats]:
    """Values of two cells in their common replicates, each pair of runs once."""
    place = {int(table["replicate"][row]): row for row in other.tolist()}
    seen: dict[tuple[str, str], tuple[float, float]] = {}
    for row in one.tolist():
        partner = place.get(int(table["replicate"][row]))
        if partner is not None and not np.isnan(values[row] + values[partner]):
            seen[str(table["run"][row]), str(table["run"][partner])] = (values[row], values[partner])
    pairs = np.array(list(seen.values()), np.float64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _mean(sample: Floats) -> float:
    return float(sample.mean()) if len(sample) else math.nan


def _sd(sample: Floats) -> float:
    return float(sample.std(ddof=1)) if len(sample) > 1 and np.isfinite(sample).all() else math.nan


def _columns(
    axes: Sequence[str], points: Sequence[tuple[object, ...]], names: Sequence[str], rows: Sequence[Sequence[float]]
) -> dict[str, Values]:
    columns: dict[str, Values] = {name: as_column([point[i] for point in points]) for i, name in enumerate(axes)}
    numbers = np.array(rows, np.float64).reshape(len(points), len(names))
    for i, name in enumerate(names):
        columns[name] = numbers[:, i].astype(np.int64) if name == "n" else numbers[:, i]
    return columns
