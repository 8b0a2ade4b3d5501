"""`SpeedForm`: what decides when an outage slows a job down (model.md#slowness)."""

from typing import NamedTuple


class SpeedForm(NamedTuple):
    """Jobs of one form are slow at the same times: a shape, and blocks (else nodes) along each axis."""

    shape: str
    along: tuple[int, int, int]
