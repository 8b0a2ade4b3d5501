"""Writes columns as CSV and as Parquet, under their names."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.text_files import write_text
from faultsim.data.whole_files import whole_file


def write_csv(path: str | os.PathLike[str], columns: Mapping[str, NDArray[Any]]) -> None:
    """A line of names, then a line per row, in numbers that read back as the same bits.

    ``.gz``, ``.xz`` and ``.bz2`` are compressed; "-" is standard output.

    Examples
    --------
    >>> import numpy as np
    >>> write_csv("-", {"id": np.array([1]), "note": np.array(["a, b"])})
    id,note
    1,"a, b"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    write_text(path, text.getvalue())


def write_parquet(path: str | os.PathLike[str], columns: Mapping[str, NDArray[Any]], what: str) -> None:
    """A Parquet file, all types kept; `what` says in an error what needs pyarrow."""
    arrow, parquet = checks.extra("pyarrow", "arrow", what), checks.extra("pyarrow.parquet", "arrow", what)
    with whole_file(path) as file:
        parquet.write_table(arrow.table(dict(columns)), file)
