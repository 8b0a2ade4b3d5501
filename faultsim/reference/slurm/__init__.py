"""Slurm's decisions, slow and plain (model.md#slurm)."""
