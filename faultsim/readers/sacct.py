"""Reads the accounting records of Slurm that ``sacct --parsable2`` and ``sacct --json`` print: see `read_sacct`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.accounting import CANCELLED, Cancelled, accounting_log, user_numbers
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, stem
from faultsim.readers.job_rows import missing
from faultsim.readers.named_values import typed
from faultsim.readers.slurm_fields import SlurmFields
from faultsim.readers.slurm_json import table_of_json
from faultsim.readers.slurm_records import SIZE_NAMES, SIZES, SlurmRecords
from faultsim.readers.slurm_runs import runs_of_jobs
from faultsim.readers.slurm_submit import gpu_type_of
from faultsim.readers.slurm_text import SlurmTable, table_of_text
from faultsim.readers.timestamps import Moment

_SUFFIXES = (".gz", ".xz", ".bz2", ".txt", ".csv", ".sacct", ".json")
_COMMAND = "sacct --parsable2 --format=JobID,User,Submit,Start,End,Elapsed,Timelimit,NNodes,State"
#: Names of fields, in lower case, that tell the line with the names.
KNOWN = frozenset(
    """account admincomment alloccpus allocnodes alloctres associd cluster comment constraints consumedenergy
    consumedenergyraw cputime cputimeraw dbindex derivedexitcode elapsed elapsedraw eligible end exitcode failednode
    flags gid group jobid jobidraw jobname mcslabel ncpus nnodes nodelist ntasks partition planned plannedcpu
    plannedcpuraw priority qos qosraw qosreq reason reqcpus reqgres reqmem reqnodes reqtres reservation reservationid
    reserved resvcpu resvcpuraw restarts start state stderr stdin stdout submit submitline suspended systemcomment
    systemcpu timelimit timelimitraw totalcpu uid user usercpu wckey wckeyid workdir maxrss maxvmsize averss aveCPU
    allocgres extra reqcpufreq reqcpufreqgov reqcpufreqmax reqcpufreqmin segmentsize sluid""".lower().split()
)
#: Further columns -> fields that they are, in lower case.
_KEPT = {
    "partition": "partition",
    "account": "account",
    "qos": "qos",
    "reservation": "reservation",
    "features": "constraints",
    "priority": "priority",
    "State": "state",
}
#: Fields that say the type of a job's GPUs.
_SAY_TYPES = ("submitline", "reqtres", "alloctres")


@entry
def read_sacct(
    path: str | os.PathLike[str],
    *,
    size: Literal["nodes", "cpus", "gpus"] = "nodes",
    columns: Sequence[str] | None = None,
    begin: Moment | None = None,
    end: Moment | None = None,
    name: str | None = None,
    separator: str | None = None,
    zone: str | None = None,
    strict: bool = False,
    cancelled: Cancelled = "drop",
) -> Workload:
    """Read the job records of Slurm, as ``sacct --parsable2 --allusers --duplicates`` or ``sacct --json`` prints them.

    Parameters
    ----------
    path : path
        Lines of fields between ``|``, the first with their names in any order; or JSON.  Plain, gzip, xz or bzip2; "-"
        is standard input.  Needed are JobID (or JobIDRaw), Submit, ElapsedRaw or Elapsed (else Start and End), and a
        size; Timelimit (or TimelimitRaw, in minutes), State, Start, NodeList and User (or UID) are used where the file
        has them.  A line with the names may come again; names of jobs may contain ``|`` and line breaks.
    size : {"nodes", "cpus", "gpus"}
        Whether a job is as large as its nodes (AllocNodes, NNodes, ``node=`` of AllocTRES, ReqNodes, ``node=`` of
        ReqTRES, the first that is 1 or more), as its processors (AllocCPUS, NCPUS, ``cpu=``, ReqCPUS) or as its GPUs
        (``gres/gpu=``, or the sum of ``gres/gpu:TYPE=``).
    columns : sequence of str, optional
        Fields to keep as further columns, as text or numbers; by default those below.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only jobs submitted from `begin`, which becomes 0 s, to before `end`: dates (``"2024-01-31"``), or seconds since
        1970, on the clock of the records; with `zone`, dates are UTC.
    name : str, optional
        Name of the log; that of the file, without its suffixes, by default.
    separator : str, optional
        The text between fields, as given to ``sacct --delimiter``; by default the text between the names of the fields.
    zone : str, optional
        Zone of the machine's clock, such as ``"Europe/Berlin"``: moments are converted to UTC, so that spans across a
        change of daylight saving time are right.
    strict : bool
        Whether an unreadable record is an error; by default such records are left out and counted in `dropped`.
    cancelled : {"drop", "keep"}
        What becomes of jobs of state CANCELLED that never started.  "keep": they have the further column ``cancel``,
        the time at which they are withdrawn (model.md#withdrawal), which is their End, and their limit as run time;
        without either they are left out.

    Returns
    -------
    Workload
        Sorted by submit time, from midnight before the first or from `begin`; ``Workload.header["UnixStartTime"]`` says
        when 0 s was.  Ids are numbers, or text if there are job arrays: each task ``12_3`` is a job.  The components
        ``12+0``, ``12+1`` of a heterogeneous job, which run together, are one job, ``12``: the sum of their sizes, from
        the first start to the last end.  A run time is the time elapsed, without suspensions; a limit of UNLIMITED or
        Partition_Limit is missing (-1).  Users are numbered in the order of the file.

        - A requeued job (same id and user, an earlier run that ended in NODE_FAIL, BOOT_FAIL, PREEMPTED or REQUEUED) is
          one job with its first submit and its last run.  `Workload.lost_runs` has the lost ones.
        - An id that comes again otherwise is another job: ids are recycled.
        - The parts of a job that was resized while it ran are jobs of their own, each submitted when it started.

        Further columns, where the file has them: ``partition``, ``account``, ``qos``, ``reservation``, ``features``
        (Constraints), ``priority``, ``State``, ``cores``, ``memory`` (MiB) and ``gpus`` of the whole job, as
        ``memory_per`` and ``gpus_per`` say for a `Site`, ``gpu_type`` (of SubmitLine, else of ReqTRES, else of
        AllocTRES), ``nodes`` and ``user_name``; a number that is missing is NaN.
        There is no ``memory`` where no job's AllocTRES has any: the site gives out none, and ReqMem is no request.

        `Workload.dropped` counts records that are left out:

        - ``"job step"``: ``12.batch``, ``12.0``;
        - ``"earlier run of a requeued job"``: those of `Workload.lost_runs`;
        - ``"repeated record"``: of a run that another record has, too (exports that overlap);
        - ``"component of a heterogeneous job"``: those added to the first;
        - ``"never started"``: pending, or cancelled before it started (but see `cancelled`);
        - ``"still running"``: running or suspended, with no end;
        - ``"run time missing"``, ``"size missing"``, ``"submit time missing"``;
        - ``"unreadable record"``, or ``"unreadable"`` and the name of a field: mistakes in the file.

    Raises
    ------
    InputError
        No such file; no line with names, or columns of fixed width; fields missing (all are named); no job; with
        `strict`, a record that cannot be read (file, line and text are named).
    OptionError
        An unknown size or zone.

    Notes
    -----
    Without `zone`, times are on the local clock of the machine, which jumps twice a year where it saves daylight:
    submit times of jobs around that hour may be an hour off, and so are run times computed from Start and End.
    ``SLURM_TIME_FORMAT=%s sacct ...`` prints seconds since 1970, which are read, too.

    A number of nodes or processors with a suffix (``1.50K``, without ``--noconvert``) is in units of 1,024, as Slurm
    divides it.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("sacct.txt", "w") as file:
    ...     _ = file.write(
    ...         "JobID|User|Submit|Start|End|Elapsed|NNodes|NodeList|State\\n"
    ...         "7|ann|2024-01-31T12:00:00|2024-01-31T12:05:00|2024-01-31T12:06:00|00:01:00|4|n[2-5]|NODE_FAIL\\n"
    ...         "7|ann|2024-01-31T12:06:00|2024-01-31T12:07:00|2024-01-31T12:17:00|00:10:00|4|n[3-6]|COMPLETED\\n"
    ...         "7.batch||2024-01-31T12:05:00|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|1|n3|COMPLETED\\n"
    ...         "8|bob|2024-01-31T12:00:30|Unknown|Unknown|00:00:00|1||PENDING\\n"
    ...     )
    >>> log = fs.read_sacct("sacct.txt")
    >>> log
    <Workload 'sacct': 1 job, sizes 4-4, submit 43200-43200 s, 3 dropped>
    >>> dict(log.dropped)
    {'job step': 1, 'earlier run of a requeued job': 1, 'never started': 1}
    >>> log.lost_runs.time, log.lost_runs.nodes
    (array([43560.]), ('n2',))
    """
    checks.choice("size", size, SIZES)
    checks.choice("cancelled", cancelled, CANCELLED)
    lines = Lines(path, binary=b"{", ends=True)
    dropped = DroppedRecords(lines.name, strict=strict)
    content = b"".join(lines)
    if content[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        table = table_of_json(lines.name, content, dropped)
    else:
        text = content.decode("utf-8-sig", "replace")
        table = table_of_text(lines.name, text, KNOWN, _COMMAND, separator, dropped)
    total = len(table.places) + dropped.count_unreadable
    identity = _identity(table, size)
    ids = table.columns[identity]
    steps = [row for row, text in enumerate(ids) if "." not in text]
    dropped.left_out("job step", len(ids) - len(steps))
    fields = SlurmFields(table.rows(steps), zone, dropped)
    records = SlurmRecords(fields, size, identity)
    rows = fields.readable()
    dropped.finish(total, expected=f"lines as {_COMMAND} prints them")
    jobs, repeated = runs_of_jobs(
        rows.tolist(),
        list(zip(records.ids, records.users, strict=True)),
        records.states,
        *(values.tolist() for values in (records.submit, records.start, records.end)),
    )
    dropped.left_out("earlier run of a requeued job", sum(len(job.lost) for job in jobs))
    dropped.left_out("repeated record", repeated)
    lost = records.lost_runs(jobs)
    records.adjust(jobs)
    jobs, components = records.join_components(jobs)
    dropped.left_out("component of a heterogeneous job", components)
    last = np.array(sorted(job.last for job in jobs), dtype=np.int64)
    made: dict[str, Values] = {
        "id": np.array([records.ids[row] for row in last], dtype=np.str_),
        **{key: getattr(records, key)[last] for key in ("submit", "runtime", "estimate", "size")},
    }
    made["recorded_wait"] = missing(np.round(records.start[last] - records.submit[last], 6))
    never, patience = records.never[last], records.end[last] - made["submit"]
    if cancelled == "keep":
        states = np.array([records.states[row][:16] for row in last])
        left = never & (states == "CANCELLED") & (patience >= 0) & (made["estimate"] >= 0)
        made["runtime"] = np.where(left, made["estimate"], made["runtime"])
        made["recorded_wait"] = np.where(left, -1.0, made["recorded_wait"])
        never = never & ~left
        patience = np.where(left, patience, -1.0)
    made["user"], named = user_numbers([records.users[row] for row in last])
    further = _further(records, columns, size, last)
    if "user" in fields.table.columns and columns is None:
        texts = fields.table.text("user", last)
        if named or "uid" in fields.table.columns:
            further["user_name"] = np.array(texts, dtype=np.str_)
    resized = sum(job.resized is not None for job in jobs)
    if cancelled == "keep" and (patience >= 0).any():
        further["cancel"] = patience
    notes = [f"jobs that are later parts of jobs resized while they ran: {resized}"] if resized else []
    log = accounting_log(
        table.name,
        made,
        further,
        begin=begin,
        end=end,
        name=stem(path, _SUFFIXES) if name is None else name,
        reasons={"never started": never, "still running": records.running[last]},
        dropped=dropped.counts,
        lost=lost,
        notes=[*fields.notes, *notes],
    )
    if cancelled == "keep" and "cancel" in log.further:  # on the clock of the log
        patience = log.columns["cancel"]
        log = log.with_columns(cancel=np.where(patience >= 0, np.round(log.submit + patience, 6), -1.0))
    return log


def _identity(table: SlurmTable, size: str) -> str:
    """The field with the ids of jobs.

    Raises
    ------
    InputError
        If fields are missing: all of them are named.
    """
    identity = table.first_of("jobid", "jobidraw")
    elapsed = table.first_of("elapsedraw", "elapsed") is not None or {"start", "end"} <= table.columns.keys()
    absent = {
        "JobID or JobIDRaw": identity is None,
        "Submit": "submit" not in table.columns,
        "ElapsedRaw or Elapsed (or Start and End)": not elapsed,
        SIZE_NAMES[size]: table.first_of(*SIZES[size]) is None,
    }
    if missing := [name for name, gone in absent.items() if gone]:
        raise InputError(
            f"{table.name}: no field {'; no field '.join(missing)}; it has {', '.join(table.fields)}; "
            f"ask sacct for {'it' if len(missing) == 1 else 'them'} with --format"
        )
    return identity or ""


def _further(
    records: SlurmRecords, columns: Sequence[str] | None, size: str, last: NDArray[np.int64]
) -> dict[str, Values]:
    table = records.fields.table
    columns = None if columns is None else checks.names("columns", columns)
    amounts = {"cores": records.cpus, "memory": records.memory, "gpus": records.gpus, "nodes": records.nodes}
    found: dict[str, Values] = {}
    for name in [*_KEPT, *amounts, "gpu_type"] if columns is None else columns:
        if name in amounts:
            values = amounts[name][last]
            whole = name != "memory" and bool((values == np.floor(values)).all() and (values <= 2.0**53).all())
            if columns is None and name == "nodes" and size == "nodes" and "cores" not in found:
                continue  # they are the sizes
            if columns is not None or not np.isnan(values).all():
                found[name] = values.astype(np.int64) if whole else values
                if name in ("memory", "gpus"):
                    found[f"{name}_per"] = np.full(len(last), "job")
            continue
        if name == "gpu_type":
            types = _gpu_types(table, last)
            if columns is not None or any(types):
                found[name] = np.array(types, dtype=np.str_)
            continue
        field = _KEPT.get(name, name.lower())
        if field in table.columns:
            texts = table.text(field, last)
            if name == "features":
                texts = [text.replace("¦", "|") for text in texts]  # as sacct prints it between its own
            if columns is not None or any(texts):
                found[name] = typed(texts)
        elif columns is not None:
            known = [
                *table.fields,
                *(key for key, field in _KEPT.items() if field in table.columns),
                *amounts,
                "gpu_type",
            ]
            hint = checks.did_you_mean(name, known)
            raise InputError(f"{table.name}: no field {name!r}{hint}; it has {', '.join(known)}")
    return found


def _gpu_types(table: SlurmTable, last: NDArray[np.int64]) -> list[str]:
    fields = [table.text(name, last) if name in table.columns else [""] * len(last) for name in _SAY_TYPES]
    return [gpu_type_of(*texts) for texts in zip(*fields, strict=True)]
