"""Frames of pandas and polars, and Arrow tables, as `NamedColumns`: see `columns_of_frame`."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

from faultsim import checks
from faultsim.arrays import Values
from faultsim.errors import InputError
from faultsim.readers.named_columns import NamedColumns, Raw
from faultsim.readers.parquet_columns import Unread, is_plain, typed_column, value_as_text

_WHERE = "from_pandas"


def columns_of_frame(frame: object, *, strict: bool = False) -> NamedColumns:
    """The columns of a frame, as if they were those of a CSV with its columns.

    Parameters
    ----------
    frame : object
        A frame of pandas, or any object with the Arrow PyCapsule interface.
    strict : bool
        Whether a row that cannot be read is an error.

    Raises
    ------
    InputError
        For other objects.

    Examples
    --------
    >>> import pyarrow
    >>> columns_of_frame(pyarrow.table({"submit": [0, 60], "user": ["ann", None]})).columns
    {'submit': array([ 0, 60]), 'user': ['ann', '']}
    """
    if hasattr(frame, "iloc") and hasattr(frame, "columns") and not isinstance(frame, type):
        names = [str(name) for name in frame.columns]
        columns = [_of_pandas(frame.iloc[:, at]) for at in range(len(names))]
        unread: dict[str, Unread] = {}
    elif hasattr(frame, "__arrow_c_stream__") and not isinstance(frame, type):
        names, columns, unread = _of_arrow(frame)
    else:
        hint = ": read_jobs reads files" if isinstance(frame, str | os.PathLike) else ""
        raise InputError(
            f"{_WHERE}: expected a frame of pandas or polars, or an Arrow table, got {checks.shown(frame)}{hint}"
        )
    return NamedColumns.of_columns(_WHERE, names, columns, unread, strict=strict)


def _of_pandas(series: Any) -> Raw:
    """A column of pandas: an array, or text as a CSV would have it."""
    kind = getattr(series.dtype, "kind", "O")
    if kind == "M":
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        moments: Values = series.to_numpy(dtype="datetime64[ns]")
        return moments
    if kind == "m":
        lengths: Values = series.to_numpy(dtype="timedelta64[ns]")
        return lengths
    if kind in "iufb" and str(series.dtype) != "category":
        missing = series.isna().to_numpy()
        if kind == "f" and series.dtype.itemsize < 8:  # the decimals that are written, not those of the binary number
            return series.astype(str).astype(np.float64).to_numpy()  # type: ignore[no-any-return]
        if missing.any():
            return series.to_numpy(dtype=np.float64, na_value=np.nan)  # type: ignore[no-any-return]
        return series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", series.dtype))  # type: ignore[no-any-return]
    empty = series.isna().tolist()
    return ["" if gone else value_as_text(value) for value, gone in zip(series.tolist(), empty, strict=True)]


def _of_arrow(frame: object) -> tuple[list[str], list[Raw], dict[str, Unread]]:
    """The columns of an Arrow table; those of lists and the like separately."""
    arrow = checks.extra("pyarrow", "arrow", _WHERE)
    try:
        table = arrow.table(frame)
    except (TypeError, ValueError):
        raise InputError(
            f"{_WHERE}: expected a frame of pandas or polars, or an Arrow table, got {checks.shown(frame)}"
        ) from None
    names, columns = [], []
    unread: dict[str, Unread] = {}
    for at, name in enumerate(table.column_names):
        column = table.column(at)
        if is_plain(arrow, column.type):
            names.append(name)
            columns.append(typed_column(arrow, column))
        else:
            unread[name] = Unread(f"of {column.type}", partial(_texts, column))
    return names, columns, unread


def _texts(column: Any, size: int) -> list[str]:
    return [value_as_text(value) for value in column.to_pylist()]
