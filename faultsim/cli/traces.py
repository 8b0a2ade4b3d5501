"""The failure trace a command works on: a file of any format that faultsim reads, or a made-up one."""

import argparse
import re
from typing import Any, NamedTuple

import faultsim as fs
from faultsim.errors import InputError, OptionError

__all__ = ["FORMATS", "KINDS", "TraceSource", "add_format_arguments", "made_up", "read_trace", "refuse_reading"]

FORMATS = {
    "csv": "time,node[,downtime[,coin]], as faultsim writes it",
    "lanl": "LA-UR-05-7318, the failure records of LANL",
    "fta": "event_trace.tab of the Failure Trace Archive",
    "ras": "messages of a Blue Gene/L",
}
KINDS = {
    "weibull": "gaps of the machine are Weibull, places Zipf, nodes fail alone or in bursts (Zhang 2004)",
    "exponential": "a constant rate on every node",
    "renewal": "every node fails, is repaired, and fails again",
}
# Option of the reader (as argparse names it) -> the formats that take it.
_READER_OPTIONS = {
    "system": ("lanl",),
    "level": ("ras",),
    "gap": ("ras",),
    "kinds": ("ras",),
    "strict": ("ras",),
    "downtime": ("ras",),
    "prefix": ("fta",),
    "min_downtime": ("fta",),
    "begin": ("lanl", "fta", "ras"),
    "end": ("lanl", "fta", "ras"),
    "under_way": ("lanl", "fta"),
}
_READERS = {"csv": fs.read_failures, "lanl": fs.read_lanl, "fta": fs.read_fta, "ras": fs.read_bluegene_ras}
_RAS_LINE = re.compile(rb"(\S+ \d+ \S+ \S+ )?\d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.\d+ ")


class TraceSource(NamedTuple):
    """A trace and one line that says where it comes from."""

    trace: Any
    text: str
    built_in: bool


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how to read a file."""
    group = parser.add_argument_group("reading")
    formats = "; ".join(f"{name}: {text}" for name, text in FORMATS.items())
    group.add_argument("--format", choices=FORMATS, help=f"{formats} (default: told by the first line)")
    group.add_argument("--begin", metavar="DATE", help="from this moment on, which becomes 0 s: 2001-01-31 (not csv)")
    group.add_argument("--end", metavar="DATE", help="before this moment (not csv)")
    group.add_argument("--under-way", action="store_true", default=None, help="with outages under way at --begin")
    group.add_argument("--system", type=int, metavar="N", help="lanl: number of the system (default 2)")
    group.add_argument("--prefix", metavar="TEXT", help="fta: only nodes whose name begins so")
    group.add_argument("--min-downtime", type=float, metavar="S", help="fta: leave shorter outages out")
    group.add_argument("--level", choices=("midplane", "node"), help="ras: what fails (default midplane)")
    group.add_argument("--gap", type=float, metavar="S", help="ras: messages this close are one failure (default 600)")
    group.add_argument("--kinds", choices=("hardware", "all"), help="ras: which messages (default hardware)")
    group.add_argument("--downtime", type=float, metavar="S", help="ras: down time of each failure (default 0)")
    group.add_argument("--strict", action="store_true", default=None, help="ras: an unreadable line is an error")


def read_trace(path: str, args: argparse.Namespace) -> Any:
    """The trace in a file, read as `args` (see `add_format_arguments`) say."""
    kind = args.format or _told(path)
    options = {}
    for name, formats in _READER_OPTIONS.items():
        value = getattr(args, name)
        if value is None:
            continue
        if kind not in formats:
            raise OptionError(f"--{name.replace('_', '-')} is for {' and '.join(formats)}; {path} is read as {kind}")
        options[name] = _moment(value) if name in ("begin", "end") else value
    return _READERS[kind](path, **options)


def refuse_reading(args: argparse.Namespace) -> None:
    """Refuse options of reading where there is no file to read."""
    for name in ("format", *_READER_OPTIONS):
        if getattr(args, name) is not None:
            raise OptionError(f"--{name.replace('_', '-')} is for reading a TRACE, and none is given")


def _moment(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _told(path: str) -> str:
    """The format of a file by its first line that is no comment."""
    from faultsim.readers.files import Lines

    if path == "-":
        raise OptionError(f"--format is needed for standard input: {', '.join(FORMATS)}")
    first = b""
    for block in Lines(path):
        if block.startswith(b"# event_id"):
            return "fta"
        lines = (line.strip() for line in block.split(b"\n"))
        first = next((line for line in lines if line and not line.startswith(b"#")), b"")
        if first:
            break
    if _RAS_LINE.match(first):
        return "ras"
    if first.startswith((b"System,", b"\xef\xbb\xbfSystem,")):
        return "lanl"
    if len(first.split(b"\t")) >= 8:
        return "fta"
    if b"," in first or not first:
        return "csv"
    raise InputError(f"{path}: not a failure trace by its first line; give --format {'|'.join(FORMATS)}")


def made_up(kind: str, args: argparse.Namespace) -> Any:
    """The synthetic trace named `kind`; `args` has nodes, days, seed and the options of the kind."""
    common = {"nodes": args.nodes, "horizon": args.days * 86_400.0, "rng": args.seed}
    if kind == "weibull":
        return fs.synthetic.weibull_failures(
            **common,
            shape=args.shape,
            scale=args.scale,
            window=args.window,
            zipf=args.zipf,
            downtime=args.downtime,
            count=args.count,
            burst=args.burst,
            permute=args.permute,
        )
    if kind == "exponential":
        return fs.synthetic.exponential_failures(
            **common, mtbf=args.mtbf * 86_400.0, downtime=args.downtime, count=args.count
        )
    return fs.synthetic.renewal_failures(
        **common, mtbf=args.mtbf * 86_400.0, mttr=args.mttr, uptimes=args.uptimes, repairs=args.repairs
    )
