"""The failure trace a command works on: a file of any format that faultsim reads, or a made-up one."""

import argparse
import re
from typing import Any, NamedTuple

import faultsim as fs
from faultsim.cli.parser import hint
from faultsim.errors import InputError, OptionError

__all__ = [
    "FORMATS",
    "KINDS",
    "TraceSource",
    "add_format_arguments",
    "add_made_up_arguments",
    "made_up",
    "read_trace",
    "refuse_reading",
]

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
# Option of a made-up trace (as argparse names it) -> default, kinds that take it.
_OPTIONS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "shape": (0.85, ("weibull",)),
    "scale": (18_000.0, ("weibull",)),
    "window": (2, ("weibull",)),
    "zipf": (0.01, ("weibull",)),
    "burst": (None, ("weibull",)),
    "permute": (False, ("weibull",)),
    "downtime": (120.0, ("weibull", "exponential")),
    "count": (None, ("weibull", "exponential")),
    "mtbf": (56.0, ("exponential", "renewal")),
    "mttr": (3600.0, ("renewal",)),
    "uptimes": ("exponential", ("renewal",)),
    "repairs": ("exponential", ("renewal",)),
}
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
    from faultsim.readers.input_lines import Lines

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


def add_made_up_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of made-up traces, besides nodes, days and seed."""
    group = parser.add_argument_group("weibull")
    group.add_argument("--shape", type=float, metavar="B", help="of the gaps (default 0.85)")
    group.add_argument("--scale", type=float, metavar="S", help="of the gaps, in seconds (default 18000)")
    group.add_argument("--window", type=int, metavar="W", help="gaps in ordered runs of W (default 2: as drawn)")
    group.add_argument("--zipf", type=float, metavar="A", help="the node of rank k fails as k**-A (default 0.01)")
    group.add_argument("--burst", type=float, metavar="M", help="mean number of nodes that fail together")
    group.add_argument("--permute", action="store_true", default=None, help="ranks dealt out at random")
    group = parser.add_argument_group("weibull and exponential")
    group.add_argument("--count", type=int, metavar="F", help="exactly F failures")
    group.add_argument("--downtime", type=float, metavar="S", help="seconds that a node is down (default 120)")
    group = parser.add_argument_group("exponential and renewal")
    group.add_argument(
        "--mtbf", type=float, metavar="D", help="mean time between failures of a node, days (default 56)"
    )
    group = parser.add_argument_group("renewal")
    group.add_argument("--mttr", type=float, metavar="S", help="mean down time in seconds (default 3600)")
    group.add_argument("--uptimes", metavar="NAME", help="exponential, bathtub_per_gap or bathtub_per_node")
    group.add_argument("--repairs", metavar="NAME", help="exponential or constant")


def made_up(kind: str, args: argparse.Namespace, argument: str) -> Any:
    """The synthetic trace named `kind`, which came from `argument`; `args` has nodes, days, seed and its options."""
    word = kind.strip().lower()
    if word not in KINDS:
        near = hint(word, KINDS)
        raise OptionError(f"{argument}: unknown kind {kind!r}; {near + ' ' if near else ''}known: {', '.join(KINDS)}")
    for name, (default, kinds) in _OPTIONS.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif word not in kinds:
            raise OptionError(f"--{name} is for {' and '.join(kinds)}, not for {word}")
    common = {"nodes": args.nodes, "horizon": args.days * 86_400.0, "rng": args.seed}
    if word == "weibull":
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
    if word == "exponential":
        return fs.synthetic.exponential_failures(
            **common, mtbf=args.mtbf * 86_400.0, downtime=args.downtime, count=args.count
        )
    return fs.synthetic.renewal_failures(
        **common, mtbf=args.mtbf * 86_400.0, mttr=args.mttr, uptimes=args.uptimes, repairs=args.repairs
    )
