"""Columns of jobs, failures and workflows: checked once, never changed."""
