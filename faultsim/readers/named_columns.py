"""Columns that a file names: text of a CSV, typed ones of a Parquet file; see `NamedColumns`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

from faultsim.data.limits import check_unpacked
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.parquet_columns import parquet_columns

#: A column as a file has it: text, "" where missing, or an array, NaN or NaT where missing.
Raw: TypeAlias = list[str] | NDArray[Any]

_PARQUET = b"PAR1"
_SEPARATORS = ",;\t|"


class NamedColumns:
    """The columns of a file by name, and where each row is.

    Parameters
    ----------
    path : path
        A CSV or Parquet file, told by content; the CSV plain, gzip, xz or bzip2, and "-" is standard input.
    separator : str, optional
        What separates the fields of a CSV: by default whichever of comma, semicolon, tab and ``|`` is most frequent in
        the line with the names.
    quoted : bool
        Whether double quotes enclose fields.

    Raises
    ------
    InputError
        No such file; no line with names; a name twice; a line with more or fewer fields.
    MissingExtraError
        A Parquet file, without pyarrow.

    Examples
    --------
    >>> with open("jobs.csv", "w") as file:
    ...     _ = file.write("submitted,nodes\\n0,4\\n60,\\n")
    >>> NamedColumns("jobs.csv").columns
    {'submitted': ['0', '60'], 'nodes': ['4', '']}
    """

    def __init__(self, path: str | os.PathLike[str], *, separator: str = "", quoted: bool = True) -> None:
        lines = Lines(path, binary=_PARQUET)
        self.name = lines.name
        self.columns: dict[str, Raw] = {}
        self._lines: list[int] | None = None
        content = b"".join(lines)
        self._size = len(content)
        if content.startswith(_PARQUET):
            self._name(*parquet_columns(content, self.name))
        else:
            self._text(content.decode("utf-8-sig", "replace"), separator, quoted)
        self.rows = len(next(iter(self.columns.values()), []))

    def _text(self, text: str, separator: str, quoted: bool) -> None:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        first = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), None)
        if first is None:
            raise InputError(f"{self.name}: empty; expected a line with the names of the columns")
        separator = separator or max(_SEPARATORS, key=lines[first].count)
        if quoted and '"' in text:
            names, columns = self._quoted(lines, first, separator)
        else:
            names, columns = self._plain(lines, first, separator)
        self._name([name.strip() for name in names], columns)

    def _plain(self, lines: list[str], first: int, separator: str) -> tuple[list[str], list[list[str]]]:
        """All fields at once: no list per row."""
        names = lines[first].split(separator)
        self._lines = [at for at in range(first + 1, len(lines)) if lines[at].strip()]
        rows = [lines[at] for at in self._lines]
        for at, row in zip(self._lines, rows, strict=True):
            if row.count(separator) != len(names) - 1:
                raise self._bad_line(at, row, row.count(separator) + 1, len(names))
        fields = separator.join(rows).split(separator) if rows else []
        return names, [fields[at :: len(names)] for at in range(len(names))]

    def _quoted(self, lines: list[str], first: int, separator: str) -> tuple[list[str], list[list[str]]]:
        import csv

        reader = csv.reader((line + "\n" for line in lines[first:]), delimiter=separator)
        rows: list[list[str]] = []
        self._lines = []
        try:
            names = next(reader)
            for row in reader:
                at = first + reader.line_num - 1
                if len(row) == len(names):
                    rows.append(row)
                    self._lines.append(at)
                elif any(map(str.strip, row)):
                    raise self._bad_line(at, separator.join(row), len(row), len(names))
        except csv.Error as error:
            raise InputError(f"{self.name}, line {first + reader.line_num}: {error}") from None
        return names, [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]

    def _name(self, names: Sequence[str], columns: Sequence[Raw]) -> None:
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{self.name}: column {name!r} appears twice")
        self.columns = dict(zip(names, columns, strict=True))

    def text(self, name: str) -> list[str]:
        """A column of text that may become an array, of which each element takes as much as the longest."""
        found = list(map(str, self.columns[name]))
        taken = 4 * len(found) * max(map(len, found), default=0)
        check_unpacked(f"{self.name}: column {name!r}", taken, self._size)
        return found

    def where(self, row: int) -> str:
        """Where a row is, as errors say it: "line 3", or "row 1" of a file without lines."""
        return f"row {row}" if self._lines is None else f"line {self._lines[row] + 1}"

    def bad(self, column: str, row: int, what: str) -> InputError:
        """The error for a value."""
        value = self.columns[column][row]
        given = shown(value.encode()) if isinstance(value, str) else str(value)
        return InputError(f"{self.name}, {self.where(row)}: column {column!r}: {given} {what}")

    def _bad_line(self, at: int, text: str, fields: int, expected: int) -> InputError:
        return InputError(f"{self.name}, line {at + 1}: {fields} fields, expected {expected}: {shown(text.encode())}")
