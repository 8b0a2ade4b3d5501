"""`SweepTable`: the rows of a sweep as columns."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import RowNumber, Values
from faultsim.data.column_files import write_parquet
from faultsim.data.columns import read_only
from faultsim.data.tabular import ColumnTable, ReadOnlyDict
from faultsim.entries import checked
from faultsim.errors import InputError, OptionError
from faultsim.results.caveats import MANY_CUT, MOST_SAVING, TOO_LONG, shares_of_checkpoints
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.metrics import METRICS
from faultsim.results.revision import Pickled, caveat
from faultsim.sweep.axis_columns import as_column, labels_of, matches
from faultsim.sweep.csv_file import write_csv
from faultsim.sweep.intervals import Interval
from faultsim.sweep.kinds import JOB_RUNS, kind_called
from faultsim.sweep.row_digests import number_digests, plain_digest
from faultsim.sweep.row_schema import ALL_COLUMNS, WORKFLOW_COLUMNS
from faultsim.sweep.statistics import Statistics, compare, summary
from faultsim.sweep.sweep_rows import SweepEntry
from faultsim.sweep.task_hash import own_number
from faultsim.version import MODEL_REVISION

if TYPE_CHECKING:
    from faultsim.sweep.store import Store


class SweepTable(Pickled, ColumnTable, ReadOnlyDict):
    """The rows of a sweep: read-only columns by name, one row per cell and replicate, in the order of the axes.

    ``table["mean_wait"]`` is a column, ``table[0]`` a row, ``table[:10]`` and ``table[mask]`` are tables.

    Columns are the axes; ``replicate``; ``seed``; the metrics of `faultsim.METRICS`; ``ledger_ACCOUNT`` in
    node-seconds; the counters ``checkpoints``, ``events`` and ``passes`` (of workflows, in place of all these, the
    names of `WorkflowResult.metrics`); the further metrics of the sweep; ``run``, the content hash of the run; and
    ``status``, "ok" or "error". A metric with the same name as an axis is called ``metric:NAME``, and the seed of the
    run ``run:seed``.  Numbers of a run that failed are NaN, and `errors` says why.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.nasa_like(50, rng=0)
    >>> table = fs.Sweep(fs.Run(log, fs.Cluster(128)), {"runtime_factor": [0.5, 1.0]}).run()
    >>> table.axes, len(table["mean_wait"]), table.select(runtime_factor=1.0)["n_jobs"]
    (('runtime_factor',), 2, array([50.]))
    >>> len(table), table[-1]["runtime_factor"], table[:1]["runtime_factor"]
    (2, 1.0, array([0.5]))
    """

    @checked
    def __init__(
        self,
        columns: Mapping[str, Values],
        *,
        axes: Sequence[str],
        name: str = "",
        expected: int | None = None,
        errors: Mapping[int, str] | None = None,
        command: str = "",
        own: Sequence[str] = (),
        base: Mapping[str, object] | None = None,
        model_revision: int | None = MODEL_REVISION,
    ) -> None:
        self._columns = dict(columns)
        if any(np.ndim(column) != 1 for column in self._columns.values()):
            raise InputError("a column of a SweepTable is one-dimensional")
        self._axes, self._own = tuple(axes), tuple(own)
        self.name = name
        #: The command that made it, or empty.
        self.command = command
        self._base = dict(base or {})
        #: The `faultsim.MODEL_REVISION` that computed its rows; None if the store does not record it.
        self.model_revision = model_revision
        #: Rows of the whole sweep; more than ``n_rows`` if it is unfinished, or only a part.
        self.expected: int = self.n_rows if expected is None else expected
        self._errors = dict(errors or {})

    def __setstate__(self, state: dict[str, object]) -> None:
        """Columns that were pickled are read-only again."""
        super().__setstate__(state)
        for column in self._columns.values():
            read_only(column)

    # -- columns by name, rows by number

    @overload
    def __getitem__(self, key: str, /) -> Values: ...
    @overload
    def __getitem__(self, key: RowNumber, /) -> dict[str, object]: ...
    @overload
    def __getitem__(self, key: slice | Values | Sequence[bool] | Sequence[int], /) -> "SweepTable": ...
    def __getitem__(self, key: Any, /) -> object:
        return super().__getitem__(key)

    def column(self, name: str) -> Values:
        """The column of this name."""
        try:
            return self._columns[name]
        except KeyError:
            hint = checks.did_you_mean(name, self._columns)
            raise KeyError(f"no column {name!r}{hint}; columns: {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values()))) if self._columns else 0

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the columns that are axes."""
        return self._axes

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the columns that are numbers of runs."""
        known = {*ALL_COLUMNS, *(f"metric:{name}" for name in (*METRICS, *WORKFLOW_COLUMNS)), *self._own}
        return tuple(name for name in self._columns if name in known and name not in self._axes)

    @property
    def base(self) -> Mapping[str, object]:
        """What its runs have in common, in words: ``log``, ``machine``, options of `faultsim.Run`, warmup, drain."""
        return MappingProxyType(self._base)

    @property
    def errors(self) -> Mapping[int, str]:
        """Row -> why that run failed."""
        return MappingProxyType(self._errors)

    @property
    def complete(self) -> bool:
        """Whether it has every row of the sweep."""
        return self.n_rows == self.expected

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be known before the numbers are believed, with the number of rows it is about."""
        older = caveat(self.model_revision)
        if f"ledger_{LEDGER_ACCOUNTS[0]}" not in self._columns:  # of workflows
            return older
        ledger = {account: np.nan_to_num(self._columns[f"ledger_{account}"]) for account in LEDGER_ACCOUNTS}
        said = [*older]
        if rows := int((shares_of_checkpoints(ledger) > MOST_SAVING).sum()):
            said.append(f"in {rows:,} of {self.n_rows:,} rows checkpoints take more than half {TOO_LONG}")
        if {"cut_jobs", "cut_work_ratio", "n_jobs"} <= self._columns.keys():
            many = np.nan_to_num(self._columns["cut_jobs"]) >= MANY_CUT * np.maximum(self._columns["n_jobs"], 1.0)
            many |= np.nan_to_num(self._columns["cut_work_ratio"]) >= MANY_CUT
            if rows := int(many.sum()):
                said.append(
                    f"in {rows:,} of {self.n_rows:,} rows {MANY_CUT:.0%} of the jobs or of the work, or more, were cut "
                    "at their limit: that work is not counted as useful"
                )
        return tuple(said)

    # -- parts

    def select(self, **axes: object) -> "SweepTable":
        """The rows in which axes (or ``replicate``) have these values; a list means any of them.

        Axes with a dot are given by ``**{"predictor.probability": 0.1}``.

        Raises
        ------
        OptionError
            For an unknown axis, or a value that no row has.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.synthetic.nasa_like(50, rng=0)
        >>> table = fs.Sweep(fs.Run(log, fs.Cluster(128)), {"scheduler": [fs.Fcfs(), fs.EasyBackfill()]}).run()
        >>> table.select(scheduler="easy").n_rows
        1
        """
        rows = np.ones(self.n_rows, np.bool_)
        for name, wanted in axes.items():
            if name not in self._axes and name != "replicate":
                hint = checks.did_you_mean(name, self._axes)
                raise OptionError(f"no axis {name!r}{hint}; axes: {', '.join((*self._axes, 'replicate'))}")
            column = self._columns[name]
            one = np.zeros(self.n_rows, np.bool_)
            several = isinstance(wanted, list | tuple) or (isinstance(wanted, np.ndarray) and wanted.ndim > 0)
            for value in wanted if several else [wanted]:  # type: ignore[attr-defined]
                match = matches(column, value)
                if not np.any(match):
                    there = ", ".join(map(repr, labels_of(column)))
                    raise OptionError(f"axis {name} has no value {value!r}; it has: {there}")
                one |= match
            rows &= one
        return self.where(rows)

    def where(self, mask: ArrayLike) -> "SweepTable":
        """The rows selected by a mask of booleans, shape (n_rows,).

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.synthetic.nasa_like(50, rng=0)
        >>> table = fs.Sweep(fs.Run(log, fs.Cluster(128)), {"runtime_factor": [0.5, 1.0]}).run()
        >>> table.where(table["runtime_factor"] > 0.7).n_rows
        1
        """
        rows = np.asarray(mask)
        if rows.dtype != np.bool_ or rows.shape != (self.n_rows,):
            raise OptionError(f"expected a mask of {self.n_rows} booleans, got {rows.dtype} of shape {rows.shape}")
        return self._part(np.flatnonzero(rows))

    def _part(self, places: Values) -> "SweepTable":
        columns = {name: read_only(column[places]) for name, column in self._columns.items()}
        errors = {new: self._errors[old] for new, old in enumerate(places.tolist()) if old in self._errors}
        return SweepTable(
            columns,
            axes=self._axes,
            errors=errors,
            own=self._own,
            name=self.name,
            command=self.command,
            base=self.base,
            model_revision=self.model_revision,
        )

    # -- statistics

    def summary(self, metric: str, *, confidence: float = 0.95, interval: Interval = "t") -> Statistics:
        """Mean of a metric over the replicates of each cell, with its confidence interval.

        See `faultsim.sweep.statistics.summary`.
        """
        return summary(self, metric, confidence=confidence, interval=interval)

    def compare(
        self, metric: str, axis: str, baseline: object, *, confidence: float = 0.95, interval: Interval = "t"
    ) -> Statistics:
        """Paired differences of a metric along an axis; see `faultsim.sweep.statistics.compare`."""
        return compare(self, metric, axis, baseline, confidence=confidence, interval=interval)

    # -- export

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a line of text for each row; ``.gz``, ``.xz`` and ``.bz2`` are compressed, "-" is standard output."""
        write_csv(self, path)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file with a column for each of the table's.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        """
        write_parquet(path, self)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        rows = f"{self.n_rows:,}" if self.complete else f"{self.n_rows:,} of {self.expected:,}"
        failed = f", {len(self._errors):,} failed" if self._errors else ""
        return f"<SweepTable{name}: {rows} rows{failed}; axes {', '.join(self._axes) or 'none'}>"


def read_table(store: "Store", sweep: SweepEntry) -> SweepTable:
    """The table of a sweep in a store, as far as it is done."""
    with store.believed():
        return _read(store, sweep)


def _read(store: "Store", sweep: SweepEntry) -> SweepTable:
    made = store.document(sweep["id"])
    kept = kind_called(made.get("kind", JOB_RUNS.name)).columns
    query = " FROM task JOIN run ON run.id = task.run WHERE task.sweep = ?"
    n = int(next(iter(store.read("SELECT count(*)" + query, [sweep["id"]])))[0])
    there = set(store.columns("run"))
    # The numbers first, straight into arrays: a row of Python objects takes ten times the space.
    numbers = {name: np.full(n, np.nan) for name in kept}
    asked = [name for name in kept if name in there]
    quoted = ", ".join(f'run."{name}"' for name in asked)
    digests = "task.digest, run.digest" if store.digests else "NULL, NULL"
    fixed = "task.replicate, task.seed, task.axes, task.run, run.status, run.error, task.task, run.environment"
    of_runs, of_text = np.zeros(n, np.int64), np.zeros(n, np.uint64)
    rows = store.read(f"SELECT {fixed}, {digests}, {quoted}{query} ORDER BY task.task", [sweep["id"]])
    replicate, seed = np.zeros(n, np.int64), np.zeros(n, np.int64)
    axes: list[str] = list(sweep["axes"])
    labels: dict[str, list[object]] = {name: [] for name in axes}
    run, status = np.empty(n, "U32"), np.empty(n, "U5")
    errors: dict[int, str] = {}
    for at, row in enumerate(rows):
        if at == n:
            break  # another process has added rows since
        replicate[at], seed[at], document, run[at], status[at], error, task, environment, of_task, of_run = row[:10]
        if store.digests:
            given = (sweep["id"], task, row[0], row[1], document, row[3])
            if (of_task or 0) % 2**64 != plain_digest("task", given):
                raise store.changed("task", given)
            of_runs[at], of_text[at] = of_run or 0, plain_digest("run", (row[3], row[4], error, environment))
        point = json.loads(document)
        for name in axes:
            labels[name].append(point[name])
        if error is not None:
            errors[at] = error
        for name, value in zip(asked, row[10:], strict=True):
            if value is not None:
                numbers[name][at] = value
    if store.digests and n:
        of_rows = of_text + number_digests(kept, np.column_stack([numbers[name] for name in kept]))
        if (wrong := np.flatnonzero(of_rows != of_runs.view(np.uint64))).size:
            raise store.changed("run", [run[wrong[0]]])
    columns: dict[str, Values] = {name: as_column(values) for name, values in labels.items()}
    columns |= {"replicate": replicate, "run:seed" if "seed" in axes else "seed": seed}
    columns |= {f"metric:{name}" if name in axes else name: column for name, column in numbers.items()}
    own, documents = store.own(sweep["id"])
    if own:
        each = [json.loads(documents[name]) if name in documents else {} for name in run.tolist()]
        columns |= {name: np.array([own_number(row.get(name)) for row in each], np.float64) for name in own}
    columns |= {"run": run, "status": status}
    for column in columns.values():
        read_only(column)
    shares = {name: made[name] for name in ("warmup", "drain") if made.get(name)}
    return SweepTable(
        columns,
        axes=axes,
        base=made.get("base", {}) | shares,
        name=sweep["name"],
        expected=sweep["tasks"],
        errors=errors,
        command=sweep["command"] or "",
        own=own,
        model_revision=store.revision,
    )
