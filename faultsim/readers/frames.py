"""Frames of pandas and polars, and Arrow tables, as `NamedColumns`: see `jobs_of_frame`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.workload import Workload
from faultsim.errors import InputError
from faultsim.readers.jobs import jobs_of
from faultsim.readers.named_columns import NamedColumns, Raw
from faultsim.readers.parquet_columns import Unread, is_plain, typed_column, value_as_text

_WHERE = "from_pandas"


def jobs_of_frame(frame: Any, given: Mapping[str, str | None], *, strict: bool, **options: Any) -> Workload:
    """The log in a frame, as `faultsim.read_jobs` reads it from a CSV with the same columns.

    Parameters
    ----------
    frame : object
        A frame of pandas, or any object with the Arrow PyCapsule interface.
    given : mapping of str to str, optional
        Our names of columns and those of the frame.
    strict : bool
        Whether a row that cannot be read is an error.
    options : object
        As of `jobs_of`.

    Raises
    ------
    InputError
        For other objects, and as of `faultsim.read_jobs`.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"submit": [0, 60], "runtime": [30, None], "size": [4, 1]})
    >>> jobs_of_frame(table, {}, strict=False, unit="s", columns=None, begin=None, end=None, name="table")
    <Workload 'table': 1 job, sizes 4-4, submit 0-0 s, 1 dropped>
    """
    checks.flag("strict", strict)
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):
        names = [str(name) for name in frame.columns]
        columns = [_of_pandas(frame.iloc[:, at]) for at in range(len(names))]
        unread: dict[str, Unread] = {}
    elif hasattr(frame, "__arrow_c_stream__"):
        names, columns, unread = _of_arrow(frame)
    else:
        raise InputError(
            f"{_WHERE}: expected a frame of pandas or polars, or an Arrow table, got {checks.shown(frame)}"
        )
    return jobs_of(NamedColumns.of_columns(_WHERE, names, columns, unread, strict=strict), given, **options)


def _of_pandas(series: Any) -> Raw:
    """A column of pandas: an array, or text as a CSV would have it."""
    kind = getattr(series.dtype, "kind", "O")
    if kind == "M":
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        moments: NDArray[Any] = series.to_numpy(dtype="datetime64[ns]")
        return moments
    if kind == "m":
        lengths: NDArray[Any] = series.to_numpy(dtype="timedelta64[ns]")
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


def _of_arrow(frame: Any) -> tuple[list[str], list[Raw], dict[str, Unread]]:
    """The columns of an Arrow table; those of lists and the like separately."""
    arrow = checks.extra("pyarrow", "arrow", _WHERE)
    table = arrow.table(frame)
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
