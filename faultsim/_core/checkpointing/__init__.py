"""Compiled checkpointing (private)."""
