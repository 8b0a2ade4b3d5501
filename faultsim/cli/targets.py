"""Files that commands write: checked before the work, and standard output, which takes one of them."""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from faultsim.errors import OptionError

#: What must not go to a terminal.
_BINARY = ("--save", "--parquet")


def add_quiet(parser: argparse._ActionsContainer) -> None:
    """``--quiet``."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="no table, no progress and no notes: only errors, and what was asked"
    )


def add_older(parser: argparse._ActionsContainer) -> None:
    """``--allow-older-results``."""
    parser.add_argument(
        "--allow-older-results",
        action="store_true",
        help="read results of an older model revision as they are; no others are added to them",
    )


def check_targets(targets: Mapping[str, str | None], *, json: bool = False) -> bool:
    """Reject at once what could not be written after the work; whether standard output is taken.

    Parameters
    ----------
    targets : mapping of str to str or None
        Option -> the file, "-" for standard output, None where it is not given.
    json : bool
        Whether standard output is to hold a JSON document.
    """
    given = {flag: path for flag, path in targets.items() if path}
    piped = [flag for flag, path in given.items() if path == "-"]
    if len(piped) + json > 1:
        names = " and ".join([*piped, *(["--json"] if json else [])])
        raise OptionError(f"{names} both need standard output; name a file for all but one")
    if piped and piped[0] in _BINARY and sys.stdout.isatty():
        raise OptionError(f"{piped[0]} -: not for a terminal; redirect standard output, or name a file")
    for path in given.values():
        if path != "-" and not Path(path).absolute().parent.is_dir():
            raise OptionError(f"{path}: its folder does not exist")
        if os.path.isdir(path):
            raise OptionError(f"{path} is a folder; a file is needed")
    return bool(piped)
