"""Compiled faults (private)."""
