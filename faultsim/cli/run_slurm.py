"""``faultsim run --slurm``: the machine and the scheduler of a configuration of Slurm, changed as the options say."""

import argparse

import faultsim as fs
from faultsim.cli.parser import Parser
from faultsim.errors import OptionError
from faultsim.machines import Site
from faultsim.slurm_site import changed_site

#: Options that only --slurm takes.
_NEED = ("accounts", "gres", "set", "add_nodes")


def add_slurm_arguments(parser: Parser) -> None:
    """Add the options."""
    group = parser.add_argument_group("a site that runs Slurm (instead of --machine and --scheduler)")
    group.add_argument("--slurm", nargs="+", metavar="F", help="slurm.conf, or what scontrol show config prints")
    group.add_argument("--accounts", nargs="+", metavar="F", help="sacctmgr dump, and sacctmgr show qos")
    group.add_argument("--gres", metavar="F", help="gres.conf, which says the types of GPUs")
    group.add_argument(
        "--set", action="append", default=[], metavar="K=V", help="another value of a setting, as bf_window=4320"
    )
    group.add_argument(
        "--add-nodes", action="append", default=[], metavar="C:N", help="N more nodes of a class, or of a partition"
    )


def use_slurm(args: argparse.Namespace, given: dict[str, object]) -> tuple[Site, fs.Slurm, Site] | None:
    """The site, its scheduler, and the site without further nodes; None without ``--slurm``.

    Parameters
    ----------
    args : argparse.Namespace
        Of the command; the log is set by ``--jobs``.
    given : dict
        Options that say the same otherwise, and their defaults.

    Raises
    ------
    OptionError
        An option that needs, or excludes, another.
    """
    check_slurm_arguments(args)
    if args.slurm is None:
        if isinstance(args.jobs, str):
            raise OptionError(f"--jobs {args.jobs}: a file is for --slurm; give it as LOG")
        return None
    for name, default in given.items():
        if getattr(args, name) != default:
            raise OptionError(f"--{name}: the machine and the scheduler are those of --slurm; leave it out")
    if isinstance(args.jobs, str):
        if args.log is not None:
            raise OptionError("--jobs: the log is given already")
        args.log, args.jobs = args.jobs, None
    conf = fs.read_slurm_conf(args.slurm, args.accounts, args.gres)
    return *changed_site(conf, args.set, args.add_nodes), conf.site


def check_slurm_arguments(args: argparse.Namespace) -> None:
    """Refuse options that only ``--slurm`` takes."""
    if args.slurm is None and (name := next((name for name in _NEED if getattr(args, name)), None)):
        raise OptionError(f"--{name.replace('_', '-')} is for --slurm: give the slurm.conf of the site")
