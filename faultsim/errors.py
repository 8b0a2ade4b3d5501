"""The errors that faultsim raises, all children of `FaultsimError`.

An error says what was wrong, where (file and line, row, field) and what would be right, in one line.
"""

__all__ = [
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
    """A log, a trace or a column holds something that it must not hold."""


class OptionError(FaultsimError, ValueError):
    """An option has a value, or a combination of values, that has no meaning."""


class MissingExtraError(FaultsimError, ImportError):
    """An optional package is needed and not installed; the message names the extra."""


class StoreError(FaultsimError, OSError):
    """A store of sweeps cannot be opened, read or written; what was written before is safe."""


class WorkerError(FaultsimError, RuntimeError):
    """Workers of a sweep died again and again; what was done before is in the store."""


class NotAvailableError(FaultsimError, NotImplementedError):
    """A part that is not there, such as stepping through the reference engine; it is named, never pretended."""


class EngineError(FaultsimError, RuntimeError):
    """The engine found its own state broken: a bug in faultsim, please report it."""
