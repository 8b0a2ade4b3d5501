"""Work with job logs.

faultsim log summary [LOG]            counts, span, offered load, sizes and work (with --nodes: Krevat's Table 1)
faultsim log head [LOG] [-n 10]       the first jobs
faultsim log convert LOG OUT          to .swf, .csv (.gz, .xz, .bz2) or .parquet, on the way cut, scaled or loaded
faultsim log generate KIND OUT        a synthetic log
"""

import argparse
from collections.abc import Sequence

from faultsim.cli.changes import add_change_arguments, loaded, spanned
from faultsim.cli.inputs import DEFAULT_JOBS, DEFAULT_NODES, KINDS, add_log_arguments, builtin, open_log
from faultsim.cli.log_files import HELP, read_log
from faultsim.cli.output import print_json, table
from faultsim.cli.parser import Action, Parser, choose, seed
from faultsim.cli.targets import add_quiet, check_targets
from faultsim.data.workload import Workload
from faultsim.errors import OptionError

_SWF, _CSV = (tuple(kind + end for end in ("", ".gz", ".xz", ".bz2")) for kind in (".swf", ".csv"))
_PARQUET = (".parquet", ".pq")
_OUT = ".swf, .csv (either with .gz, .xz or .bz2 after it) or .parquet; - is standard output, as SWF"


def _change_arguments(parser: Parser) -> None:
    add_change_arguments(parser).add_argument("--nodes", type=int, metavar="N", help="the machine's nodes")


def _changed(log: Workload, args: argparse.Namespace) -> Workload:
    log = spanned(log, args)
    nodes = log.max_nodes if args.nodes is None else args.nodes
    if args.load is not None and nodes is None:
        raise OptionError("--load needs --nodes N: the log's header does not name the machine's size")
    return loaded(log, args, nodes or 1)


def _summary(parser: Parser, argv: Sequence[str]) -> int:
    add_log_arguments(parser)
    _change_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    args = parser.parse_args(argv)
    source = open_log(args)
    log = _changed(source.log, args)
    nodes = args.nodes
    if nodes is None:
        nodes = log.max_nodes or (DEFAULT_NODES if source.built_in else None)
    summary = log.summary(nodes=nodes)
    if args.json:
        print_json({"log": source.text, "built_in": source.built_in, "dropped": dict(log.dropped), **summary})
    else:
        print(f"log  {source.text}")
        if left_out := log.header.get("ColumnsLeftOut"):
            print(f"columns left out: {left_out}")
        print(summary)
    return 0


def _head(parser: Parser, argv: Sequence[str]) -> int:
    add_log_arguments(parser)
    parser.add_argument("-n", type=int, default=10, metavar="N", help="number of jobs (default 10)")
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    args = parser.parse_args(argv)
    if args.n < 1:
        raise OptionError(f"-n: got {args.n}, at least 1 is needed")
    source = open_log(args)
    log = source.log.head(args.n)
    columns = {name: values.tolist() for name, values in log.columns.items()}
    if args.json:
        print_json({"log": source.text, "built_in": source.built_in, "jobs": columns})
    else:
        print(f"log  {source.text}")
        print(table(list(zip(*columns.values(), strict=True)), list(columns)))
    return 0


def _checked(args: argparse.Namespace) -> None:
    """Reject before the work what could not be written after it."""
    args.quiet = check_targets({"OUT": args.out}) or args.quiet
    if args.out != "-" and not args.out.lower().endswith((*_SWF, *_CSV, *_PARQUET)):
        raise OptionError(f"{args.out}: unknown kind of file; write {_OUT}")


def _write(log: Workload, args: argparse.Namespace) -> None:
    path, name = args.out, args.out.lower()
    write = log.write_csv if name.endswith(_CSV) else log.write_parquet if name.endswith(_PARQUET) else log.write_swf
    write(path)
    if not args.quiet:
        print(f"{path}: {len(log):,} jobs")


def _convert(parser: Parser, argv: Sequence[str]) -> int:
    parser.add_argument("log", metavar="LOG", help=HELP)
    parser.add_argument("out", metavar="OUT", help=_OUT)
    parser.add_argument("--columns", metavar="NAMES", help="further columns to keep, with commas")
    _change_arguments(parser)
    add_quiet(parser)
    args = parser.parse_args(argv)
    _checked(args)
    log = _changed(read_log(args.log, args.columns)[0], args)
    _write(log, args)
    return 0


def _generate(parser: Parser, argv: Sequence[str]) -> int:
    parser.add_argument("kind", metavar="KIND", help="; ".join(f"{name}: {text}" for name, text in KINDS.items()))
    parser.add_argument("out", metavar="OUT", help=_OUT)
    parser.add_argument("--jobs", type=int, default=DEFAULT_JOBS, metavar="N", help=f"default {DEFAULT_JOBS:,}")
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="default 0")
    add_quiet(parser)
    args = parser.parse_args(argv)
    _checked(args)
    log = builtin(args.kind, args.jobs, args.seed, option="KIND")
    _write(log, args)
    return 0


ACTIONS: dict[str, Action] = {
    "summary": _summary,
    "head": _head,
    "convert": _convert,
    "generate": _generate,
}


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim log``."""
    return choose(parser, argv, ACTIONS, "action")
