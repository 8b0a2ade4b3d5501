"""`READERS`: every format that faultsim reads.  Command line, sweep files and documentation walk it."""

import codecs
import inspect
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from faultsim import checks
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

_WORDS = {Workload: "job log", FailureTrace: "failure trace", Workflow: "workflow", object: "result"}
_ZIP, _SQLITE, _PARQUET = b"PK\x03\x04", b"SQLite format 3\0", b"PAR1"
_SAVED = (_ZIP, _SQLITE)
_BINARY = (*_SAVED, _PARQUET)
#: Names of columns, in lower case, by which a table of failures is told from one of jobs.
_OF_NODES = {b"node", b"nodes", b"nodenum", b"node_id", b"nodeid", b"nodename", b"node_name", b"host", b"hostname"} | {
    b"machine", b"machine_id", b"server", b"component", b"component_id"
}  # fmt: skip
_OF_TIMES = {b"time", b"start", b"timestamp", b"date", b"begin", b"failed", b"timestart", b"start_time", b"down"} | {
    b"event_start_time", b"failure_time", b"fail_time", b"failure", b"starttime", b"begin_time", b"from", b"when"
}  # fmt: skip
_OF_JOBS = {b"submit", b"submitted", b"submit_time", b"submittime", b"runtime", b"run_time", b"size", b"job"} | {
    b"jobid", b"job_id", b"walltime", b"wall_time", b"nodes_requested", b"queue", b"user", b"jobname", b"elapsed"
}  # fmt: skip
_OF_INTERVALS = {b"failure_interval", b"failure_duration"}
_BETWEEN = (b",", b";", b"\t", b"|")
#: Bytes of a file by which formats are told; the first key of an indented JSON document is among them.
_START = 64
#: Bytes of a first line in which names of columns are looked for.
_LONGEST_HEADER = 1 << 16
# A name or nothing (pandas writes its index under no name), then a separator: no job line of an SWF, nor a ";" comment,
# begins so.
_NAMES_LINE = re.compile(rb"(?:[\"A-Za-z_][^,;\t|<>{}]*|)[,\t|]|[\"A-Za-z_][^,;\t|<>{}]*;")
_RAS_LINE = re.compile(rb"(\S+ \d+ \S+ \S+ )?\d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.\d+ ")


def _is_event(line: bytes) -> bool:
    """Whether a line may be an event of the Failure Trace Archive: 9 to 12 fields, of which an SWF line has 18."""
    fields = line.split()
    return _LEAST <= len(fields) < _MOST and b"," not in line and all(field.isdigit() for field in fields[:3])


Data = TypeVar("Data")
#: Fields of an event of the Failure Trace Archive: 9, and some that a site adds.
_LEAST, _MOST = 8, 13


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
    ('prefix', 'begin', 'end', 'min_downtime', 'under_way', 'strict')
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

    @property
    def called(self) -> str:
        """What it reads, in words: ``job log, Standard Workload Format``."""
        return f"{_WORDS[self.gives]}, {self.summary}"


#: A format, where the same code serves all.
AnyReader: TypeAlias = Reader[Any]
#: Every format; of those that a first line fits, the last is meant.
READERS: tuple[AnyReader, ...] = (
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
        "a table with a time and a node in each row, as faultsim and others write it",
        lambda line: line.startswith(_PARQUET) or not line or _NAMES_LINE.match(line) is not None,
    ),
    Reader(
        FailureTrace,
        "lanl",
        read_lanl,
        ".csv",
        "LA-UR-05-7318, the failure records of LANL",
        lambda line: line.startswith(b"System,"),
    ),
    Reader(
        FailureTrace,
        "fta",
        read_fta,
        ".tab",
        "event_trace.tab of the Failure Trace Archive",
        lambda line: line.lstrip(b"# ").startswith((b"event_id", b"component_id")) or _is_event(line),
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
    Reader(Workflow, "wfcommons", read_wfcommons, ".json", "WfCommons (WfFormat 1.2 to 1.6)"),
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


@dataclass(frozen=True)
class Beginning:
    """How a file begins, whatever its encoding and compression: what `what_is` judges by.

    Parameters
    ----------
    start : bytes
        The first bytes, decompressed, without a byte order mark.
    line : bytes
        The first line that is no comment; the comment of the Failure Trace Archive with names counts as one.
    names : frozenset of bytes
        Its fields by its own separator, in lower case, without quotes; of a Parquet file the names of its columns.
    """

    start: bytes
    line: bytes
    names: frozenset[bytes]


def beginning(path: str | os.PathLike[str]) -> Beginning:
    """How a file begins.

    Raises
    ------
    InputError
        If there is no such file, or if it is an archive of another kind than gzip, xz and bzip2.

    Examples
    --------
    >>> with open("begins.csv", "wb") as file:
    ...     _ = file.write(b"\\xef\\xbb\\xbf# exported\\n\\"submit\\";runtime\\n")
    >>> beginning("begins.csv").line, sorted(beginning("begins.csv").names)
    (b'"submit";runtime', [b'runtime', b'submit'])
    """
    raw = next(iter(Lines(path, document=True)), b"")
    if raw.startswith(_PARQUET):
        return Beginning(raw[:_START], _PARQUET, _names_of_parquet(path))
    if raw.startswith(_SAVED) or not raw:
        return Beginning(raw[:_START], b"", frozenset())
    # The first block of a document is not cut at lines, so that a file of one very long line is judged, too.
    text = raw
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = raw[: len(raw) // 2 * 2].decode("utf-16", "replace").encode("utf-8", "replace")
    else:
        next(iter(Lines(path)), b"")  # refuses archives and binary files by name
    text = text.removeprefix(codecs.BOM_UTF8)
    first = comment = b""
    for line in map(bytes.strip, text.replace(b"\r", b"\n").split(b"\n")):
        if line.startswith(b"# event_id"):
            first = line
            break
        if line.startswith(b"#"):
            comment = line
        elif line and not line.lower().startswith(b"sep="):
            first = line
            break
    between = max(_BETWEEN, key=first.count)
    if comment.count(between) == first.count(between) > 0 and first[:1].isdigit():
        first = comment.lstrip(b"#").strip()  # the names are in a comment
    names = frozenset(name.strip().strip(b'"').lower() for name in first[:_LONGEST_HEADER].split(between))
    return Beginning(text[:_START], first, names)


def _names_of_parquet(path: str | os.PathLike[str]) -> frozenset[bytes]:
    """The names of the columns of a Parquet file; none without pyarrow, or of a file that cannot be read."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        return frozenset()
    try:
        return frozenset(name.lower().encode("utf-8", "replace") for name in parquet.read_schema(path).names)
    except (OSError, ArrowException, UnicodeDecodeError):
        return frozenset()


def candidates(path: str | os.PathLike[str]) -> list[AnyReader]:
    """Every reader that fits a file, the likeliest first: by the end of its name, then by how it begins.

    Raises
    ------
    InputError
        If there is no such file.
    """
    stem = checks.file_name(path).lower()
    for end in (".gz", ".xz", ".bz2"):
        stem = stem.removesuffix(end)
    flows, traces, logs = readers_of(Workflow), readers_of(FailureTrace), readers_of(Workload)
    found: list[AnyReader] = [
        row for row in flows.values() if row.extension != ".json" and stem.endswith(row.extension)
    ]
    begins = beginning(path)
    line = begins.line
    if begins.start.startswith(_SAVED):
        return [_SAVED_RESULT]
    if line.startswith((b"{", b"<")):
        document = flows["wfcommons" if line.startswith(b"{") else "dax"]
        found.append(logs["sacct"] if begins_sacct(begins.start) else document)
    fits = [row for row in reversed(traces.values()) if row.begins(line)]
    jobs = [row for row in reversed(logs.values()) if row.begins(line)]
    # A trace in a form of its own is surely one; a table is one of failures if it has their columns.
    own = [row for row in fits if row.name != "csv"]
    tables = [row for row in fits if row.name == "csv"]
    if is_failure_table(begins.names):
        tables = [traces["csv"]]
        return [*found, *own, *tables, *jobs]
    return [*found, *own, *jobs, *tables]


def is_failure_table(names: Collection[bytes]) -> bool:
    """Whether names of columns, in lower case, are those of a table of failures and not of one of jobs.

    Examples
    --------
    >>> is_failure_table([b"host", b"start", b"end"]), is_failure_table([b"submit", b"node", b"runtime", b"size"])
    (True, False)
    """
    there = set(names)
    if there & _OF_INTERVALS:
        return True
    return bool(there & _OF_NODES and there & _OF_TIMES) and not there & _OF_JOBS


def detect(path: str | os.PathLike[str], gives: type[Data]) -> Reader[Data]:
    """The likeliest reader of a file that gives a log, a trace or a workflow, as asked for: see `candidates`.

    Raises
    ------
    OptionError
        For standard input, which can be read only once.
    InputError
        If no reader of this kind knows the file.
    """
    known = readers_of(gives)
    if path == "-":
        raise OptionError(f"--format is needed for standard input: {', '.join(known)}")
    for row in candidates(path):
        if row.gives is gives:
            return row
    found = what_is(path)
    if found.name != "swf":  # which is what no other format fits
        raise InputError(f"{path}: a {found.called}, and no {_WORDS[gives]}: {_TAKES[found.gives]}")
    raise InputError(f"{path}: not a {_WORDS[gives]} by its first line; give --format {'|'.join(known)}")


#: What takes a file of each kind.
_TAKES = {
    Workload: "'faultsim run' takes it",
    FailureTrace: "failures= takes it",
    Workflow: "'faultsim workflow run' takes it",
    object: "'faultsim show' takes it",
}


def read_as(path: str | os.PathLike[str], gives: type[Data], reader: Reader[Data], **options: object) -> Data:
    """What a reader that `detect` chose makes of a file; if that fails, a file of another kind is named as such.

    Raises
    ------
    InputError
        If it cannot be read.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.FailureTrace([60], [0], [30], span=100).write_csv("trace.csv")
    >>> read_as("trace.csv", fs.Workload, detect("trace.csv", fs.Workload))
    Traceback (most recent call last):
    faultsim.errors.InputError: trace.csv: a failure trace, a table with a time and a node in each row, as faultsim and
    others write it, and no job log: failures= takes it; the format csv reads it as a job log
    """
    try:
        return reader.read(path, **options)
    except InputError:
        found = what_is(path)
        # SWF is what no other format fits, and a job log what any table may be.
        is_guess = found.gives is Workload and found.name in ("swf", "csv")
        if found.gives is gives or is_guess or options:
            raise
        mend = f"; the format csv reads it as a {_WORDS[gives]}" if reader.name == "csv" else ""
        raise InputError(f"{path}: a {found.called}, and no {_WORDS[gives]}: {_TAKES[found.gives]}{mend}") from None


def what_is(path: str | os.PathLike[str]) -> AnyReader:
    """The likeliest reader of a file of any kind: see `candidates`.

    Raises
    ------
    InputError
        If there is no such file.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Workload(submit=[0], runtime=[1], size=[1]).write_swf("one.swf")
    >>> what_is("one.swf").name, what_is("one.swf").called
    ('swf', 'job log, Standard Workload Format')
    """
    return candidates(path)[0]


def _saved(path: str | os.PathLike[str], *, allow_older_results: bool = False) -> object:
    """Saved results are read by `faultsim.read`, which may import what runs them."""
    raise InputError(f"{path}: a saved result; faultsim.read reads it")


#: What faultsim itself saves; no row of `READERS`, for it is no input of a run.
_SAVED_RESULT: Reader[object] = Reader(object, "result", _saved, ".npz, .db", "saved by faultsim")
