"""Columns that a file names: text of a CSV, typed ones of a Parquet file or a frame; see `NamedColumns`."""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from faultsim.arrays import Values
from faultsim.data.limits import check_unpacked
from faultsim.errors import InputError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.parquet_columns import Unread, parquet_columns

#: A column as a file has it: text, "" where missing, or an array, NaN or NaT where missing.
Raw: TypeAlias = list[str] | Values

_PARQUET = b"PAR1"
_SEPARATORS = ",;\t|"
_SPACES = re.compile(r"[ \t]+")
#: Text that is a value, not the name of a column.
_VALUE = re.compile(r"[-+]?(\d++\.?\d*+|\.\d++)([eE][-+]?\d++)?|\d{4}-\d\d-\d\d.*", re.ASCII)
#: The line of Excel that names the separator.
_EXCEL = re.compile(r"sep=(.)", re.IGNORECASE)
#: Bytes by which a file is judged.
_JUDGED = 1024
#: Names of columns that are compared with a misspelt one; a comparison takes about 10 us.
MOST_COMPARED = 1000
#: Characters of a field in quotes; Python's own limit is 131,072.
_LONGEST_FIELD = 1 << 20


class NamedColumns:
    """The columns of a file by name, and where each row is.

    A row that cannot be read is left out, and counted in `dropped`; so is, in `left_out`, a column without a name or
    under one that no column of a log can have.

    Parameters
    ----------
    path : path
        A CSV or Parquet file, told by content; the CSV plain, gzip, xz or bzip2, in UTF-8 or UTF-16, and "-" is
        standard input.
    separator : str, optional
        What separates the fields of a CSV: by default whichever of comma, semicolon, tab and ``|`` is most frequent in
        the line with the names, or else spaces.
    quoted : bool
        Whether double quotes enclose fields.
    strict : bool
        Whether a row that cannot be read is an error.
    wanted : sequence of str
        Names that the line with the names has: a comment line that has them all is that line.

    Raises
    ------
    InputError
        No such file; no line with names; with `strict` a line with more or fewer fields.
    MissingExtraError
        A Parquet file, without pyarrow.

    Examples
    --------
    >>> with open("jobs.csv", "w") as file:
    ...     _ = file.write("submitted,nodes\\n0,4\\n60,\\n")
    >>> NamedColumns("jobs.csv").columns
    {'submitted': ['0', '60'], 'nodes': ['4', '']}
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        separator: str = "",
        quoted: bool = True,
        strict: bool = False,
        wanted: Sequence[str] = (),
    ) -> None:
        lines = Lines(path, binary=_PARQUET, ends=True)
        self._read(lines.name, b"".join(lines), separator, quoted, strict, wanted)

    @classmethod
    def of_content(
        cls, name: str, content: bytes, *, separator: str = "", strict: bool = False, wanted: Sequence[str] = ()
    ) -> NamedColumns:
        """The columns of a file that was read already.

        Examples
        --------
        >>> NamedColumns.of_content("a.csv", b"time,node\\n5,0\\n").columns
        {'time': ['5'], 'node': ['0']}
        """
        new = object.__new__(cls)
        new._read(name, content, separator, True, strict, wanted)
        return new

    def _read(
        self, name: str, content: bytes, separator: str, quoted: bool, strict: bool, wanted: Sequence[str]
    ) -> None:
        self._begin(name, strict)
        self._size = len(content)
        if content.startswith(_PARQUET):
            names, columns, unread = parquet_columns(content, self.name)
            self._name(names, columns)
            self._unread |= unread
        else:
            looks = _other_format(content)
            if looks:
                raise InputError(f"{name}: not a table with a line of names but {looks}")
            self._text(content.decode("utf-8-sig", "replace"), separator, quoted, wanted)
        self.rows = len(next(iter({**self.columns, **self._odd}.values()), ()))

    def _begin(self, name: str, strict: bool) -> None:
        self.name = name
        self.dropped = DroppedRecords(name, strict=strict)
        self.columns: dict[str, Raw] = {}
        #: Why columns are not among `columns`, by name or position.
        self.left_out: dict[str, str] = {}
        self._odd: dict[str, Raw] = {}
        self._unread: dict[str, Unread] = {}
        self._twice: tuple[str, ...] = ()
        self._rejected: set[int] = set()
        #: Columns with moments that a clock shows twice or not at all, and how many.
        self.doubtful: dict[str, int] = {}
        self._lines: list[int] | None = None
        self._lost = self._size = 0

    @classmethod
    def of_columns(
        cls, name: str, names: Sequence[str], columns: Sequence[Raw], unread: Mapping[str, Unread], *, strict: bool
    ) -> NamedColumns:
        """The columns of a frame, as if they were those of a file.

        Examples
        --------
        >>> NamedColumns.of_columns("a frame", ["size"], [["4"]], {}, strict=False).columns
        {'size': ['4']}
        """
        new = object.__new__(cls)
        new._begin(name, strict)
        new._name(names, columns)
        new._unread |= unread
        new.rows = len(columns[0]) if columns else 0
        new._size = 1 << 40  # it is unpacked already
        return new

    # -- text --------------------------------------------------------------------------------------------------------

    def _text(self, text: str, separator: str, quoted: bool, wanted: Sequence[str]) -> None:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        first = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), None)
        if first is not None and (found := _EXCEL.fullmatch(lines[first].strip())):
            separator = separator or found[1]
            first = next((at for at in range(first + 1, len(lines)) if lines[at].strip()), None)
        if first is None:
            raise InputError(f"{self.name}: empty; expected a line with the names of the columns")
        first, header = _header(lines, first, separator, wanted)
        separator = separator or _separator(header)
        if separator == " ":
            lines = [_SPACES.sub(" ", line.strip(" \t")) for line in lines]
            header = _SPACES.sub(" ", header.strip(" \t"))
        if quoted and '"' in text:
            names, columns = self._quoted(lines, first, header, separator)
        else:
            names, columns = self._plain(lines, first, header, separator)
        names = [name.strip() for name in names]
        if len(names) > 1 and all(_VALUE.fullmatch(name) for name in names):
            raise InputError(
                f"{self.name}, line {first + 1}: expected the names of the columns, found values: "
                f"{shown(header.encode())}; write a first line such as submit,runtime,size"
            )
        self._name(names, columns)

    def _plain(self, lines: list[str], first: int, header: str, separator: str) -> tuple[list[str], list[list[str]]]:
        """All fields at once: no list per row."""
        names = header.split(separator)
        where = [at for at in range(first + 1, len(lines)) if lines[at].strip()]
        rows, width = [lines[at] for at in where], len(names) - 1
        if any(row.count(separator) != width for row in rows):
            rows, where = self._whole(rows, where, names, header, separator)
        self._lines = where
        fields = separator.join(rows).split(separator) if rows else []
        return names, [fields[at :: len(names)] for at in range(len(names))]

    def _whole(
        self, rows: list[str], where: list[int], names: list[str], header: str, separator: str
    ) -> tuple[list[str], list[int]]:
        """The rows with as many fields as there are names, and where they are; the others are counted."""
        kept, places = [], []
        for at, row in zip(where, rows, strict=True):
            fields = row.split(separator)
            if len(fields) > len(names) and not any(map(str.strip, fields[len(names) :])):
                fields = fields[: len(names)]  # separators at the end, which Excel writes
            if len(fields) == len(names):
                kept.append(separator.join(fields))
                places.append(at)
            else:
                self._bad_line(at, row, len(fields), len(names))
        return kept, places

    def _quoted(self, lines: list[str], first: int, header: str, separator: str) -> tuple[list[str], list[list[str]]]:
        import csv

        content = [header + "\n", *(line + "\n" for line in lines[first + 1 :])]
        rows: list[list[str]] = []
        self._lines = []
        before = csv.field_size_limit(_LONGEST_FIELD)
        reader = csv.reader(content, delimiter=separator)
        where = self._lines

        def add(at: int, row: list[str]) -> bool:
            """Keep a row if it has as many fields as there are names."""
            if len(row) > len(names) and not any(map(str.strip, row[len(names) :])):
                row = row[: len(names)]
            is_whole = len(row) == len(names)
            if is_whole:
                rows.append(row)
                where.append(at)
            return is_whole

        try:
            names = next(reader)
            ends = reader.line_num
            for row in reader:
                begins, ends = ends, reader.line_num
                is_open = ends == len(content) > begins + 1 and "".join(content[begins:]).count('"') % 2
                if not is_open and (add(first + begins, row) or not any(map(str.strip, row))):
                    continue
                if is_open:
                    self._bad_record(first + begins, "a quote that is not closed", content[begins])
                else:
                    self._bad_line(first + begins, separator.join(row), len(row), len(names))
                # A quote that is not closed takes the lines after it: each of them is a row if it is one alone.
                for at in range(begins + 1, ends):
                    alone = next(csv.reader(content[at : at + 1], delimiter=separator), [])
                    if not add(first + at, alone) and any(map(str.strip, alone)):
                        self._bad_line(first + at, content[at], len(alone), len(names))
        except csv.Error as error:
            raise InputError(f"{self.name}, line {first + reader.line_num}: {error}") from None
        finally:
            csv.field_size_limit(before)
        return names, [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]

    def _bad_line(self, at: int, text: str, fields: int, expected: int) -> None:
        self._bad_record(at, f"{fields} fields, expected {expected}", text)

    def _bad_record(self, at: int, what: str, text: str) -> None:
        self._lost += 1
        self.dropped.unreadable("record", f"line {at + 1}", what, text)

    # -- names -------------------------------------------------------------------------------------------------------

    def _name(self, names: Sequence[str], columns: Sequence[Raw]) -> None:
        """Sort columns by whether a log can have one under this name."""
        counts = Counter(names)
        self._twice = tuple(name for name, count in counts.items() if count > 1 and name)
        for at, (name, values) in enumerate(zip(names, columns, strict=True)):
            if not name:
                self._odd[f"Unnamed: {at}"] = values
                self.left_out[f"Unnamed: {at}"] = "no name"
                if counts[""] == 1:
                    self._odd[""] = values
            elif counts[name] > 1:
                self.left_out[name] = "its name appears twice"
            elif "/" in name or not name.isprintable():
                self._odd[name] = values
                self.left_out[name] = "not a name that a column of a log can have"
            else:
                self.columns[name] = values

    def refuse_twice(self, wanted: Sequence[str] | None) -> None:
        """Refuse a file with two columns of one name among those wanted, by default among all.

        Raises
        ------
        InputError
            With the name, and what to do.
        """
        for name in self._twice:
            if wanted is None or name in wanted:
                mend = "" if wanted is not None else "; columns=[...] without it leaves both out"
                raise InputError(f"{self.name}: column {name!r} appears twice{mend}")

    def has(self, name: str) -> bool:
        """Whether there is a column that `take` returns."""
        return name in self.columns or name in self._odd or name in self._unread

    def take(self, name: str) -> str:
        """The name in `columns` of a column that was left out before, and is wanted: its own."""
        if name not in self.columns:
            self.columns[name] = self._unread[name].read(self._size) if name in self._unread else self._odd[name]
        return name

    def count_left_out(self, kept: Sequence[str]) -> dict[str, str]:
        """Columns that were left out, and why, but for those that were taken after all."""
        every = {**self.left_out, **{name: column.why for name, column in self._unread.items()}}
        taken = {name for name in kept if name}
        return {name: why for name, why in every.items() if name not in taken and not ("" in kept and why == "no name")}

    def suggested(self, name: str) -> str:
        """`` (did you mean 'x'?)`` for the nearest name of a column."""
        from faultsim import checks

        return checks.did_you_mean(name, list(self.columns)[:MOST_COMPARED])

    def listed(self) -> str:
        """The names of the columns, as messages list them."""
        names = list(self.columns)
        more = f" and {len(names) - 50:,} more" if len(names) > 50 else ""
        return ", ".join(names[:50]) + more

    # -- values ------------------------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """Records in the file, those that cannot be read included."""
        return self.rows + self._lost

    @property
    def rejected(self) -> NDArray[np.bool_]:
        """Which rows have a value that cannot be read."""
        mask = np.zeros(self.rows, dtype=bool)
        mask[list(self._rejected)] = True
        return mask

    def raw(self, name: str) -> Raw:
        """A column; text that a file has once, and many rows share, counts as often as there are rows."""
        values = self.columns[name]
        if self._lines is None and isinstance(values, list):
            check_unpacked(f"{self.name}: column {name!r}", sum(map(len, values)), self._size)
        return values

    def text(self, name: str) -> list[str]:
        """A column of text that may become an array, of which each element takes as much as the longest."""
        found = list(map(str, self.columns[name]))
        taken = 4 * len(found) * max(map(len, found), default=0)
        check_unpacked(f"{self.name}: column {name!r}", taken, self._size)
        return found

    def where(self, row: int) -> str:
        """Where a row is, as errors say it: "line 3", or "row 1" of a file without lines."""
        return f"row {row}" if self._lines is None else f"line {self._lines[row] + 1}"

    def reject(self, field: str, column: str, row: int, what: str) -> None:
        """Leave out a row for a value that cannot be read; of each row only the first such value counts.

        Parameters
        ----------
        field : str
            The field of a job, for the reason: ``"unreadable size"``.
        column : str
            Its column.
        row : int
            The row.
        what : str
            What is wrong: ``is not a number``.
        """
        if row not in self._rejected:
            self._rejected.add(row)
            self.dropped.unreadable(field, self.where(row), f"column {column!r}: {self._given(column, row)} {what}")

    def bad(self, column: str, row: int, what: str) -> InputError:
        """The error for a value, where no row can be left out for it."""
        return InputError(f"{self.name}, {self.where(row)}: column {column!r}: {self._given(column, row)} {what}")

    def _given(self, column: str, row: int) -> str:
        value = self.columns[column][row]
        return shown(value.encode("utf-8", "replace")) if isinstance(value, str) else str(value)


def _other_format(content: bytes) -> str:
    """What a file is that can be no table of text."""
    first = content[:_JUDGED].removeprefix(codecs.BOM_UTF8).lstrip()
    if b"\0" in content[:_JUDGED] or first.startswith((b"\x89PNG", b"%PDF", b"\xd0\xcf\x11\xe0")):
        return "binary"
    if first.startswith((b"<!DOCTYPE", b"<html", b"<?xml", b"<adag")):
        return "HTML or XML"
    return "JSON" if first.startswith((b"{", b"[")) else ""


def _separator(header: str) -> str:
    """The separator of a line with names."""
    best = max(_SEPARATORS, key=header.count)
    return best if best in header or len(header.split()) < 2 else " "


def _header(lines: list[str], first: int, separator: str, wanted: Sequence[str]) -> tuple[int, str]:
    """The line with the names, by number, and its text: the first that is no comment, or the comment before it.

    Some formats (GWF, those of the Failure Trace Archive, exports of gnuplot) have the names in a comment: then the
    line after it has as many fields, and values among them, while the comment has none.
    """
    line = lines[first]
    if not first or not lines[first - 1].startswith("#"):
        return first, line
    comment = lines[first - 1].lstrip("#").strip()
    between = separator or _separator(line)
    split: Callable[[str], list[str]] = str.split if between == " " else lambda text: text.split(between)
    names, values = ([field.strip().strip('"') for field in split(text)] for text in (comment, line))
    has_values = any(map(_VALUE.fullmatch, values))
    is_header = set(wanted) <= set(names) and len(names) > 1 if wanted else not any(map(_VALUE.fullmatch, names))
    if len(names) == len(values) and is_header and has_values:
        return first - 1, between.join(names)
    return first, line
