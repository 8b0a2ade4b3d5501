"""Compiled fars (private)."""
