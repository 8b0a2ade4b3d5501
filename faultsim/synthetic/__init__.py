"""Made-up workloads; every function takes a NumPy generator and returns columns."""
