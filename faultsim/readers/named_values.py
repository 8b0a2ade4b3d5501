"""What the text and the arrays of a file mean: numbers, moments, durations, names of users, columns of any type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.errors import InputError
from faultsim.readers.named_columns import NamedColumns
from faultsim.vocabulary import MISSING, clock

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# Possessive: digits that are followed by something else would be tried in as many ways as there are of them.
_NUMBER = re.compile(r"[-+]?(\d++\.?\d*+|\.\d++)([eE][-+]?\d++)?|[-+]?inf", re.IGNORECASE | re.ASCII)
# A number with leading zeros, which is a name, among numbers between spaces.
_PADDED = re.compile(r"(?<![^ ])[-+]?0\d")
_DROP_NUMBERS = str.maketrans("", "", "0123456789.+-eE")
_TRUTH = {"true": True, "false": False}


def numbers(file: NamedColumns, name: str, *, whole: bool = False) -> NDArray[np.float64]:
    """A column of numbers, NaN where missing.

    Raises
    ------
    InputError
        For what is no number, or not whole where only that is meant.
    """
    raw = file.columns[name]
    if isinstance(raw, list):
        plain = _plain_numbers(raw)
        values = np.array(
            [_number(file, name, row, text) for row, text in enumerate(raw)] if plain is None else plain,
            dtype=np.float64,
        )
    elif raw.dtype.kind in "iufb":
        values = raw.astype(np.float64)
    else:
        raise InputError(f"{file.name}: column {name!r} is of {raw.dtype}; expected numbers")
    bad = np.isinf(values)
    if whole:
        bad |= values != np.floor(values)
        bad &= ~np.isnan(values)
    if bad.any():
        raise file.bad(name, int(np.argmax(bad)), "is not a whole number" if whole else "is not a finite number")
    return values


def _plain_numbers(raw: list[str]) -> list[float] | None:
    """Text as numbers if all of it is, without a look at each; else None."""
    if "".join(raw).translate(_DROP_NUMBERS):
        return None
    try:
        return list(map(float, raw))
    except ValueError:
        return None


def _number(file: NamedColumns, name: str, row: int, text: str) -> float:
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped):
        return float(stripped)
    if stripped.lower() in MISSING:
        return math.nan
    raise file.bad(name, row, "is not a number")


def moments(file: NamedColumns, name: str, unit: float) -> tuple[NDArray[np.float64], bool]:
    """A column of moments in seconds, NaN where missing; and whether they are dates, in seconds since 1970.

    Text is one or the other: numbers in a unit, or dates such as ``2024-01-31T12:00:00``, all with a time zone or all
    without.
    """
    raw = file.columns[name]
    if isinstance(raw, list):
        first = next((text.strip() for text in raw if text.strip().lower() not in MISSING), "0")
        if _NUMBER.fullmatch(first):
            return numbers(file, name) * unit, False
        has_zone: list[bool] = []
        return np.array([_moment(file, name, row, text, has_zone) for row, text in enumerate(raw)]), True
    if raw.dtype.kind == "M":
        return _since(raw - np.datetime64(0, "s")), True
    return numbers(file, name) * unit, False


def _moment(file: NamedColumns, name: str, row: int, text: str, has_zone: list[bool]) -> float:
    if text.strip().lower() in MISSING:
        return math.nan
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise file.bad(name, row, "is no date and time such as 2024-01-31T12:00:00, as others here") from None
    zoned = moment.tzinfo is not None
    if not has_zone:
        has_zone.append(zoned)
    if zoned != has_zone[0]:
        raise file.bad(name, row, f"has {'a' if zoned else 'no'} time zone, unlike those above")
    return (moment if zoned else moment.replace(tzinfo=UTC)).timestamp()


def durations(file: NamedColumns, name: str, unit: float) -> NDArray[np.float64]:
    """A column of durations in seconds, NaN where missing: numbers in a unit, or ``days-hours:minutes:seconds``."""
    raw = file.columns[name]
    if isinstance(raw, list):
        plain = _plain_numbers(raw)
        if plain is not None:
            return numbers(file, name) * unit
        return spans(file, name, lambda text: float(text) * unit if _NUMBER.fullmatch(text) else clock(text))
    if raw.dtype.kind == "m":
        return _since(raw)
    return numbers(file, name) * unit


def spans(file: NamedColumns, name: str, read: Callable[[str], float | None]) -> NDArray[np.float64]:
    """A column of text as durations in seconds, NaN where missing; `read` returns None for what it does not know."""
    values = np.empty(file.rows)
    for row, text in enumerate(file.columns[name]):
        stripped = str(text).strip()
        seconds = math.nan if stripped.lower() in MISSING else read(stripped)
        if seconds is None or math.isinf(seconds):
            raise file.bad(name, row, "is no duration such as 90 or 1-02:03:04")
        values[row] = seconds
    return values


def _since(spans: NDArray[Any]) -> NDArray[np.float64]:
    """Seconds, NaN for NaT."""
    seconds: NDArray[np.float64] = spans / np.timedelta64(1, "s")
    return seconds


def labels(file: NamedColumns, name: str) -> tuple[NDArray[np.int64], NDArray[np.str_] | None]:
    """Numbers of users, -1 where missing; and their names if they have names, numbered in the order of the file."""
    raw = file.columns[name]
    if not isinstance(raw, list) or all(text.strip().lower() in MISSING or _WHOLE.fullmatch(text) for text in raw):
        values = numbers(file, name, whole=True)
        return np.where(np.isnan(values), -1, values).astype(np.int64), None
    known: dict[str, int] = {}
    found = [known.setdefault(text, len(known)) if text.strip() else -1 for text in raw]
    return np.array(found, dtype=np.int64), np.array(file.text(name), dtype=np.str_)


def any_values(file: NamedColumns, name: str) -> NDArray[Any]:
    """A column of any type, as it is, or as `typed` makes it of text."""
    raw = file.columns[name]
    return typed(file.text(name)) if isinstance(raw, list) else raw


def typed(raw: list[str]) -> NDArray[Any]:
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
