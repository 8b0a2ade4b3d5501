"""Compiled scheduling (private)."""
