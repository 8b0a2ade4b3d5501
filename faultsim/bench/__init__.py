"""Measurements that users can repeat: each module has ``measure(...)``, which returns one dict per row.

A row's keys are the columns of the table that ``faultsim bench`` prints; names carry the unit.
"""
