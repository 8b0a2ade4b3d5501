"""Measure on this machine and print a table.

faultsim bench partitions     finds/s of every partition finder, by machine and occupancy
faultsim bench engine         jobs/s and events/s by machine and scheduler
faultsim bench queue          pushes and pops/s of the event queue
faultsim bench knapsack       items x capacity/s of the knapsack
"""

import argparse
import os
from collections.abc import Mapping, Sequence

import faultsim as fs
from faultsim.cli.inputs import builtin
from faultsim.cli.log_files import read_log
from faultsim.cli.output import print_json, table
from faultsim.cli.parser import Action, Parser, choose
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.simulation.progress import reporting
from faultsim.version import __version__


def _common(parser: Parser) -> None:
    parser.add_argument("--quick", action="store_true", help="a few seconds in total")
    parser.add_argument("--json", action="store_true", help="print only one JSON document")


def _print(args: argparse.Namespace, what: str, rows: Sequence[Mapping[str, object]]) -> int:
    if args.json:
        print_json({"faultsim": __version__, "bench": what, "rows": rows})
    else:
        header = list(rows[0])
        print(table([[row[name] for name in header] for row in rows], header))
    return 0


def _engine_log(args: argparse.Namespace) -> tuple[Workload, str]:
    """The log to run: --log, else the SDSC log in --data or FAULTSIM_DATA, else the built-in stand-in."""
    if args.log:
        return read_log(args.log)
    from faultsim.reproduce.krevat2002.inputs import find_log

    folder = args.data or os.environ.get("FAULTSIM_DATA")
    path = find_log(folder, "sdsc") if folder else None
    if path is None and args.data:
        raise OptionError(f"--data {args.data}: no SDSC-SP2-1998-4.2-cln.swf.gz there (nor in its folder swf)")
    if path is not None:
        return fs.krevat_span(fs.read_swf(path), "sdsc"), f"{path.name}, first 10,000 jobs"
    return builtin("sdsc_like", 10_000, 0), "built-in synthetic sdsc_like (10,000 jobs, seed 0)"


def _engine(parser: Parser, argv: Sequence[str]) -> int:
    _common(parser)
    parser.add_argument("--log", metavar="LOG", help="job log to run, as in 'faultsim run'")
    parser.add_argument("--data", metavar="DIR", help="folder that holds the SDSC log (else FAULTSIM_DATA)")
    parser.add_argument("--head", type=int, metavar="N", help="only the first N jobs")
    parser.add_argument("--repeat", type=int, default=3, metavar="K", help="best of K (default 3)")
    args = parser.parse_args(argv)
    from faultsim.bench.engine import measure

    log, text = _engine_log(args)
    if args.head is not None:
        log = log.head(args.head)
    elif args.quick:
        log = log.head(2000)
    if not args.json:
        print(f"log  {text}; {len(log):,} jobs run, best of {1 if args.quick else args.repeat}")
    with reporting(True, "measurements") as report:
        rows = measure(log, repeat=1 if args.quick else args.repeat, progress=report)
    return _print(args, "engine", rows)


def _partitions(parser: Parser, argv: Sequence[str]) -> int:
    _common(parser)
    args = parser.parse_args(argv)
    from faultsim.bench.partitions import measure

    return _print(args, "partitions", measure(quick=args.quick))


def _queue(parser: Parser, argv: Sequence[str]) -> int:
    _common(parser)
    args = parser.parse_args(argv)
    from faultsim.bench.queue import measure

    return _print(args, "queue", measure(quick=args.quick))


def _knapsack(parser: Parser, argv: Sequence[str]) -> int:
    _common(parser)
    args = parser.parse_args(argv)
    from faultsim.bench.knapsack import measure

    return _print(args, "knapsack", measure(quick=args.quick))


ACTIONS: dict[str, Action] = {"partitions": _partitions, "engine": _engine, "queue": _queue, "knapsack": _knapsack}


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim bench``."""
    return choose(parser, argv, ACTIONS, "benchmark")
