"""Capacity as a type: what is free, as a value that schedulers calculate with.

Each class has the same five operations (`_core/scheduling/capacity.pxd` has the compiled form of the first two):

``fits(ask)``
    Whether a job with this ask can be granted its nodes.
``take(grant)``, ``give(grant)``
    The capacity without the grant, and with it again.
``meet(other)``
    What is free in both: what is free for a job that lasts over two moments.
``covers(ask, other)``
    Whether whatever serves `other` also serves `ask`.  A partial order; total for counts alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from faultsim.errors import OptionError


@dataclass(frozen=True)
class Count:
    """A number of free nodes, any of which serve; asks and grants are numbers of nodes.

    Examples
    --------
    >>> Count(5).take(3).fits(3), Count(5).meet(Count(2))
    (False, Count(free=2))
    """

    free: int

    def fits(self, ask: int) -> bool:
        """Whether so many nodes are free."""
        return ask <= self.free

    def take(self, grant: int) -> "Count":
        """Without these nodes."""
        _require(0 <= grant <= self.free, f"{grant} nodes are not free in {self}")
        return Count(self.free - grant)

    def give(self, grant: int) -> "Count":
        """With these nodes."""
        return Count(self.free + grant)

    def meet(self, other: "Count") -> "Count":
        """What is free in both."""
        return Count(min(self.free, other.free))

    @staticmethod
    def covers(ask: int, other: int) -> bool:
        """Whether `other` needs at least as many nodes."""
        return ask <= other


@dataclass(frozen=True)
class Mask:
    """The nodes that are taken, one bit per node; an ask is a size, which needs one of the machine's places.

    Attributes
    ----------
    taken : int
        Bit k: node k is taken.
    places : mapping of int to tuple of int
        Size -> the masks of all places of that size.

    Examples
    --------
    >>> machine = Mask(0, {2: (0b0011, 0b1100)})
    >>> machine.take(0b0011).fits(2), machine.take(0b0011).take(0b1100).fits(2)
    (True, False)
    """

    taken: int
    places: Mapping[int, tuple[int, ...]]

    def fits(self, ask: int) -> bool:
        """Whether a place of this size is free."""
        return any(not place & self.taken for place in self.places.get(ask, ()))

    def take(self, grant: int) -> "Mask":
        """Without the nodes of a place."""
        _require(not grant & self.taken, f"place {grant:b} is not free")
        return replace(self, taken=self.taken | grant)

    def give(self, grant: int) -> "Mask":
        """With the nodes of a place."""
        _require(grant & self.taken == grant, f"place {grant:b} is not taken")
        return replace(self, taken=self.taken & ~grant)

    def meet(self, other: "Mask") -> "Mask":
        """What is free in both."""
        return replace(self, taken=self.taken | other.taken)

    @staticmethod
    def covers(ask: int, other: int) -> bool:
        """Whether both are the same: a place may have room for a large box and for no smaller one of another shape."""
        return ask == other


class Amounts(NamedTuple):
    """What a node has, or a job takes on each of its nodes."""

    cores: int = 0
    memory: int = 0  # MiB
    gpus: int = 0

    def within(self, other: "Amounts") -> bool:
        """Whether no amount is larger than that of the other."""
        return all(mine <= theirs for mine, theirs in zip(self, other, strict=True))

    def plus(self, other: "Amounts", sign: int = 1) -> "Amounts":
        """The sum, or with sign=-1 the difference."""
        return Amounts(*(mine + sign * theirs for mine, theirs in zip(self, other, strict=True)))


class VectorAsk(NamedTuple):
    """So many different nodes among the eligible ones, with the same amounts on each."""

    nodes: int
    each: Amounts
    eligible: frozenset[int]


@dataclass(frozen=True)
class Vectors:
    """The free amounts of each node, which jobs share; a grant maps nodes to amounts.

    Examples
    --------
    >>> site = Vectors((Amounts(4, 1000), Amounts(4, 1000, 2)))
    >>> gpus = VectorAsk(1, Amounts(1, 100, 1), frozenset({0, 1}))
    >>> site.fits(gpus), site.take({1: Amounts(0, 0, 2)}).fits(gpus)
    (True, False)
    """

    free: tuple[Amounts, ...]

    def fits(self, ask: VectorAsk) -> bool:
        """Whether enough eligible nodes have the amounts free."""
        return sum(ask.each.within(self.free[node]) for node in ask.eligible) >= ask.nodes

    def take(self, grant: Mapping[int, Amounts]) -> "Vectors":
        """Without the amounts."""
        for node, amounts in grant.items():
            _require(amounts.within(self.free[node]), f"node {node} has {self.free[node]} free, not {amounts}")
        return self._changed(grant, -1)

    def give(self, grant: Mapping[int, Amounts]) -> "Vectors":
        """With the amounts."""
        return self._changed(grant, 1)

    def meet(self, other: "Vectors") -> "Vectors":
        """What is free in both, of each node."""
        return Vectors(
            tuple(Amounts(*map(min, mine, theirs)) for mine, theirs in zip(self.free, other.free, strict=True))
        )

    @staticmethod
    def covers(ask: VectorAsk, other: VectorAsk) -> bool:
        """Whether `other` needs as many nodes or more, as much on each or more, and may use no other nodes."""
        return ask.nodes <= other.nodes and ask.each.within(other.each) and other.eligible <= ask.eligible

    def _changed(self, grant: Mapping[int, Amounts], sign: int) -> "Vectors":
        return Vectors(
            tuple(
                amounts.plus(grant[node], sign) if node in grant else amounts for node, amounts in enumerate(self.free)
            )
        )


def _require(met: bool, said: str) -> None:
    if not met:
        raise OptionError(said)
