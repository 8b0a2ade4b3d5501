"""Columns of a Parquet file, as `NamedColumns` has them; no more of it is unpacked than the limits allow."""

from __future__ import annotations

import io
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.limits import check_unpacked, limits
from faultsim.errors import InputError

#: Bytes that a value takes, at most but for words, of which each is kept once.
_VALUE = 8


def parquet_columns(content: bytes, name: str) -> tuple[list[str], list[list[str] | NDArray[Any]]]:
    """The names and columns of a Parquet file: words, or numbers and moments.

    Parameters
    ----------
    content : bytes
        Of the file.
    name : str
        Of the file, for messages.

    Raises
    ------
    InputError
        Not such a file, or a broken one; more than `faultsim.Limits` allow; a column of lists.
    MissingExtraError
        Without pyarrow.

    Examples
    --------
    >>> import io, pyarrow, pyarrow.parquet
    >>> file = io.BytesIO()
    >>> pyarrow.parquet.write_table(pyarrow.table({"size": [2.0, 4.0], "user": ["ann", None]}), file)
    >>> parquet_columns(file.getvalue(), "jobs.parquet")
    (['size', 'user'], [array([2., 4.]), ['ann', '']])
    """
    what = f"a Parquet file ({name})"
    parquet, arrow = checks.extra("pyarrow.parquet", "arrow", what), checks.extra("pyarrow", "arrow", what)
    try:
        plain = parquet.ParquetFile(io.BytesIO(content))
        _bounded(plain.metadata, len(content), name)
        words = [field.name for field in plain.schema_arrow if _is_text(arrow, field.type)]
        table = parquet.ParquetFile(io.BytesIO(content), read_dictionary=words).read()
        table.validate(full=True)  # places of words, above all
        # Names and words are decoded, and values converted, only here.
        names = table.column_names
        columns = [_typed(arrow, table.column(at), f"{name}: column {names[at]!r}") for at in range(len(names))]
    except (OSError, arrow.ArrowException, UnicodeDecodeError) as error:
        why = str(error).splitlines()[0]
        raise InputError(f"{name}: not a Parquet file that can be read: {why}") from None
    return names, columns


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


def _is_text(arrow: Any, kind: Any) -> bool:
    return bool(arrow.types.is_string(kind) or arrow.types.is_large_string(kind))


def _typed(arrow: Any, column: Any, where: str) -> list[str] | NDArray[Any]:
    kind = column.type
    if arrow.types.is_null(kind):
        return [""] * len(column)
    if arrow.types.is_dictionary(kind):
        if _is_text(arrow, kind.value_type):
            return list(chain.from_iterable(_words(chunk) for chunk in column.chunks))
        kind = kind.value_type
        column = arrow.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], kind)
    if arrow.types.is_decimal(kind):
        column = column.cast(arrow.float64())
    elif arrow.types.is_date(kind):
        column = column.cast(arrow.timestamp("s"))
    elif arrow.types.is_nested(kind) or arrow.types.is_time(kind) or not arrow.types.is_primitive(kind):
        raise InputError(f"{where} is of {kind}; no column of a log is")
    if column.null_count and (arrow.types.is_integer(column.type) or arrow.types.is_boolean(column.type)):
        column = column.cast(arrow.float64())
    values: NDArray[Any] = column.combine_chunks().to_numpy(zero_copy_only=False)
    return values


def _words(chunk: Any) -> list[str]:
    """Of one piece of a column; a word that many rows share is one string."""
    known = [word or "" for word in chunk.dictionary.to_pylist()]
    return ["" if at is None else known[at] for at in chunk.indices.to_pylist()]
