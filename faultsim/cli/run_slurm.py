"""``faultsim run --slurm``: the machine and the scheduler of a configuration of Slurm, changed as the options say."""

import argparse
from collections.abc import Sequence

import faultsim as fs
from faultsim import checks
from faultsim.cli.parser import Parser
from faultsim.errors import OptionError
from faultsim.machines import Site

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


def use_slurm(args: argparse.Namespace, given: dict[str, object]) -> tuple[Site, fs.Slurm] | None:
    """The site and its scheduler; None without ``--slurm``.

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
    return changed_site(conf, args.set, args.add_nodes)


def check_slurm_arguments(args: argparse.Namespace) -> None:
    """Refuse options that only ``--slurm`` takes."""
    if args.slurm is None and (name := next((name for name in _NEED if getattr(args, name)), None)):
        raise OptionError(f"--{name.replace('_', '-')} is for --slurm: give the slurm.conf of the site")


def changed_site(conf: fs.SlurmConf, settings: Sequence[str], nodes: Sequence[str]) -> tuple[Site, fs.Slurm]:
    """The site and the scheduler of a configuration with other settings (``K=V``) and more nodes (``C:N``)."""
    scheduler = conf.scheduler
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"--set {text}: expected KEY=VALUE, as in bf_window=4320")
        scheduler = scheduler.replace(**{name.strip(): value.strip()})
    site = conf.site
    for text in nodes:
        site = _with_nodes(site, text)
    return site, scheduler


def _with_nodes(site: Site, text: str) -> Site:
    name, colon, number = text.partition(":")
    if not colon or not number.isdigit() or int(number) < 1:
        raise OptionError(f"--add-nodes {text}: expected CLASS:N, as in gpu:20")
    classes = [each.name for each in site.classes]
    if name not in classes:
        of = next((part.classes for part in site.partitions if part.name == name), None)
        if of is None:
            known = [*classes, *(part.name for part in site.partitions)]
            hint = checks.did_you_mean(name, known)
            raise OptionError(f"--add-nodes {text}: the site has no class or partition {name!r}{hint}")
        if len(of) > 1:
            raise OptionError(f"--add-nodes {text}: the partition {name} has the classes {', '.join(of)}: name one")
        name = of[0]
    before = next(each.count for each in site.classes if each.name == name)
    return site.with_nodes(name, before + int(number))
