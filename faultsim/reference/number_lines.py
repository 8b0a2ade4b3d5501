"""Lines of numbers as columns, written to be read: what `faultsim._core.number_lines` does byte by byte."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from faultsim.arrays import Values

_NUMBER = re.compile(rb"-?(\d+(\.\d*)?|\.\d+)")
_SHORT = re.compile(rb"-?\d{1,16}")


def parse_block(
    block: bytes, wanted: Sequence[int], width: int, usual: Mapping[int, Sequence[int]] | None = None
) -> list[Values] | None:
    """Some columns of a block of lines of numbers.

    Parameters
    ----------
    block : bytes
        Lines, each of the same number of fields, none blank.
    wanted : sequence of int
        Fields to return, counted from 0, each below `width`.
    width : int
        Least number of fields of a line.
    usual : mapping of int to sequence of int, optional
        Fields that are not wanted, and the only values, from -1 to 9, that they may have.

    Returns
    -------
    list of numpy.ndarray, or None
        A column each, int64 if all its values are whole numbers of at most 16 digits written without a point, else
        float64.  None if a line is out of the ordinary.

    Examples
    --------
    >>> parse_block(b"1 10 -1\\n2 20.5 -1\\n", [0, 1], 3)
    [array([1, 2]), array([10. , 20.5])]
    """
    if block.translate(None, b"0123456789-. \t\r\n"):
        return None
    rows = [line.split() for line in block.removesuffix(b"\n").split(b"\n")]
    if len(rows[0]) < width or any(len(row) != len(rows[0]) for row in rows):
        return None
    if not all(_NUMBER.fullmatch(field) for row in rows for field in row):
        return None
    for field, values in (usual or {}).items():
        written = {str(value).encode() for value in values}
        if any(row[field] not in written for row in rows):
            return None
    return [_column([row[field] for row in rows]) for field in wanted]


def _column(fields: list[bytes]) -> Values:
    if all(_SHORT.fullmatch(field) for field in fields):
        return np.array([int(field) for field in fields], dtype=np.int64)
    return np.array([float(field) for field in fields], dtype=np.float64)
