"""argparse with one-line errors and a did-you-mean."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from faultsim.checks import did_you_mean, parsed, seconds
from faultsim.renames import renamed, warn


def hint(wrong: str, known: Iterable[str]) -> str:
    """``did you mean 'easy'?`` if something known is close to `wrong`, else an empty text.

    Examples
    --------
    >>> hint("eazy", ["fcfs", "easy"])
    "did you mean 'easy'?"
    >>> hint("zzz", ["fcfs", "easy"])
    ''
    """
    bare = {name.lstrip("-"): name for name in known}
    near = did_you_mean(wrong.lstrip("-"), bare)
    return f"did you mean {bare[near.split(chr(39))[1]]!r}?" if near else ""


def one_line(text: object) -> str:
    """Fold `text` into one line: an error is one line on stderr, whatever its message."""
    return " ".join(str(text).split())


def duration(text: str) -> float:
    """The type of an argument in seconds, which may have a unit.

    Examples
    --------
    >>> duration("90"), duration("2h")
    (90.0, 7200.0)
    """
    found = seconds(text)
    try:
        return parsed(text, float) if found is None else found
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration: write 90 or 90s, 5m, 2h, 56d, 1w") from None


def seed(text: str) -> int:
    """The type of a seed.

    Examples
    --------
    >>> seed("7")
    7
    """
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is no seed: a whole number, at least 0, is needed")
    return int(text)


def duration_as_given(text: str) -> float | str:
    """The same with its unit, if it has one: the check of rates is stricter without.

    Examples
    --------
    >>> duration_as_given("90"), duration_as_given("2h")
    (90.0, '2h')
    """
    found = duration(text)
    return found if seconds(text) is None else text


def duration_once_in_days(text: str) -> float | str:
    """The same of an argument that was in days before, and so must have a unit."""
    try:
        days = parsed(text, float)
    except ValueError:
        return duration_as_given(text)
    raise argparse.ArgumentTypeError(f"{text} was in days before: write {days:g}d, or {days:g}s")


def _number(text: str, kind: type[float]) -> float:
    """The type of an argument that is a number."""
    try:
        return parsed(text, kind)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no {'whole ' if kind is int else ''}number") from None


class Parser(argparse.ArgumentParser):
    """`argparse.ArgumentParser` whose errors are one line with exit status 2, without the usage block."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **kwargs)
        for kind in (int, float):
            self.register("type", kind, partial(_number, kind=kind))

    #: The command whose help explains the arguments, if not this one.
    explained_by = ""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {one_line(message)} (see '{self.explained_by or self.prog} --help')\n")

    def _refuse_repeated(self, words: Sequence[str]) -> None:
        """argparse would take the last of them without a word."""
        seen = set()
        for word in words:
            if word == "--":
                return
            option = word.partition("=")[0]
            action = self._option_string_actions.get(option)
            may_repeat = isinstance(action, argparse._AppendAction)
            if action is not None and not may_repeat and id(action) in seen:
                self.error(f"{option} is given twice")
            seen.add(id(action))

    def _current(self, words: Sequence[str]) -> list[str]:
        """The arguments with options under their new names; a number whose unit was another one gets it."""
        old, given = renamed("option", self.prog), list(words)
        for place, word in enumerate(given):
            option, equals, value = word.partition("=")
            if word == "--":
                break
            if (row := old.get(option)) is None:
                continue
            near = f"{row.new}={value}" if equals else row.new
            if row.unit and equals:
                near = f"{near}{row.unit}"
            elif row.unit and place + 1 < len(given):
                given[place + 1] += row.unit
            given[place] = near
            warn(f"{option} of {self.prog}", f"{row.new}{f' with the unit {row.unit}' if row.unit else ''}", 3)
        return given

    def parse_args(self, args: Any = None, namespace: object = None) -> Any:
        # "-:csv" is standard input and its format; a space before it tells argparse that it is no option.
        words = self._current(sys.argv[1:] if args is None else args)
        given = [f" {arg}" if str(arg).startswith("-:") else arg for arg in words]
        self._refuse_repeated(given)
        parsed, extra = self.parse_known_args(given, namespace)
        if extra:
            options = [name for name in self._option_string_actions if name.startswith("--")]
            near = hint(extra[0].partition("=")[0], options) if extra[0].startswith("-") else ""
            self.error(f"unknown argument {extra[0]!r}" + (f"; {near}" if near else ""))
        return parsed

    def chosen(self, argv: Sequence[str], actions: Mapping[str, object]) -> None:
        """Called before the action that `argv` begins with is looked up."""

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse swallows OSError here; a closed pipe is handled once, by `main`.
        if message:
            (file or sys.stderr).write(message)


Action = Callable[[Parser, Sequence[str]], int]


def choose(parser: Parser, argv: Sequence[str], actions: Mapping[str, Action], noun: str) -> int:
    """Run the action named by the first argument."""
    parser.chosen(argv, actions)
    if not argv or argv[0] in ("-h", "--help"):
        print(parser.description)
        return 0
    name = argv[0]
    if name not in actions:
        near = hint(name, actions)
        parser.error(f"unknown {noun} {name!r}; {near + ' ' if near else ''}known: {', '.join(actions)}")
    return actions[name](type(parser)(prog=f"{parser.prog} {name}"), argv[1:])
