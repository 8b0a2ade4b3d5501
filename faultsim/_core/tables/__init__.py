"""Compiled tables (private)."""
