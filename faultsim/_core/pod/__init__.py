"""Compiled pod (private)."""
