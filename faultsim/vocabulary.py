"""The words of files, Python and the command line for durations, dates, sizes and missing values.

Every reader and every check of an option uses the functions below, so that a word that is accepted in one place is
accepted everywhere.  ``docs/units.md`` has the same vocabulary as a table, which the tests read.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from faultsim.errors import OptionError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

#: Seconds of each unit that the numbers of a file may have: the values of ``unit=``.
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
#: Text that means "missing", in lower case.
MISSING = frozenset({"", "-", "na", "n/a", "nan", "nat", "null", "none", "unknown", "<na>", "\\n"})
#: Text that means "no limit" or "never ends", in lower case; ``partition_limit`` and ``invalid`` are Slurm's words.
UNLIMITED = frozenset(
    {"inf", "+inf", "infinity", "infinite", "unlimited", "unlim", "nolimit", "no limit", "partition_limit", "invalid"}
)
#: Unit of a duration as text, in lower case -> seconds.
_SUFFIXES = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), 604_800.0),
}
#: Suffix of a size -> factor: sacct prints counts in thousands, and memory in powers of 1,024.
_THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}
_BINARY = {"": 1.0, "k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40, "p": 2.0**50, "e": 2.0**60}
# Possessive quantifiers: otherwise digits before another character would be tried in as many ways as there are digits.
_NUMBER = r"(?:\d++\.?\d*+|\.\d++)(?:e[+-]?\d++)?"
_PART = re.compile(rf"\s*({_NUMBER})\s*([a-z\u00b5\u03bc]+)\s*", re.IGNORECASE)
# Days, then hours:minutes:seconds; minutes:seconds alone could be hours:minutes, too.
_CLOCK = re.compile(
    r"(-?)(?:(\d{1,15})(?:-| days?,? ))?(\d{1,15}):([0-5]?\d):([0-5]?\d(?:\.\d+)?)", re.ASCII | re.IGNORECASE
)
_SHORT_CLOCK = re.compile(r"(-?)(\d{1,15}):([0-5]?\d(?:\.\d+)?)", re.ASCII)
_SIZE = re.compile(rf"({_NUMBER})\s*(?:([kmgtpe]?)(i?b)?|nodes?|cores?|cpus?|gpus?)([nc]?)", re.IGNORECASE | re.ASCII)
#: Most parts of a duration such as ``1w2d3h4m5s6ms7us8ns``.
_MOST_PARTS = 8


def unit(word: object, what: str = "unit") -> float:
    """Seconds of a unit by any of its names.

    Raises
    ------
    OptionError
        For another word.

    Examples
    --------
    >>> unit("min"), unit("minutes"), unit("h")
    (60.0, 60.0, 3600.0)
    >>> unit("5m")
    Traceback (most recent call last):
    faultsim.errors.OptionError: unknown unit '5m'; known: 'ns', 'us', 'ms', 's', 'min', 'h', 'd', 'w'
    """
    found = _SUFFIXES.get(word.strip().lower()) if isinstance(word, str) else None
    if found is None:
        raise OptionError(f"unknown {what} {word!r}; known: {', '.join(map(repr, UNITS))}")
    return found


def is_missing(text: str) -> bool:
    """Whether a text stands for a missing value: empty, ``-``, ``NULL``, ``nan``, ``NA``, ``Unknown`` and others.

    Examples
    --------
    >>> is_missing(""), is_missing("NULL"), is_missing(" NaN "), is_missing("0")
    (True, True, True, False)
    """
    return text.strip().lower() in MISSING


def is_unlimited(text: str) -> bool:
    """Whether a text means that there is no limit: ``UNLIMITED``, ``inf``, ``Partition_Limit`` and others.

    Examples
    --------
    >>> is_unlimited("UNLIMITED"), is_unlimited("inf"), is_unlimited("1-00:00:00")
    (True, True, False)
    """
    return text.strip().lower() in UNLIMITED


def duration(text: str, *, short: bool = False) -> float | None:
    """Seconds of a duration with a unit or on a clock; infinite for no limit; None of other text, also of bare numbers.

    Parameters
    ----------
    text : str
        ``10s``, ``1.5 h``, ``1h30m``, ``250ms``, ``90 minutes``; ``1-02:03:04``, ``1 days 02:03:04``, ``02:03:04``;
        ``UNLIMITED`` or ``inf``.
    short : bool
        Whether ``03:04`` is minutes and seconds, as Slurm writes them.

    Examples
    --------
    >>> duration("10s"), duration("1h30m"), duration("1-02:03:04"), duration("250 us"), duration("UNLIMITED")
    (10.0, 5400.0, 93784.0, 0.00025, inf)
    >>> duration("90"), duration("03:04"), duration("03:04", short=True), duration("2 months")
    (None, None, 184.0, None)
    """
    stripped = text.strip()
    if ":" in stripped:
        return clock(stripped, short=short)
    if stripped.lower() in UNLIMITED:
        return math.inf
    sign = -1.0 if stripped.startswith("-") else 1.0
    rest, total = stripped[1:] if stripped[:1] in ("-", "+") else stripped, 0.0
    at, before = 0, math.inf
    for _ in range(_MOST_PARTS):
        found = _PART.match(rest, at)
        if found is None or not found[1].isascii() or not before > (unit := _SUFFIXES.get(found[2].lower(), math.inf)):
            return None
        total, at, before = total + float(found[1]) * unit, found.end(), unit
        if at == len(rest):
            return sign * total
    return None


def clock(text: str, *, short: bool = False) -> float | None:
    """Seconds of ``1-02:03:04``, ``1 days 02:03:04`` or ``02:03:04``, with `short` also of ``03:04``; else None.

    Examples
    --------
    >>> clock("1-02:03:04"), clock("02:03:04.5"), clock("03:04"), clock("03:04", short=True), clock("-0:00:16")
    (93784.0, 7384.5, None, 184.0, -16.0)
    """
    if found := _CLOCK.fullmatch(text):
        sign, days, hours, minutes, rest = found.groups()
        total = 86_400.0 * int(days or 0) + 3600.0 * int(hours) + 60.0 * int(minutes) + float(rest)
        return -total if sign else total
    if short and (found := _SHORT_CLOCK.fullmatch(text)):
        total = 60.0 * int(found[2]) + float(found[3])
        return -total if found[1] else total
    return None


def size(text: str, *, binary: bool = False) -> float | None:
    """The number of a size such as ``4``, ``1.50K``, ``187G``, ``4Gn`` or ``4 nodes``; None of other text.

    Parameters
    ----------
    text : str
        A number, perhaps with a suffix: K, M, G, T, P or E (``KB``, ``GiB``), then ``n`` or ``c`` for "per node" and
        "per core", which are ignored; or a number of nodes, cores, CPUs or GPUs.
    binary : bool
        Whether K is 1,024, as of memory, or 1,000, as of counts.  ``KiB`` is always 1,024.

    Examples
    --------
    >>> size("1.50K"), size("187G", binary=True), size("4Gn", binary=True), size("4 nodes"), size("four")
    (1500.0, 200789721088.0, 4294967296.0, 4.0, None)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    suffix = (found[2] or "").lower()
    powers = _BINARY if binary or (found[3] or "").lower() == "ib" else _THOUSANDS
    return float(found[1]) * powers[suffix]


@lru_cache(16)
def zone_of(name: str) -> ZoneInfo:
    """The time zone of this name, such as ``Europe/Berlin``.

    Raises
    ------
    OptionError
        For an unknown name.

    Examples
    --------
    >>> zone_of("Europe/Berlin").key
    'Europe/Berlin'
    """
    from zoneinfo import ZoneInfo

    try:
        if not isinstance(name, str) or not name or name.startswith((".", "/")):
            raise ValueError
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise OptionError(
            f"zone: {name!r:.60} is no time zone known here; expected one such as 'UTC' or 'Europe/Berlin'"
        ) from None


def moment(text: str, zone: ZoneInfo | None = None) -> tuple[float, bool] | None:
    """Seconds since 1970 of a date such as ``2024-01-31T12:00:00``, and whether it has a zone; None of other text.

    Parameters
    ----------
    text : str
        A date, or a date and time, in ISO 8601, perhaps with an offset (``Z``, ``+01:00``).
    zone : ZoneInfo, optional
        Zone of the clock of dates without an offset; such a date then has a zone.  Without it the date is on a clock of
        its own, taken for UTC.

    Examples
    --------
    >>> moment("1970-01-02"), moment("1970-01-01T01:00:00+01:00"), moment("31.01.2024")
    ((86400.0, False), (0.0, True), None)
    >>> moment("1970-01-01T01:00:00", zone_of("Europe/Berlin"))
    (0.0, True)
    """
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    zoned = found.tzinfo is not None
    if not zoned:
        found = found.replace(tzinfo=UTC if zone is None else zone)
    try:
        return found.timestamp(), zoned or zone is not None
    except OverflowError:
        return None


def is_doubtful(text: str, zone: ZoneInfo) -> bool:
    """Whether a date without an offset is in an hour that the clock of the zone shows twice, or not at all.

    Examples
    --------
    >>> berlin = zone_of("Europe/Berlin")
    >>> is_doubtful("2024-10-27T02:30:00", berlin), is_doubtful("2024-03-31T02:30:00", berlin)
    (True, True)
    >>> is_doubtful("2024-10-27T04:30:00", berlin)
    False
    """
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    if found.tzinfo is not None:
        return False
    first, second = (found.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    return first != second


def crosses_change(begin: float, end: float, zone: ZoneInfo) -> bool:
    """Whether the offset of a zone differs between two moments in seconds since 1970.

    Examples
    --------
    >>> crosses_change(1711839600.0, 1711854000.0, zone_of("Europe/Berlin"))
    True
    """
    offsets = [(datetime.fromtimestamp(0, UTC) + timedelta(seconds=at)).astimezone(zone).utcoffset()
               for at in (begin, end)]  # fmt: skip
    return offsets[0] != offsets[1]
