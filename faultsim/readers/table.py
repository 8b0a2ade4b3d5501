"""`READERS`: every format that faultsim reads.  Command line, sweep files and documentation walk it."""

import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.readers.accounting_lines import begins_events, begins_lsf, begins_pbs, begins_sacct, begins_sge
from faultsim.readers.bluegene_ras import read_bluegene_ras
from faultsim.readers.dax import read_dax
from faultsim.readers.failures_csv import read_failures
from faultsim.readers.fta import read_fta
from faultsim.readers.input_lines import Lines
from faultsim.readers.jobs import read_jobs
from faultsim.readers.lanl import read_lanl
from faultsim.readers.lsf import read_lsf
from faultsim.readers.pbs import read_pbs
from faultsim.readers.sacct import read_sacct
from faultsim.readers.sacct_events import read_sacct_events
from faultsim.readers.sge import read_sge
from faultsim.readers.stepfun import read_stepfun
from faultsim.readers.stg import read_stg
from faultsim.readers.swf import read_swf
from faultsim.readers.titan import read_titan
from faultsim.readers.wfcommons import read_wfcommons

_WORDS = {Workload: "job log", FailureTrace: "failure trace", Workflow: "workflow"}
# A name, then a separator: no job line of an SWF, nor a ";" comment, begins so.
_NAMES_LINE = re.compile(rb"(?:\xef\xbb\xbf)?[\"A-Za-z_][^,;\t|<>{}]*[,;\t|]")
_RAS_LINE = re.compile(rb"(\S+ \d+ \S+ \S+ )?\d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.\d+ ")


Data = TypeVar("Data")


@dataclass(frozen=True)
class Reader(Generic[Data]):
    """One format.

    Parameters
    ----------
    gives : type
        What a file of it holds: a `Workload`, a `FailureTrace` or a `Workflow`.
    name : str
        What the command line and the files of sweeps call it.
    read : callable
        The function that reads it, from a path and options.
    extension : str
        How the names of its files usually end, but for .gz, .xz and .bz2.
    summary : str
        Where such files come from, or what is in them.
    begins : callable
        Whether a file is of it, by its first line that is no comment.

    Examples
    --------
        >>> readers_of(FailureTrace)["fta"].options
    ('prefix', 'begin', 'end', 'min_downtime', 'under_way')
    """

    gives: type[Data]
    name: str
    read: Callable[..., Data]
    extension: str
    summary: str
    begins: Callable[[bytes], bool] = lambda line: False

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its options."""
        return tuple(inspect.signature(self.read).parameters)[1:]


#: Every format; of those that a first line fits, the last is meant.
READERS: tuple[Reader[Any], ...] = (
    Reader(Workload, "swf", read_swf, ".swf", "Standard Workload Format", lambda line: True),
    Reader(
        Workload,
        "csv",
        read_jobs,
        ".csv, .parquet",
        "CSV or Parquet with named columns",
        lambda line: line.startswith(b"PAR1") or _NAMES_LINE.match(line) is not None,
    ),
    Reader(
        Workload,
        "sacct",
        read_sacct,
        ".txt",
        "what sacct --parsable2 or --json of Slurm prints",
        begins_sacct,
    ),
    Reader(Workload, "pbs", read_pbs, ".txt", "accounting of PBS Professional, OpenPBS or Torque", begins_pbs),
    Reader(Workload, "lsf", read_lsf, ".acct", "lsb.acct, the accounting of LSF", begins_lsf),
    Reader(Workload, "sge", read_sge, ".txt", "accounting of Grid Engine", begins_sge),
    Reader(
        FailureTrace,
        "csv",
        read_failures,
        ".csv",
        "time,node[,downtime[,coin]], as faultsim writes it",
        lambda line: b"," in line or not line,
    ),
    Reader(
        FailureTrace,
        "lanl",
        read_lanl,
        ".csv",
        "LA-UR-05-7318, the failure records of LANL",
        lambda line: line.startswith((b"System,", b"\xef\xbb\xbfSystem,")),
    ),
    Reader(
        FailureTrace,
        "fta",
        read_fta,
        ".tab",
        "event_trace.tab of the Failure Trace Archive",
        lambda line: line.startswith(b"# event_id") or line.count(b"\t") >= 7,
    ),
    Reader(
        FailureTrace,
        "ras",
        read_bluegene_ras,
        ".log",
        "messages of a Blue Gene/L",
        lambda line: _RAS_LINE.match(line) is not None,
    ),
    Reader(
        FailureTrace,
        "titan",
        read_titan,
        ".csv",
        "gc_full.csv, the history of the GPUs of Titan",
        lambda line: line == b"SN,location,insert,remove,duration,out,event",
    ),
    Reader(
        FailureTrace,
        "stepfun",
        read_stepfun,
        ".json",
        "fault_trace.json of InfiniteHBD-Trace, StepFun",
        lambda line: line.startswith(b"["),
    ),
    Reader(
        FailureTrace,
        "events",
        read_sacct_events,
        ".txt",
        "what sacctmgr show event --parsable2 of Slurm prints",
        begins_events,
    ),
    Reader(Workflow, "wfcommons", read_wfcommons, ".json", "WfCommons (WfFormat 1.5)"),
    Reader(Workflow, "dax", read_dax, ".dax", "Pegasus (DAX)"),
    Reader(Workflow, "stg", read_stg, ".stg", "Standard Task Graph Set"),
)


def readers_of(gives: type[Data]) -> dict[str, Reader[Data]]:
    """The readers of one kind of input, by name.

    Examples
    --------
    >>> list(readers_of(FailureTrace))
    ['csv', 'lanl', 'fta', 'ras', 'titan', 'stepfun', 'events']
    """
    return {row.name: row for row in READERS if row.gives is gives}


def _first_line(path: str | os.PathLike[str]) -> bytes:
    """The first line that is no comment."""
    for document in (True, False):  # the first line of a document may be the only one, and all of it
        for block in Lines(path, document=document):
            lines = (line.strip() for line in block.split(b"\n"))
            first = next((line for line in lines if line and (line.startswith(b"# event_id") or line[:1] != b"#")), b"")
            if first:
                return first
            if document:
                break
    return b""


def detect(path: str | os.PathLike[str], gives: type[Data]) -> Reader[Data]:
    """The reader of a file by its first line that is no comment.

    Raises
    ------
    OptionError
        For standard input, which can be read only once.
    InputError
        If no reader knows the line.
    """
    known = readers_of(gives)
    if path == "-":
        raise OptionError(f"--format is needed for standard input: {', '.join(known)}")
    first = _first_line(path)
    for row in reversed(known.values()):
        if row.begins(first):
            return row
    raise InputError(f"{path}: not a {_WORDS[gives]} by its first line; give --format {'|'.join(known)}")


def what_is(path: str | os.PathLike[str]) -> Reader[Any]:
    """The reader of a file of any kind: by its name where that tells, else by its first line.

    A table of failures is told from one of jobs by its column ``node``; what nothing else fits is a job log.

    Raises
    ------
    InputError
        If there is no such file.
    """
    stem = os.fspath(path).lower()
    for end in (".gz", ".xz", ".bz2"):
        stem = stem.removesuffix(end)
    for row in readers_of(Workflow).values():
        if row.extension != ".json" and stem.endswith(row.extension):
            return row
    first = _first_line(path)
    if first.startswith((b"{", b"<")):
        return readers_of(Workflow)["wfcommons" if first.startswith(b"{") else "dax"]
    traces, names = readers_of(FailureTrace), first.split(b",")
    for name in ("stepfun", "titan", "ras", "lanl"):
        if traces[name].begins(first):
            return traces[name]
    if first.startswith(b"# event_id"):
        return traces["fta"]
    return traces["csv"] if b"time" in names and b"node" in names else detect(path, Workload)
