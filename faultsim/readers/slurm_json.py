"""The records that ``sacct --json`` prints, as the fields of ``sacct --parsable2``: see `table_of_json`."""

from __future__ import annotations

from faultsim.errors import InputError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.slurm_text import SlurmTable

#: Fields that a document is turned into.
_FIELDS = (
    "JobID", "User", "Partition", "Account", "QOS", "Reservation", "Priority", "Constraints", "Submit", "Start", "End",
    "ElapsedRaw", "TimelimitRaw", "AllocNodes", "ReqNodes", "ReqCPUS", "AllocTRES", "ReqTRES", "NodeList", "State",
    "JobName",
)  # fmt: skip


def table_of_json(name: str, content: bytes, dropped: DroppedRecords) -> SlurmTable:
    """The jobs of a document of Slurm 21.08 or newer; numbers may be plain or ``{"set": ..., "number": ...}``.

    Raises
    ------
    InputError
        For what is no such document.

    Examples
    --------
    >>> text = b'{"jobs": [{"job_id": 5, "user": "ann", "time": {"submission": 60, "limit": {"infinite": true}}}]}'
    >>> found = table_of_json("jobs.json", text, DroppedRecords("jobs.json"))
    >>> [found.columns[key] for key in ("jobid", "user", "submit", "timelimitraw")]
    [['5'], ['ann'], ['60'], ['UNLIMITED']]
    """
    from json import loads

    try:
        document = loads(content)
    except ValueError as error:
        raise InputError(f"{name}: not JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{name}: lists or objects nested too deeply; expected what sacct --json prints") from None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list):
        raise InputError(f"{name}: no list 'jobs'; expected what sacct --json prints")
    rows: list[list[str]] = []
    places: list[int] = []
    for place, job in enumerate(jobs, 1):
        if not isinstance(job, dict):
            dropped.unreadable("record", f"job {place}", f"{job!r:.60} is no object")
            continue
        row = _row(job)
        rows.append([row[field] for field in _FIELDS])
        places.append(place)
    columns = [list(values) for values in zip(*rows, strict=True)] or [[] for _ in _FIELDS]
    lower = [field.lower() for field in _FIELDS]
    return SlurmTable(name, _FIELDS, dict(zip(lower, columns, strict=True)), places, len(content), "job")


def _row(job: dict[str, object]) -> dict[str, str]:
    time, required, tres = (_part(job, key) for key in ("time", "required", "tres"))
    state = job.get("state")
    current = state.get("current") if isinstance(state, dict) else job.get("job_state", state)
    if isinstance(current, list):
        # Flags follow the state; a requeued run has the flag and the state in which it ended.
        current = next((word for word in ("RESIZING", "REQUEUED") if word in current), current[0] if current else "")
    return {
        "JobID": _id(job),
        "User": _text(job.get("user")) or _text(_part(job, "association").get("user")),
        "Partition": _text(job.get("partition")),
        "Account": _text(job.get("account")),
        "QOS": _text(job.get("qos")),
        "Reservation": _text(_part(job, "reservation").get("name")),
        "Priority": _number(job.get("priority")),
        "Constraints": _text(job.get("constraints")),
        "Submit": _number(time.get("submission")),
        "Start": _moment(time.get("start")),
        "End": _moment(time.get("end")),
        "ElapsedRaw": _number(time.get("elapsed")),
        "TimelimitRaw": _number(time.get("limit")),
        "AllocNodes": _number(job.get("allocation_nodes")),
        "ReqNodes": _number(required.get("nodes")),
        "ReqCPUS": _number(required.get("CPUs")),
        "AllocTRES": _tres(tres.get("allocated")),
        "ReqTRES": _tres(tres.get("requested")),
        "NodeList": _text(job.get("nodes")),
        "State": _text(current),
        "JobName": _text(job.get("name")),
        "SubmitLine": _text(job.get("submit_line")),
    }


def _part(job: dict[str, object], key: str) -> dict[str, object]:
    part = job.get(key)
    return part if isinstance(part, dict) else {}


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _number(value: object) -> str:
    """A number as text; "UNLIMITED" for an infinite one, "" for one that is not set."""
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        return _number(value.get("number")) if value.get("set", True) else ""
    if isinstance(value, bool) or value is None:
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)[:400]


def _moment(value: object) -> str:
    """A moment, of which 0 means that it has not come."""
    text = _number(value)
    return "" if text == "0" else text


def _id(job: dict[str, object]) -> str:
    """The id as sacct prints it: ``12``, ``12_3`` of an array, ``12+1`` of a heterogeneous job."""
    for part, key, between in (("array", "task_id", "_"), ("het", "job_offset", "+")):
        leader = _number(_part(job, part).get("job_id"))
        number = _number(_part(job, part).get(key))
        if leader not in ("", "0") and number:
            return f"{leader}{between}{number}"
    return _number(job.get("job_id"))


def _tres(listed: object) -> str:
    """``[{"type": "gres", "name": "gpu", "count": 2}]`` as ``gres/gpu=2``; memory is in MiB."""
    made = []
    for each in listed if isinstance(listed, list) else []:
        if not isinstance(each, dict):
            continue
        kind, name, count = _text(each.get("type")), _text(each.get("name")), _number(each.get("count"))
        if kind and count:
            made.append(f"{kind}/{name}={count}" if name else f"{kind}={count}{'M' if kind == 'mem' else ''}")
    return ",".join(made)
