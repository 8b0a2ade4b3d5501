"""The errors that faultsim raises, all subclasses of `FaultsimError`.

An error says what was wrong, where (file and line, row, field) and what would be right, in one line.
"""

__all__ = [
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


class FaultsimError(Exception):
    """Base of every error that faultsim raises on purpose."""


class InputError(FaultsimError, ValueError):
    """A log, a trace or a column contains invalid data."""


class OptionError(FaultsimError, ValueError):
    """An option has an invalid value, or options are combined in an unsupported way."""


class DecisionError(FaultsimError, ValueError):
    """A decision from outside that the rules forbid; nothing has changed, and the simulation can go on."""


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
