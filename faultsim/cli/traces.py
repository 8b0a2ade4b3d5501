"""The failure trace that a command works on: a file of any format that faultsim reads, or a synthetic one."""

import argparse
from typing import NamedTuple

import faultsim as fs
from faultsim.cli.file_words import moment
from faultsim.cli.own_words import in_words_of_traces
from faultsim.cli.parser import duration, duration_as_given, duration_once_in_days, hint
from faultsim.data.failures import FailureTrace
from faultsim.errors import OptionError
from faultsim.readers.table import detect, read_as, readers_of

FORMATS = readers_of(FailureTrace)
KINDS = {
    "weibull": "gaps of the machine are Weibull, places Zipf, nodes fail alone or in bursts (Zhang 2004)",
    "exponential": "a constant rate on every node",
    "renewal": "every node fails, is repaired, and fails again",
}
# Options of readers that are options of the command line, as argparse names them.
_READING = (
    "system", "level", "gap", "kinds", "strict", "downtime", "prefix", "min_downtime", "begin", "end", "under_way",
    "columns", "unit", "zone", "separator",
)  # fmt: skip
# Option of a synthetic trace (as argparse names it) -> default, kinds that take it.
_OPTIONS: dict[str, tuple[object, tuple[str, ...]]] = {
    "shape": (0.85, ("weibull",)),
    "scale": (18_000.0, ("weibull",)),
    "window": (2, ("weibull",)),
    "zipf": (0.01, ("weibull",)),
    "burst": (None, ("weibull",)),
    "permute": (False, ("weibull",)),
    "downtime": (None, ("weibull", "exponential", "renewal")),
    "count": (None, ("weibull", "exponential")),
    "mtbf": (56 * 86_400.0, ("exponential", "renewal")),
    "uptimes": ("exponential", ("renewal",)),
    "repairs": ("exponential", ("renewal",)),
    "any_rate": (False, ("weibull", "exponential", "renewal")),
}


class TraceSource(NamedTuple):
    """A trace and one line that says where it comes from."""

    trace: FailureTrace
    text: str
    built_in: bool


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how to read a file."""
    group = parser.add_argument_group("reading")
    formats = "; ".join(f"{name}: {row.summary}" for name, row in FORMATS.items())
    group.add_argument("--format", choices=FORMATS, help=f"{formats} (default: told by the first line)")
    group.add_argument(
        "--begin",
        metavar="DATE",
        help="from this moment on, which becomes 0 s: 2001-01-31 (lanl, fta, ras, titan, events)",
    )
    group.add_argument("--end", metavar="DATE", help="before this moment (lanl, fta, ras, titan, events)")
    group.add_argument("--under-way", action="store_true", default=None, help="include outages in progress at --begin")
    group.add_argument("--system", type=int, metavar="N", help="lanl: number of the system, if the file has several")
    group.add_argument("--prefix", metavar="TEXT", help="fta: only nodes whose name begins with this")
    group.add_argument("--min-downtime", type=duration, metavar="S", help="fta: omit shorter outages")
    group.add_argument(
        "--level", metavar="WHAT", help="what fails: ras: midplane (default) or node; titan: router (default) or node"
    )
    group.add_argument(
        "--gap", type=duration, metavar="S", help="ras: messages this close count as one failure (default 600)"
    )
    group.add_argument(
        "--kinds",
        metavar="WHICH",
        help="ras: hardware (default) or all; stepfun: all (default) or hardware; titan: all (default), dbe or otb; "
        "events: all (default), down or drain",
    )
    group.add_argument(
        "--downtime", type=duration, metavar="S", help="ras, titan: down time of each failure (default 0)"
    )
    group.add_argument(
        "--strict", action="store_true", default=None, help="an unreadable record is an error (csv, fta, ras, events)"
    )
    group.add_argument(
        "--columns", metavar="NAMES", help="csv: names of its columns, as in time=failed_at,node=box,downtime=repair"
    )
    group.add_argument("--unit", metavar="U", help="csv: unit of times that are numbers: ns, us, ms, s, min, h, d")
    group.add_argument("--zone", metavar="Z", help="csv, events: time zone of dates without one, such as Europe/Berlin")
    group.add_argument("--separator", metavar="C", help="csv, events: what separates its fields")


def read_trace(path: str, args: argparse.Namespace) -> FailureTrace:
    """The trace in a file, read as `args` (see `add_format_arguments`) say."""
    reader = FORMATS[args.format] if args.format else detect(path, FailureTrace)
    options = {}
    for name in _READING:
        value = getattr(args, name)
        if value is None:
            continue
        of_column = name == "downtime" and reader.name == "csv"  # there it is the name of a column
        if name not in reader.options or of_column:
            rows = [row for row in FORMATS.values() if name in row.options]
            takers = " and ".join(row.name for row in rows if not (name == "downtime" and row.name == "csv"))
            raise OptionError(f"--{name.replace('_', '-')} is for {takers}; {path} is read as {reader.name}")
        options[name] = _columns(value) if name == "columns" else moment(value) if name in ("begin", "end") else value
    return reader.read(path, **options) if args.format else read_as(path, FailureTrace, reader, **options)


def _columns(text: str) -> dict[str, str]:
    """``time=failed_at,node=box`` as names of columns."""
    pairs = [word.partition("=") for word in text.split(",") if word.strip()]
    if not pairs or not all(equals and theirs.strip() for _, equals, theirs in pairs):
        raise OptionError(f"--columns {text}: expected names such as time=failed_at,node=box")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def refuse_reading(args: argparse.Namespace) -> None:
    """Reject reading options if there is no file to read."""
    for name in ("format", *_READING):
        if getattr(args, name) is not None:
            raise OptionError(f"--{name.replace('_', '-')} is for reading a TRACE, and none is given")


def add_made_up_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of synthetic traces, besides nodes, span and seed."""
    group = parser.add_argument_group("weibull")
    group.add_argument("--shape", type=float, metavar="B", help="of the gaps (default 0.85)")
    group.add_argument("--scale", type=duration_as_given, metavar="S", help="of the gaps, in seconds (default 18000)")
    group.add_argument("--window", type=int, metavar="W", help="gaps in ordered runs of W (default 2: as drawn)")
    group.add_argument("--zipf", type=float, metavar="A", help="the node of rank k fails as k**-A (default 0.01)")
    group.add_argument("--burst", type=float, metavar="M", help="mean number of nodes that fail together")
    group.add_argument("--permute", action="store_true", default=None, help="ranks dealt out at random")
    group = parser.add_argument_group("weibull and exponential")
    group.add_argument("--count", type=int, metavar="F", help="exactly F failures")
    group = parser.add_argument_group("exponential and renewal")
    group.add_argument(
        "--mtbf",
        type=duration_once_in_days,
        metavar="S",
        help="mean time between failures of a node, with its unit (default 56d)",
    )
    group = parser.add_argument_group("renewal")
    group.add_argument("--uptimes", metavar="NAME", help="exponential, bathtub_per_gap or bathtub_per_node")
    group.add_argument("--repairs", metavar="NAME", help="exponential or constant")
    group = parser.add_argument_group("all of them")
    group.add_argument(
        "--downtime", type=duration_as_given, metavar="S", help="down time (default 2m); renewal: its mean (default 1h)"
    )
    group.add_argument(
        "--any-rate",
        action="store_true",
        default=None,
        help="accept nodes that fail far too often, or are down for most of the time, as after a mistake in units",
    )


def made_up(kind: str, args: argparse.Namespace, argument: str) -> FailureTrace:
    """The synthetic trace named `kind`, which came from `argument`; `args` has nodes, span, seed and its options."""
    word = kind.strip().lower()
    if word not in KINDS:
        near = hint(word, KINDS)
        raise OptionError(f"{argument}: unknown kind {kind!r}; {near + ' ' if near else ''}known: {', '.join(KINDS)}")
    for name, (default, kinds) in _OPTIONS.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif word not in kinds:
            raise OptionError(f"--{name.replace('_', '-')} is for {' and '.join(kinds)}, not for {word}")
    try:
        return _drawn(word, args)
    except OptionError as error:
        raise OptionError(in_words_of_traces(str(error), dashes=argument == "KIND")) from None


def _drawn(word: str, args: argparse.Namespace) -> FailureTrace:
    if args.downtime is None:
        args.downtime = 3600.0 if word == "renewal" else 120.0
    common = {"nodes": args.nodes, "span": args.span, "any_rate": args.any_rate, "rng": args.seed}
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
        return fs.synthetic.exponential_failures(**common, mtbf=args.mtbf, downtime=args.downtime, count=args.count)
    return fs.synthetic.renewal_failures(
        **common, mtbf=args.mtbf, downtime=args.downtime, uptimes=args.uptimes, repairs=args.repairs
    )
