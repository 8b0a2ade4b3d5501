"""Columns of jobs, failures and workflows: checked once, then immutable."""
