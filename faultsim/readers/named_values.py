"""What the text and the arrays of a file mean: numbers, moments, durations, names of users, columns of any type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from faultsim.arrays import Values
from faultsim.errors import InputError
from faultsim.readers.named_columns import NamedColumns
from faultsim.vocabulary import MISSING, clock, duration, is_doubtful, moment, size

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# Possessive: digits that are followed by something else would be tried in as many ways as there are of them.
_NUMBER = re.compile(r"[-+]?(\d++\.?\d*+|\.\d++)([eE][-+]?\d++)?|[-+]?inf", re.IGNORECASE | re.ASCII)
# A number with leading zeros, which is a name, among numbers between spaces.
_PADDED = re.compile(r"(?<![^ ])[-+]?0\d")
_FINITE = re.compile(r"[-+]?(\d++\.?\d*+|\.\d++)([eE][-+]?\d++)?", re.ASCII)
_WHOLE_POINT = re.compile(r"\.0+$", re.ASCII)
_SHORT = re.compile(r"\d{1,4}:\d\d", re.ASCII)
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d(?!\d)", re.ASCII)
_COMMA = re.compile(r"[-+]?\d*,\d+", re.ASCII)
_GROUPED = re.compile(r"[-+]?\d{1,3}([,.' ]\d{3})+([.,]\d+)?", re.ASCII)
#: Values by which moments are taken for numbers or dates.
_JUDGED = 100
_DROP_NUMBERS = str.maketrans("", "", "0123456789.+-eE")
_TRUTH = {"true": True, "false": False}


def numbers(
    file: NamedColumns, name: str, *, whole: bool = False, field: str = "", decimal: str = "."
) -> NDArray[np.float64]:
    """A column of numbers, NaN where missing.

    A row with a value that is no number, or not whole where only that is meant, is left out: see `NamedColumns.reject`.

    Parameters
    ----------
    file : NamedColumns
        The file.
    name : str
        The column.
    whole : bool
        Whether numbers must be whole: a size, which may have a suffix such as ``K`` or a unit such as ``nodes``.
    field : str
        What it is of a job; by default the name of the column.
    decimal : {".", ","}
        What separates decimals.

    Raises
    ------
    InputError
        A column of another type; with ``strict=True`` a value that cannot be read.
    """
    raw, field = file.raw(name), field or name
    if isinstance(raw, list):
        values = _plain_numbers(raw) if decimal == "." else None
        if values is None:
            values = [_number(file, name, row, text, field, decimal, whole) for row, text in enumerate(raw)]
        found = np.array(values, dtype=np.float64)
    elif raw.dtype.kind in "iufb":
        found = raw.astype(np.float64)
    else:
        raise InputError(f"{file.name}: column {name!r} is of {raw.dtype}; expected numbers")
    bad = np.isinf(found)
    if whole:
        bad |= (found != np.floor(found)) & ~np.isnan(found)
    for row in np.flatnonzero(bad).tolist():
        file.reject(field, name, row, "is not a whole number" if whole else "is not a finite number")
        found[row] = math.nan
    return found


def _plain_numbers(raw: list[str]) -> list[float] | None:
    """Text as numbers if all of it is, without a look at each; else None."""
    if "".join(raw).translate(_DROP_NUMBERS):
        return None
    try:
        return list(map(float, raw))
    except ValueError:
        return None


def _number(file: NamedColumns, name: str, row: int, text: str, field: str, decimal: str, whole: bool) -> float:
    stripped = text.strip()
    pointed = stripped.replace(",", ".") if decimal == "," else stripped
    if _NUMBER.fullmatch(pointed):
        return float(pointed)
    if stripped.lower() in MISSING:
        return math.nan
    if whole and (found := size(stripped)) is not None:
        return found
    file.reject(field, name, row, f"is not a number{_hint(stripped, decimal)}")
    return math.nan


def _hint(text: str, decimal: str = ".") -> str:
    """What may be wrong with a text that was to be a number, and how to mend it."""
    if _GROUPED.fullmatch(text):
        comma = ' (or is it a decimal comma? decimal="," reads it)' if _COMMA.fullmatch(text) and decimal != "," else ""
        return f": write it without separators of thousands{comma}"
    if _COMMA.fullmatch(text) and decimal != ",":
        return ': a decimal comma? decimal="," reads it'
    return ""


def moments(
    file: NamedColumns, name: str, unit: float, *, field: str = "", zone: ZoneInfo | None = None, decimal: str = "."
) -> tuple[NDArray[np.float64], bool]:
    """A column of moments in seconds, NaN where missing; and whether they are dates, in seconds since 1970.

    Text is one or the other: numbers in a unit, or dates such as ``2024-01-31T12:00:00``, all with a time zone or all
    without, unless `zone` is that of those without.
    """
    raw, field = file.raw(name), field or name
    if isinstance(raw, list):
        if _is_of_numbers(raw):
            return numbers(file, name, field=field, decimal=decimal) * unit, False
        return _dates(file, name, raw, field, zone), True
    if raw.dtype.kind == "M":
        found = _since(raw - np.datetime64(0, "s"))
        return found, True
    return numbers(file, name, field=field) * unit, False


def _is_of_numbers(raw: list[str]) -> bool:
    """Whether moments are numbers rather than dates, by the first values that there are."""
    known = list(islice((text.strip() for text in raw if text.strip().lower() not in MISSING), _JUDGED))
    are_dates = [_DATE.match(text) is not None for text in known]
    are_numbers = [_NUMBER.fullmatch(text) is not None or _COMMA.fullmatch(text) is not None for text in known]
    if sum(are_dates) != sum(are_numbers):
        return sum(are_numbers) > sum(are_dates)
    return not known or are_numbers[0]


def _dates(file: NamedColumns, name: str, raw: list[str], field: str, zone: ZoneInfo | None) -> NDArray[np.float64]:
    values = np.full(len(raw), math.nan)
    has_zone: bool | None = None
    doubtful = 0
    for row, text in enumerate(raw):
        if text.strip().lower() in MISSING:
            continue
        found = moment(text, zone)
        if found is None:
            file.reject(field, name, row, "is no date and time such as 2024-01-31T12:00:00, as others here")
            continue
        values[row], zoned = found
        has_zone = zoned if has_zone is None else has_zone
        if zoned != has_zone:
            values[row] = math.nan
            file.reject(
                field, name, row, f"has {'a' if zoned else 'no'} time zone, unlike those above; zone= is that of others"
            )
        elif zone is not None and is_doubtful(text, zone):
            doubtful += 1
    if doubtful:
        file.doubtful[name] = doubtful
    return values


def durations(
    file: NamedColumns, name: str, unit: float, *, field: str = "", limit: bool = False, decimal: str = "."
) -> NDArray[np.float64]:
    """A column of durations in seconds, NaN where missing: numbers in a unit, or text of `faultsim.vocabulary`.

    With `limit` a duration without end is missing: there is no limit.
    """
    raw, field = file.raw(name), field or name
    if isinstance(raw, list):
        plain = _plain_numbers(raw) if decimal == "." else None
        if plain is not None:
            return np.array(plain) * unit

        def read(text: str) -> float | None:
            pointed = text.replace(",", ".") if decimal == "," else text
            if ":" in pointed:  # most often, where there is no number
                return clock(pointed)
            return float(pointed) * unit if _FINITE.fullmatch(pointed) else duration(pointed)

        return spans(file, name, read, field=field, limit=limit)
    if raw.dtype.kind == "m":
        return _since(raw)
    if limit and raw.dtype.kind == "f":
        raw = np.where(np.isinf(raw), np.nan, raw)
        file.columns[name] = raw
    return numbers(file, name, field=field) * unit


def spans(
    file: NamedColumns, name: str, read: Callable[[str], float | None], *, field: str = "", limit: bool = False
) -> NDArray[np.float64]:
    """A column of text as durations in seconds, NaN where missing; `read` returns None for what it cannot read."""
    values = np.empty(file.rows)
    for row, text in enumerate(file.columns[name]):
        stripped = str(text).strip()
        seconds = math.nan if stripped.lower() in MISSING else read(stripped)
        if limit and seconds is not None and math.isinf(seconds):
            seconds = math.nan
        if seconds is None or math.isinf(seconds):
            hint = _hint(stripped) or (
                ": minutes and seconds, or hours and minutes?" if _SHORT.fullmatch(stripped) else ""
            )
            file.reject(field or name, name, row, f"is no duration such as 90, 10s, 1h30m or 1-02:03:04{hint}")
            seconds = math.nan
        values[row] = seconds
    return values


def _since(spans: Values) -> NDArray[np.float64]:
    """Seconds, NaN for NaT."""
    seconds: NDArray[np.float64] = spans / np.timedelta64(1, "s")
    return seconds


def labels(file: NamedColumns, name: str) -> tuple[NDArray[np.int64], NDArray[np.str_] | None]:
    """Numbers of users, -1 where missing; and their names if they have names, numbered in the order of the file."""
    raw = file.raw(name)
    if isinstance(raw, list):
        texts = [_WHOLE_POINT.sub("", text.strip()) for text in raw]
        if all(text.lower() in MISSING or _WHOLE.fullmatch(text) for text in texts):
            numbered = [-1 if text.lower() in MISSING else int(text) for text in texts]
            return np.array(numbered, dtype=np.int64), None
    elif raw.dtype.kind in "iu":
        return np.where(raw <= 2**63 - 1, raw, -1).astype(np.int64), None
    elif raw.dtype.kind in "fb":
        values = numbers(file, name, whole=True, field="user")
        return np.where(np.isnan(values), -1, values).astype(np.int64), None
    known: dict[str, int] = {}
    found = [known.setdefault(text, len(known)) if text.strip() else -1 for text in map(str, raw)]
    return np.array(found, dtype=np.int64), np.array(file.text(name), dtype=np.str_)


def any_values(file: NamedColumns, name: str) -> Values:
    """A column of any type, as it is, or as `typed` makes it of text."""
    raw = file.raw(name)
    return typed(file.text(name)) if isinstance(raw, list) else raw


#: The largest id of int64.
_MOST_ID = 2**63 - 1


def ids(file: NamedColumns, name: str) -> tuple[Values, int]:
    """Ids of jobs, whole numbers or text, with new ones where they are missing; and how many were missing."""
    raw = file.raw(name)
    if isinstance(raw, list):
        gone = [row for row, text in enumerate(raw) if text.strip().lower() in MISSING]
        there = np.delete(np.arange(file.rows), gone)
        given = file.text(name)  # its check of the size covers the array below, too
        given = [given[row] for row in there.tolist()] if gone else given
        found = typed(given)
        if found.dtype.kind == "f" and not _are_whole(found):
            found = np.array(given, dtype=np.str_)
    elif raw.dtype.kind == "f":
        gone = np.flatnonzero(np.isnan(raw)).tolist()
        there = np.delete(np.arange(file.rows), gone)
        found = np.delete(raw, gone)
    else:
        return raw, 0
    if not gone:
        return found, 0
    if not len(found):
        return np.arange(1, file.rows + 1), len(gone)
    last = int(found.max()) if found.dtype.kind in "if" and _are_whole(found) else _MOST_ID
    if last + len(gone) <= _MOST_ID:
        made: Values = np.empty(file.rows, dtype=np.int64)
        made[there] = found.astype(np.int64)
        made[gone] = np.arange(last + 1, last + 1 + len(gone))
        return made, len(gone)
    texts = [""] * file.rows
    for row, text in zip(there.tolist(), found.tolist(), strict=True):
        texts[row] = str(text)
    for number, row in enumerate(gone, 1):
        texts[row] = f"unnamed-{number}"
    return np.array(texts, dtype=np.str_), len(gone)


def _are_whole(values: Values) -> bool:
    """Whether numbers are whole and fit into int64; 2**63 is the first that does not."""
    return bool(((values == np.floor(values)) & (np.abs(values.astype(np.float64)) < 2.0**63)).all())


def typed(raw: list[str]) -> Values:
    """Text as whole numbers, numbers or truth values if all of it is, else as text.

    ``007`` stays text, and so does a column with anything else in it; a number that is missing among others is NaN.

    Examples
    --------
    >>> typed(["1", "2"]), typed(["1.5", ""]), typed(["007", "2"])
    (array([1, 2]), array([1.5, nan]), array(['007', '2'], dtype='<U3'))
    """
    if not any(raw):
        return np.array(raw, dtype=np.str_)
    known = [text or "nan" for text in raw]
    floats = _plain_numbers([text for text in known if text != "nan"])
    if floats is not None and not _PADDED.search(" ".join(known)):
        if len(floats) == len(raw) and all(map(_WHOLE.fullmatch, raw)):
            return np.array(list(map(int, raw)), dtype=np.int64)
        return np.array(list(map(float, known)))
    if all(text.lower() in _TRUTH for text in raw):
        return np.array([_TRUTH[text.lower()] for text in raw])
    return np.array(raw, dtype=np.str_)
