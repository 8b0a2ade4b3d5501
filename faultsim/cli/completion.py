"""Print what a shell needs to complete the words of faultsim's commands with the tab key.

bash   eval "$(faultsim completion bash)"       in ~/.bashrc
zsh    eval "$(faultsim completion zsh)"        in ~/.zshrc, after compinit
fish   faultsim completion fish | source        in ~/.config/fish/config.fish

Needs argcomplete: pip install "faultsim[completion]".
"""

import argparse
import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faultsim import checks
from faultsim.cli.parser import Parser
from faultsim.policies.registry import KINDS, known_policies

SHELLS = ("bash", "zsh", "fish")
#: Set by the shell's function while it asks: at which word of the line the arguments begin, counted from 1.
ASKED = "_ARGCOMPLETE"


def main(parser: Parser, argv: Sequence[str]) -> int:
    """``faultsim completion``."""
    parser.add_argument("shell", choices=SHELLS, help="which shell")
    args = parser.parse_args(argv)
    argcomplete = checks.extra("argcomplete", "completion", "faultsim completion")
    print(argcomplete.shellcode(["faultsim"], shell=args.shell))
    return 0


class Asked(Parser):
    """A parser that answers the shell, with what its command or action could go on with, instead of parsing."""

    def parse_args(self, args: object = None, namespace: object = None) -> Any:
        complete(self)

    def chosen(self, argv: Sequence[str], actions: Mapping[str, object]) -> None:
        if not argv or argv[0] not in actions:
            _choose(actions)
        _one_on()


def complete_command(commands: Mapping[str, str]) -> None:
    """Answer the shell, and end the process."""
    words = _words()
    if not words or words[0] not in commands:
        _choose(commands, "--version")
    _one_on()
    module = importlib.import_module(f"faultsim.cli.{words[0]}")
    module.main(Asked(prog=f"faultsim {words[0]}"), words[1:])


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell with the options and values of a parser, and end the process."""
    import argcomplete

    for action in parser._actions:
        names: tuple[str, ...] = ()
        if action.choices is None and action.dest in KINDS:
            names = tuple(name.replace("_", "-") for name in known_policies(action.dest))
        elif action.dest == "metric":
            from faultsim.sweep.row_schema import ALL_COLUMNS

            names = ALL_COLUMNS
        if names:
            action.completer = lambda names=names, **asked: names  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)


def _choose(names: Iterable[str], *options: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=list(names))
    for option in options:
        parser.add_argument(option, action="store_true")
    complete(parser)


def _words() -> list[str]:
    """The words before the one at the cursor, from the one on at which arguments begin."""
    from argcomplete.lexers import split_line

    words: list[str] = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))[3]
    return words[int(os.environ[ASKED]) :]


def _one_on() -> None:
    """Arguments begin a word later."""
    os.environ[ASKED] = str(int(os.environ[ASKED]) + 1)
