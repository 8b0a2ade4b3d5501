"""The ``faultsim`` command, one module per subcommand."""

from faultsim.cli.app import main

__all__ = ["main"]
