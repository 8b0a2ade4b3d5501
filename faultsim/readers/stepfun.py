"""Reads the faults of the servers of an LLM training cluster (StepFun, InfiniteHBD-Trace): see `read_stepfun`."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown

_DAY = 86_400.0
_MOST_DAYS = 1e9
_KINDS = {"hardware": "Hardware Failure", "all": ""}
_KEYS = ("node_id", "event_time", "event_type", "fault_type")


@entry
def read_stepfun(
    path: str | os.PathLike[str], kinds: Literal["hardware", "all"] = "all", *, merge: bool = True
) -> FailureTrace:
    """Read the faults and repairs of 400 GPU servers, the file ``fault_trace.json`` of StepFun's InfiniteHBD-Trace.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.  A JSON list of events with ``node_id``,
        ``event_time`` (days), ``event_type`` (``fault_start`` or ``fault_end``) and ``fault_type`` with its ``Level``,
        ``Class`` and ``Desc``.
    kinds : {"all", "hardware"}
        Which faults: all, or only those of the level "Hardware Failure".
    merge : bool
        Whether overlapping outages of a server become one (`FailureTrace.merge_overlaps`).

    Returns
    -------
    FailureTrace
        A failure for each fault, down until its own end; 0 s is the begin of the record, and the span ends with its
        last event.  The file names only servers that failed (231 of 400), by random texts: they are numbered in the
        order of their first faults, 0-230, whatever their places; ``trace.map_nodes(400, "permute", rng=...)`` spreads
        them over the cluster.  `FailureTrace.dropped` counts faults of other kinds, faults without an end, and merged
        outages.

    Raises
    ------
    InputError
        No such file; another format; an event that cannot be read, or an end without its begin (file and number of the
        event are named); no failure left.

    Notes
    -----
    Source: [shou2025].

    Examples
    --------
    >>> import json
    >>> import faultsim as fs
    >>> kind = {"Level": "Hardware Failure", "Class": "GPU", "Desc": "GPU Lost"}
    >>> events = [("6f24", 0.5, "fault_start"), ("2e33", 0.75, "fault_start"), ("6f24", 1.5, "fault_end")]
    >>> with open("fault_trace.json", "w") as file:
    ...     json.dump([dict(node_id=a, event_time=b, event_type=c, fault_type=kind) for a, b, c in events], file)
    >>> trace = fs.read_stepfun("fault_trace.json")
    >>> trace.time, trace.downtime, dict(trace.dropped)
    (array([43200.]), array([86400.]), {'without an end': 1})
    """
    from json import dumps

    level = _KINDS[checks.choice("kinds", kinds, _KINDS)]
    lines = Lines(path, document=True)
    events = _events(lines.json(), lines.name)
    dropped: dict[str, int] = {}
    number: dict[str, int] = {}
    open_faults: dict[tuple[str, str], list[float]] = {}
    faults: list[tuple[float, int, float]] = []
    last = 0.0
    for at, event in enumerate(events):
        node, day, what, kind = _fields(event, at, lines.name)
        moment = round(day * _DAY, 3)
        last = max(last, moment)
        if level and kind["Level"] != level:
            if what == "fault_start":
                dropped["of another kind"] = dropped.get("of another kind", 0) + 1
            continue
        begun = open_faults.setdefault((node, dumps(kind, sort_keys=True)), [])
        if what == "fault_start":
            number.setdefault(node, len(number))
            begun.append(moment)
        elif not begun:
            raise _bad(lines.name, at, event, "an end without its begin")
        else:
            first = begun.pop(0)
            faults.append((first, number[node], moment - first))
    if unended := sum(map(len, open_faults.values())):
        dropped["without an end"] = unended
    if not faults:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in dropped.items())
        raise InputError(f"{lines.name}: no failures are left ({reasons or 'the file has none'})")
    time, nodes, downtime = zip(*sorted(faults), strict=True)
    trace = FailureTrace(time, np.array(nodes), downtime, span=last, name="StepFun", dropped=dropped)
    return trace.merge_overlaps() if merge else trace


def _events(content: bytes, name: str) -> list[object]:
    from json import loads

    try:
        events = loads(content)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}, byte {error.start}: not UTF-8 text; expected fault_trace.json") from None
    except ValueError as error:
        raise InputError(f"{name}: not JSON: {error}; expected fault_trace.json") from None
    except RecursionError:
        raise InputError(f"{name}: lists or objects nested too deeply; expected a list of events") from None
    if not isinstance(events, list):
        raise InputError(f"{name}: expected a JSON list of events, got {type(events).__name__}")
    return events


def _fields(event: Any, at: int, name: str) -> tuple[str, float, str, dict[str, object]]:
    for key in _KEYS:
        if not isinstance(event, dict) or key not in event:
            raise _bad(name, at, event, f"no {key!r}")
    node, day, what, kind = (event[key] for key in _KEYS)
    if not isinstance(day, int | float) or isinstance(day, bool) or not 0 <= day < _MOST_DAYS:
        raise _bad(name, at, event, f"event_time {day!r:.40} is no number of days")
    if what not in ("fault_start", "fault_end"):
        raise _bad(name, at, event, f"event_type {what!r:.40} is neither fault_start nor fault_end")
    if not isinstance(kind, dict) or "Level" not in kind:
        raise _bad(name, at, event, "fault_type has no 'Level'")
    return str(node), float(day), what, kind


def _bad(name: str, at: int, event: object, what: str) -> InputError:
    from json import dumps

    return InputError(f"{name}, event {at}: {what}: {shown(dumps(event).encode())}")
