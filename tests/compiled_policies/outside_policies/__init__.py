"""Policies for faultsim, compiled in a package of their own."""
