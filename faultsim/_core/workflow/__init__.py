"""Compiled workflow (private)."""
