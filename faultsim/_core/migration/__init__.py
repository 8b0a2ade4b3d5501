"""Compiled migration (private)."""
