"""Compiled placement (private)."""
