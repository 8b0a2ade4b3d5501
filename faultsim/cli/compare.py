"""Run the same jobs on two or more sites, and print what each changes.

faultsim compare SITE OTHER --jobs LOG
faultsim compare --slurm slurm.conf --accounts sacctmgr.cfg qos.txt --jobs sacct.txt --set bf_window=4320

A site is a file that fs.read_site reads, or text such as site:cpu=180x32c187G,gpu=8x40c187Gx2v100.  With --slurm the
configuration of a site that runs Slurm is compared with itself as --set and --add-nodes change it, by partition and
account.  Differences are of the same jobs: what a job waits less than on the first site, on average, with the 95 %
interval over days.
"""

import argparse
from collections.abc import Sequence

import faultsim as fs
from faultsim.cli.log_files import read_log
from faultsim.cli.parser import Parser
from faultsim.cli.run_slurm import add_slurm_arguments, check_slurm_arguments
from faultsim.cli.site import add_run_arguments, print_changes, run_changes, site_of
from faultsim.errors import OptionError
from faultsim.slurm_site import changed_site
from faultsim.sweep.what_if import changes


def main(parser: Parser, argv: Sequence[str] | None = None) -> int:
    """Entry point of ``faultsim compare``."""
    parser.add_argument("sites", metavar="SITE", nargs="*", help="the first is what the others are compared with")
    add_run_arguments(parser)
    add_slurm_arguments(parser)
    args = parser.parse_args(argv)
    check_slurm_arguments(args)
    if args.slurm is not None:
        return _of_slurm(args)
    if len(args.sites) < 2:
        raise OptionError("give a site, and another to compare it with; or --slurm slurm.conf")
    others = {text: site_of(text) for text in args.sites[1:]}
    return run_changes(args, site_of(args.sites[0]), others)


def _of_slurm(args: argparse.Namespace) -> int:
    """The configuration of today against the changed one."""
    if args.sites or args.scheduler is not None:
        given = "a SITE" if args.sites else "--scheduler"
        raise OptionError(f"{given}: the machine and the scheduler are those of --slurm; leave it out")
    if not args.set and not args.add_nodes:
        raise OptionError("--slurm: say by --set or --add-nodes what is changed")
    conf = fs.read_slurm_conf(args.slurm, args.accounts, args.gres)
    site, scheduler = changed_site(conf, args.set, args.add_nodes)
    log, _ = read_log(args.jobs)
    trace = None if args.failures is None else fs.read_failures(args.failures)
    name = " ".join([*args.set, *(f"+{text}" for text in args.add_nodes)])
    found = changes(
        log, conf.site, {name: site}, trace, schedulers={name: scheduler}, by_account=True, scheduler=conf.scheduler
    )
    print_changes(found, json=args.json)
    return 0
