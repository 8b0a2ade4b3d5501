"""Writes text files, compressed according to their names, and numbers as their shortest text."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.whole_files import whole_file


def _gzip(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, 6, mtime=0)  # no time stamp: the same content gives the same bytes


def _xz(data: bytes) -> bytes:
    import lzma

    return lzma.compress(data)


def _bzip2(data: bytes) -> bytes:
    import bz2

    return bz2.compress(data)


_COMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": _gzip, ".xz": _xz, ".bz2": _bzip2}

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+](\d++\.?\d*+|\.\d++)([eE][-+]?\d++)?|-|[-+]inf|", re.ASCII)


def shortest(values: Values) -> list[str]:
    """Shortest text that reads back as the same number; whole numbers without a point.

    Examples
    --------
    >>> import numpy as np
    >>> shortest(np.array([2.0, 0.1]))
    ['2', '0.1']
    """
    if values.dtype.kind != "f":
        return [str(value) for value in values.tolist()]
    # Beyond 2**53 the exponent of a float64 says more than its digits.
    return [str(int(v)) if v.is_integer() and abs(v) < 2.0**53 else repr(v) for v in values.tolist()]


def guarded(text: str) -> str:
    """Text for a cell of a CSV: what a spreadsheet would take for a formula gets an apostrophe in front.

    Formulas begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return; numbers are left alone.

    Examples
    --------
    >>> guarded("=cmd|'/c calc'!A1"), guarded("-1.5e3"), guarded("user 7")
    ("'=cmd|'/c calc'!A1", '-1.5e3', 'user 7')
    """
    return f"'{text}" if text[:1] in _FORMULA and not _NUMBER.fullmatch(text) else text


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file: ``.gz``, ``.xz`` and ``.bz2`` are compressed, "-" is standard output.

    It is written whole or not at all.  Characters that standard output cannot write are escaped there.

    Raises
    ------
    OSError
        The file cannot be written.

    Examples
    --------
    >>> write_text("-", "one line\\n")
    one line
    """
    name = checks.file_name(path)
    if name == "-":
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError as error:  # a terminal or a pipe of another encoding, as with LC_ALL=C
            sys.stdout.write(text.encode(error.encoding, "backslashreplace").decode(error.encoding))
        return
    data = text.encode("utf-8", "surrogateescape")
    compress = _COMPRESS.get(os.path.splitext(name)[1].lower())
    with whole_file(name) as file:
        file.write(compress(data) if compress else data)
