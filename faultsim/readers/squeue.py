"""Reads what ``squeue`` prints: the jobs that run and wait at a moment."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from faultsim import vocabulary
from faultsim.arrays import Floats, LongIntegers, Values
from faultsim.data.queue_state import QueueState
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.slurm_values import count_of, gpus_of, memory_of, state_of, tres_of

#: What squeue calls a column by -o, -O or --json, in lower case -> what it holds; the first that is there counts.
CALLED = {
    "jobid": "id", "job_id": "id", "jobarrayid": "id",
    "st": "state", "state": "state", "job_state": "state",
    "partition": "partition", "account": "account", "qos": "qos",
    "user": "user", "user_name": "user", "username": "user",
    "time_limit": "limit", "timelimit": "limit",
    "time": "elapsed", "timeused": "elapsed", "time_used": "elapsed",
    "nodes": "nodes", "numnodes": "nodes", "node_count": "nodes",
    "cpus": "cores", "numcpus": "cores",
    "min_memory": "memory", "minmemory": "memory", "memory_per_node": "memory",
    "tres_per_node": "gpus", "tres-per-node": "gpus", "gres": "gpus",
    "priority": "priority", "prioritylong": "priority",
    "submit_time": "submit", "submittime": "submit",
    "start_time": "start", "starttime": "start",
    "features": "features", "feature": "features",
    "over_subscribe": "sharing", "oversubscribe": "sharing",
    "nodelist(reason)": "reason", "reason": "reason", "state_reason": "reason", "reasonlist": "reason",
}  # fmt: skip
#: Short names of states, as column ST has them.
SHORT = {"R": "RUNNING", "PD": "PENDING", "CG": "COMPLETING", "CF": "CONFIGURING", "S": "SUSPENDED"}
RUNNING = ("RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT")
#: A job that waits for one of these waits for room; other reasons keep it out of the queue.
FOR_ROOM = ("none", "resources", "priority", "nodes_required_for_job_are_down", "reqnodenotavail", "")
HOW = 'squeue -o "%A|%T|%P|%u|%a|%q|%D|%C|%m|%l|%M|%V|%Q|%b|%f|%h|%r"'
#: In place of no limit, in seconds.
UNLIMITED = 365 * 86_400.0
Row = tuple[str, dict[str, str]]


@entry
def read_squeue(path: str | os.PathLike[str]) -> QueueState:
    """Read the jobs that run and wait, as ``squeue`` prints them.

    Parameters
    ----------
    path : path
        Output of ``squeue -o "%A|%T|%P|%u|%a|%q|%D|%C|%m|%l|%M|%V|%Q|%b|%f|%h|%r"`` or of other formats with a line of
        names, with ``|`` or spaces between values, or of ``squeue --json``; "-" is standard input. Needed are job,
        state, CPUs, time limit and time used; the others say more of what a job asks for. A job array is to be printed
        with ``-r``, a line per task.

    Returns
    -------
    QueueState
        Waiting jobs by priority, the largest first. The newest submit time is the moment, if there is a column of them.

    Raises
    ------
    InputError
        No such file, no such table, a column that is missing, or a value that cannot be read, with its line.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("squeue.txt", "w") as file:
    ...     _ = file.write("JOBID|STATE|PARTITION|USER|NODES|CPUS|TIME_LIMIT|TIME|PRIORITY|REASON\\n"
    ...                    "7|RUNNING|batch|ann|1|8|1:00:00|12:30|900|None\\n"
    ...                    "8|PENDING|batch|bob|1|16|2-00:00:00|0:00|700|Resources\\n")
    >>> state = fs.read_squeue("squeue.txt")
    >>> state, state.elapsed.tolist(), state.jobs.estimate.tolist()
    (QueueState(1 running, 1 waiting, 0 of them held), [750.0, nan], [3600.0, 172800.0])
    """
    lines = Lines(path, document=True)
    content = b"".join(lines)
    rows = _of_json(lines.name, content) if content.lstrip()[:1] in (b"{", b"[") else _of_text(lines.name, content)
    if not rows:
        raise InputError(f"{lines.name}: no jobs of squeue; expected what {HOW} prints")
    return _state(lines.name, rows)


def _of_text(name: str, content: bytes) -> list[Row]:
    lines = [
        (number, line)
        for number, line in enumerate(content.decode("utf-8-sig", "replace").splitlines(), 1)
        if line.strip()
    ]
    if not lines:
        return []
    apart = "|" if "|" in lines[0][1] else None
    names = [CALLED.get(word.strip().lower(), "") for word in lines[0][1].split(apart)]
    if "id" not in names:
        raise InputError(
            f"{name}: no table of squeue: its first line is {shown(lines[0][1].encode())}; print it by {HOW}"
        )
    rows = []
    for number, line in lines[1:]:
        words = line.split(apart) if apart else line.split(None, len(names) - 1)
        if len(words) != len(names):
            raise InputError(
                f"{name}, line {number}: {len(words)} values for {len(names)} columns; put | between the columns: {HOW}"
            )
        found: dict[str, str] = {}
        for key, word in zip(names, words, strict=True):
            found.setdefault(key, word.strip())
        rows.append((f"{name}, line {number}", found))
    return rows


def _of_json(name: str, content: bytes) -> list[Row]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not JSON: {error}") from error
    jobs = document.get("jobs") if isinstance(document, dict) else document
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise InputError(f"{name}: no list of jobs, as squeue --json prints it")
    rows = []
    for at, job in enumerate(jobs):
        found: dict[str, str] = {}
        for key, value in cast(Mapping[str, object], job).items():
            if called := CALLED.get(key.lower()):
                found.setdefault(called, _plain(value, minutes=called == "limit"))
        start, now = found.get("start", ""), document.get("last_update") if isinstance(document, dict) else None
        if "elapsed" not in found and start.isdigit() and isinstance(now, (dict, int)):
            found["elapsed"] = f"{max(0, int(_plain(now) or 0) - int(start))}s"
        rows.append((f"{name}, job {at + 1}", found))
    return rows


def _plain(value: object, *, minutes: bool = False) -> str:
    """A value of JSON as text of squeue: ``{"set": true, "infinite": false, "number": 60}`` is a number."""
    if isinstance(value, list):
        return str(value[0]) if value else ""
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        value = value.get("number", "") if value.get("set", True) else ""
    if minutes and isinstance(value, (int, float)):
        return f"{60 * value}s"
    return "" if value is None else str(value)


def _state(name: str, rows: Sequence[Row]) -> QueueState:
    for needed, column in (("state", "%T"), ("cores", "%C"), ("limit", "%l"), ("elapsed", "%M")):
        if needed not in rows[0][1]:
            raise InputError(f"{name}: no column of {needed} ({column}); print it by {HOW}")
    kept = [(where, row) for where, row in rows if _is_live(where, row)]
    if not kept:
        raise InputError(f"{name}: no job runs or waits")
    running = np.array([_word(row) in RUNNING for _, row in kept])
    priority = np.array([_number(where, row, "priority", 0.0) for where, row in kept])
    elapsed = np.array([_seconds(where, row, "elapsed") for where, row in kept])
    submit = _submits(kept)
    order = np.argsort(submit, kind="stable")
    kept = [kept[at] for at in order]
    running, elapsed, priority, submit = running[order], elapsed[order], priority[order], submit[order]
    limit = np.array([_seconds(where, row, "limit") for where, row in kept])
    cores = np.array([_number(where, row, "cores", 1.0) for where, row in kept])
    nodes = np.array([_number(where, row, "nodes", 1.0) for where, row in kept])
    columns: dict[str, Values] = {
        "cores": cores.astype(np.int64), "nodes": nodes.astype(np.int64), "priority": priority,
        "gpus": np.array([_gpus(where, row, one) for (where, row), one in zip(kept, nodes, strict=True)], np.int64),
        "gpus_per": np.full(len(kept), "job"),
        "exclusive": np.array([row.get("sharing", "").upper() in ("NO", "EXCLUSIVE") for _, row in kept]),
        "user_name": np.array([row.get("user", "") for _, row in kept]),
    }  # fmt: skip
    memory = [_memory(where, row) for where, row in kept]
    if any(memory):
        columns |= {"memory": np.array(memory), "memory_per": np.full(len(kept), "node")}
    for key in ("partition", "account", "qos", "features"):
        texts = ["" if row.get(key, "") in ("(null)", "N/A") else row.get(key, "") for _, row in kept]
        if any(texts):
            columns[key] = np.array(texts)
    held = ~running & np.array([not _waits_for_room(row) for _, row in kept])
    _, user = np.unique(columns["user_name"], return_inverse=True)
    jobs = Workload(
        submit, limit, cores.astype(np.int64), estimate=limit, id=_ids(kept), user=user,
        columns=columns, name=name,
    )  # fmt: skip
    waiting = np.flatnonzero(~running)
    served = waiting[np.argsort(-priority[waiting], kind="stable")]
    return QueueState(jobs, np.where(running, elapsed, np.nan), float(submit.max()), held, served, name)


def _word(row: Mapping[str, str]) -> str:
    state = row.get("state", "").upper()
    return SHORT.get(state, state_of(state))


def _is_live(where: str, row: Mapping[str, str]) -> bool:
    if not (word := _word(row)):
        raise InputError(f"{where}: the state is missing")
    return word in RUNNING or word in ("PENDING", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "REQUEUED")


def _waits_for_room(row: Mapping[str, str]) -> bool:
    reason = row.get("reason", "").strip("()").lower()
    return reason.partition(",")[0].replace(" ", "_") in FOR_ROOM or reason.startswith("reqnodenotavail")


def _number(where: str, row: Mapping[str, str], key: str, without: float) -> float:
    text = row.get(key, "")
    value = count_of(re.sub(r"-\d+$", "", text)) if key == "nodes" else count_of(text)
    if value is None:
        try:
            value = float(text)  # %p is a share
        except ValueError:
            raise InputError(f"{where}: {key} {text!r:.40} is no number") from None
    return without if not value >= 0 else value


def _seconds(where: str, row: Mapping[str, str], key: str) -> float:
    text = row.get(key, "")
    if text.upper() in ("UNLIMITED", "NOT_SET", "PARTITION_LIMIT"):
        return UNLIMITED
    if text.upper() in ("", "INVALID", "N/A"):
        return 0.0 if key == "elapsed" else UNLIMITED
    value = vocabulary.duration(text, short=True)
    if value is None or not 0 <= value < math.inf:
        raise InputError(f"{where}: {key} {text!r:.40} is no time, such as 1-12:00:00")
    return value if key == "elapsed" else max(value, 1.0)


def _memory(where: str, row: Mapping[str, str]) -> float:
    value = memory_of(text := row.get("memory", ""), 1.0, 1.0)
    if value is None:
        raise InputError(f"{where}: memory {text!r:.40} is no amount, such as 4000M or 16G")
    return 0.0 if math.isnan(value) else value


def _gpus(where: str, row: Mapping[str, str], nodes: float) -> float:
    """GPUs of all nodes: ``gres/gpu:v100:2``, ``gres:gpu:2``, ``gpu:2`` or ``gres/gpu=2`` of each."""
    found = 0.0
    for part in row.get("gpus", "").split(","):
        if "gpu" in part.lower():
            value = gpus_of(tres_of(part)) if "=" in part else count_of(part.rpartition(":")[2])
            if value is None:
                value = 1.0  # a type without a number
            found += 0.0 if math.isnan(value) else value
    return found * max(nodes, 1.0)


def _submits(rows: Sequence[Row]) -> Floats:
    """Seconds since the oldest; 0 where there is no such column."""
    found = np.full(len(rows), np.nan)
    for at, (where, row) in enumerate(rows):
        text = row.get("submit", "")
        if text and text.upper() != "N/A":
            moment = (float(text), True) if text.isdigit() else vocabulary.moment(text)
            if moment is None:
                raise InputError(f"{where}: submit time {text!r:.40} is no time, such as 2026-11-28T12:00:00")
            found[at] = moment[0]
    oldest = np.nanmin(found) if not np.isnan(found).all() else 0.0
    return np.nan_to_num(found - oldest)


def _ids(rows: Sequence[Row]) -> LongIntegers:
    """The numbers, where each job has one of its own; else the rows."""
    numbers = [re.match(r"\d+", row.get("id", "")) for _, row in rows]
    found = [int(each.group()) for each in numbers if each and len(each.group()) < 16]
    if len(found) < len(rows) or len(set(found)) < len(rows):
        return np.arange(len(rows), dtype=np.int64)
    return np.array(found, np.int64)
