"""What all tables have in common: rows by number, pandas, and the Arrow interface, which polars and DuckDB read too."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeAlias, overload

import numpy as np

from faultsim import checks
from faultsim.arrays import LongIntegers, RowNumber, Values
from faultsim.data.notebook import MOST_ROWS, table_html
from faultsim.errors import OptionError

if TYPE_CHECKING:
    import pandas
    import pyarrow


@dataclass(frozen=True)
class Lists:
    """A column of lists: that of row k is ``values[offsets[k]:offsets[k + 1]]``."""

    values: Values
    offsets: LongIntegers

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Values:
        part: Values = self.values[self.offsets[row] : self.offsets[row + 1]]
        return part


#: A column as `Tabular` has it.
AnyColumn: TypeAlias = Values | Lists


class Tabular(checks.Listed):
    """A table with columns of one length.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 60], runtime=[100, 30], size=[4, 1])
    >>> log.row(-1)
    {'id': 2, 'submit': 60.0, 'runtime': 30.0, 'estimate': -1.0, 'size': 1, 'user': -1}
    >>> log.to_arrow().column_names
    ['id', 'submit', 'runtime', 'estimate', 'size', 'user']
    """

    __slots__ = ()

    def _tabular(self) -> dict[str, AnyColumn]:
        """The columns by name, all of one length."""
        raise NotImplementedError

    def row(self, number: RowNumber) -> dict[str, Any]:
        """A row as plain values by the names of the columns; negative numbers count from the end.

        Raises
        ------
        IndexError
            If there is no such row.
        """
        columns = self._tabular()
        rows, at = len(next(iter(columns.values()), ())), checks.whole("row", number)
        if not -rows <= at < rows:
            raise IndexError(f"no row {at}: there are {rows:,}")
        at %= rows
        return {name: _value(values, at) for name, values in columns.items()}

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        columns = self._tabular()
        rows = len(next(iter(columns.values()), ()))
        listed = [[_value(values, row) for values in columns.values()] for row in range(min(rows, MOST_ROWS))]
        rest = [f"and {rows - MOST_ROWS:,} more rows"] if rows > MOST_ROWS else []
        return table_html(repr(self)[1:-1], list(columns), listed, rest)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas frame.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return pandas_frame(self._tabular())

    def to_arrow(self) -> pyarrow.Table:
        """As a pyarrow Table.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        """
        return arrow_table(self._tabular())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface: what polars, DuckDB and pandas take (needs pyarrow)."""
        return arrow_table(self._tabular(), "the Arrow interface").__arrow_c_stream__(requested_schema)


def _value(values: AnyColumn, row: int) -> object:
    value = values[row]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def pandas_frame(columns: Mapping[str, AnyColumn]) -> pandas.DataFrame:
    """Columns as a pandas frame of copies."""
    frame = checks.extra("pandas", "pandas", "to_pandas")
    made: dict[str, object] = {}
    for name, values in columns.items():
        if isinstance(values, Lists):
            made[name] = [values[row] for row in range(len(values))]
        else:
            made[name] = values.copy()
    return frame.DataFrame(made)


def arrow_table(columns: Mapping[str, AnyColumn], what: str = "to_arrow") -> pyarrow.Table:
    """Columns as a pyarrow Table; objects of several types as text."""
    arrow = checks.extra("pyarrow", "arrow", what)
    made: dict[str, object] = {}
    for name, values in columns.items():
        if isinstance(values, Lists):
            made[name] = arrow.LargeListArray.from_arrays(values.offsets, values.values)
        elif values.dtype != object:
            made[name] = values
        else:
            kinds = {type(value) for value in values.tolist()} - {type(None)}
            listed = values.tolist()
            made[name] = listed if len(kinds) < 2 else [None if value is None else str(value) for value in listed]
    return arrow.table(made)


# The views of a mapping, whose length would be that of the mapping: here the number of rows.


class _Names(KeysView[str]):
    def __init__(self, table: Mapping[str, object]) -> None:
        super().__init__(table)
        self._table = table

    def __len__(self) -> int:
        return len(list(self._table))


class _Values(ValuesView[Values]):
    def __init__(self, table: Mapping[str, Values]) -> None:
        super().__init__(table)
        self._table = table

    def __len__(self) -> int:
        return len(list(self._table))


class _Items(ItemsView[str, Values]):
    def __init__(self, table: Mapping[str, Values]) -> None:
        super().__init__(table)
        self._table = table

    def __len__(self) -> int:
        return len(list(self._table))


class ColumnTable(Tabular, Mapping[str, Values]):
    """Columns by name and rows by number: ``table["wait"]``, ``table[0]``; its length is the number of rows.

    ``table[:5]``, ``table[mask]`` and ``table[[0, 3]]`` are tables of some rows.  As of any mapping, what it iterates
    over are the names of the columns.
    """

    __slots__ = ()

    def column(self, name: str) -> Values:
        """The column of this name.

        Raises
        ------
        KeyError
            If there is none.
        """
        raise NotImplementedError

    @overload
    def __getitem__(self, key: str, /) -> Values: ...
    @overload
    def __getitem__(self, key: RowNumber, /) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice | Values | Sequence[bool] | Sequence[int], /) -> ColumnTable: ...
    def __getitem__(self, key: object, /) -> object:
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return self.row(key)
        return self._part(self._numbers_of(key))

    def _numbers_of(self, key: object) -> Values:
        """The numbers of the rows that a slice, a mask or a list of numbers chooses."""
        rows = len(self)
        if isinstance(key, slice):
            return np.arange(rows)[key]
        is_list = isinstance(key, Sequence | np.ndarray) or hasattr(key, "__array__")
        chosen = checks.array("rows of a table", key) if is_list else np.array(0)
        if chosen.ndim == 1 and chosen.dtype == np.bool_:
            if len(chosen) != rows:
                raise OptionError(f"a mask of a table needs one value per row, {rows:,}, got {len(chosen):,}")
            return np.flatnonzero(chosen)
        if chosen.ndim == 1 and (chosen.dtype.kind in "iu" or not len(chosen)):
            numbers = chosen.astype(np.intp)
            if ((numbers < -rows) | (numbers >= rows)).any():
                raise IndexError(f"no row {numbers[(numbers < -rows) | (numbers >= rows)][0]}: there are {rows:,}")
            return numbers
        raise OptionError(
            f"a table takes the name of a column, the number of a row, a slice, a mask or a list of row numbers, got "
            f"{checks.shown(key)}"
        )

    def _part(self, rows: Values) -> ColumnTable:
        """The rows of these numbers."""
        columns = self._tabular()
        if lists := [name for name, values in columns.items() if isinstance(values, Lists)]:
            raise OptionError(f"rows of a table with lists ({', '.join(lists)}) are read one by one: table[3]")
        what = repr(self)[1:].partition(":")[0]
        return Columns({name: np.asarray(values)[rows] for name, values in columns.items()}, what)

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a line of text for each row; ``.gz``, ``.xz`` and ``.bz2`` are compressed, "-" is standard output.

        Lists, such as those of nodes, are written with spaces between their values.
        """
        from faultsim.data.column_files import csv_text
        from faultsim.data.text_files import write_text

        columns = self._tabular()
        listed = [
            [" ".join(map(str, values[row].tolist())) for row in range(len(values))]
            if isinstance(values, Lists)
            else values.tolist()
            for values in columns.values()
        ]
        write_text(path, csv_text(list(columns), listed))

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file with a column for each of the table's.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        """
        from faultsim.data.column_files import write_parquet

        write_parquet(path, self)

    def __len__(self) -> int:
        return len(next(iter(self._tabular().values()), ()))

    def _tabular(self) -> dict[str, AnyColumn]:
        return {name: self.column(name) for name in self}

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def keys(self) -> KeysView[str]:
        """Names of the columns."""
        return _Names(self)

    def values(self) -> ValuesView[Values]:
        """The columns."""
        return _Values(self)

    def items(self) -> ItemsView[str, Values]:
        """Names and columns."""
        return _Items(self)


if TYPE_CHECKING:

    class _Dict:
        """At run time `dict`."""
else:
    _Dict = dict


class ReadOnlyDict(_Dict):
    """What makes pandas take a table as columns: ``pandas.DataFrame(table)`` reads the columns of a `dict` only.

    The dict itself is empty; what reads goes through the methods of the table, and what writes is refused.
    """

    __slots__ = ()

    def _refuse(self, *args: object, **given: object) -> object:
        raise TypeError("a table is read-only: change its pandas frame, to_pandas(), or columns of dict(table)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def copy(self) -> dict[str, Values]:
        """The columns by name."""
        return dict(self.items())  # type: ignore[attr-defined]

    def __or__(self, other: Mapping[str, object]) -> dict[str, object]:
        return self.copy() | dict(other)

    def __ror__(self, other: Mapping[str, object]) -> dict[str, object]:
        return dict(other) | self.copy()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return super().__reduce_ex__(protocol)[:3]  # without the items of a dict


class TablesOfAResult:
    """`to_pandas`, `to_arrow` and the Arrow interface of a result, whose attributes `TABLES` are tables."""

    __slots__ = ()

    _TABLES: ClassVar[tuple[str, ...]]  # the jobs first

    def to_pandas(self, table: str = "jobs") -> pandas.DataFrame:
        """One of the tables of the result (``"jobs"``, ``"events"`` and so on) as a pandas frame.

        Raises
        ------
        OptionError
            For another table, or one that the run did not record.
        MissingExtraError
            If pandas is not installed.
        """
        return self._table(table).to_pandas()

    def to_arrow(self, table: str = "jobs") -> pyarrow.Table:
        """The same as a pyarrow Table.

        Raises
        ------
        OptionError
            For another table, or one that the run did not record.
        MissingExtraError
            If pyarrow is not installed.
        """
        return self._table(table).to_arrow()

    def write_csv(self, path: str | os.PathLike[str], table: str = "jobs") -> None:
        """Write one of the tables as text, a line per row.

        ``.gz``, ``.xz`` and ``.bz2`` are compressed; "-" is standard output.

        Raises
        ------
        OptionError
            For another table, or one that the run did not record.
        """
        self._table(table).write_csv(path)

    def write_parquet(self, path: str | os.PathLike[str], table: str = "jobs") -> None:
        """Write one of the tables as a Parquet file.

        Raises
        ------
        OptionError
            For another table, or one that the run did not record.
        MissingExtraError
            If pyarrow is not installed.
        """
        self._table(table).write_parquet(path)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The jobs by the Arrow PyCapsule interface, which pandas, polars and DuckDB read (needs pyarrow)."""
        return self._table("jobs").__arrow_c_stream__(requested_schema)

    def _table(self, table: str) -> ColumnTable:
        chosen: ColumnTable = getattr(self, checks.choice("table", table, self._TABLES))
        return chosen


class ListedColumns(ColumnTable):
    """Columns that an engine or another table made, now read-only, perhaps with lists of nodes: allocations.

    Examples
    --------
    >>> import numpy as np
    >>> table = ListedColumns({"time": np.array([0.0, 5.0]), "job": np.array([0, 1])}, "events")
    >>> table, len(table), table[1]
    (<events: 2 rows; time, job>, 2, {'time': 5.0, 'job': 1})
    """

    def __init__(self, columns: Mapping[str, Values], what: str) -> None:
        self._columns, self._what = dict(columns), what
        for values in self._columns.values():
            values.setflags(write=False)

    def column(self, name: str) -> Values:
        """The column of this name."""
        if name not in self._columns:
            hint = checks.did_you_mean(name, self._columns)
            raise KeyError(f"no column {name!r}{hint}; columns: {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def _tabular(self) -> dict[str, AnyColumn]:
        return with_lists(self)

    def __repr__(self) -> str:
        return f"<{self._what}: {len(self):,} rows; {', '.join(self)}>"


class Columns(ListedColumns, ReadOnlyDict):
    """The same where all columns are of one length, which pandas takes as they are: events, decisions, groups.

    Examples
    --------
    >>> import numpy as np, pandas
    >>> pandas.DataFrame(Columns({"time": np.array([0.0, 5.0])}, "events"))
       time
    0   0.0
    1   5.0
    """


def with_lists(columns: Mapping[str, Values]) -> dict[str, AnyColumn]:
    """Columns of which ``nodes`` may be listed by ``node_offsets``, with a column of lists in their place."""
    made: dict[str, AnyColumn] = {name: columns[name] for name in columns if name not in ("node_offsets", "nodes")}
    if "node_offsets" in columns:
        made["nodes"] = Lists(columns["nodes"], columns["node_offsets"])
    return made
