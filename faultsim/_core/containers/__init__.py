"""Compiled containers (private)."""
