"""Reads failure traces from tables, faultsim's own or any other: see `read_failures`."""

from __future__ import annotations

import codecs
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faultsim import checks, vocabulary
from faultsim.arrays import Values
from faultsim.checks import parsed
from faultsim.data.columns import FAILURES, MAX_NODES, by_name
from faultsim.data.complete_files import complete
from faultsim.data.failures import FailureTrace
from faultsim.data.node_parts import part_of
from faultsim.data.numbering import Numbering, numbering_of_text
from faultsim.data.slowdowns import SlowOutage, slow_outage
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.readers.input_lines import Lines, stem
from faultsim.readers.named_columns import NamedColumns
from faultsim.readers.named_values import durations, moments, numbers
from faultsim.readers.slurm_values import natural
from faultsim.readers.timestamps import Moment, on_clock, seconds
from faultsim.vocabulary import UNITS, duration, is_missing, is_unlimited, zone_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_NAMES = tuple(by_name(FAILURES))
_SUFFIXES = (".gz", ".xz", ".bz2", ".csv", ".tsv", ".txt", ".parquet", ".pq")
_PARQUET = b"PAR1"
_KEYS = ("time", "node", "finish", "downtime", "coin", "part")
_TIMES = ("time", "finish", "downtime")
#: Names that columns of others have, without what separates their words and without the unit at the end.
_GUESSES: dict[str, tuple[str, ...]] = {
    "time": (
        "time", "start", "starttime", "timestart", "timestamp", "begin", "begintime", "failed", "failedat",
        "failuretime", "failtime", "failure", "eventstarttime", "from", "date", "datetime", "when", "down", "downat",
    ),
    "node": (
        "node", "host", "hostname", "nodename", "nodeid", "nodenum", "nodenumber", "machine", "machineid", "server",
        "component", "componentid",
    ),
    "finish": (
        "finish", "end", "endtime", "timeend", "stop", "stoptime", "eventstoptime", "repaired", "repairedat", "fixed",
        "recovered", "until", "to", "up", "upat",
    ),
    "downtime": (
        "downtime", "duration", "repair", "repairtime", "outage", "ttr", "timetorepair", "failureduration", "length",
        "lasts", "recoverytime",
    ),
    "coin": ("coin",),
    "part": ("part",),
}  # fmt: skip
_OPENDC = ("failure_interval", "failure_duration", "failure_intensity")


@entry
def read_failures(
    path: str | os.PathLike[str],
    *,
    time: str | None = None,
    node: str | None = None,
    finish: str | None = None,
    downtime: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str | Mapping[str, str] = "s",
    nodes: int | Sequence[str] | None = None,
    span: checks.Duration | None = None,
    begin: Moment | None = None,
    end: Moment | None = None,
    separator: str | None = None,
    decimal: str = ".",
    zone: str | None = None,
    name: str | None = None,
    rng: checks.Random = 0,
    strict: bool = False,
) -> FailureTrace:
    """Read a failure trace from a table: faultsim's own, or any that says when which node failed.

    Parameters
    ----------
    path : path
        A CSV whose first line names the columns (separated by comma, semicolon, tab, ``|`` or spaces), plain, gzip, xz
        or bzip2; or a Parquet file (needs pyarrow).  Told by content; "-" is standard input.  Lines that begin with "#"
        are comments, of which ``# span: seconds``, ``# name: text``, ``# numbers: nodes of 128`` (`FailureTrace.of`),
        ``# nodes: [...]`` and those of slowdowns are read.  Rows may come in any order.
    time, node, finish, downtime : str, optional
        Names of these columns in the file: when a node fails, which node, when it is up again, for how long it is down.
        By default those that are called so, or ``start``, ``timestamp``; ``host``, ``nodename``; ``end``, ``repaired``;
        ``duration``, ``repair_h`` (in hours), and the like.
    columns : mapping of str to str, optional
        The same in one mapping: ``{"time": "failed_at", "node": "box"}``.
    unit : str or mapping of str to str
        Unit of times that are numbers, as of `read_jobs`: for all of them, or ``{"downtime": "min"}``.
    nodes : int or sequence of str, optional
        The machine: its number of nodes, which becomes `FailureTrace.of`, or the names of all its nodes by number.
    span : float, optional
        The time that the trace covers, in seconds; by default what the file says, else up to the last failure or end.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only failures from `begin`, which becomes 0 s, to before `end`.
    separator, decimal, zone : str, optional
        As of `read_jobs`.
    name : str, optional
        Name of the trace; by default what the file says, or its own.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Which nodes fail, for traces that say only how many: those of OpenDC.
    strict : bool
        Whether a row that cannot be read is an error; by default it is left out and counted.

    Returns
    -------
    FailureTrace
        Identical, bit for bit, to the one that `FailureTrace.write_csv` wrote.  Of dates, 0 s is midnight before the
        first.  Nodes with names are numbered in their natural order, and `FailureTrace.nodes` keeps the names.  A node
        without an end, or that is down for ``inf``, is down until the trace ends; without a down time it is back at
        once.  A column ``part`` (``gpus:1``, ``cores:4``, ``memory:16G``; empty: the whole node) says which part of the
        node fails, on a site.  A trace of OpenDC (``failure_interval``, ``failure_duration`` in ms,
        ``failure_intensity``) needs `nodes`: an interval is the time since the failure before, and an intensity the
        share of nodes that fail.
        `FailureTrace.dropped` counts what is left out: ``"time missing"``, ``"node missing"``, ``"end before start"``,
        ``"down time negative"``, ``"unreadable record"``, ``"unreadable time"`` and so on.

    Raises
    ------
    InputError
        No such file; columns missing; no record that can be read; with `strict` one that cannot (file, line and text
        are named).
    OptionError
        An unknown unit, zone or column.
    MissingExtraError
        A Parquet file, without pyarrow.

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([60, 90.5], [0, 2], [0, 30], span=3600)
    >>> trace.write_csv("trace.csv.gz")
    >>> fs.read_failures("trace.csv.gz") == trace
    True
    >>> with open("outages.csv", "w") as file:
    ...     _ = file.write("timestamp;host;repair_h\\n2024-01-01 00:00;node001;2.5\\n2024-01-02 00:00;node007;1\\n")
    >>> trace = fs.read_failures("outages.csv")
    >>> trace.nodes, trace.downtime
    (('node001', 'node007'), array([9000., 3600.]))
    """
    lines = Lines(path, binary=_PARQUET, ends=True)
    content = b"".join(complete(lines.name, lines))
    covers = None if span is None else checks.number("span", span, low=0.0, unit="s")
    given = _asked_for(columns, time=time, node=node, finish=finish, downtime=downtime)
    asked = _Options(given, unit, nodes, covers, begin, end, decimal, zone, rng)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content.decode("utf-16", "replace").encode("utf-8", "replace")
    is_text = not content.startswith(_PARQUET)
    said = _comments(lines.name, content if is_text else b"")
    title = (said.name or stem(path, _SUFFIXES)) if name is None else name
    if is_text and asked.is_plain and not separator:
        trace = _own(lines.name, content, said, title)
        if trace is not None:
            return trace
    wanted = list(given.values())
    is_strict = checks.flag("strict", strict)
    file = NamedColumns.of_content(lines.name, content, separator=separator or "", strict=is_strict, wanted=wanted)
    if set(_OPENDC) <= set(file.columns):
        return _opendc(file, asked, title)
    return _table(file, asked, said, title)


class _Comments(NamedTuple):
    """The facts in the comment lines of a trace."""

    span: float | None
    name: str
    of: Numbering | None
    nodes: tuple[str, ...] | None
    slow: list[SlowOutage]


def _comments(where: str, content: bytes) -> _Comments:
    """The facts in lines that begin with "#"."""
    facts: dict[str, str] = {}
    slow: list[SlowOutage] = []
    of: Numbering | None = None
    nodes: tuple[str, ...] | None = None
    for number, line in enumerate(content.split(b"\n"), 1) if b"#" in content else ():
        stripped = line.strip()
        if not stripped.startswith(b"#"):
            continue
        key, colon, value = (part.strip() for part in stripped.lstrip(b"# ").decode("utf-8", "replace").partition(":"))
        try:
            if colon and key == "numbers":
                of = numbering_of_text(value)
            elif colon and key == "slowdown":
                slow.append(slow_outage(value))
            elif colon and key == "nodes":
                nodes = _listed(value)
            elif colon:
                facts[key] = value
        except InputError as error:
            raise InputError(f"{where}, line {number}: {error}") from None
    span = facts.get("span")
    try:
        until = None if span is None else parsed(span, float)
    except ValueError:
        raise InputError(f"{where}: span: {checks.shown(span)} is not a number") from None
    return _Comments(until, facts.get("name", ""), of, nodes, slow)


def _listed(text: str) -> tuple[str, ...] | None:
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None  # a comment of another program
    return tuple(found) if isinstance(found, list) and all(isinstance(each, str) for each in found) else None


def _own(where: str, content: bytes, said: _Comments, name: str) -> FailureTrace | None:
    """The trace of a table in faultsim's own form; None if a column or a row is not as it should be."""
    header: list[str] = []
    rows: list[list[float]] = []
    lines: list[int] = []
    places: list[int] = []
    parts: list[str] = []
    named = -1
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(b"#"):
            continue
        if not header:
            header = [word.strip() for word in stripped.decode("utf-8", "replace").split(",")]
            if not {"time", "node"} <= set(header) or len(set(header)) < len(header):
                return None
            places = [header.index(wanted) for wanted in _NAMES if wanted in header]
            named = header.index("part") if "part" in header else -1
            continue
        fields = stripped.split(b",")
        try:
            if len(fields) != len(header):
                return None
            rows.append([parsed(fields[place], float) for place in places])
            if named >= 0:
                parts.append(fields[named].decode("utf-8", "replace"))
        except ValueError:
            return None
        lines.append(number)
    if not header:
        raise InputError(f"{where}: empty; expected a line with the names of the columns, {','.join(_NAMES)}")
    values = np.array(rows).reshape(-1, len(places))
    table: dict[str, Any] = dict(zip([header[place] for place in places], values.T, strict=True))
    finite = values.copy()
    if "downtime" in table:  # infinite: for good
        at = [header[place] for place in places].index("downtime")
        finite[np.isinf(values[:, at]), at] = 0.0
    if not np.isfinite(finite).all() or (values < 0).any() or (table["node"] != np.floor(table["node"])).any():
        return None
    try:
        trace = FailureTrace(**table, part=parts if named >= 0 else None, span=said.span, of=said.of, name=name)
        return trace._made(trace.columns, slow=said.slow)._with_names(said.nodes or (), None)
    except ValueError as error:
        raise InputError(f"{where}{_line_of(str(error), lines)}: {error}") from error


def _line_of(message: str, lines: list[int]) -> str:
    """``, line N`` for a message that names a row."""
    _, found, rest = message.partition(", row ")
    row = rest.partition(":")[0]
    return f", line {lines[int(row)]}" if found and row.isdecimal() and int(row) < len(lines) else ""


def _asked_for(columns: Mapping[str, str] | None, **given: str | None) -> dict[str, str]:
    """Our names of columns and those of the file, as the caller gives them."""
    found = {key: said for key, said in given.items() if said is not None}
    for key, said in dict(columns or {}).items():
        ours = "finish" if key == "end" else key
        if ours not in (*given, "coin", "part"):
            raise OptionError(f"columns: {key!r} is no column of a trace; known: {', '.join((*given, 'coin', 'part'))}")
        if found.setdefault(ours, said) != said:
            raise OptionError(f"columns: {key} is {said!r} here, and {found[ours]!r} in {ours}=")
    return found


class _Options(NamedTuple):
    """How to read a table of failures."""

    given: dict[str, str]
    unit: str | Mapping[str, str]
    nodes: int | Sequence[str] | None
    span: float | None
    begin: Moment | None
    end: Moment | None
    decimal: str
    zone: str | None
    rng: checks.Random

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the file says what is in it."""
        others = (self.nodes, self.span, self.begin, self.end, self.zone)
        plain = isinstance(self.unit, str) and self.unit == "s" and self.decimal == "."
        return not self.given and plain and all(each is None for each in others)

    def units(self, named: Mapping[str, float]) -> dict[str, float]:
        """Seconds of the unit of each column: as given, else as its name says."""
        if isinstance(self.unit, str) and self.unit == "s":
            return {key: named.get(key, 1.0) for key in _KEYS}
        said = dict.fromkeys(_TIMES, self.unit) if isinstance(self.unit, str) else dict(self.unit)
        said = {"finish" if key == "end" else key: value for key, value in said.items()}
        for key in said:
            if key not in _TIMES:
                raise OptionError(f"unit: {key!r} is no time{checks.did_you_mean(key, _TIMES)}: {', '.join(_TIMES)}")
        return {key: vocabulary.unit(said[key]) if key in said else named.get(key, 1.0) for key in _KEYS}


def _table(file: NamedColumns, asked: _Options, said: _Comments, name: str) -> FailureTrace:
    """The trace in a table of any names."""
    used, named = _used(file, asked.given)
    units = asked.units(named)
    zone = None if asked.zone is None else zone_of(asked.zone)
    checks.choice("decimal", asked.decimal, (".", ","))
    time, dates = moments(file, used["time"], units["time"], field="time", zone=zone, decimal=asked.decimal)
    node, names, of = _numbered(file, used["node"], asked.nodes if asked.nodes is not None else said.nodes)
    down, last, still_open = _down(file, used, units, time, dates, zone, asked.decimal)
    parts = _parts(file, used["part"]) if "part" in used else []
    file.dropped.finish(file.total, expected="a table with a time and a node in each row")
    reasons = {
        "time missing": np.isnan(time),
        "time negative": time < 0,
        "node missing": node < 0,
        ("end before start" if "finish" in used else "down time negative"): down < 0,
    }
    keep = ~file.rejected
    for reason, out in reasons.items():
        file.dropped.left_out(reason, int(np.count_nonzero(out & keep)))
        keep &= ~out
    if not keep.any() and file.rows:
        counts = ", ".join(f"{reason}: {count}" for reason, count in file.dropped.counts.items())
        raise InputError(f"{file.name}: no failures are left ({counts})")
    table: dict[str, Values] = {"time": time[keep], "node": node[keep], "downtime": down[keep]}
    if "coin" in used:
        table["coin"] = numbers(file, used["coin"], field="coin")[keep]
    if "part" in used:
        table["part"] = np.array(parts, dtype=np.str_)[keep]
    ends = last[keep]
    until = said.span if asked.span is None else asked.span
    covered = max(float(np.max(values, initial=0.0)) for values in (table["time"], ends[np.isfinite(ends)]))
    covered = covered if until is None or dates else until
    opened = still_open[keep]
    table["downtime"] = np.where(opened, np.maximum(covered - table["time"], 0.0), table["downtime"])
    if opened.any():
        import logging

        logging.getLogger("faultsim").warning(
            "%s: %s of %s outages have no end; they last until the trace ends",
            *(file.name, f"{np.count_nonzero(opened):,}", f"{len(opened):,}"),
        )
    dropped = file.dropped.counts
    try:
        if dates:
            first = float(table["time"].min()) if len(table["time"]) else 0.0
            columns = {key: values for key, values in table.items() if key != "coin"}
            trace = on_clock(name, columns, dropped, first=first, last=covered, begin=asked.begin, end=asked.end, of=of)
            return trace._with_names(names or (), None)
        has_span = until is not None or opened.any() or "finish" in used
        meaning = said.of if of is None else of
        trace = FailureTrace(**table, span=covered if has_span else None, of=meaning, name=name, dropped=dropped)
        trace = trace._made(trace.columns, slow=said.slow)._with_names(names or (), None)
        if asked.begin is None and asked.end is None:
            return trace
        zero = 0.0 if asked.begin is None else seconds("begin", asked.begin)
        return trace.window(zero, math.inf if asked.end is None else seconds("end", asked.end))
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from error


def _used(file: NamedColumns, given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, float]]:
    """Our names of columns and those of the file, as given or guessed; and seconds of the units in their names."""
    used: dict[str, str] = {}
    named: dict[str, float] = {}
    for key, said in given.items():
        if not file.has(said):
            raise InputError(f"{file.name}: no column {said!r}{file.suggested(said)}; it has {file.listed()}")
        used[key] = file.take(said)
    file.refuse_twice(list(used.values()))
    there = {name: _plain_name(name) for name in file.columns}
    for key in _KEYS:
        if key in used or (key == "finish" and "downtime" in used) or (key == "downtime" and "finish" in used):
            continue
        for guess in _GUESSES[key]:
            found = next(
                (name for name, (plain, _) in there.items() if plain == guess and name not in used.values()), None
            )
            if found is not None and (key != "part" or _names_parts(file, found)):
                used[key], named[key] = found, there[found][1]
                break
    missing = [key for key in ("time", "node") if key not in used]
    if missing:
        from difflib import get_close_matches

        near = [get_close_matches(key, list(file.columns), n=1, cutoff=0.85) for key in missing]
        hint = "".join(f"; did you mean {found[0]!r}?" for found in near if found)
        which = " and no column ".join(map(repr, missing))
        wanted = ", ".join(f"{key}=..." for key in missing)
        raise InputError(f"{file.name}: no column {which}{hint}; it has {file.listed()}; name them: {wanted}")
    return used, named


def _names_parts(file: NamedColumns, name: str) -> bool:
    """Whether all texts of a column name parts of nodes: a column of another program may be called so, too."""
    raw = file.raw(name)
    try:
        for text in set(raw) if isinstance(raw, list) else ():
            part_of("" if is_missing(text) else text)
    except InputError:
        return False
    return isinstance(raw, list)


def _parts(file: NamedColumns, name: str) -> list[str]:
    """The part of a node in each row, empty for the whole node; a row with other text is left out."""
    found = ["" if is_missing(text) else text for text in file.text(name)]
    for row, text in enumerate(found):
        try:
            part_of(text)
        except InputError as error:
            found[row] = ""
            file.reject("part", name, row, f"is no part: {error}")
    return found


def _plain_name(name: str) -> tuple[str, float]:
    """A name of a column as guesses compare it, and the seconds of the unit with which it ends: ``repair_h``."""
    words = [word for word in re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) if word]
    factor = duration("1" + words[-1]) if len(words) > 1 and not words[-1][0].isdigit() else None
    if factor is None or not math.isfinite(factor):
        return "".join(words), 1.0
    return "".join(words[:-1]), factor


def _down(
    file: NamedColumns,
    used: Mapping[str, str],
    units: Mapping[str, float],
    time: NDArray[np.float64],
    dates: bool,
    zone: ZoneInfo | None,
    decimal: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """For how long nodes are down, the ends of outages, and which have no end."""
    if "finish" in used:
        raw = file.raw(used["finish"])
        if isinstance(raw, list):
            file.columns[used["finish"]] = ["" if is_unlimited(text) else text for text in raw]
        end, end_dates = moments(file, used["finish"], units["finish"], field="end", zone=zone, decimal=decimal)
        known = np.isfinite(end)
        if known.any() and end_dates != dates:
            raise InputError(f"{file.name}: of {used['time']!r} and {used['finish']!r} one has dates, one numbers")
        return np.where(known, end - time, 0.0), end, ~known
    if "downtime" not in used:
        return np.zeros(file.rows), time, np.zeros(file.rows, dtype=bool)
    lasts = _lasting(file, used["downtime"], units["downtime"], decimal)
    still = np.isposinf(lasts)
    lasts = np.where(np.isnan(lasts) | still, 0.0, lasts)
    return lasts, np.where(still, math.nan, time + lasts), still


def _lasting(file: NamedColumns, name: str, unit: float, decimal: str) -> NDArray[np.float64]:
    """A column of down times, infinite where a node stays down."""
    raw = file.raw(name)
    if isinstance(raw, list):
        still = np.array([is_unlimited(text) for text in raw], dtype=bool)
    else:
        still = np.isposinf(raw) if raw.dtype.kind == "f" else np.zeros(len(raw), dtype=bool)
    found = durations(file, name, unit, field="down time", limit=True, decimal=decimal)
    return np.where(still, math.inf, found)


def _numbered(
    file: NamedColumns, name: str, machine: int | Sequence[str] | None
) -> tuple[NDArray[np.int64], tuple[str, ...] | None, int | None]:
    """Numbers of nodes, -1 where missing; their names, if they have names; and the nodes of the machine, if given."""
    raw = file.raw(name)
    machine = int(machine) if isinstance(machine, np.integer) else machine
    listed = None
    if machine is not None and not isinstance(machine, int):
        if np.ndim(machine) != 1:
            given = checks.shown(machine)
            raise OptionError(f"nodes must be the number of nodes or a list of all their names, got {given}")
        listed = tuple(map(str, machine))
    of = machine if isinstance(machine, int) else None if listed is None else len(listed)
    texts = [text.strip() for text in raw] if isinstance(raw, list) else None
    if texts is not None:
        texts = [re.sub(r"^(-?\d+)\.0+$", r"\1", text) for text in texts]
    is_number = texts is None or all(is_missing(text) or re.fullmatch(r"-?\d{1,18}", text) for text in texts)
    if listed is None and is_number:
        found = numbers(file, name, whole=True, field="node")
        return np.where(np.isnan(found), -1, found).astype(np.int64), None, of
    if texts is None:
        texts = [str(int(value)) if value == np.floor(value) else "" for value in numbers(file, name)]
    if listed is None:
        listed = tuple(sorted({text for text in texts if not is_missing(text)}, key=natural))
    number = {each: at for at, each in enumerate(listed)}
    for text in texts:
        if not is_missing(text) and text not in number:
            raise InputError(f"{file.name}: column {name!r}: node {checks.shown(text)} is not among nodes=")
    return np.array([number.get(text, -1) for text in texts], dtype=np.int64), listed, of


def _opendc(file: NamedColumns, asked: _Options, name: str) -> FailureTrace:
    """A trace of OpenDC: how many nodes fail, how long after the failures before, and for how long."""
    if not isinstance(asked.nodes, int) or isinstance(asked.nodes, bool):
        raise OptionError(
            f"{file.name}: a trace of OpenDC says which share of the nodes fails: give their number, nodes=..."
        )
    total = checks.whole("nodes", asked.nodes, low=1, high=MAX_NODES)
    unit = UNITS["ms"] if asked.unit == "s" else asked.units({})["time"]
    gap, lasts, share = (numbers(file, f"failure_{key}") for key in ("interval", "duration", "intensity"))
    file.dropped.finish(file.total)
    bad = file.rejected | ~(gap >= 0) | ~(lasts >= 0) | ~((share >= 0) & (share <= 1))
    file.dropped.left_out("interval, duration or intensity out of range", int(np.count_nonzero(bad & ~file.rejected)))
    time = np.cumsum(np.where(bad, 0.0, gap)) * unit
    random = checks.generator(asked.rng)
    times, nodes, downs = [], [], []
    for row in np.flatnonzero(~bad & (share > 0)).tolist():
        count = max(1, round(float(share[row]) * total))
        nodes.append(random.choice(total, count, replace=False))
        times.append(np.full(count, time[row]))
        downs.append(np.full(count, lasts[row] * unit))
    if not times:
        raise InputError(f"{file.name}: no failures are left ({file.dropped.counts})")
    columns = (np.concatenate(values) for values in (times, nodes, downs))
    return FailureTrace(*columns, span=asked.span, of=total, name=name, dropped=file.dropped.counts)
