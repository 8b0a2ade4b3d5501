"""Reference implementations of `faultsim._core.scheduling`."""
