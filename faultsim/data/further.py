"""Further columns of a job log, of any name and NumPy type, whose meaning only the user knows; ids that are text."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.columns import JOBS, WORKLOAD, Column, as_column, by_name, read_only
from faultsim.errors import InputError

_OWN = tuple(by_name(WORKLOAD))
#: What jobs have under these names already: in a log, in results, in keys and in decisions.
TAKEN = frozenset(
    [*_OWN, *by_name(JOBS), "index", "now", "fits", "saved", "expected_end", "progress", "where", "tolist"]
)


def further_columns(given: Mapping[str, object], length: int) -> dict[str, Values]:
    """Further columns as a log keeps them: checked, read-only copies.

    Raises
    ------
    InputError
        For a name that is taken, or what is no column of `length` values.

    Examples
    --------
    >>> further_columns({"account": ["physics", "x"]}, 2)
    {'account': array(['physics', 'x'], dtype='<U7')}
    >>> further_columns({"wait": [1, 2]}, 2)
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: columns: jobs have a column 'wait' already; choose another name
    """
    if not isinstance(given, Mapping):
        raise InputError(f"columns must be a mapping of names to columns, got {checks.shown(given)}")
    for name in given:
        if not isinstance(name, str) or not name or "/" in name or not name.isprintable():
            raise InputError(f"columns: the name of a column is printable text without '/', got {checks.shown(name)}")
        if name in TAKEN:
            raise InputError(f"columns: jobs have a column {name!r} already; choose another name")
    return {name: any_column(values, name, length=length) for name, values in given.items()}


def any_column(values: object, name: str, *, length: int | None = None) -> Values:
    """A column of any NumPy type but objects, which may be text, as a contiguous, read-only copy."""
    checks.refuse_masked(f"columns: {name}", values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name}: expected a one-dimensional array, got a ragged list") from error
    if array.ndim != 1:
        raise InputError(f"{name}: expected one dimension, got {array.ndim} (shape {array.shape})")
    if length is not None and len(array) != length:
        raise InputError(f"{name}: {checks.count(len(array), 'values')} for {checks.count(length, 'rows')}")
    listed = array.tolist() if array.dtype.kind in "OTU" else []
    if array.dtype.kind in "OT" or (array.dtype.kind == "U" and isinstance(values, list | tuple)):
        given = list(values) if isinstance(values, list | tuple) else listed
        for row, value in enumerate(given):  # NumPy would make text of numbers among text
            if not isinstance(value, str):
                raise InputError(f"{name}, row {row}: {checks.shown(value)} is not text, and others are; give one type")
    if array.dtype.kind in "OTU":
        array = np.array(listed, dtype=np.str_)  # as wide as the longest
    return read_only(np.array(array, order="C"))


def id_column(values: object, column: Column, *, length: int | None = None) -> Values:
    """Job ids, which are the user's own: whole numbers, or text."""
    array = np.asarray(values) if not isinstance(values, list | tuple) else values
    if getattr(array, "ndim", 1) == 1 and isinstance(next(iter(array), None), str):
        return any_column(values, column.name, length=length)
    return as_column(values, column, length=length)


class Columns(Protocol):
    """A log, as far as it has columns."""

    @property
    def columns(self) -> Mapping[str, Values]: ...


def check_together(what: str, first: Columns, other: Columns) -> None:
    """Raise `InputError` if two logs cannot be one: numbers stay numbers, and text stays text."""
    if apart := sorted(first.columns.keys() ^ other.columns.keys()):
        raise InputError(f"{what} and the log before have not the same columns: {', '.join(apart)}")
    for name, mine in first.columns.items():
        theirs = other.columns[name]
        if _kind(mine) != _kind(theirs):
            types = f"column {name!r} is of {theirs.dtype}, and of {mine.dtype}"
            raise InputError(f"{what} and the log before do not go together: {types}")


def _kind(column: Values) -> str:
    return "number" if column.dtype.kind in "biufc" else column.dtype.kind


def in_order(columns: Mapping[str, Values]) -> dict[str, Values]:
    """The columns of a log in the order in which they are hashed: those of every log first, the others by name."""
    names = [name for name in _OWN if name in columns]
    return {name: columns[name] for name in [*names, *sorted(columns.keys() - set(names))]}


def further_names(columns: Mapping[str, Values]) -> list[str]:
    """Names of the further ones among the columns of a log."""
    return [name for name in columns if name not in _OWN] if len(columns) > len(_OWN) else []
