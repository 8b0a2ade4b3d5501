"""The ``faultsim`` command, one module a subcommand."""

from faultsim.cli.app import main

__all__ = ["main"]
