"""The clock of a job's own, which runs slowly while something that it uses is out (model.md#slowness)."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from faultsim.data.world import ClockRows


class OwnClock:
    """What the clock of some jobs shows.

    model.md#slowness: "With T_0 < T_1 < ... the times at which the speed changes, to v_i at T_i, the clock shows u(t) =
    t before T_0, and (U_i + v_i (t - T_i)) from T_i on, where U_0 = T_0 and U_(i+1) = U_i + v_i (T_(i+1) - T_i)."
    """

    def __init__(self, times: Sequence[float], speeds: Sequence[float]) -> None:
        self.times, self.speeds, self.shown = list(times), list(speeds), list(times[:1])
        for i in range(len(self.times) - 1):
            self.shown.append(self.shown[i] + self.speeds[i] * (self.times[i + 1] - self.times[i]))

    def shows(self, t: float) -> float:
        """u(t)."""
        last = [i for i, time in enumerate(self.times) if time <= t]
        return self.shown[last[-1]] + self.speeds[last[-1]] * (t - self.times[last[-1]]) if last else t

    def time_at(self, u: float) -> float:
        """ "It shows u at u before T_0, and at (T_i + (u - U_i) / v_i) for the last U_i <= u"."""
        last = [i for i, shown in enumerate(self.shown) if shown <= u]
        return self.times[last[-1]] + (u - self.shown[last[-1]]) / self.speeds[last[-1]] if last else u

    def time_from(self, now: float, u: float) -> float:
        """The same for what is to come: "not before now, and now if it has been shown"."""
        return now if u <= self.shows(now) else max(now, self.time_at(u))


def clocks(given: ClockRows | None, count: int) -> list[OwnClock | None]:
    """The clock of each job; None: it is never slow."""
    if given is None:
        return [None] * count
    first = np.asarray(given.first).tolist()
    times, speeds = (np.asarray(column).tolist() for column in (given.time, given.speed))
    made = [OwnClock(times[a:b], speeds[a:b]) for a, b in pairwise(first)]
    return [made[k] if k >= 0 else None for k in np.asarray(given.of).tolist()]


def own(clock: OwnClock | None, t: float) -> float:
    """What the clock of a job shows at t; the time where it is never slow."""
    return t if clock is None or math.isinf(t) else clock.shows(t)
