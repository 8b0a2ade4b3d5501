"""The columns of a table of Slurm as numbers, with the records that cannot be read set aside: see `SlurmFields`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from faultsim import vocabulary
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.slurm_text import SlurmTable
from faultsim.readers.slurm_values import count_of

_NUMBER = re.compile(r"-?\d++(\.\d*+)?", re.ASCII)
#: Seconds beyond which a time is none: 2^53, up to which all whole numbers are floats.
_LONGEST = 2.0**53


#: A column of moments as Slurm prints them, and its words for none.
_MOMENTS = re.compile(
    r"(?:[12]\d{3}-[01]\d-[0-3]\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d|NaT)"
    r"(?:\n(?:[12]\d{3}-[01]\d-[0-3]\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d|NaT))*+",
    re.ASCII,
)
_MOMENT_LENGTH = len("2024-01-31T12:00:00")
_NO_MOMENT = frozenset(("Unknown", "None", "NONE", "N/A", ""))


class SlurmFields:
    """Columns of a table as arrays, NaN where missing.

    The first field of a record that cannot be read is noted; `readable` counts these records in `dropped`, in the order
    of the file, and returns the others.

    Parameters
    ----------
    table : SlurmTable
        The records.
    zone : str or None
        Zone of moments without an offset; by default a clock of its own.
    dropped : DroppedRecords
        Counts the records.

    Raises
    ------
    OptionError
        For an unknown zone.
    """

    def __init__(self, table: SlurmTable, zone: str | None, dropped: DroppedRecords) -> None:
        self.table, self._dropped = table, dropped
        self._zone = None if zone is None else vocabulary.zone_of(zone)
        self._bad: dict[int, tuple[str, str, str]] = {}
        self._zoned: bool | None = None
        self._doubtful: set[int] = set()

    def __len__(self) -> int:
        return len(self.table.places)

    def texts(self, *names: str) -> list[str]:
        """The first of these fields that the table has; empty texts if there is none."""
        name = self.table.first_of(*names)
        return [""] * len(self) if name is None else self.table.columns[name]

    def has(self, *names: str) -> bool:
        """Whether the table has one of these fields."""
        return self.table.first_of(*names) is not None

    def column(
        self, name: str, read: Callable[[str], float | None], expected: str, *, needed: bool = True
    ) -> NDArray[np.float64]:
        """A field as numbers; `read` returns None for text that it does not know.

        Records with such text are dropped if the field is `needed`, else the value is missing.
        """
        values = np.full(len(self), np.nan)
        if name not in self.table.columns:
            return values
        known: dict[str, float | None] = {}  # few texts of a log differ, but moments
        for row, text in enumerate(self.table.columns[name]):
            if text not in known:
                known[text] = read(text)
            value = known[text]
            if value is not None and not abs(value) > _LONGEST:
                values[row] = value
            elif needed:
                self.bad(row, name, expected)
        return values

    def moments(self, name: str) -> NDArray[np.float64]:
        """A field of moments in seconds since 1970, on the clock of the records or, with a zone, in UTC."""
        texts = self.table.columns.get(name, [])
        if self._zone is None and not self._zoned and (plain := _plain_moments(texts)) is not None:
            self._zoned = False if np.isfinite(plain).any() else self._zoned
            return plain
        values = np.full(len(self), np.nan)
        for row, text in enumerate(texts):
            if text[:1].isdigit() and (found := vocabulary.moment(text, self._zone)) is not None:
                values[row], zoned = found
                if self._zoned is None:
                    self._zoned = zoned
                if zoned != self._zoned:
                    self.bad(row, name, f"has {'a' if zoned else 'no'} time zone, unlike those above")
                elif self._zone is not None and vocabulary.is_doubtful(text, self._zone):
                    self._doubtful.add(row)
            elif text.isascii() and text.isdigit() and len(text) < 16:
                values[row] = float(text)
            elif not vocabulary.is_missing(text):
                self.bad(row, name, "is no moment such as 2024-01-31T12:00:00; unset SLURM_TIME_FORMAT for the command")
        return values

    def seconds(self, name: str, factor: float = 1.0) -> NDArray[np.float64]:
        """A field of durations in seconds, or in a unit of `factor` seconds; NaN without limit."""

        def read(text: str) -> float | None:
            if _NUMBER.fullmatch(text):
                return factor * float(text)
            if vocabulary.is_missing(text) or vocabulary.is_unlimited(text):
                return math.nan
            return vocabulary.duration(text, short=True)

        return self.column(name, read, "is no duration such as 90 or 1-02:03:04")

    def counts(self, name: str, *, needed: bool = True) -> NDArray[np.float64]:
        """A field of whole numbers."""

        def read(text: str) -> float | None:
            found = count_of(text)
            return None if found is None or (found == found and not found.is_integer()) else found

        return self.column(name, read, "is not a whole number; add --noconvert to the command", needed=needed)

    def bad(self, row: int, name: str, problem: str) -> None:
        """Note that a record cannot be read."""
        self._bad.setdefault(row, (name, problem, self.table.columns[name][row]))

    def readable(self) -> NDArray[np.int64]:
        """The records that can be read; the others are counted as dropped.

        Raises
        ------
        InputError
            For the first of the others, if the reader is strict.
        """
        names = {name.lower(): name for name in self.table.fields}
        for row in sorted(self._bad):
            name, problem, text = self._bad[row]
            shown = text if len(text) <= 80 else text[:77] + "..."
            self._dropped.unreadable(names[name], self.table.where(row), f"column {names[name]!r}: {shown!r} {problem}")
        keep = np.ones(len(self), dtype=bool)
        keep[list(self._bad)] = False
        return np.flatnonzero(keep)

    @property
    def notes(self) -> list[str]:
        """Sentences about the clock, for the header of a log."""
        if not (count := len(self._doubtful - self._bad.keys())):
            return []
        return [
            f"{count} record{'s have' if count > 1 else ' has'} a moment in an hour that clocks in "
            f"{self._zone} show twice or not at all"
        ]


def _plain_moments(texts: list[str]) -> NDArray[np.float64] | None:
    """Moments of a column that is all ``2024-01-31T12:00:00`` or one of two words, or None: many times as fast."""
    dated = [text if len(text) == _MOMENT_LENGTH else "NaT" for text in texts]
    if not texts or _MOMENTS.fullmatch("\n".join(dated)) is None:
        return None
    if dated != texts and not {*texts} - {*dated} <= _NO_MOMENT:
        return None
    try:
        moments = np.array(dated, dtype="datetime64[s]")
    except ValueError:  # such as 2024-02-30
        return None
    values: NDArray[np.float64] = (moments - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    return values
