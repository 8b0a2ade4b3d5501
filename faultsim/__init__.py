"""faultsim: fast, trusted simulation of fault-aware job scheduling."""

# Inputs

# Machines and policies

# Runs and results

# Errors
from faultsim.errors import (
    EngineError,
    FaultsimError,
    InputError,
    MissingExtraError,
    NotAvailableError,
    OptionError,
)

# Kernels on their own
from faultsim.event_queue import EventQueue
from faultsim.knapsack import knapsack

__version__ = "0.1.0.dev0"

__all__ = [
    "EngineError",
    "EventQueue",
    "FaultsimError",
    "InputError",
    "MissingExtraError",
    "NotAvailableError",
    "OptionError",
    "knapsack",
]
