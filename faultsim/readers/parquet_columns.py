"""Columns of a Parquet file, as `NamedColumns` has them; no more of it is unpacked than the limits allow."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import ModuleType
from typing import Any

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.limits import check_unpacked, limits
from faultsim.errors import InputError

#: Bytes that a value takes, at most but for words, of which each is kept once.
_VALUE = 8
#: Rows of a column of lists or bytes that are read at once.
_BATCH = 256


@dataclass(frozen=True)
class Unread:
    """A column that no log needs, of lists or bytes for instance: why it is left out, and how to read it as text."""

    why: str
    read: Callable[[int], list[str]]


def parquet_columns(content: bytes, name: str) -> tuple[list[str], list[list[str] | Values], dict[str, Unread]]:
    """The names and columns of a Parquet file: words, or numbers and moments; and columns of other types.

    Parameters
    ----------
    content : bytes
        Of the file.
    name : str
        Of the file, for messages.

    Raises
    ------
    InputError
        Not such a file, or a broken one; more than `faultsim.Limits` allow.
    MissingExtraError
        Without pyarrow.

    Examples
    --------
    >>> import io, pyarrow, pyarrow.parquet
    >>> file = io.BytesIO()
    >>> pyarrow.parquet.write_table(pyarrow.table({"size": [2.0, 4.0], "user": ["ann", None], "l": [[1], []]}), file)
    >>> names, columns, others = parquet_columns(file.getvalue(), "jobs.parquet")
    >>> names, columns, others["l"].why
    (['size', 'user'], [array([2., 4.]), ['ann', '']], 'of list<element: int64>')
    """
    what = f"a Parquet file ({name})"
    parquet, arrow = checks.extra("pyarrow.parquet", "arrow", what), checks.extra("pyarrow", "arrow", what)
    try:
        plain = parquet.ParquetFile(io.BytesIO(content))
        _bounded(plain.metadata, len(content), name)
        schema = plain.schema_arrow  # which pyarrow makes again at each access
        fields = [schema.field(at) for at in range(len(schema))]
        kept = [field for field in fields if is_plain(arrow, field.type)]
        counts = Counter(field.name for field in fields)
        if twice := next((key for key, count in counts.items() if count > 1), None):
            raise InputError(f"{name}: column {twice!r} appears twice")
        words = [field.name for field in kept if _is_text(arrow, field.type)]
        table = parquet.ParquetFile(io.BytesIO(content), read_dictionary=words, page_checksum_verification=True).read(
            [field.name for field in kept]
        )
        table.validate(full=True)  # places of words, above all
        # Names and words are decoded, and values converted, only here.
        names = table.column_names
        columns = [typed_column(arrow, table.column(at)) for at in range(len(names))]
    except (OSError, arrow.ArrowException, UnicodeDecodeError) as error:
        why = str(error).splitlines()[0]
        raise InputError(f"{name}: not a Parquet file that can be read: {why}") from None
    others = {
        field.name: Unread(f"of {field.type}", partial(_as_text, content, field.name, name))
        for field in fields
        if not is_plain(arrow, field.type)
    }
    return names, columns, others


def _as_text(content: bytes, column: str, name: str, size: int) -> list[str]:
    """A column of lists, bytes or others as text, read in parts that the limits bound."""
    parquet = checks.extra("pyarrow.parquet", "arrow", f"a Parquet file ({name})")
    arrow = checks.extra("pyarrow", "arrow", f"a Parquet file ({name})")
    found: list[str] = []
    unpacked = 0
    try:
        file = parquet.ParquetFile(io.BytesIO(content), page_checksum_verification=True)
        for batch in file.iter_batches(batch_size=_BATCH, columns=[column]):
            # In arrow, then as text: a value of a list takes at least a byte, and some tens as an object of Python.
            check_unpacked(f"{name}: column {column!r}", unpacked + batch.nbytes, size)
            for part in batch.columns[0].to_pylist():
                found.append(value_as_text(part))
                unpacked += len(found[-1])
            check_unpacked(f"{name}: column {column!r}", unpacked, size)
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{name}: column {column!r} cannot be read: {str(error).splitlines()[0]}") from None
    return found


def value_as_text(value: object) -> str:
    """A value of any type as text, "" where missing; bytes as UTF-8.

    Examples
    --------
    >>> value_as_text(None), value_as_text([1, 2]), value_as_text(b"ab")
    ('', '[1, 2]', 'ab')
    """
    if value is None:
        return ""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _bounded(metadata: Any, size: int, name: str) -> None:
    """Refuse a file that says that it is larger than the limits, or that says two things about how many rows it has."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    if rows != metadata.num_rows or any(group.num_rows < 0 for group in groups):
        raise InputError(
            f"{name}: not a Parquet file that can be read: {metadata.num_rows} rows, but {rows} in its parts"
        )
    # (What groups say of their columns is not asked: where it is broken, pyarrow 26 ends the process.)
    told = sum(max(0, group.total_byte_size) for group in groups)
    unpacked = max(rows * metadata.num_columns * _VALUE, told)
    limits().check(name, "lines", rows)
    check_unpacked(name, unpacked, size)


def _is_text(arrow: ModuleType, kind: object) -> bool:
    return bool(arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or _is_view(arrow, kind))


def _is_view(arrow: ModuleType, kind: object) -> bool:
    """Whether it is the type in which polars has text."""
    return hasattr(arrow.types, "is_string_view") and bool(arrow.types.is_string_view(kind))


def is_plain(arrow: ModuleType, kind: Any) -> bool:
    """Whether a column of this type can be one of numbers, moments, durations or words.

    Examples
    --------
    >>> import pyarrow
    >>> is_plain(pyarrow, pyarrow.int8()), is_plain(pyarrow, pyarrow.list_(pyarrow.int8()))
    (True, False)
    """
    types = arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_nested(kind) or types.is_time(kind) or types.is_interval(kind):
        return False
    return bool(_is_text(arrow, kind) or types.is_null(kind) or types.is_primitive(kind) or types.is_decimal(kind))


def typed_column(arrow: ModuleType, column: Any) -> list[str] | Values:
    """A chunked array of a plain type as words or a NumPy array."""
    kind = column.type
    if arrow.types.is_null(kind):
        return [""] * len(column)
    if _is_text(arrow, kind):
        return [word or "" for word in column.to_pylist()]
    if arrow.types.is_dictionary(kind):
        if _is_text(arrow, kind.value_type):
            return list(chain.from_iterable(_words(chunk) for chunk in column.chunks))
        kind = kind.value_type
        column = arrow.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], kind)
    if arrow.types.is_decimal(kind):
        column = column.cast(arrow.float64())
    elif arrow.types.is_date(kind):
        column = column.cast(arrow.timestamp("s"))
    if column.null_count and (arrow.types.is_integer(column.type) or arrow.types.is_boolean(column.type)):
        column = column.cast(arrow.float64())
    values: Values = column.combine_chunks().to_numpy(zero_copy_only=False)
    return values


def _words(chunk: Any) -> list[str]:
    """Of one piece of a column; a word that many rows share is one string."""
    known = [word or "" for word in chunk.dictionary.to_pylist()]
    return ["" if at is None else known[at] for at in chunk.indices.to_pylist()]
