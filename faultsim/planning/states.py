"""Slices for which there is no formula: every state of a small pod, states that are drawn, those of a trace."""

from collections.abc import Iterator, Sequence

import numpy as np

from faultsim.arrays import Flags, Indices, LongIntegers
from faultsim.data.failures import FailureTrace
from faultsim.machines.pod import Pod
from faultsim.planning.blocks import Level, block_of_host, count_blocks, nested_levels
from faultsim.planning.over_time import blocks_up
from faultsim.planning.packing import Packing
from faultsim.planning.spares import NAN, Spares, cubes_taken
from faultsim.planning.wanted import Wanted

Up = Flags
#: Cubes of a pod of which all states are looked at, states that are drawn of others, and values drawn at a time.
MOST_CUBES, DRAWS, _AT_A_TIME = 12, 10_000, 4_000_000


def inside_levels(pod: Pod, wanted: Sequence[Wanted]) -> list[Level]:
    """What is needed of runs of hosts and of cubes, wherever the cubes are."""
    switched = Pod(pod.cubes, pod.cube, pod.hosts)
    levels = nested_levels(switched, wanted)
    assert levels is not None  # runs of hosts and cubes are nested
    return levels


def runs_up(pod: Pod, levels: Sequence[Level], up: Up) -> LongIntegers:
    """How many blocks of each level are up in each cube; `up` and the result have a row for each state."""
    of_cubes = up.reshape(len(up), -1, pod.hosts)
    runs = [of_cubes.reshape(*of_cubes.shape[:2], -1, level.hosts) for level in levels]
    return np.stack([np.count_nonzero(np.all(each, axis=3), axis=2) for each in runs])


def _enough(pod: Pod, wanted: Sequence[Wanted], levels: Sequence[Level], up: Up) -> Up:
    """Whether enough blocks of each level are up, for each state."""
    enough = np.ones(len(up), dtype=bool)
    for level in levels:
        of = next(each.slice for each in wanted if each.slice.hosts // count_blocks(pod, each.slice)[1] == level.hosts)
        block = block_of_host(pod, of)
        hosts = np.argsort(block, kind="stable")[(block < 0).sum() :].reshape(-1, level.hosts)
        enough &= np.count_nonzero(np.all(up[:, hosts], axis=2), axis=1) >= level.need
    return enough


def static_chance(
    pod: Pod, wanted: Sequence[Wanted], a: float, rng: np.random.Generator
) -> tuple[float, float, float, str]:
    """The chance that slices of static wiring are up at once, its bounds, and how it was found."""
    nested, packing = nested_levels(pod, wanted), Packing(pod, wanted)
    if nested is not None:  # too many numbers of blocks to count with
        fit = sum(int(_enough(pod, wanted, nested, up).sum()) for up in _drawn(pod.nodes, a, rng))
        return fit / DRAWS, *bound(fit, DRAWS), "drawn"
    if pod.n_cubes <= MOST_CUBES and all(each.slice.cubes for each in wanted):
        up, chance, unknown = a**pod.hosts, 0.0, 0.0
        for state in range(1 << pod.n_cubes):
            weight = up ** state.bit_count() * (1.0 - up) ** (pod.n_cubes - state.bit_count())
            fits = packing.fits(state)
            chance += weight if fits else 0.0
            unknown += weight if fits is None else 0.0
        return chance, chance, chance + unknown, "counted"
    levels, fit, unknown_fits = inside_levels(pod, wanted), 0, 0
    for states in _drawn(pod.nodes, a, rng):
        blocks = runs_up(pod, levels, states)
        enough = np.all([blocks[i].sum(axis=1) >= level.need for i, level in enumerate(levels)], axis=0)
        of_cubes: Up = np.all(states.reshape(len(states), -1, pod.hosts), axis=2)
        found, times = _different(of_cubes[enough])
        for state, count in zip(found, times, strict=True):
            fits = packing.fits(state)
            fit += count if fits else 0
            unknown_fits += count if fits is None else 0
    return fit / DRAWS, bound(fit, DRAWS)[0], bound(fit + unknown_fits, DRAWS)[1], "drawn"


def static_share(pod: Pod, wanted: Sequence[Wanted], trace: FailureTrace) -> tuple[float, float]:
    """The share of the time in which slices of static wiring are up at once by a trace; its bounds."""
    cube = np.arange(pod.nodes) // pod.hosts
    each_cube = [blocks_up(trace, np.where(cube == number, 0, -1)) for number in range(pod.n_cubes)]
    levels = [level for level in inside_levels(pod, wanted) if level.hosts < pod.hosts]
    inside = [blocks_up(trace, np.arange(pod.nodes) // level.hosts) for level in levels]
    since = np.unique(np.concatenate([each.since for each in (*each_cube, *inside)]))
    weight = np.diff(since, append=trace.span) / trace.span
    enough = np.ones(len(since), dtype=bool)
    for level, counts in zip(levels, inside, strict=True):
        enough &= counts.at(since) >= level.need
    states = np.stack([counts.at(since) > 0 for counts in each_cube], axis=1)
    found, row = _rows(states)
    packing, low, high = Packing(pod, wanted), 0.0, 0.0
    share = np.bincount(row, weights=weight * enough, minlength=len(found))
    for state, part in zip(found, share.tolist(), strict=True):
        fits = packing.fits(state) if part else False
        low += part if fits else 0.0
        high += 0.0 if fits is False else part
    return low, high


def drawn_cubes(
    pod: Pod, wanted: Sequence[Wanted], a: float, probabilities: Sequence[float], rng: np.random.Generator
) -> Spares:
    """Slices inside cubes and of whole ones with optical switches: the least cubes that would do, of each draw."""
    levels, taken = inside_levels(pod, wanted), cubes_taken(pod, wanted)
    cubes = max(pod.n_cubes, 2 * taken + 32)
    least: list[LongIntegers] = []
    for states in _drawn(cubes * pod.hosts, a, rng):
        up = np.cumsum(runs_up(pod, levels, states), axis=2)
        enough = np.all([up[i] >= level.need for i, level in enumerate(levels)], axis=0)
        least.append(np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, cubes + 1))
    needed = np.sort(np.concatenate(least))
    fit = int(np.searchsorted(needed, pod.n_cubes, side="right"))
    spare = []
    for probability in probabilities:
        count = int(needed[max(0, int(np.ceil(probability * DRAWS)) - 1)])
        spare.append(float(count - taken) if count <= cubes else NAN)
    return Spares(taken, fit / DRAWS, *bound(fit, DRAWS), spare, "drawn")


def bound(fit: int, draws: int) -> tuple[float, float]:
    """The exact 95 % interval of a share of which `fit` of so many draws were counted ([clopper1934]).

    Examples
    --------
    >>> [round(each, 4) for each in bound(0, 10_000)], [round(each, 4) for each in bound(50, 100)]
    ([0.0, 0.0004], [0.3983, 0.6017])
    """
    from scipy.special import betaincinv

    low = float(betaincinv(fit, draws - fit + 1, 0.025)) if fit else 0.0
    return low, float(betaincinv(fit + 1, draws - fit, 0.975)) if fit < draws else 1.0


def _drawn(hosts: int, a: float, rng: np.random.Generator) -> Iterator[Up]:
    """All draws, some at a time: which hosts are up."""
    rows = max(1, _AT_A_TIME // hosts)
    for begin in range(0, DRAWS, rows):
        yield rng.random((min(rows, DRAWS - begin), hosts)) < a


def _rows(states: Up) -> tuple[list[int], Indices]:
    """The different states of cubes as sets, and which of them each row is."""
    found, row = np.unique(states, axis=0, return_inverse=True)
    return [sum(1 << int(cube) for cube in np.flatnonzero(each)) for each in found], row.reshape(-1)


def _different(states: Up) -> tuple[list[int], list[int]]:
    """The different states of cubes as sets, and how often each is there."""
    found, row = _rows(states)
    return found, np.bincount(row, minlength=len(found)).tolist()
