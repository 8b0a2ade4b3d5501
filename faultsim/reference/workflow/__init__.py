"""Reference implementation of `faultsim._core.workflow`."""
