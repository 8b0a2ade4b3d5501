"""Compiled torus (private)."""
