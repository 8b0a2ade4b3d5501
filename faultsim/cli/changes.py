"""Changes of a job log that commands make before they use it: a span, a head, a load."""

import argparse

import faultsim as fs
from faultsim.cli.parser import Parser
from faultsim.data.workload import Workload
from faultsim.errors import OptionError


def add_change_arguments(parser: Parser) -> "argparse._ArgumentGroup":
    """``--krevat``, ``--head``, ``--runtime-factor``, ``--gap-factor``, ``--load``; gives back their group."""
    group = parser.add_argument_group("changes of the log, in this order")
    group.add_argument("--krevat", choices=("nasa", "sdsc"), help="the 10,000-job span of Krevat 2002, Table 1")
    group.add_argument("--head", type=int, metavar="N", help="the first N jobs")
    group.add_argument("--runtime-factor", type=float, metavar="C", help="run times and estimates times C")
    group.add_argument("--gap-factor", type=float, metavar="F", help="gaps between arrivals times F")
    group.add_argument("--load", type=float, metavar="L", help="gaps such that the offered load of the machine is L")
    return group


def spanned(log: Workload, args: argparse.Namespace) -> Workload:
    """The log after the changes that need no machine."""
    if args.head is not None and args.head < 1:
        raise OptionError(f"--head: got {args.head}, at least 1 is needed")
    if args.krevat:
        log = fs.krevat_span(log, args.krevat)
    if args.head is not None:
        log = log.head(args.head)
    if args.runtime_factor is not None:
        log = log.with_runtime_factor(args.runtime_factor)
    return log if args.gap_factor is None else log.with_gap_factor(args.gap_factor)


def loaded(log: Workload, args: argparse.Namespace, nodes: int) -> Workload:
    """The log at the offered load that was asked for, of a machine of so many nodes."""
    return log if args.load is None else log.with_load(args.load, nodes=nodes)
