"""Reference implementations of `faultsim._core.fars`."""
