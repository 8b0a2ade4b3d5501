"""Listed shapes at listed anchors, as Slurm's topology/torus3d places jobs (model.md#slurm-torus)."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from faultsim import checks
from faultsim.arrays import Flags, Integers
from faultsim.errors import OptionError
from faultsim.policies.base import Check, MachineFacts
from faultsim.policies.placement import Placement
from faultsim.policies.shapes import Shape, can_overlap, list_text, shapes_of, three_text

__all__ = ["SlurmTorus"]

ScoreWord: TypeAlias = Literal["slurm", "first", "next-size", "mfp", "random", "tie-breaking", "balancing"]
SCORES: tuple[ScoreWord, ...] = get_args(ScoreWord)
UnlistedWord: TypeAlias = Literal["refuse", "round_up", "segments"]


def _shapes(value: object) -> str:
    return list_text("shapes of SlurmTorus", value)


def _spacing(value: object) -> str:
    return three_text("spacing of SlurmTorus", value, 0)


def _seed(value: object) -> str:
    return three_text("seed of SlurmTorus", value, 0)


@dataclass(frozen=True)
class SlurmTorus(Placement):
    """Slurm's topology/torus3d: listed shapes at listed anchors, least fragmentation cost first.  Torus only.

    A job gets a box of exactly its size of a listed shape, of the first shape that has a free one, and of its free
    boxes the first that breaks the fewest free boxes of the next larger shape.  Larger boxes never stand in, unless
    `larger` says so.

    Parameters
    ----------
    shapes : str or sequence, default "powers-of-two"
        Extents in nodes, ``"2x2x4+4x4x4"`` or ``[(2, 2, 4), (4, 4, 4)]``, each with a spacing after ``/`` and a seed
        after ``@`` if they are its own: ``"2x2x4/1x1x2@0x0x1"``.  A shape is a box as written; rotations are listed
        too. Or the name of a list: ``"powers-of-two"``, ``"one-per-size"``, ``"every-box"``.
    spacing : int, str or sequence of int, optional
        Distance of neighbouring anchors per axis, in nodes, for shapes without their own; by default, and where it is
        0, the shape's extent.
    seed : str or sequence of int, optional
        First anchor per axis, for shapes without their own; by default 0.
    unlisted : {"refuse", "round_up", "segments"}, default "refuse"
        What becomes of a job of a size that no shape has: an error (``oversized="drop"`` leaves the job out); it gets
        the next larger listed size; or boxes of the largest listed power of two that divides its size, as with
        ``--segment``.
    score : {"slurm", "first", "next-size", "mfp", "random", "tie-breaking", "balancing"}, default "slurm"
        Which free box is best: Slurm's own rule; the first anchor of the first shape; the fewest free boxes of all
        shapes of the next size; the largest listed box that stays free; any; Slurm's own rule, of equal costs a box
        that is not predicted to fail; what `Balancing` weighs, among listed boxes.  The last two need a predictor.
    salt : int, default 0
        Which boxes ``score="random"`` takes.
    tori : int, default 1
        Of how many equal tori the machine consists, joined along x: ``Torus(16, 8, 8)`` with ``tori=2`` are two of
        8x8x8.  No box crosses a joint, shapes wrap around within their torus, and the fullest torus is filled first.
    larger : bool, default False
        Whether a larger listed box may stand in where none of the size is free: any for the head of the queue, for
        others one of up to `max_growth` nodes more, as without listed shapes.  Slurm has no such rule.

    Raises
    ------
    OptionError
        For text that is no shape, and, with the run, for a shape that does not fit the torus.

    References
    ----------
    [slurm2026]

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 0], runtime=[10, 10], size=[4, 4])
    >>> listed = fs.SlurmTorus("1x2x2+2x2x2")
    >>> held = fs.simulate(log, fs.Torus(2, 2, 4), placement=listed, record=True).allocations
    >>> [(int(x), int(z)) for x, z in zip(held["x"], held["z"])]
    [(0, 0), (1, 0)]
    """

    name: ClassVar[str] = "slurm_torus"

    shapes: Annotated[str, Check(_shapes)] = "powers-of-two"
    spacing: Annotated[str, Check(_spacing)] = ""
    seed: Annotated[str, Check(_seed)] = ""
    unlisted: Annotated[UnlistedWord, Check(checks.choice, "unlisted", known=get_args(UnlistedWord))] = "refuse"
    score: Annotated[ScoreWord, Check(checks.choice, "score", known=SCORES)] = "slurm"
    salt: Annotated[int, "1", Check(checks.whole, "salt", low=0, high=2**31 - 1)] = 0
    larger: Annotated[bool, Check(checks.flag, "larger")] = False
    tori: Annotated[int, "1", Check(checks.whole, "tori", low=1, high=1024)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.salt and self.score != "random":
            raise OptionError(
                f"salt={self.salt} has no effect with score={self.score!r}: leave it out, or use score='random'"
            )

        if self.larger and self.unlisted == "segments":
            raise OptionError(
                "larger=True gives a job one box, and unlisted='segments' several: use larger=False, or "
                "unlisted='round_up'"
            )

    @property
    def foresees(self) -> bool:
        """Whether the score looks at predictions."""
        return self.score in ("tie-breaking", "balancing")

    def shapes_on(self, machine: MachineFacts) -> tuple[Shape, ...]:
        """The shapes on each torus, by size, equal sizes as listed."""
        return shapes_of(self.shapes, self.spacing, self.seed, self._dims(machine))

    def _dims(self, machine: MachineFacts) -> tuple[int, int, int]:
        """Extents of each torus."""
        x, y, z = machine.shape or (self.tori, 1, 1)
        return x // self.tori, y, z

    def check_machine(self, machine: MachineFacts) -> None:
        """Refuse a mesh, and shapes that do not fit; other machines are refused by their rows."""
        if not machine.has_boxes:
            return
        if not machine.wraps:
            raise OptionError(
                f"SlurmTorus places boxes that wrap around, and {machine} does not: use Torus(..., wrap=True)"
            )
        if machine.shape is not None and machine.shape[0] % self.tori:
            raise OptionError(
                f"tori={self.tori} of SlurmTorus are joined along x, and the extent of {machine} there is "
                f"{machine.shape[0]}: give a Torus whose first extent is a multiple of {self.tori}"
            )
        shapes = self.shapes_on(machine)
        if self.unlisted == "segments":
            powers = [shape for shape in shapes if shape.size & (shape.size - 1) == 0]
            met = can_overlap(powers, self._dims(machine))
            if met:
                raise OptionError(
                    f"segments are boxes that cannot overlap, and those of {met} can: list one shape per power of two, "
                    f"whose extents divide those of the torus, with the default spacing, or use unlisted='round_up'"
                )

    def unlisted_sizes(self, machine: MachineFacts, size: Integers) -> Flags:
        """Which of these sizes no job can have: those without a shape, or above the largest."""
        listed = np.unique([shape.size for shape in self.shapes_on(machine)])
        unlisted: Flags = ~np.isin(size, listed)
        if self.unlisted == "round_up":
            unlisted = size > listed[-1]
        elif self.unlisted == "segments":
            unlisted = self._segments(machine, size) == 0
        return unlisted

    def place_ranks(self, machine: MachineFacts, size: Integers) -> Integers | None:
        """How jobs are placed: 1 in one box, 2 + i in boxes of 2^i nodes; None if each has one box."""
        if self.unlisted != "segments":
            return None
        each = self._segments(machine, size)
        ranks: Integers = np.where(each == size, 1, 2 + np.log2(np.maximum(each, 1)).astype(np.int32)).astype(np.int32)
        return ranks

    def _segments(self, machine: MachineFacts, size: Integers) -> Integers:
        """Nodes of each box of jobs of these sizes: the size itself if a shape has it; 0: there is no box."""
        listed = np.unique([shape.size for shape in self.shapes_on(machine)])
        each = np.zeros(len(size), np.int64)
        for power in listed[listed & (listed - 1) == 0].tolist():  # ascending
            each[size % power == 0] = power
        each = np.where(np.isin(size, listed), size, each)
        return np.where(size > machine.nodes, 0, each).astype(np.int32)

    def refusal(self, machine: MachineFacts, size: int) -> str:
        """Why no job of this size can start, and which listed sizes are next to it."""
        listed = sorted({shape.size for shape in self.shapes_on(machine)})
        at = bisect_left(listed, size)
        near = " and ".join(str(each) for each in listed[max(0, at - 1) : at + 1])
        return f"no shape of SlurmTorus has {size} nodes (next to it are {near})"
