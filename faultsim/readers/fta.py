"""Reads availability records of the Failure Trace Archive: see `read_fta`."""

from __future__ import annotations

import codecs
import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.checks import parsed
from faultsim.data.failure_summary import merged_outages
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, stem
from faultsim.readers.timestamps import Moment, on_clock

_FIELDS = (
    "event_id", "component_id", "node_id", "platform_id", "node_name",
    "event_type", "event_start_time", "event_stop_time", "event_end_reason",
)  # fmt: skip
_WIDTH = len(_FIELDS)
#: Bytes of a line of an event as it should be; in an array each field would take as much as the longest.
_LONGEST = 1000
_NODE, _NAME, _TYPE, _START, _STOP = 2, 4, 5, 6, 7
_UNAVAILABLE = b"0"
_MOST_NODES = 10**18
_SUFFIXES = (".gz", ".xz", ".bz2", ".tab", ".txt")


class _Events(NamedTuple):
    """Unavailable intervals of one block, and facts about the whole block."""

    node: NDArray[np.int64]
    start: NDArray[np.float64]
    stop: NDArray[np.float64]
    nodes: NDArray[np.int64]  # all node ids, each once
    first: float
    last: float
    read: int  # number of events read


@entry
def read_fta(
    path: str | os.PathLike[str],
    *,
    prefix: str = "",
    begin: Moment | None = None,
    end: Moment | None = None,
    min_downtime: checks.Duration = 0.0,
    under_way: bool = False,
    strict: bool = False,
) -> FailureTrace:
    """Read an ``event_trace.tab`` of the Failure Trace Archive (FTA), such as that of Grid'5000.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.
    prefix : str
        Only nodes whose name begins with this: ``"G1/site8/c1/"`` is one cluster of Grid'5000.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only failures from `begin` to before `end`, as dates (``"2006-01-01"``, in UTC) or in seconds since 1970.
        `begin` becomes time 0; by default midnight before the first event.
    min_downtime : float
        Shorter outages, in seconds, are omitted and counted: half of Grid'5000's are shorter than three minutes.
    under_way : bool
        Whether an outage that began before `begin` is included, at time 0 with its rest.
    strict : bool
        Whether an event that cannot be read is an error; by default it is left out and counted.

    Returns
    -------
    FailureTrace
        Every interval in which a node is unavailable (event type 0) is a failure with the interval as its down time;
        those that touch or overlap are one.  A node that is unavailable when its record begins counts as failing there.
        Nodes are numbered from 0 in the order of their ids, including those without failures.  The span ends with the
        last event.

    Raises
    ------
    InputError
        No such file; another format; a line that cannot be read (file, line and text are named); no failure left.

    Notes
    -----
    Format: [kondo2010]; tab separated, padded: id of event, component, node and platform, name of the node, type of
    event (0 unavailable, 1 available), start and stop in Unix seconds, reason of the end.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("event_trace.tab", "w") as file:
    ...     _ = file.write(
    ...         "0\\t0\\t7\\t5\\tsite/node1\\t1\\t1115811139\\t1115820000\\tNULL\\n"
    ...         "1\\t0\\t7\\t5\\tsite/node1\\t0\\t1115820000\\t1115823600\\tNULL\\n"
    ...         "2\\t0\\t9\\t5\\tsite/node2\\t0\\t1115820000\\t1115820060\\tNULL\\n"
    ...     )
    >>> trace = fs.read_fta("event_trace.tab")
    >>> trace.node, trace.downtime
    (array([0, 1], dtype=int32), array([3600.,   60.]))
    """
    least = checks.number("min_downtime", min_downtime, low=0.0, unit="s")
    lines = Lines(path, block_size=1 << 21, ends=True)
    unread = DroppedRecords(lines.name, strict=checks.flag("strict", strict))
    parts: list[_Events] = []
    line_number = events_read = 0
    for block in lines:
        if line_number == 0:
            block = _without_names(block.removeprefix(codecs.BOM_UTF8))
        events = _parse(block, prefix.encode())
        parts.append(_read_lines(block, prefix.encode(), unread, line_number) if events is None else events)
        line_number += block.count(b"\n")
        events_read += parts[-1].read
    unread.finish(events_read + unread.count_unreadable, expected=f"lines of {_WIDTH} fields, {', '.join(_FIELDS)}")
    nodes = np.unique(np.concatenate([part.nodes for part in parts])) if parts else np.zeros(0, dtype=np.int64)
    if not len(nodes):
        what = f"no event of a node whose name begins with {prefix!r}" if prefix else "no event"
        raise InputError(f"{lines.name}: {what}; expected lines of {_WIDTH} fields, {', '.join(_FIELDS)}")
    order = np.argsort(start := np.concatenate([part.start for part in parts]), kind="stable")
    columns = {
        "time": start[order],
        "node": np.searchsorted(nodes, np.concatenate([part.node for part in parts]))[order],
        "downtime": (np.concatenate([part.stop for part in parts]) - start)[order],
    }
    first, downtime = merged_outages(columns, touching=True)
    columns = {"time": columns["time"][first], "node": columns["node"][first], "downtime": downtime}
    dropped = unread.counts
    if len(order) > len(first):
        dropped["outage merged with the one before"] = len(order) - len(first)
    if short := int((downtime < least).sum()):
        dropped["shorter than min_downtime"] = short
        columns = {key: values[downtime >= least] for key, values in columns.items()}
    name = stem(path, _SUFFIXES)
    return on_clock(
        f"{name} {prefix}" if prefix else name,
        columns,
        dropped,
        first=min(part.first for part in parts),
        last=max(part.last for part in parts),
        begin=begin,
        end=end,
        under_way=under_way,
    )


def _parse(block: bytes, prefix: bytes) -> _Events | None:
    """The fast path: every line an event as it should be, or None."""
    if b"#" in block:
        block = b"\n".join(line for line in block.split(b"\n") if not line.lstrip().startswith(b"#"))
    tokens = block.split()
    rows = block.count(b"\n") + (not block.endswith(b"\n"))
    if len(tokens) != rows * _WIDTH or max(map(len, block.split(b"\n"))) > _LONGEST:
        return None
    if any(b"_" in b"".join(tokens[field::_WIDTH]) for field in (_NODE, _START, _STOP)):
        return None  # "1_0" is a number to Python only
    try:
        node = np.array(tokens[_NODE::_WIDTH]).astype(np.int64)
        start = np.array(tokens[_START::_WIDTH]).astype(np.float64)
        stop = np.array(tokens[_STOP::_WIDTH]).astype(np.float64)
        kind = np.array(tokens[_TYPE::_WIDTH])
    except (ValueError, OverflowError):
        return None
    if not (
        (stop >= start).all() and np.isfinite(stop).all() and np.isfinite(start).all() and np.char.isdigit(kind).all()
    ):
        return None
    wanted = np.ones(rows, dtype=bool)
    if prefix:
        wanted = np.char.startswith(np.array(tokens[_NAME::_WIDTH]), prefix)
    return _events(node[wanted], start[wanted], stop[wanted], kind[wanted] == _UNAVAILABLE, rows)


def _events(
    node: NDArray[np.int64],
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    out: NDArray[np.bool_],
    count: int,
) -> _Events:
    first, last = (float(start.min()), float(stop.max())) if len(node) else (np.inf, -np.inf)
    return _Events(node[out], start[out], stop[out], np.unique(node), first, last, count)


def _without_names(block: bytes) -> bytes:
    """The first block, with its first line as a comment if that names the fields."""
    return b"#" + block if block.lstrip().startswith((b"event_id", b"component_id")) else block


def _read_lines(block: bytes, prefix: bytes, unread: DroppedRecords, first_line: int) -> _Events:
    """The same, line by line: slower, but it counts what cannot be read."""
    rows: list[tuple[int, float, float, bool]] = []
    count = 0
    for number, line in enumerate(block.split(b"\n"), first_line + 1):
        text = line.strip()
        if not text or text.startswith(b"#"):
            continue
        fields = [field.strip() for field in text.split(b"\t")]
        if len(fields) < _WIDTH - 1 or not all(fields[: _WIDTH - 1]):
            fields = text.split()  # several tabs in a row, or spaces
        problem = ""
        if len(fields) < _WIDTH - 1:  # the reason may be missing
            unread.unreadable(
                "record", f"line {number}", f"{len(fields)} fields, expected {_WIDTH} separated by tabs", text
            )
            continue
        try:
            node, start, stop, kind = (
                parsed(fields[_NODE], int),
                parsed(fields[_START], float),
                parsed(fields[_STOP], float),
                parsed(fields[_TYPE], int),
            )
        except ValueError:
            problem = "node_id, event_type and the two times must be numbers"
        else:
            if not abs(node) < _MOST_NODES:
                problem = "node_id has more than 18 digits"
            elif not 0 <= stop - start < np.inf:
                problem = f"the event stops at {stop:.15g}, before its start at {start:.15g}"
        if problem:
            unread.unreadable("event", f"line {number}", problem, text)
            continue
        count += 1
        if fields[_NAME].startswith(prefix):
            rows.append((node, start, stop, kind == 0))
    table = np.array([row[:3] for row in rows], dtype=np.float64).reshape(-1, 3)
    nodes = np.array([row[0] for row in rows], dtype=np.int64)
    return _events(nodes, table[:, 1], table[:, 2], np.array([row[3] for row in rows], dtype=bool), count)
