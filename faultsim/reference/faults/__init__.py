"""Reference implementations of `faultsim._core.faults`."""
