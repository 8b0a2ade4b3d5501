"""What all tables have in common: rows by number, pandas, and the Arrow interface, which polars and DuckDB read too."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, overload

import numpy as np

from faultsim import checks
from faultsim.arrays import LongIntegers, Values
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


class Tabular:
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

    def row(self, number: int | np.integer[Any]) -> dict[str, Any]:
        """A row as plain values by the names of the columns; negative numbers count from the end.

        Raises
        ------
        IndexError
            If there is no such row.
        """
        columns = self._tabular()
        rows, at = len(next(iter(columns.values()), ())), int(number)
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
    def __init__(self, table: Mapping[str, Any]) -> None:
        super().__init__(table)
        self._table = table

    def __len__(self) -> int:
        return len(list(self._table))


class _Items(ItemsView[str, Values]):
    def __init__(self, table: Mapping[str, Any]) -> None:
        super().__init__(table)
        self._table = table

    def __len__(self) -> int:
        return len(list(self._table))


class ColumnTable(Tabular, Mapping[str, Values]):
    """Columns by name and rows by number: ``table["wait"]``, ``table[0]``; its length is the number of rows.

    As of any mapping, what it iterates over are the names of the columns.
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
    def __getitem__(self, key: int | np.integer[Any], /) -> dict[str, Any]: ...
    def __getitem__(self, key: object, /) -> object:
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return self.row(key)
        raise OptionError(f"a table takes the name of a column or the number of a row, got {key!r:.60}")

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


class TablesOfAResult:
    """`to_pandas`, `to_arrow` and the Arrow interface of a result, whose attributes `TABLES` are tables."""

    __slots__ = ()

    TABLES: ClassVar[tuple[str, ...]]  # the jobs first

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

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The jobs by the Arrow PyCapsule interface, which pandas, polars and DuckDB read (needs pyarrow)."""
        return self._table("jobs").__arrow_c_stream__(requested_schema)

    def _table(self, table: str) -> ColumnTable:
        chosen: ColumnTable = getattr(self, checks.choice("table", table, self.TABLES))
        return chosen


class Columns(ColumnTable):
    """Columns that somebody else made, now read-only: events, allocations, decisions.

    Examples
    --------
    >>> import numpy as np
    >>> table = Columns({"time": np.array([0.0, 5.0]), "job": np.array([0, 1])}, "events")
    >>> table, len(table), table[1]
    (<events: 2 rows; time, job>, 2, {'time': 5.0, 'job': 1})
    """

    __slots__ = ("_columns", "_what")

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


def with_lists(columns: Mapping[str, Values]) -> dict[str, AnyColumn]:
    """Columns of which ``nodes`` may be listed by ``node_offsets``, with a column of lists in their place."""
    made: dict[str, AnyColumn] = {name: columns[name] for name in columns if name not in ("node_offsets", "nodes")}
    if "node_offsets" in columns:
        made["nodes"] = Lists(columns["nodes"], columns["node_offsets"])
    return made
