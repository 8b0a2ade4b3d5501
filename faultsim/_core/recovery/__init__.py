"""Compiled recovery (private)."""
