"""Columns as a CSV file."""

import os
from collections.abc import Iterable, Mapping

import numpy as np

from faultsim.arrays import Values
from faultsim.data.text_files import guarded, write_text


def write_csv(table: Mapping[str, Values], path: str | os.PathLike[str]) -> None:
    """A line of names, then a line per row; numbers are exact, NaN is empty, and no text is a formula (`guarded`)."""
    head = ",".join(_cell(name) for name in table) + "\n"
    columns = [_cells(column) for column in table.values()]
    write_text(path, head + "".join(",".join(row) + "\n" for row in zip(*columns, strict=True)))


def _cells(column: Values) -> Iterable[str]:
    if column.dtype.kind == "f":
        return ["" if value != value else repr(value) for value in column.tolist()]
    if column.dtype.kind in "iu":
        return [str(value) for value in column.tolist()]
    return [_cell(value) for value in column.tolist()]


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    text = guarded(str(value)) if isinstance(value, str) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text
