"""Measurements that a user can repeat: each module has ``measure(...)``, which gives one dict a row.

A row's keys are the columns of the table that ``faultsim bench`` prints; names carry the unit.
"""
