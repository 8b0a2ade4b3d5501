"""What theory says of the slices of a pod, for the settings of this study."""

import math
from collections.abc import Sequence

from faultsim import planning
from faultsim.machines import Pod
from faultsim.machines.slices import Shape
from faultsim.reference.pod.promises import mean, needed_availability, promised, slices_of_size
from faultsim.reproduce.pods.measures import PROBABILITY

#: Hosts of a cube, and chips.
HOSTS, CHIPS = 16, 64
#: Cubes of the pod of the table, and along its axes.
CUBES, EXTENTS = 64, (4, 4, 4)
#: The table, made by another program before this study: cubes of a slice -> the share of 64 cubes that is promised with
#: 97 %, static and switched, for hosts that are up 99 %, 99.5 % and 99.9 % of the time; then the means at 99.9 %.
TABLE: dict[int, tuple[float, ...]] = {
    1: (0.766, 0.766, 0.859, 0.859, 0.953, 0.953, 0.984, 0.984),
    4: (0.313, 0.750, 0.500, 0.813, 0.813, 0.938, 0.938, 0.960),
    8: (0.0, 0.750, 0.250, 0.750, 0.625, 0.875, 0.880, 0.920),
    16: (0.0, 0.750, 0.0, 0.750, 0.250, 0.750, 0.774, 0.840),
    32: (0.0, 0.500, 0.0, 0.500, 0.0, 0.500, 0.599, 0.679),
    48: (0.0, 0.750, 0.0, 0.750, 0.0, 0.750, 0.348, 0.750),
}
#: Availabilities of hosts in the table.
LEVELS = (0.99, 0.995, 0.999)
WIRINGS = ("static", "switched")
#: Other readings of what is available: hosts up, and with which probability slices are.
AVAILABILITIES, PROBABILITIES = (0.99, 0.995, 0.999, 0.9995), (0.9, 0.95, 0.97, 0.99)
#: Google's statement of 2026, as reported: so many of so many cubes are healthy with this probability.
HEALTHY, OF, WITH = 130, 144, 0.95


def blocks_of(cubes: int, extents: Shape = EXTENTS) -> int:
    """How many aligned blocks of so many cubes a pod has.

    Examples
    --------
    >>> [blocks_of(cubes) for cubes in TABLE], [blocks_of(cubes, (5, 5, 1)) for cubes in (2, 4, 5)]
    ([64, 16, 8, 4, 2, 1], [10, 4, 5])
    """
    pod = Pod(extents, wiring="static")
    shape = [extent // pod.cube[0] for extent in pod.slice_of(chips=cubes * CHIPS).shape]
    return math.prod(room // extent for room, extent in zip(sorted(extents), sorted(shape), strict=True))


def law(cubes: int, a: float, wiring: str, extents: Shape = EXTENTS) -> list[float]:
    """P(exactly s slices of so many cubes are up), s = 0, 1, ..., of a pod whose hosts have availability a."""
    blocks = blocks_of(cubes, extents) if wiring == "static" else None
    return slices_of_size(math.prod(extents), HOSTS * cubes, a, HOSTS, blocks)


def tail(distribution: Sequence[float], s: int) -> float:
    """P(at least s slices are up)."""
    return sum(distribution[s:])


def promised_slices(cubes: int, a: float, wiring: str, extents: Shape = EXTENTS) -> int:
    """How many slices are up with a probability of 97 %.

    Examples
    --------
    >>> promised_slices(16, 0.999, "static"), promised_slices(16, 0.999, "switched")
    (1, 3)
    """
    return promised(law(cubes, a, wiring, extents), PROBABILITY)


def promised_share(cubes: int, a: float, wiring: str, extents: Shape = EXTENTS) -> float:
    """The same as a share of the pod."""
    return promised_slices(cubes, a, wiring, extents) * cubes / math.prod(extents)


def best_ratio(a: float, probability: float) -> float:
    """The greatest promise with switches over that with static wiring, of slices of which the latter promises any.

    Examples
    --------
    >>> best_ratio(0.999, 0.97), best_ratio(0.99, 0.9)
    (3.0, 6.0)
    """
    promises = [[promised(law(cubes, a, wiring), probability) for wiring in WIRINGS] for cubes in TABLE]
    return max(switched / static for static, switched in promises if static)


def mean_share(cubes: int, a: float, wiring: str, extents: Shape = EXTENTS) -> float:
    """The share of the pod whose slices are up on average."""
    return mean(law(cubes, a, wiring, extents)) * cubes / math.prod(extents)


def reported_availability() -> float:
    """The availability of hosts with which 130 of 144 cubes are healthy with a probability of 95 %.

    Examples
    --------
    >>> round(reported_availability(), 4)
    0.9958
    """
    return float(needed_availability(OF, HEALTHY, WITH) ** (1 / HOSTS))


def spares(wanted: int, a: float) -> int:
    """Cubes to hold back so that so many are up, any of them, with a probability of 97 %: what `plan` says.

    Examples
    --------
    >>> spares(16, 0.999)
    1
    """
    found = planning.plan(Pod.tpu7x(), {"4x4x4": wanted}, availability=a, probabilities=[PROBABILITY])
    return int(found.spares["spare_97"][0])
