"""Ask what a site would gain by more nodes.

faultsim site what-if SITE --jobs LOG
faultsim site what-if SITE --jobs LOG --more 4 --scheduler backfill:10 --failures trace.csv

SITE is a file that fs.read_site reads (sinfo, scontrol show node, or a CSV), or text such as
site:cpu=180x32c187G,gpu=8x40c187Gx2v100.  For each class of nodes the same jobs run with some more of it; the table has
the mean wait and the mean bounded slowdown, of all jobs and by partition, and what a job waits less, with the 95 %
interval over days.
"""

import argparse
import math
import os
from collections.abc import Sequence
from dataclasses import asdict

import faultsim as fs
from faultsim import checks
from faultsim.cli.log_files import read_log
from faultsim.cli.output import print_json, table
from faultsim.cli.parser import Parser
from faultsim.cli.specs import policy
from faultsim.errors import OptionError
from faultsim.machines.site import Site, parse_site
from faultsim.sweep.what_if import Change, changes, with_more

_HEAD = ("site", "jobs of", "jobs", "mean wait, h", "saved, h", "95 % interval, h", "bounded slowdown", "less")


def site_of(text: str) -> Site:
    """The site that a word of the command line names: a file, or text.

    Examples
    --------
    >>> site_of("site:cpu=2x4c").cores
    8
    """
    if os.path.exists(text):
        return fs.read_site(text)
    if not text.startswith("site:"):
        raise OptionError(
            f"{text!r:.60} is no site, and no such file: give a file that fs.read_site reads, or text such as "
            f"site:cpu=180x32c187G,gpu=8x40c187Gx2v100"
        )
    return parse_site(text, text.removeprefix("site:"))


def print_changes(found: Sequence[Change], *, json: bool) -> None:
    """The table, or one JSON document."""
    if json:
        print_json({"changes": [asdict(each) for each in found]})
        return
    print(table([_row(each) for each in found], _HEAD))


def _row(each: Change) -> list[object]:
    hours = [value / 3600.0 for value in (each.wait, each.saved, each.low, each.high)]
    first = each.site == "now"
    interval = "" if first or math.isnan(each.low) else f"{hours[2]:.3f} to {hours[3]:.3f}"
    return [
        each.site,
        each.group,
        each.jobs,
        f"{hours[0]:.3f}",
        "" if first else f"{hours[1]:.3f}",
        interval,
        f"{each.slowdown:.2f}",
        "" if first else f"{each.faster:.2f}",
    ]


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The jobs, and how they are scheduled."""
    parser.add_argument("--jobs", metavar="LOG", required=True, help="a log whose columns say what jobs ask for")
    parser.add_argument("--scheduler", metavar="SPEC", help="as for 'faultsim run' (default easy)")
    parser.add_argument("--placement", metavar="SPEC", help="as for 'faultsim run'")
    parser.add_argument("--failures", metavar="FILE", help="failures of the nodes of the first site")
    parser.add_argument("--json", action="store_true", help="print only one JSON document")


def run_changes(args: argparse.Namespace, site: Site, others: dict[str, Site]) -> int:
    """Run, and print."""
    log, _ = read_log(args.jobs)
    given = {kind: policy(kind, getattr(args, kind)) for kind in ("scheduler", "placement")}
    settings = {kind: value for kind, value in given.items() if value is not None}
    trace = None if args.failures is None else fs.read_failures(args.failures)
    print_changes(changes(log, site, others, trace, **settings), json=args.json)
    return 0


def main(parser: Parser, argv: Sequence[str] | None = None) -> int:
    """Entry point of ``faultsim site``."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="what-if")
    ask = commands.add_parser("what-if", help="what more nodes of each class would buy")
    ask.add_argument("site", metavar="SITE", help="a file that fs.read_site reads, or site:...")
    ask.add_argument("--more", type=int, default=10, metavar="N", help="nodes added to each class (default 10)")
    add_run_arguments(ask)
    args = parser.parse_args(argv)
    site = site_of(args.site)
    return run_changes(args, site, with_more(site, checks.whole("--more", args.more, low=1)))
