"""Probabilities of independent hosts: blocks up at once, of one size and of nested ones (equations.md#promises)."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from faultsim.arrays import Floats, LongIntegers
from faultsim.machines.pod import Pod
from faultsim.machines.slices import Slice
from faultsim.planning.blocks import Level, count_blocks, most_slices

#: Cells of a table of probabilities above which draws are made instead; and cubes after which no spare is looked for.
MOST_CELLS, MOST_CUBES = 2_000_000, 10**7


def at_least(n: int, k: int | LongIntegers, p: float) -> Floats:
    """P(X >= k) of X ~ Binomial(n, p), to the last digits also where it is small.

    Examples
    --------
    >>> at_least(2, np.array([0, 1, 2, 3]), 0.5)
    array([1.  , 0.75, 0.25, 0.  ])
    """
    from scipy.special import betainc

    wanted = np.asarray(k)
    inside = np.clip(wanted, 1, n)
    tail = betainc(inside, n - inside + 1.0, p)
    return np.where(wanted <= 0, 1.0, np.where(wanted > n, 0.0, tail))


def slices_up(blocks: int, of_one: int, up: float) -> Floats:
    """P(at least s slices are up), s = 0, 1, ..., of slices that take `of_one` blocks each, which are up with `up`.

    Examples
    --------
    >>> slices_up(2, 1, 0.5)
    array([1.  , 0.75, 0.25])
    """
    return at_least(blocks, of_one * np.arange(blocks // of_one + 1), up)


def independent_up(pod: Pod, of: Slice, a: float) -> Floats:
    """P(at least s slices are up at once), s = 0, 1, ..., up to the most that the pod has, of independent hosts."""
    blocks, of_one = count_blocks(pod, of)
    return slices_up(blocks, of_one, a ** (of.hosts // of_one))[: most_slices(pod, of) + 1]


def promised(tail: Floats, probability: float) -> int:
    """The most slices that are up at once with at least this probability, where ``tail[s]`` is P(at least s)."""
    return int(np.flatnonzero(tail >= probability)[-1])


def nested_up(levels: Sequence[Level], a: float) -> float | None:
    """P(of each level at least `need` blocks are up); None if the table would be too large.

    Levels are nested, smallest first.  A block of a level is up when all blocks in it are: from the law of the numbers
    of blocks that are up in one block of a level follows that of the next one, and in the end that of the pod.

    Examples
    --------
    >>> round(nested_up([Level(1, 4, 3), Level(2, 2, 1)], 0.5), 4)  # at least 3 of 4 hosts, among them a pair
    0.3125
    """
    if any(level.need > level.blocks for level in levels):
        return 0.0
    if len(levels) == 1:
        return float(at_least(levels[0].blocks, levels[0].need, a ** levels[0].hosts))
    caps = [level.need for level in levels]
    if math.prod(2 * cap + 1 for cap in caps) > MOST_CELLS:
        return None
    up = a ** levels[0].hosts
    block: Floats = np.array([1.0 - up, up])
    whole: Floats | None = None
    for i, (small, large) in enumerate(pairwise(levels)):
        of_one = large.hosts // small.hosts
        outside = small.blocks - of_one * large.blocks
        if outside:
            whole = _joined(whole, _power(block, outside, caps[: i + 1]), caps[: i + 1])
        inner = _power(block, of_one, caps[: i + 1])
        # Where all of the smaller blocks are up, the larger one is.
        is_up = np.zeros_like(inner)
        if inner.shape[i] > of_one:
            is_up[..., of_one] = inner[..., of_one]
        block = np.stack([inner - is_up, is_up], axis=-1)
        if whole is not None:
            whole = whole[..., np.newaxis]
    law = _joined(whole, _power(block, levels[-1].blocks, caps), caps)
    if law.shape != tuple(cap + 1 for cap in caps):
        return 0.0
    return float(np.clip(law[tuple(caps)], 0.0, 1.0))


def _joined(one: Floats | None, other: Floats, caps: Sequence[int]) -> Floats:
    """The law of the sum of two independent vectors of counts; what is beyond a cap counts as the cap."""
    if one is None:
        return other
    shape = [a + b - 1 for a, b in zip(one.shape, other.shape, strict=True)]
    axes = range(len(shape))
    product = np.fft.rfftn(one, shape, axes) * np.fft.rfftn(other, shape, axes)
    law: Floats = np.fft.irfftn(product, shape, axes)
    for axis, cap in enumerate(caps):
        if law.shape[axis] > cap + 1:
            kept, beyond = np.split(law, [cap + 1], axis)
            kept[(slice(None),) * axis + (cap,)] += beyond.sum(axis)
            law = kept
    return law


def _power(law: Floats, times: int, caps: Sequence[int]) -> Floats:
    """The law of the sum of so many independent vectors."""
    result: Floats | None = None
    while times:
        if times & 1:
            result = _joined(result, law, caps)
        if times := times >> 1:
            law = _joined(law, law, caps)
    assert result is not None
    return result


def least_count(chance: Callable[[int], float], low: int, high: int, probability: float) -> int | None:
    """The least n from `low` to `high` with ``chance(n) >= probability``, which grows with n; None if there is none.

    Examples
    --------
    >>> least_count(lambda n: 1 - 0.5**n, 1, 100, 0.9)
    4
    """
    step = 1
    last = low
    while chance(last) < probability:
        if last >= high:
            return None
        low, last, step = last + 1, min(last + step, high), 2 * step
    while low < last:
        middle = (low + last) // 2
        low, last = (low, middle) if chance(middle) >= probability else (middle + 1, last)
    return last
