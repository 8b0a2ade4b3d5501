"""Reference implementations of `faultsim._core.torus`."""
