"""The ``faultsim`` command, one module a subcommand."""
