"""Writes columns as CSV and as Parquet, under their names."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from typing import Protocol

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.text_files import guarded, write_text
from faultsim.data.whole_files import whole_file


def write_csv(path: str | os.PathLike[str], columns: Mapping[str, Values]) -> None:
    """A line of names, then a line per row, in numbers that read back as the same bits.

    ``.gz``, ``.xz`` and ``.bz2`` are compressed; "-" is standard output.  Text that a spreadsheet would take for a
    formula gets an apostrophe in front (see `guarded`).

    Examples
    --------
    >>> import numpy as np
    >>> write_csv("-", {"id": np.array([1]), "note": np.array(["a, b"])})
    id,note
    1,"a, b"
    """
    write_text(path, csv_text(list(columns), [values.tolist() for values in columns.values()]))


def csv_text(names: Sequence[str], columns: Sequence[Sequence[object]]) -> str:
    """A line of names, then a line per row, without formulas.

    Examples
    --------
    >>> csv_text(["id", "note"], [[1], ["=1"]])
    "id,note\\n1,'=1\\n"
    """
    import csv

    of_text = [at for at, column in enumerate(columns) if any(isinstance(value, str) for value in column)]
    cells = [*map(list, columns)]
    for at in of_text:
        cells[at] = [guarded(value) if isinstance(value, str) else value for value in cells[at]]
    # The module csv puts those line ends in quotes that it writes itself.
    returns = any("\r" in name for name in names) or any("\r" in str(value) for at in of_text for value in cells[at])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n" if returns else "\n")
    writer.writerow(map(guarded, names))
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue()


class InArrow(Protocol):
    """What can be had as a pyarrow Table."""

    def to_arrow(self) -> object: ...


def write_parquet(path: str | os.PathLike[str], table: InArrow) -> None:
    """A Parquet file of a table, all types kept, with checksums, which readers check."""
    parquet = checks.extra("pyarrow.parquet", "arrow", "write_parquet")
    with whole_file(path) as file:
        parquet.write_table(table.to_arrow(), file, write_page_checksum=True)
