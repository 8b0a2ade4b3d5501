"""Compiled site (private)."""
