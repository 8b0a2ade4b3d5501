"""Compiled rules of Slurm (private)."""
