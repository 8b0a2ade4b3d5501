"""Rows of a sweep as CSV and Parquet."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.text_files import write_text
from faultsim.sweep.table import SweepTable

__all__ = ["write_csv", "write_parquet"]


def write_csv(table: SweepTable, path: str | os.PathLike[str]) -> None:
    """A line of names, then a line for each row; a number to the last bit, NaN as nothing."""
    head = ",".join(_cell(name) for name in table) + "\n"
    columns = [_cells(column) for column in table.values()]
    write_text(path, head + "".join(",".join(row) + "\n" for row in zip(*columns, strict=True)))


def write_parquet(table: SweepTable, path: str | os.PathLike[str]) -> None:
    """A Parquet file with a column for each of the table's.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    parquet = checks.extra("pyarrow.parquet", "arrow", "write_parquet")
    parquet.write_table(table.to_arrow(), os.fspath(path))


def _cells(column: NDArray[Any]) -> Iterable[str]:
    if column.dtype.kind == "f":
        return ["" if value != value else repr(value) for value in column.tolist()]
    if column.dtype.kind in "iu":
        return [str(value) for value in column.tolist()]
    return [_cell(value) for value in column.tolist()]


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text
