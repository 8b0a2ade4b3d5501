"""Reference implementations of `faultsim._core.containers`."""
