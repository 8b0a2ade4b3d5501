"""Rows of a CSV, with their lines."""

from __future__ import annotations

from collections.abc import Iterator

from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines


def csv_rows(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """Number of the line, from 1, and fields of each row that is not blank; the first is there even if it is.

    Raises
    ------
    InputError
        What is no CSV: a quote that is never closed over 131,072 characters, for instance.

    Examples
    --------
    >>> with open("two.csv", "w") as file:
    ...     _ = file.write("a,b\\n\\n1,2\\n")
    >>> list(csv_rows(Lines("two.csv")))
    [(1, ['a', 'b']), (3, ['1', '2'])]
    """
    import csv

    reader = csv.reader(b"".join(lines).decode("utf-8-sig", "replace").splitlines())
    try:
        yield 1, next(reader, [])
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{lines.name}, line {reader.line_num}: {error}") from None
