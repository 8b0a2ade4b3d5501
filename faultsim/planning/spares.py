"""Cubes that must be there for slices to be up with a probability, and how likely they are on a pod as it is."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.machines.pod import Pod
from faultsim.planning import over_time
from faultsim.planning.blocks import Level, block_of_host, count_blocks, nested_levels
from faultsim.planning.chances import MOST_CUBES, least_count, nested_up
from faultsim.planning.wanted import Wanted

NAN = float("nan")


class Spares(NamedTuple):
    """What some slices need: cubes, the chance that all are up on the whole pod, and cubes to hold back."""

    #: Cubes that the slices take when nothing is down.
    cubes: int
    chance: float
    #: Bounds of the chance where it was drawn, or a search gave up; else NaN.
    low: float
    high: float
    #: Spare cubes for each probability; NaN: not known.
    spare: list[float]
    #: "binomial", "counted", "drawn" or "trace".
    method: str


def cubes_taken(pod: Pod, wanted: Sequence[Wanted]) -> int:
    """Cubes that these slices take at least, those inside cubes packed as closely as they can be."""
    inside = sum(each.number * each.slice.hosts for each in wanted if not each.slice.cubes)
    return sum(each.number * each.slice.cubes for each in wanted) + -(-inside // pod.hosts)


def with_cubes(pod: Pod, levels: Sequence[Level], cubes: int) -> list[Level]:
    """The levels of so many cubes, which optical switches join."""
    return [level._replace(blocks=cubes * pod.hosts // level.hosts) for level in levels]


def spare_cubes(pod: Pod, wanted: Sequence[Wanted], a: float, probabilities: Sequence[float]) -> list[float]:
    """Cubes beyond those that the slices take, so that all are up with each probability; NaN where no formula has it.

    With static wiring slices of one shape need blocks of their own, and spares are whole blocks.
    """
    levels, taken = nested_levels(pod, wanted), cubes_taken(pod, wanted)
    by_cubes = levels is not None and levels[-1].hosts <= pod.hosts
    if levels is None or not (by_cubes or len(levels) == 1):
        return [NAN] * len(probabilities)
    unit = 1 if by_cubes else levels[0].hosts // pod.hosts

    def chance(count: int) -> float:
        there = with_cubes(pod, levels, count) if by_cubes else [levels[0]._replace(blocks=count)]
        found = nested_up(there, a)
        return NAN if found is None else found

    least = taken // unit
    if np.isnan(chance(least)):
        return [NAN] * len(probabilities)
    found = [least_count(chance, least, MOST_CUBES, each) for each in probabilities]
    return [NAN if each is None else float((each - least) * unit) for each in found]


def spares_by_formula(pod: Pod, wanted: Sequence[Wanted], a: float, probabilities: Sequence[float]) -> Spares | None:
    """Of independent hosts with this availability; None if there is no formula for these slices."""
    levels = nested_levels(pod, wanted)
    chance = None if levels is None else nested_up(levels, a)
    if levels is None or chance is None:
        return None
    method = "binomial" if len(levels) == 1 else "counted"
    return Spares(cubes_taken(pod, wanted), chance, NAN, NAN, spare_cubes(pod, wanted, a, probabilities), method)


def spares_by_trace(
    pod: Pod, wanted: Sequence[Wanted], trace: FailureTrace, probabilities: Sequence[float]
) -> Spares | None:
    """By what was up over time.  Spare cubes of a smaller pod: as many cubes of this one, chosen at random."""
    levels = nested_levels(pod, wanted)
    if levels is None:
        return None
    slice_of = {each.slice.hosts // count_blocks(pod, each.slice)[1]: each.slice for each in wanted}
    counts = [over_time.blocks_up(trace, block_of_host(pod, slice_of[level.hosts])) for level in levels]
    chance = over_time.nested_up(counts, [level.need for level in levels])
    taken = cubes_taken(pod, wanted)
    spare = [NAN] * len(probabilities)
    if len(levels) == 1 and levels[0].hosts == pod.hosts:
        of_cubes = over_time.cubes_of(counts[0], pod.n_cubes, taken)
        enough = [np.flatnonzero(of_cubes >= each) for each in probabilities]
        spare = [float(each[0]) if len(each) else NAN for each in enough]
    return Spares(taken, chance, NAN, NAN, spare, "trace")
