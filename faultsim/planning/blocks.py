"""The blocks that slices are cut from: how many a pod has, which hosts each has, and which lie in which.

A block of a slice inside a cube is an aligned run of its hosts, that of optical switches one cube, and with static
wiring an aligned box of cubes.  Blocks of two sizes are nested if each of the larger ones is made of smaller ones.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from faultsim.arrays import LongIntegers
from faultsim.machines.pod import Pod
from faultsim.machines.slices import Shape, Slice
from faultsim.planning.wanted import Wanted


class Level(NamedTuple):
    """Blocks of one size, of which so many are needed, those inside larger ones included."""

    hosts: int
    #: How many the pod has.
    blocks: int
    need: int


def block_shape(pod: Pod, of: Slice) -> Shape | None:
    """Extents in cubes, along the axes of the pod, of what a slice takes; None inside a cube.

    The shortest extent lies along the pod's shortest axis and so on (model.md#pods).
    """
    if not of.cubes:
        return None
    if pod.wiring == "ocs":
        return (1, 1, 1)
    axes = sorted(range(3), key=lambda axis: pod.cubes[axis])
    extents = dict(zip(axes, sorted(extent // pod.cube[0] for extent in of.shape), strict=True))
    return extents[0], extents[1], extents[2]


def count_blocks(pod: Pod, of: Slice) -> tuple[int, int]:
    """How many blocks the pod has from which such slices are made, and how many of them a slice takes.

    Examples
    --------
    >>> pod = Pod.tpu_v4("static")
    >>> count_blocks(pod, pod.slice_of(chips=1024)), count_blocks(Pod.tpu_v4(), pod.slice_of(chips=1024))
    ((4, 1), (64, 16))
    """
    extents = block_shape(pod, of)
    if extents is None:
        return pod.nodes // of.hosts, 1
    if pod.wiring == "ocs":
        return pod.n_cubes, of.cubes
    (x, y, z), (a, b, c) = pod.cubes, extents
    return (x // a) * (y // b) * (z // c), 1


def most_slices(pod: Pod, of: Slice) -> int:
    """How many such slices are there at once when nothing is down: cubes that the pod holds back take none.

    Examples
    --------
    >>> pod = Pod.tpu_v4()
    >>> most_slices(pod, pod.slice_of(chips=1024)), most_slices(Pod(spares=1), pod.slice_of(chips=1024))
    (4, 3)
    """
    blocks, of_one = count_blocks(pod, of)
    most = blocks // of_one
    return min(most, (pod.n_cubes - pod.spares) // of.cubes) if pod.spares and of.cubes else most


def block_of_host(pod: Pod, of: Slice) -> LongIntegers:
    """The block of each host, or -1 where there is none.

    Examples
    --------
    >>> block_of_host(Pod((1, 1, 3), hosts=2, wiring="static"), Pod((1, 1, 3), hosts=2).slice_of(shape="4x4x8"))
    array([ 0,  0,  0,  0, -1, -1])
    """
    extents = block_shape(pod, of)
    hosts = np.arange(pod.nodes)
    if extents is None:
        return hosts // of.hosts
    X, Y, Z = pod.cubes
    place = np.unravel_index(hosts // pod.hosts, pod.cubes)
    blocks = [at // extent for at, extent in zip(place, extents, strict=True)]
    most = [X // extents[0], Y // extents[1], Z // extents[2]]
    whole = np.all([block < count for block, count in zip(blocks, most, strict=True)], axis=0)
    return np.where(whole, (blocks[0] * most[1] + blocks[1]) * most[2] + blocks[2], -1)


def places(pod: Pod, of: Slice) -> LongIntegers:
    """A place for each slice that the pod has room for, as the place of each host, or -1.

    It is the slice's block, or with optical switches cubes of consecutive numbers.

    Examples
    --------
    >>> places(Pod((1, 1, 3), hosts=2), Pod((1, 1, 3), hosts=2).slice_of(shape="4x4x8"))
    array([ 0,  0,  0,  0, -1, -1])
    """
    if pod.wiring == "static" or not of.cubes:
        return block_of_host(pod, of)
    place = np.arange(pod.nodes) // of.hosts
    return np.where(place < pod.n_cubes // of.cubes, place, -1)


def nested_levels(pod: Pod, wanted: Sequence[Wanted]) -> list[Level] | None:
    """The blocks that are wanted, smallest first; None if they are not nested.

    Nested slices all fit if and only if of each size so many blocks are up as these slices and the larger ones take.
    """
    by_size = sorted(wanted, key=lambda each: each.slice.hosts)
    kinds: dict[tuple[int, Shape | None], int] = {}
    for each in by_size:
        shape = block_shape(pod, each.slice)
        hosts = each.slice.hosts if shape is None else pod.hosts * shape[0] * shape[1] * shape[2]
        of_one = each.slice.hosts // hosts
        kinds[hosts, shape] = kinds.get((hosts, shape), 0) + each.number * of_one
    ordered = list(kinds)
    if not all(_nested(small, large) for small, large in pairwise(ordered)):
        return None
    levels: list[Level] = []
    for hosts, shape in reversed(ordered):
        above = levels[-1].need * (levels[-1].hosts // hosts) if levels else 0
        count = pod.nodes // hosts if shape is None else _boxes(pod.cubes, shape)
        levels.append(Level(hosts, count, kinds[hosts, shape] + above))
    return levels[::-1]


def _boxes(cubes: Shape, shape: Shape) -> int:
    return (cubes[0] // shape[0]) * (cubes[1] // shape[1]) * (cubes[2] // shape[2])


def _nested(small: tuple[int, Shape | None], large: tuple[int, Shape | None]) -> bool:
    """Whether larger blocks are made of smaller ones."""
    if small[1] is None or large[1] is None:
        return large[0] % small[0] == 0
    return all(long % short == 0 for short, long in zip(small[1], large[1], strict=True))


def all_blocks(pod: Pod, of: Slice) -> list[int]:
    """The blocks as sets of cubes: bit k stands for cube k."""
    block = block_of_host(pod, of)[:: pod.hosts]
    return [sum(1 << int(cube) for cube in np.flatnonzero(block == each)) for each in range(block.max() + 1)]
