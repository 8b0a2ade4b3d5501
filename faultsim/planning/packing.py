"""Whether blocks of different shapes fit beside each other among the cubes that are up: a search.

For shapes that are not nested, such as 4x4x16 and 8x8x8, counting their blocks does not say it.
"""

from collections.abc import Sequence

from faultsim.machines.pod import Pod
from faultsim.planning.blocks import all_blocks
from faultsim.planning.wanted import Wanted

#: Blocks that a search tries before it gives up, and arrangements that are tried first.
_MOST_TRIED, _MOST_KEPT = 5000, 100


class Packing:
    """The static blocks of some slices of whole cubes; sets of cubes are whole numbers, bit k for cube k.

    Examples
    --------
    >>> from faultsim.planning.wanted import wanted_slices
    >>> pod = Pod((1, 2, 4), wiring="static")
    >>> packing = Packing(pod, wanted_slices(pod, "4x8x8=1,4x4x16=1")[0])
    >>> packing.fits(0b11111111), Packing(pod, wanted_slices(pod, "4x4x12=1,4x8x8=1")[0]).fits(0b11111111)
    (False, False)
    >>> Packing(pod, wanted_slices(pod, "4x4x16=1,4x4x4=3")[0]).fits(0b11111110)
    True
    """

    def __init__(self, pod: Pod, wanted: Sequence[Wanted]) -> None:
        by_size = sorted((each for each in wanted if each.slice.cubes), key=lambda each: -each.slice.cubes)
        self._blocks = [all_blocks(pod, each.slice) for each in by_size]
        self._numbers = [each.number for each in by_size]
        sizes = [each.slice.cubes for each in by_size]
        # Cubes that are still wanted once those of the first shapes are placed.
        self._after = [
            sum(number * size for number, size in zip(self._numbers[i:], sizes[i:], strict=True))
            for i in range(len(sizes) + 1)
        ]
        self._sizes = sizes
        self._known: list[int] = []
        self._tried = 0

    def fits(self, up: int) -> bool | None:
        """Whether all slices fit into these cubes; None if the search gave up."""
        for place, known in enumerate(self._known):
            if known & up == known:
                self._known.insert(0, self._known.pop(place))
                return True
        self._tried = 0
        taken = self._search(up, 0, self._numbers[0] if self._numbers else 0, 0)
        if taken is None:
            return None if self._tried > _MOST_TRIED else False
        self._known = [taken, *self._known[: _MOST_KEPT - 1]]
        return True

    def _search(self, free: int, shape: int, left: int, start: int) -> int | None:
        """The cubes of an arrangement: `left` more of a shape, from its block `start` on, and all of the later ones."""
        while shape < len(self._blocks) and left == 0:
            shape, start = shape + 1, 0
            left = self._numbers[shape] if shape < len(self._blocks) else 0
        if shape == len(self._blocks):
            return 0
        if free.bit_count() < left * self._sizes[shape] + self._after[shape + 1]:
            return None
        blocks = self._blocks[shape]
        there = [at for at in range(start, len(blocks)) if blocks[at] & free == blocks[at]]
        for first in range(len(there) - left + 1):
            self._tried += 1
            if self._tried > _MOST_TRIED:
                return None
            block = blocks[there[first]]
            rest = self._search(free & ~block, shape, left - 1, there[first] + 1)
            if rest is not None:
                return rest | block
        return None
