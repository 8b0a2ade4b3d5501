"""The errors that faultsim raises, all subclasses of `FaultsimError`.

An error says what was wrong, where (file and line, row, field) and what would be right, in one line.
"""

__all__ = [
    "BusyError",
    "DecisionError",
    "EngineError",
    "FaultsimError",
    "InputError",
    "MissingExtraError",
    "NotAvailableError",
    "OptionError",
    "StoreError",
    "WorkerError",
]


#: Most characters of a line of a message, and most lines: a file of a sweep may have many mistakes.
MOST, MOST_LINES = 400, 40


class FaultsimError(Exception):
    """Base of every error that faultsim raises on purpose; a line of its message has at most 400 characters."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(shortened(arg) if isinstance(arg, str) else arg for arg in args))


def shortened(text: str) -> str:
    """A message of a line or more without its middle, if it is too long: what it quotes may come from a stranger.

    Examples
    --------
    >>> shortened("no column 'a'"), len(shortened(f"no column {'a' * 6000!r}"))
    ("no column 'a'", 400)
    """
    if len(text) <= MOST:
        return text
    lines = [line if len(line) <= MOST else f"{line[: MOST - 93]} ... {line[-88:]}" for line in text.split("\n")]
    more = [f"... and {len(lines) - MOST_LINES + 1:,} lines more"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[: MOST_LINES - len(more)], *more])


class InputError(FaultsimError, ValueError):
    """A log, a trace or a column contains invalid data."""


class OptionError(FaultsimError, ValueError):
    """An option has an invalid value, or options are combined in an unsupported way."""


class DecisionError(FaultsimError, ValueError):
    """A decision from outside that the rules forbid; nothing has changed, and the simulation can go on."""


class BusyError(FaultsimError, RuntimeError):
    """Another thread, or the call that asks a policy, is in the middle of using the object; nothing has changed."""


class MissingExtraError(FaultsimError, ImportError):
    """A required optional package is not installed; the message names the extra."""


class StoreError(FaultsimError, OSError):
    """A sweep store cannot be opened, read or written; what was written before is safe."""


class WorkerError(FaultsimError, RuntimeError):
    """Workers of a sweep died repeatedly; finished runs are in the store."""


class NotAvailableError(FaultsimError, NotImplementedError):
    """A feature that is not implemented, such as stepping through the reference engine; the message names it."""


class EngineError(FaultsimError, RuntimeError):
    """The engine found its own state inconsistent: a bug in faultsim, please report it."""
