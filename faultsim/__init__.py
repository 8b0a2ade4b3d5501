"""faultsim: fast, trusted simulation of fault-aware job scheduling."""

# Inputs

# Machines and policies

# Runs and results

# Kernels on their own

# Errors
from faultsim.errors import (
    EngineError,
    FaultsimError,
    InputError,
    MissingExtraError,
    NotAvailableError,
    OptionError,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "EngineError",
    "FaultsimError",
    "InputError",
    "MissingExtraError",
    "NotAvailableError",
    "OptionError",
]
