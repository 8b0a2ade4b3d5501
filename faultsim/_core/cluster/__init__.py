"""Compiled cluster (private)."""
