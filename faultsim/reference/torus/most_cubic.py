"""MostCubic (model.md#most-cubic)."""

from collections.abc import Sequence

from faultsim.reference.torus.boxes import Box


def most_cubic(candidates: Sequence[Box]) -> Box:
    """ "`MostCubic` takes the one with the least surface, [...] ties to the first." """
    return min(candidates, key=lambda box: 2 * (box.a * box.b + box.b * box.c + box.c * box.a))
