"""Figures; every function takes a result and an optional Axes and returns the Axes."""
