"""Sweeps: a grid of many runs, with replicates, on threads, processes or a cluster, kept in a store."""

from faultsim.entries import guard as _guard
from faultsim.sweep.sweep import Sweep, load_sweep
from faultsim.sweep.sweep_file import read_sweep
from faultsim.sweep.table import SweepTable

__all__ = ["Sweep", "SweepTable", "load_sweep", "read_sweep"]

_guard(globals())
