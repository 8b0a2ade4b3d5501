"""What jobs asked Slurm for, one record a job with all its runs: from the table of ``sacct --parsable2``."""

from __future__ import annotations

import math
import os
import re

from faultsim.data.slurm_requests import JobRequest, Run
from faultsim.errors import InputError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines
from faultsim.readers.sacct import KNOWN
from faultsim.readers.slurm_submit import submit_options
from faultsim.readers.slurm_text import SlurmTable, table_of_text
from faultsim.readers.slurm_values import count_of, memory_of, tres_of
from faultsim.readers.slurmctld_log import clock

#: The command whose output is read.
COMMAND = "sacct --allusers --duplicates --parsable2 --format=ALL"
#: What a request needs; one of each group.
_NEEDED = (("jobidraw", "jobid"), ("submit",), ("reqnodes", "nnodes", "allocnodes"), ("reqtres", "reqcpus"))


def read_slurm_requests(path: str | os.PathLike[str]) -> dict[int, JobRequest]:
    """What the jobs of ``sacct`` asked for, by job id.

    ``SubmitLine`` is used where there is one: accounting has only the last partition, and no nice value.

    Parameters
    ----------
    path : path
        Output of ``sacct --allusers --duplicates --parsable2 --format=ALL``, or of fewer fields.

    Raises
    ------
    InputError
        No such file, no table of sacct, fields missing.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "sacct.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write(
    ...             "JobIDRaw|User|Account|Partition|Submit|ReqNodes|ReqTRES|TimelimitRaw\\n"
    ...             "7|ann|a|batch|2026-12-01T00:00:00|2|cpu=8,mem=4G,node=2|30\\n"
    ...         )
    ...     request = read_slurm_requests(path)[7]
    >>> request.nodes, request.cpus, request.tres["mem"], request.limit
    (2, 8.0, 4096.0, 30.0)
    """
    lines = Lines(path, ends=True)
    text = b"".join(lines).decode("utf-8-sig", "replace")
    table = table_of_text(lines.name, text, KNOWN, COMMAND, None, DroppedRecords(lines.name))
    missing = [group[0] for group in _NEEDED if table.first_of(*group) is None]
    if missing:
        raise InputError(f"{lines.name}: no field {', '.join(missing)}; print the table with {COMMAND}")
    found: dict[int, JobRequest] = {}
    for row in range(len(table.places)):
        request = _request(table, row)
        if request is None:
            continue
        known = found.setdefault(request.job, request)
        if known is not request:
            known.runs += request.runs
    for request in found.values():
        request.runs.sort(key=lambda run: run.submit)
    return found


def _request(table: SlurmTable, row: int) -> JobRequest | None:
    def get(*names: str) -> str:
        return next((text for name in names if name in table.columns and (text := table.columns[name][row])), "")

    raw = get("jobidraw", "jobid")
    if not _is_whole(raw):
        return None  # a step, or elements of an array that have not begun
    options = submit_options(get("submitline"))
    tres: dict[str, float] = {}
    nodes = count_of(get("reqnodes", "nnodes", "allocnodes"))
    cpus = count_of(get("reqcpus", "ncpus"))
    for name, amount in tres_of(get("reqtres")).items():
        value = memory_of(amount, 1.0, 1.0) if name == "mem" else count_of(amount)
        if value is not None and not math.isnan(value):
            tres[name] = value
    cpus = tres.get("cpu", cpus if cpus is not None and not math.isnan(cpus) else 0.0)
    least = options.get("nodes", "").partition("-")[0]
    if _is_whole(least):
        nodes = float(least)
    special: list[str] = [name for name in ("array", "dependency", "begin") if name in options]
    if "_" in get("jobid") and "array" not in special:
        special.append("array")
    if "hold" in options or "H" in options:
        special.append("hold")
    partitions = tuple(filter(None, (options.get("partition") or get("partition")).split(",")))
    nice = options.get("nice", "0")
    run = Run(clock(get("submit")), clock(get("eligible")), clock(get("start")), clock(get("end")), get("state"))
    return JobRequest(
        int(raw), get("user"), get("account"), get("qos"), partitions,
        int(nodes) if nodes is not None and math.isfinite(nodes) else 1, cpus, tres, _minutes(table, row),
        float(nice) if re.fullmatch(r"-?\d{1,12}", nice, re.ASCII) else 100.0 if "nice" in options else 0.0,
        "exclusive" in options, tuple(special), options, [run],
    )  # fmt: skip


def _minutes(table: SlurmTable, row: int) -> float:
    """The time limit in minutes, infinite without one."""
    if "timelimitraw" in table.columns and _is_whole(raw := table.columns["timelimitraw"][row]):
        return float(raw)
    text = table.columns.get("timelimit", [""] * (row + 1))[row]
    days, _, rest = text.rpartition("-")
    parts = rest.split(":")
    if not all(map(_is_whole, (*parts, days or "0"))) or len(parts) != 3:
        return math.inf
    hours, minutes, seconds = map(int, parts)
    return int(days or 0) * 1440 + hours * 60 + minutes + seconds / 60


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 15
