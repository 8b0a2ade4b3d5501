"""Nodes that jobs share (model.md#sites)."""
