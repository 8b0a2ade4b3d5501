"""Reference implementations of `faultsim._core.cluster`, and of placement on it."""
