"""`Limits`: how much of a file is read before an error says that it is too much."""

from __future__ import annotations

import os
from contextvars import ContextVar, Token
from dataclasses import dataclass, fields

from faultsim import checks
from faultsim.errors import InputError, OptionError

__all__ = ["Limits"]

#: Of the environment: limits for whole programs, as text.
VARIABLE = "FAULTSIM_LIMITS"
#: Bytes that an archive may give whatever its ratio: small files of one repeated line are honest.
FREE = 1 << 23


@dataclass(frozen=True)
class Limits:
    """What readers accept, so that no file takes all the time or memory there is.

    Enter it to read with it: ``with fs.Limits(bytes=2**40): ...``.  Outside, limits are those of the environment
    variable ``FAULTSIM_LIMITS`` (``"bytes=1e12,line=1e8"``), else the defaults.  Each is checked as a file is read, and
    the error names the limit.

    Parameters
    ----------
    bytes : int
        Of a file, unpacked.
    lines : int
        Of a file; by default bytes alone count.
    line : int
        Bytes of a line of a format that is read line by line.
    ratio : int
        How many times larger than its file an archive, a saved result, a Parquet file or a column of text may become,
        beyond 8 MiB.
    cells : int
        Of the grid of a sweep.
    replicates : int
        Of each cell of a sweep.

    Raises
    ------
    OptionError
        A limit that is not a whole number of 1 or more.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Workload(submit=[0], runtime=[1], size=[1]).write_swf("one.swf")
    >>> with fs.Limits(bytes=10):
    ...     fs.read_swf("one.swf")
    Traceback (most recent call last):
    faultsim.errors.InputError: one.swf: more than 10 bytes; fs.Limits(bytes=...) allows more
    """

    bytes: int = 1 << 32
    lines: int = 1 << 32
    line: int = 1 << 20
    ratio: int = 200
    cells: int = 1_000_000
    replicates: int = 1_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            checks.whole(f"limit {field.name}", getattr(self, field.name), low=1)

    def __enter__(self) -> Limits:
        _entered.set((*_entered.get(), _in_force.set(self)))
        return self

    def __exit__(self, *_: object) -> None:
        *before, token = _entered.get()
        _in_force.reset(token)
        _entered.set(tuple(before))

    def check(self, where: str, name: str, given: int) -> None:
        """Refuse what is beyond the limit of this name.

        Raises
        ------
        InputError
            With the limit and how to raise it.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Limits(lines=5).check("a.log", "lines", 6)
        Traceback (most recent call last):
        faultsim.errors.InputError: a.log: more than 5 lines; fs.Limits(lines=...) allows more
        """
        most = getattr(self, checks.choice("limit", name, _SAID))
        if given > most:
            raise InputError(f"{where}: {_SAID[name].format(f'{most:,}')}; fs.Limits({name}=...) allows more")


_SAID = {
    "bytes": "more than {} bytes",
    "lines": "more than {} lines",
    "line": "a line of more than {} bytes",
    "ratio": "unpacks to more than {} times its size",
    "cells": "more than {} cells",
    "replicates": "more than {} replicates",
}

_in_force: ContextVar[Limits | None] = ContextVar("limits", default=None)
_entered: ContextVar[tuple[Token[Limits | None], ...]] = ContextVar("entered", default=())


def limits() -> Limits:
    """The limits in force.

    Raises
    ------
    OptionError
        The environment variable is no list of limits.

    Examples
    --------
    >>> import faultsim as fs
    >>> with fs.Limits(lines=5):
    ...     limits().lines
    5
    """
    return _in_force.get() or _of_environment(os.environ.get(VARIABLE, ""))


def check_unpacked(where: str, unpacked: int, size: int) -> None:
    """Refuse what takes more bytes, or is more times larger than its file of `size` bytes, than the limits allow.

    Raises
    ------
    InputError
        With the limit and how to raise it.

    Examples
    --------
    >>> import faultsim as fs
    >>> with fs.Limits(ratio=5):
    ...     check_unpacked("a.log", 10**8, 10**6)
    Traceback (most recent call last):
    faultsim.errors.InputError: a.log: unpacks to more than 5 times its size; fs.Limits(ratio=...) allows more
    """
    most = limits()
    most.check(where, "bytes", unpacked)
    if unpacked > FREE:
        most.check(where, "ratio", unpacked // size)


def _of_environment(text: str) -> Limits:
    known = [field.name for field in fields(Limits)]
    given: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        try:
            if name not in known or "_" in number:
                raise ValueError
            given[name] = int(float(number))
        except (ValueError, OverflowError):
            raise OptionError(
                f"{VARIABLE}: {part!r:.40} is no limit; expected {'=, '.join(known)}= and numbers, with commas"
            ) from None
    return Limits(**given) if given else _DEFAULT


_DEFAULT = Limits()
