"""faultsim: fast, trusted simulation of fault-aware job scheduling."""
# ruff: noqa: I001 (grouped by meaning)

# Inputs
from faultsim.readers.krevat import krevat_span
from faultsim.readers.swf import read_swf
from faultsim.workload import Workload, concat

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
    "Workload",
    "concat",
    "knapsack",
    "krevat_span",
    "read_swf",
]
