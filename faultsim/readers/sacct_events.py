"""Reads the events of nodes of a Slurm machine that ``sacctmgr show event`` prints: see `read_sacct_events`."""

from __future__ import annotations

import os
import re
from typing import Literal, NamedTuple

import numpy as np

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.data.limits import check_unpacked
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, stem
from faultsim.readers.slurm_fields import SlurmFields
from faultsim.readers.slurm_text import table_of_text
from faultsim.readers.slurm_values import natural
from faultsim.readers.timestamps import Moment, on_clock, seconds

_SUFFIXES = (".gz", ".xz", ".bz2", ".txt", ".csv", ".events")
_COMMAND = "sacctmgr show event --parsable2 start=2024-01-01"
#: Names of fields, in lower case, that tell the line with the names.
KNOWN = frozenset(
    (
        "cluster", "clusternodes", "comment", "duration", "end", "event", "eventraw", "nodename", "reason", "start",
        "state", "stateraw", "timeend", "timestart", "tres", "user",
    )
)  # fmt: skip
#: Words of a state that say what is wrong with a node, the worst first.
_WORDS = {
    "down": frozenset({"DOWN", "FAIL", "FAILING", "ERROR", "NO_RESPOND", "NOT_RESPONDING", "UNKNOWN"}),
    "drain": frozenset({"DRAIN", "DRAINED", "DRAINING", "DRNG"}),
}
_FLAGS = "*$#~!%-^@"


class _Outage(NamedTuple):
    node: int
    start: float
    end: float
    reason: str


@entry
def read_sacct_events(
    path: str | os.PathLike[str],
    kinds: Literal["all", "down", "drain"] = "all",
    *,
    begin: Moment | None = None,
    end: Moment | None = None,
    merge: bool = True,
    separator: str | None = None,
    zone: str | None = None,
    strict: bool = False,
) -> FailureTrace:
    """Read when nodes of a Slurm machine were down or drained, as ``sacctmgr show event --parsable2`` prints it.

    Parameters
    ----------
    path : path
        Lines of fields between ``|``, the first with their names in any order: NodeName and TimeStart (or Start) are
        needed, TimeEnd (or End), State and Reason are used.  Plain, gzip, xz or bzip2; "-" is standard input.
    kinds : {"all", "down", "drain"}
        Which states are failures: DOWN, FAIL and ERROR, DRAIN (also DRAINED, DRAINING), or all of them.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only failures from `begin`, which becomes 0 s, to before `end`; by default from midnight before the first event.
    merge : bool
        Whether events of a node that overlap, or of which one begins when another ends (a new reason, DOWN after
        DRAIN), are one outage, with the first reason.
    separator : str, optional
        The text between fields; by default that between their names.
    zone : str, optional
        Zone of the machine's clock, such as ``"Europe/Berlin"``: moments are converted to UTC.
    strict : bool
        Whether an unreadable record is an error; by default such records are left out and counted in `dropped`.

    Returns
    -------
    FailureTrace
        A failure for each outage, down from TimeStart to TimeEnd.  One that is not over (TimeEnd is Unknown) lasts to
        the end of the trace, which is the last moment in the file.  Nodes are numbered by name, ``n2`` before ``n10``:
        ``trace.nodes`` has the names, and ``trace.reasons`` state and reason of each failure.  `FailureTrace.dropped`
        counts ``"event of the cluster"``, ``"no failure"`` (other states, such as a planned power-down), ``"other
        kind"``, ``"repeated record"``, ``"merged with the outage before"`` and unreadable records.

    Raises
    ------
    InputError
        No such file; no line with names; fields missing; no failure left.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("events.txt", "w") as file:
    ...     _ = file.write(
    ...         "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\\n"
    ...         "c1|n001|2024-03-01T08:00:00|2024-03-01T10:30:00|DOWN*|Not responding|slurm(500)\\n"
    ...         "c1|n002|2024-03-01T12:00:00|Unknown|DRAIN|bad dimm|root(0)\\n"
    ...         "c1||2024-03-02T00:00:00|2024-03-02T01:00:00||Cluster Registered TRES|\\n"
    ...     )
    >>> trace = fs.read_sacct_events("events.txt")
    >>> trace.time, trace.downtime, trace.nodes
    (array([28800., 43200.]), array([ 9000., 46800.]), ('n001', 'n002'))
    >>> trace.reasons.tolist(), dict(trace.dropped)
    (['DOWN*: Not responding', 'DRAIN: bad dimm'], {'event of the cluster': 1})
    """
    wanted = ("down", "drain") if checks.choice("kinds", kinds, ("all", "down", "drain")) == "all" else (kinds,)
    lines = Lines(path, ends=True)
    dropped = DroppedRecords(lines.name, strict=strict)
    text = b"".join(lines).decode("utf-8-sig", "replace")
    table = table_of_text(lines.name, text, KNOWN, _COMMAND, separator, dropped)
    names = {key: table.first_of(*fields) for key, fields in _FIELDS.items()}
    if lacking := [_SAID[key] for key in ("node", "start") if names[key] is None]:
        raise InputError(
            f"{lines.name}: no field {'; no field '.join(lacking)}; it has {', '.join(table.fields)}; expected what "
            f"{_COMMAND} prints"
        )
    total = len(table.places) + dropped.count_unreadable
    fields = SlurmFields(table, zone, dropped)
    start, stop = fields.moments(str(names["start"])), fields.moments(str(names["end"]))
    for row in np.flatnonzero(stop < start):
        fields.bad(int(row), str(names["end"]), "is before the begin of the event")
    for row in np.flatnonzero(np.isnan(start)):
        fields.bad(int(row), str(names["start"]), "is no moment such as 2024-01-31T12:00:00")
    rows = fields.readable()
    dropped.finish(total, expected=f"lines as {_COMMAND} prints them")
    first, last = _span(start[rows], stop[rows], lines.name)
    called = fields.texts(str(names["node"]))
    states, said = fields.texts("state", "stateraw"), fields.texts("reason")
    nodes = tuple(sorted({called[row] for row in rows if called[row]}, key=natural))
    number = {name: at for at, name in enumerate(nodes)}
    still = last if end is None else max(last, seconds("end", end))
    known: set[_Outage] = set()
    outages: list[_Outage] = []
    for row in rows:
        kind = _kind(states[row]) if fields.has("state", "stateraw") else "down"
        if not called[row]:
            dropped.left_out("event of the cluster")
        elif not kind:
            dropped.left_out("no failure")
        elif kind not in wanted:
            dropped.left_out("other kind")
        else:
            until = still if np.isnan(stop[row]) else float(stop[row])
            reason = ": ".join(part for part in (states[row], said[row]) if part)
            outage = _Outage(number[called[row]], float(start[row]), max(until, float(start[row])), reason)
            if outage in known:
                dropped.left_out("repeated record")
            else:
                known.add(outage)
                outages.append(outage)
    outages.sort(key=lambda outage: (outage.node, outage.start))
    if merge:
        outages = _merged(outages, dropped)
    outages.sort(key=lambda outage: outage.start)
    longest = max((len(outage.reason) for outage in outages), default=0)
    check_unpacked(f"{lines.name}: field 'Reason'", 4 * len(outages) * longest, len(text))
    columns = {
        "time": np.array([outage.start for outage in outages]),
        "node": np.array([outage.node for outage in outages], dtype=np.int64),
        "downtime": np.round([outage.end - outage.start for outage in outages], 6),
    }
    return on_clock(
        stem(path, _SUFFIXES),
        columns,
        dropped.counts,
        first=first,
        last=max([last, *(outage.end for outage in outages)]),
        begin=begin,
        end=end,
        names=nodes,
        reasons=[outage.reason for outage in outages],
    )


_FIELDS = {"node": ("nodename",), "start": ("timestart", "start"), "end": ("timeend", "end")}
_SAID = {"node": "NodeName", "start": "TimeStart"}


def _span(start: np.ndarray, stop: np.ndarray, name: str) -> tuple[float, float]:
    """First and last moment of the records."""
    moments = np.concatenate([start, stop[~np.isnan(stop)]])
    if not len(moments):
        raise InputError(f"{name}: no failures are left (the file has no events)")
    return float(moments.min()), float(moments.max())


def _kind(state: str) -> str:
    """What is wrong with a node in a state such as ``DOWN*`` or ``IDLE+DRAIN``: "down", "drain" or nothing, "".

    Examples
    --------
    >>> _kind("DOWN*"), _kind("IDLE+DRAIN"), _kind("POWERED_DOWN"), _kind("DOWN*+DRAIN")
    ('down', 'drain', '', 'down')
    """
    words = {word.strip(_FLAGS + " ") for word in re.split(r"[+,]", state.upper().partition(" ")[0])}
    return next((kind for kind, those in _WORDS.items() if words & those), "")


def _merged(outages: list[_Outage], dropped: DroppedRecords) -> list[_Outage]:
    """Outages sorted by node and start, those of a node that meet or overlap as one."""
    made: list[_Outage] = []
    for outage in outages:
        if made and made[-1].node == outage.node and outage.start <= made[-1].end:
            made[-1] = made[-1]._replace(end=max(made[-1].end, outage.end))
            dropped.left_out("merged with the outage before")
        else:
            made.append(outage)
    return made
