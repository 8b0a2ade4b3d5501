"""The log that a command works on: a file, standard input, or a built-in synthetic one, and a line that says which."""

import argparse
from typing import NamedTuple

import faultsim as fs
from faultsim.cli.log_files import HELP, read_log
from faultsim.cli.parser import hint, seed
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.readers.swf import FURTHER

KINDS = {
    "sdsc_like": "stand-in for Krevat's SDSC SP2 span (128 nodes)",
    "nasa_like": "stand-in for Krevat's NASA iPSC/860 span (128 nodes, powers of two)",
    "llnl_like": "stand-in for Oliner's LLNL T3D log (256 nodes, powers of two; not fitted to it)",
    "lublin": "the Lublin-Feitelson model",
}
DEFAULT_KIND, DEFAULT_JOBS, DEFAULT_NODES = "sdsc_like", 10_000, 128


class Source(NamedTuple):
    """A log and one line that says where it comes from."""

    log: Workload
    text: str
    built_in: bool


def number_or_file(text: str) -> int | str:
    """``--jobs`` of a command that takes a file there, too."""
    if text.isdigit():
        return int(text)
    if "." in text or "/" in text:
        return text
    raise argparse.ArgumentTypeError(f"expected a number of jobs, or with --slurm a file, got {text!r}")


def add_log_arguments(parser: argparse.ArgumentParser, *, positional: bool = True, jobs_file: str = "") -> None:
    """The arguments that say which log: LOG, ``--synthetic``, ``--jobs``, ``--seed``.

    With `jobs_file`, which says what it is, ``--jobs`` may be a file.
    """
    if positional:
        parser.add_argument(
            "log",
            nargs="?",
            metavar="LOG",
            help=f"{HELP}; without it a built-in synthetic log is used",
        )
        parser.add_argument(
            "--columns",
            metavar="NAMES",
            help="further columns of LOG to keep, for orders that name them and for --csv, with commas; of an SWF: "
            f"{', '.join(FURTHER)} (default: of an SWF none; see fs.read_jobs and fs.read_sacct)",
        )
    group = parser.add_argument_group("built-in log (when LOG is not given)")
    group.add_argument(
        "--synthetic",
        metavar="KIND",
        help="; ".join(f"{k}: {v}" for k, v in KINDS.items()) + f" (default {DEFAULT_KIND})",
    )
    group.add_argument(
        "--jobs",
        type=number_or_file if jobs_file else int,
        metavar="N",
        help=f"its number of jobs (default {DEFAULT_JOBS:,}){jobs_file}",
    )
    group.add_argument(
        "--seed", type=seed, default=0, metavar="S", help="its seed, and that of everything else drawn (default 0)"
    )


def builtin(kind: str, jobs: int, seed: int, option: str = "--synthetic") -> Workload:
    """The synthetic log named `kind`, which came from the argument `option`.

    Examples
    --------
    >>> len(builtin("nasa_like", 100, seed=1))
    100
    """
    import numpy as np

    word = kind.strip().lower().replace("-", "_")
    if word not in KINDS:
        near = hint(word, KINDS)
        raise OptionError(f"{option}: unknown kind {kind!r}; {near + ' ' if near else ''}known: {', '.join(KINDS)}")
    if jobs < 1:
        raise OptionError(f"--jobs: got {jobs}, at least 1 is needed")
    log: Workload = getattr(fs.synthetic, word)(jobs, rng=np.random.default_rng(seed))
    return log


def open_log(args: argparse.Namespace) -> Source:
    """The log that `args` (see `add_log_arguments`) specify."""
    if args.log is not None:
        if args.synthetic is not None:
            raise OptionError(f"--synthetic {args.synthetic}: a LOG is given too ({args.log}); give one of the two")
        log, path = read_log(args.log, args.columns)
        if args.jobs is not None:
            raise OptionError("--jobs is for the built-in log; use --head N for the first N jobs of a file")
        return Source(log, "standard input" if path == "-" else path, False)
    if args.columns is not None:
        raise OptionError("--columns is for the fields of a LOG; the built-in log has none")
    kind = args.synthetic or DEFAULT_KIND
    jobs = DEFAULT_JOBS if args.jobs is None else args.jobs
    log = builtin(kind, jobs, args.seed)
    why = "" if args.synthetic else "no LOG given: "
    return Source(log, f"{why}built-in synthetic {kind} ({jobs:,} jobs, seed {args.seed})", True)
