"""Finds the command, runs it, and turns what happened into an exit status.

Exit status: 0 done; 1 a claim of a reproduction failed under ``--strict`` (or faultsim is broken: `EngineError`);
2 bad use or bad input, one line on stderr; 130 interrupted.
"""

import argparse
import contextlib
import importlib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from faultsim.cli.output import shown
from faultsim.cli.parser import Parser, hint, one_line
from faultsim.errors import EngineError, FaultsimError
from faultsim.renames import OldNameWarning

#: Command -> what it does.  Its module is imported when it is used, so that --help and wrong use answer at once.
COMMANDS = {
    "run": "simulate a job log on a machine",
    "workflow": "summary, run, decisions, figure: graphs of jobs on nodes that may fail",
    "show": "what is in a file: a saved result, a sweep's store, a log, failures, a workflow",
    "plot": "figures of saved results and of sweeps",
    "log": "summary, head, convert, generate: work with job logs",
    "failures": "summary, convert, generate: work with failure traces",
    "reproduce": "repeat a paper's experiments and judge its claims",
    "plan": "what a pod can promise: slices, spare cubes, training time",
    "torus": "check: the shapes of Slurm's topology/torus3d",
    "slurm": "check, compare-decisions: a site's slurm.conf and slurmctld.log",
    "site": "what-if: what more nodes of each class would buy",
    "compare": "the same jobs on two or more sites",
    "bench": "partitions, engine, queue, knapsack: measure on this machine",
    "sweep": "grids of runs from a file, kept in a store that resumes",
    "status": "progress of the sweeps in a store, and their tables",
    "merge": "merge the stores of sweeps",
    "completion": "bash, zsh, fish: the tab key in a shell",
    "serve": "simulate for another program, which asks over a socket",
    "batsim": "simulate for a scheduler of Batsim, by its protocol",
}


def _top_parser() -> Parser:
    lines = [f"  {name:<11}{summary}" for name, summary in COMMANDS.items()]
    parser = Parser(
        prog="faultsim",
        usage="faultsim [--version] COMMAND ...",
        description="Simulate job scheduling on clusters, tori and pods.",
        epilog="commands:\n" + "\n".join(lines) + "\n"
        "'faultsim COMMAND --help' explains a command. Without a log, commands run on a built-in synthetic one.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=argparse.SUPPRESS)
    return parser


def _dispatch(argv: Sequence[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:  # a shell asks how to go on
        from faultsim.cli.completion import complete_command

        complete_command(COMMANDS)
    top = _top_parser()
    # What follows the command is its own: argparse would drop the first "--" of it.
    own = next((place + 1 for place, word in enumerate(argv) if not word.startswith("-")), len(argv))
    args, rest = top.parse_args(argv[:own]), list(argv[own:])
    if args.version:
        from faultsim.version import __version__

        print(f"faultsim {__version__}")
        return 0
    if args.command is None:
        top.print_help(sys.stdout)
        return 0
    if args.command not in COMMANDS:
        known = ", ".join(COMMANDS)
        top.error(
            " ".join(filter(None, [f"unknown command {args.command!r};", hint(args.command, COMMANDS)]))
            + f" known: {known}"
        )
    module = importlib.import_module(f"faultsim.cli.{args.command}")
    status: int = module.main(Parser(prog=f"faultsim {args.command}", description=module.__doc__), rest)
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``faultsim`` command and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; `sys.argv` when not given.

    Returns
    -------
    int
        0 done, 1 a claim failed under ``--strict``, 2 bad use or bad input, 130 interrupted.

    Examples
    --------
    >>> main(["--version"])  # doctest: +ELLIPSIS
    faultsim ...
    0
    """
    if argv is None:
        _say_anything()
        _hear_of_old_names()
    try:
        if sys.stdout is None or sys.stdout.closed:  # `faultsim ... >&-`
            return _complain("standard output is closed", 2)
        status = _dispatch(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader has closed the pipe (``faultsim log head | head -1``): not our error. Python would complain again
        # at exit when it flushes stdout, hence the null device.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as interrupt:
        print(": ".join(["faultsim", "interrupted", *map(str, interrupt.args)]), file=sys.stderr)
        return 130
    except EngineError as error:
        return _complain(error, 1)
    except FaultsimError as error:
        return _complain(_in_words(error, sys.argv[1:] if argv is None else argv), 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}", 2)
    except MemoryError:
        return _complain("not enough memory for this machine or log", 2)
    except SystemExit as error:  # argparse: --help and wrong use
        return error.code if isinstance(error.code, int) else 2


def _say_anything() -> None:
    """Let names that the locale cannot write be printed as \\xe9 instead of ending in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _hear_of_old_names() -> None:
    """Print warnings of old names, which Python shows to nobody, as one line each."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **further: Any) -> None:
        if issubclass(category, OldNameWarning):
            print(f"faultsim: warning: {one_line(message)}", file=sys.stderr)
        else:
            shown(message, category, *where, **further)

    if not sys.warnoptions:
        warnings.simplefilter("default", OldNameWarning)
    warnings.showwarning = show


def _in_words(error: FaultsimError, argv: Sequence[str]) -> str:
    """What is wrong, in the words of the command that met it."""
    from faultsim.cli.own_words import in_own_words, in_words_of_plans, of_files_and_changes

    if list(argv[:1]) not in (["run"], ["plan"]) and list(argv[:2]) != ["workflow", "run"]:
        return of_files_and_changes(str(error))
    return in_words_of_plans(str(error)) if argv[0] == "plan" else in_own_words(str(error))


def _complain(message: object, status: int) -> int:
    if sys.stderr is not None:  # closed, too
        print(f"faultsim: error: {shown(one_line(message))}", file=sys.stderr)
    return status
