"""The clocks of jobs that outages slow down, as columns that both engines take (model.md#slowness)."""

import math
from collections.abc import Sequence

import numpy as np

from faultsim.arrays import Indices
from faultsim.data.slowdowns import Slowdown, SlowOutage
from faultsim.data.world import ClockRows
from faultsim.machines.speed_forms import SpeedForm


def clocks(outages: Sequence[SlowOutage], forms: Sequence[SpeedForm], which: Indices) -> ClockRows | None:
    """The speeds of jobs of these forms over time, in seconds per second; None if no job is ever slow."""
    corners = [speeds(outages, form.shape, form.along) for form in forms]
    numbers, made = [], list[list[tuple[float, float]]]()
    for found in corners:
        numbers.append(len(made) if found else -1)
        made += [found] if found else []
    if not made:
        return None
    rows = np.array([row for found in made for row in found], dtype=np.float64)
    return ClockRows(
        of=np.array(numbers, dtype=np.int32)[which],
        first=np.cumsum([0, *(len(found) for found in made)], dtype=np.int64),
        time=np.ascontiguousarray(rows[:, 0]),
        speed=np.ascontiguousarray(rows[:, 1]),
    )


def speeds(outages: Sequence[SlowOutage], shape: str, along: tuple[int, int, int]) -> list[tuple[float, float]]:
    """When the speed of a slice changes, and to what; nothing if it never does.

    Examples
    --------
    >>> from faultsim.data.slowdowns import Slowdown
    >>> x, y = Slowdown(0.5), Slowdown(0.8)
    >>> outages = [SlowOutage(10, 20, "x", 64, x), SlowOutage(15, 20, "x", 64, x), SlowOutage(20, 5, "y", 64, y)]
    >>> speeds(outages, "", (2, 1, 1))
    [(10.0, 0.5), (20.0, 0.4), (25.0, 0.5), (35.0, 1.0)]
    """
    changes: list[tuple[float, int, int]] = []  # time, 1 or -1, place of what is out
    places: dict[tuple[str, Slowdown], int] = {}
    factors: list[float] = []
    for outage in outages:
        speed = outage.effect.of(shape, along)
        if speed == 1.0 or outage.duration == 0.0:
            continue
        at = places.setdefault((outage.domain, outage.effect), len(places))
        if at == len(factors):
            factors.append(speed)
        changes.append((float(outage.time), 1, at))
        if outage.duration < math.inf:
            changes.append((float(outage.time + outage.duration), -1, at))
    changes.sort()
    found: list[tuple[float, float]] = []
    out: dict[int, int] = {}
    for row, (time, step, at) in enumerate(changes):
        out[at] = out.get(at, 0) + step
        if out[at] == 0:
            del out[at]
        if row + 1 < len(changes) and changes[row + 1][0] == time:
            continue
        speed = 1.0
        for place in sorted(out):
            speed *= factors[place]
        if speed != (found[-1][1] if found else 1.0):
            found.append((time, speed))
    return found
