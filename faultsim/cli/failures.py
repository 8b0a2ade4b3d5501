"""Work with failure traces.

faultsim failures summary [TRACE]         counts, rates, gaps, down times, the worst nodes, bursts, availability
faultsim failures convert TRACE OUT       to .csv (.gz, .xz, .bz2), on the way cut, mapped, thinned or stretched
faultsim failures generate KIND OUT       a synthetic trace
"""

import argparse
from collections.abc import Sequence

import faultsim as fs
from faultsim.checks import parsed
from faultsim.cli.output import print_json
from faultsim.cli.parser import Action, Parser, choose, duration, seed
from faultsim.cli.targets import add_quiet, check_targets
from faultsim.cli.traces import (
    KINDS,
    TraceSource,
    add_format_arguments,
    add_made_up_arguments,
    made_up,
    read_trace,
    refuse_reading,
)
from faultsim.data.failures import FailureTrace
from faultsim.errors import OptionError

_OUT = ".csv, .csv.gz, .csv.xz, .csv.bz2, or - for standard output"
# The trace of ``summary`` without a file: Zhang's machine and the span of his Table 1.
_NODES, _SPAN, _COUNT = 320, 62 * 86_400.0, 266


def _change_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("changes, in this order")
    group.add_argument(
        "--from", dest="t0", type=duration, metavar="S", help="failures from this second on; it becomes 0 s"
    )
    group.add_argument("--to", dest="t1", type=duration, metavar="S", help="failures before this second")
    group.add_argument("--map-nodes", type=int, metavar="N", help="onto the nodes of a machine of N")
    group.add_argument("--how", choices=("modulo", "permute"), help="how to map (default modulo)")
    group.add_argument("--drop-outside", type=int, metavar="N", help="drop failures of nodes that a machine of N lacks")
    group.add_argument("--merge-overlaps", action="store_true", help="merge overlapping outages of a node")
    group.add_argument(
        "--lemons",
        type=_lemons,
        metavar="N,T[,T]",
        help="a node with N failures within a time stays out for another, or for good; with units: 3,30d,14d",
    )
    group.add_argument("--count", type=int, metavar="N", help="keep N failures, a nested choice")
    group.add_argument(
        "--repeat", action="store_true", help="with --count: repeat the trace end to end if it is too short"
    )
    group.add_argument("--span", type=duration, metavar="S", help="scale times such that the span is S seconds")
    group.add_argument("--seed", type=seed, default=0, metavar="S", help="for --how permute and --count (default 0)")


def _lemons(text: str) -> tuple[int, float, float | None]:
    """Failures, window and time out of ``--lemons``."""
    parts = text.split(",")
    if len(parts) not in (2, 3):
        raise argparse.ArgumentTypeError(f"{text!r} is no rule: write failures, window and, if not for good, time out")
    try:
        count = parsed(parts[0].strip(), int)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{parts[0]!r} is no number of failures: write 3,30d or 3,30d,14d") from None
    for part in parts[1:]:
        if part.strip()[-1:].isdigit():
            raise argparse.ArgumentTypeError(f"{part!r} has no unit: write days, as in 3,30d, or {part.strip()}s")
    return count, duration(parts[1]), duration(parts[2]) if len(parts) > 2 else None


def _changed(trace: FailureTrace, args: argparse.Namespace) -> FailureTrace:
    if args.t0 is not None or args.t1 is not None:
        trace = trace.window(args.t0 or 0.0, float("inf") if args.t1 is None else args.t1)
    if args.how is not None and args.map_nodes is None:
        raise OptionError(f"--how {args.how} says how to map nodes; give --map-nodes N, too")
    if args.map_nodes is not None:
        trace = trace.map_nodes(args.map_nodes, args.how or "modulo", rng=args.seed)
    if args.drop_outside is not None:
        trace = trace.drop_outside(args.drop_outside)
    if args.merge_overlaps:
        trace = trace.merge_overlaps()
    if args.lemons is not None:
        count, window, out = args.lemons
        try:
            trace = trace.exclude_lemons(count, window, out=out)
        except OptionError as error:
            raise OptionError(f"--lemons: {str(error).replace(' of exclude_lemons()', '')}") from None
    if args.count is not None:
        trace = trace.with_count(args.count, rng=args.seed, repeat=args.repeat)
    elif args.repeat:
        raise OptionError("--repeat is for --count N")
    return trace if args.span is None else trace.with_span(args.span)


def _source(args: argparse.Namespace) -> TraceSource:
    if args.trace is not None:
        text = "standard input" if args.trace == "-" else args.trace
        return TraceSource(read_trace(args.trace, args), text, False)
    refuse_reading(args)
    trace = fs.synthetic.weibull_failures(_NODES, _SPAN, shape=0.85, scale=18_000.0, count=_COUNT, rng=args.seed)
    text = f"no TRACE given: built-in synthetic weibull ({_COUNT} failures of {_NODES} nodes, seed {args.seed})"
    return TraceSource(trace, text, True)


def _summary(parser: Parser, argv: Sequence[str]) -> int:
    parser.add_argument(
        "trace",
        nargs="?",
        metavar="TRACE",
        help="failure trace (.gz, .xz, .bz2), or - for standard input; without it a built-in synthetic one is used",
    )
    add_format_arguments(parser)
    _change_arguments(parser)
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="the machine's nodes (default: as many as the trace needs)"
    )
    parser.add_argument(
        "--burst-gap", type=duration, default=0.0, metavar="S", help="failures this close count as one burst"
    )
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    args = parser.parse_args(argv)
    source = _source(args)
    trace = _changed(source.trace, args)
    nodes = args.nodes if args.nodes is not None else (args.map_nodes or (_NODES if source.built_in else None))
    summary = trace.summary(nodes=nodes, burst_gap=args.burst_gap)
    if args.json:
        about = {"trace": source.text, "built_in": source.built_in, "name": trace.name}
        print_json({**about, "dropped": dict(trace.dropped), **summary})
    else:
        print(f"trace  {source.text}")
        print(summary)
    return 0


def _write(trace: FailureTrace, args: argparse.Namespace) -> int:
    path = args.out
    if path != "-" and not any(path.lower().endswith(".csv" + end) for end in ("", ".gz", ".xz", ".bz2")):
        raise OptionError(f"{path}: unknown kind of file; use {_OUT}")
    taken = check_targets({"OUT": path}, json=args.json)
    trace.write_csv(path)
    if args.json:
        print_json({"out": path, "name": trace.name, "dropped": dict(trace.dropped), **trace.summary()})
    elif not (taken or args.quiet):
        word = trace.of.word if trace.of else "node"
        print(f"{path}: {len(trace):,} failures of {trace.min_nodes:,} {word}s, span {trace.span:.10g} s")
    return 0


def _convert(parser: Parser, argv: Sequence[str]) -> int:
    parser.add_argument("trace", metavar="TRACE", help="failure trace to read, or - for standard input")
    parser.add_argument("out", metavar="OUT", help=_OUT)
    add_format_arguments(parser)
    _change_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print what was written as one JSON document")
    add_quiet(parser)
    args = parser.parse_args(argv)
    return _write(_changed(read_trace(args.trace, args), args), args)


def _generate(parser: Parser, argv: Sequence[str]) -> int:
    parser.add_argument("kind", metavar="KIND", help="; ".join(f"{name}: {text}" for name, text in KINDS.items()))
    parser.add_argument("out", metavar="OUT", help=_OUT)
    parser.add_argument("--nodes", type=int, default=_NODES, metavar="N", help=f"nodes (default {_NODES})")
    parser.add_argument(
        "--span", type=duration, default=_SPAN, metavar="S", help="seconds that it covers (default 62d)"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="default 0")
    add_made_up_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print what was written as one JSON document")
    add_quiet(parser)
    args = parser.parse_args(argv)
    return _write(made_up(args.kind, args, "KIND"), args)


ACTIONS: dict[str, Action] = {
    "summary": _summary,
    "convert": _convert,
    "generate": _generate,
}


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim failures``."""
    return choose(parser, argv, ACTIONS, "action")
