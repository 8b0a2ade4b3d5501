"""What `JobTable` and `FailureTable` share: columns that were checked once, and that nobody changes."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias, TypedDict, overload

import numpy as np

from faultsim import checks
from faultsim.arrays import RowNumber, Values
from faultsim.data.columns import content_hash, read_only
from faultsim.data.tabular import AnyColumn, Tabular
from faultsim.errors import InputError

#: What a table is pickled as: what restores it, of its class and its parts by name.
Pickled: TypeAlias = "tuple[Callable[..., Table], tuple[type[Table], dict[str, object]]]"


class ReadOnly(checks.OldNames):
    """An object whose attributes cannot be set.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Workflow([1]).name = "one"
    Traceback (most recent call last):
    ...
    AttributeError: a Workflow is read-only: name cannot be set; its methods return changed copies
    """

    __slots__ = ()
    #: What it is called where someone tries.
    _CALLED: ClassVar[str]

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"a {self._CALLED} is read-only: {key} cannot be set; its methods return changed copies")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"a {self._CALLED} is read-only: {key} cannot be deleted")


class Table(ReadOnly, Tabular):
    """Read-only NumPy columns, sorted by one of them: columns by name, rows by number, parts by a slice or a mask."""

    __slots__ = ("_columns", "_dropped", "_name")
    #: What a message calls the table, and the column by which it is sorted.
    _NOUN: ClassVar[str]
    _SORTED_BY: ClassVar[str]
    #: What it has besides columns, name and counts.
    _OWN: ClassVar[str]

    _columns: dict[str, Values]
    _dropped: dict[str, int]
    _name: str

    def _fill(self, **parts: object) -> Self:
        """Sets the parts of a new table, by their names without the underscore."""
        for name, value in parts.items():
            object.__setattr__(self, f"_{name}", value)
        return self

    def __reduce__(self) -> Pickled:
        names = ("columns", "dropped", "name", self._OWN)
        return _restored, (type(self), {name: getattr(self, f"_{name}") for name in names})

    def _rows(self, rows: slice | Values) -> Self:
        """Some of the rows, in order, as copies that keep no larger array alive."""
        raise NotImplementedError

    def _hashed_columns(self) -> Mapping[str, Values]:
        """The columns in the order in which they are hashed."""
        return self._columns

    def _hashed_first(self) -> bytes:
        """What is hashed besides the columns."""
        return b""

    @property
    def columns(self) -> MappingProxyType[str, Values]:
        """All columns by name, in the order of the table in `faultsim.data.columns`."""
        return MappingProxyType(checks.Named("column", self._columns))

    @property
    def dropped(self) -> MappingProxyType[str, int]:
        """Reason and count of the records that a reader, or a method, left out."""
        return MappingProxyType(self._dropped)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def __len__(self) -> int:
        return len(self._columns[self._SORTED_BY])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table) or other._NOUN != self._NOUN:
            return NotImplemented
        return (
            len(self) == len(other)
            and self._hashed_first() == other._hashed_first()
            and self._columns.keys() == other._columns.keys()
            and all(_equal(values, other._columns[key]) for key, values in self._columns.items())
        )

    def __hash__(self) -> int:
        return hash(self.digest())

    def digest(self) -> str:
        """Hash of the content (BLAKE2b, 32 hexadecimal digits): the same on every machine, whatever the name.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([5], [0], 1).digest() == fs.FailureTrace([5.0], [0], [1.0], name="other").digest()
        True
        """
        return content_hash(self._hashed_columns(), self._hashed_first())

    def _tabular(self) -> dict[str, AnyColumn]:
        return dict(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._columns

    def keys(self) -> KeysView[str]:
        """Names of the columns, so that ``dict(log)`` has them all."""
        return self._columns.keys()

    def values(self) -> ValuesView[Values]:
        """The columns."""
        return self._columns.values()

    def items(self) -> ItemsView[str, Values]:
        """Names and columns."""
        return self._columns.items()

    @overload
    def __getitem__(self, rows: str, /) -> Values: ...
    @overload
    def __getitem__(self, rows: RowNumber, /) -> dict[str, object]: ...
    @overload
    def __getitem__(self, rows: slice | Values | Sequence[bool], /) -> Self: ...
    def __getitem__(self, rows: object, /) -> object:
        if isinstance(rows, str):
            if rows not in self._columns:
                hint = checks.did_you_mean(rows, self._columns)
                raise KeyError(f"no column {rows!r}{hint}; columns: {', '.join(self._columns)}")
            return self._columns[rows]
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            return self.row(rows)
        if isinstance(rows, slice):
            if rows.step is not None and rows.step < 1:
                raise InputError(
                    f"a {self._NOUN} stays sorted by {self._SORTED_BY}: slices go forward, got step {rows.step}"
                )
            return self._rows(rows)
        chosen = checks.array(f"rows of a {self._NOUN}", rows)
        if chosen.dtype != np.bool_ or chosen.shape != (len(self),):
            raise InputError(
                f"a {self._NOUN} takes a slice or a mask of {len(self)} booleans, got "
                f"{'an array of ' + str(chosen.dtype) if chosen.ndim else type(rows).__name__}, shape {chosen.shape}"
            )
        return self._rows(chosen)


def _equal(mine: Values, theirs: Values) -> bool:
    return np.array_equal(mine, theirs, equal_nan=mine.dtype.kind in "fcmM" and theirs.dtype.kind in "fcmM")


def _restored(kind: type[Table], parts: dict[str, Any]) -> Table:
    """Unpickle: arrays come back writable."""
    for values in parts["columns"].values():
        read_only(values)
    return object.__new__(kind)._fill(**parts)


class Together(TypedDict):
    """Name and counts of several tables as one."""

    name: str
    dropped: dict[str, int]


def together(tables: Sequence[Table], name: str) -> Together:
    """Name and counts of several tables as one; by default the name is theirs, joined with "+"."""
    dropped: dict[str, int] = {}
    for table in tables:
        for reason, count in table.dropped.items():
            dropped[reason] = dropped.get(reason, 0) + count
    return {"name": name or "+".join(dict.fromkeys(t.name for t in tables if t.name)), "dropped": dropped}
