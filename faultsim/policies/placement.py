"""Placement rules: which of the free nodes a starting job gets (model.md#placement)."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias, get_args

from faultsim import checks
from faultsim.arrays import Flags, Integers
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.policies.base import Check, MachineFacts, OwnPolicy
from faultsim.policies.curves import CURVES

__all__ = [
    "BOX_ORDERS",
    "Balancing",
    "BestFit",
    "ConsecutiveBestFit",
    "CurveBestFit",
    "FirstFit",
    "LeastFailuresFirst",
    "LeastLoaded",
    "MaxFreePartition",
    "MostCubic",
    "Placement",
    "SafestFirst",
    "TieBreaking",
]

#: Orders in which candidate boxes are listed (model.md#box-order); the first is the default.
BoxOrderWord: TypeAlias = Literal["extents-descending", "extents-ascending", "bases"]
BOX_ORDERS: tuple[BoxOrderWord, ...] = get_args(BoxOrderWord)
BoxOrder = Annotated[BoxOrderWord, Check(checks.choice, "box_order", known=BOX_ORDERS)]


class JobToPlace(Protocol):
    """What `Placement.choose` sees of the job."""

    @property
    def index(self) -> int:
        """Row of the job in the workload."""

    @property
    def submit(self) -> float:
        """Submit time in seconds."""

    @property
    def estimate(self) -> float:
        """Expected run time in seconds, after ``estimates=``."""

    @property
    def size(self) -> int:
        """Requested nodes."""


class Occupancy(Protocol):
    """The occupancy of a torus in which `Placement.choose` places a job."""

    @property
    def now(self) -> float:
        """Time in seconds."""

    @property
    def busy(self) -> Flags:
        """Which nodes are busy, of shape (X, Y, Z)."""


class Placement(OwnPolicy):
    """Base of placement rules; subclass it to write your own in Python.

    Override `choose` for a torus, `choose_nodes` for a cluster. They run inside the fast engine with the global
    interpreter lock held. `choose` is called for each placement, including those tried for a reservation or a
    migration, and must be a pure function of its arguments: the engine may call it twice. `choose_nodes` is called when
    a job starts.

    Attributes
    ----------
    box_order : {"extents-descending", "extents-ascending", "bases"}
        Order of the candidates.  Set it on your class to change it.

    Examples
    --------
    >>> import faultsim as fs
    >>> class LastFit(fs.Placement):
    ...     def choose(self, job, candidates, state):
    ...         return len(candidates) - 1
    >>> LastFit().name
    'python'
    """

    kind: ClassVar[str] = "placement"
    name: ClassVar[str] = "python"
    box_order: BoxOrderWord = BOX_ORDERS[0]

    def choose(self, job: JobToPlace, candidates: Integers, state: Occupancy) -> int:
        """Index of the candidate that the job takes.

        Parameters
        ----------
        job : JobToPlace
            The job to place: its index (row in the workload), size (requested nodes), estimate (s) and submit (s).
        candidates : int32 array of shape (k, 6), k >= 1
            Free boxes x, y, z, a, b, c (base, extent), all of the same number of nodes, in `box_order`.
        state : Occupancy
            ``state.now`` (s) and ``state.busy`` (bool array of shape (X, Y, Z)), the occupancy to place the job in.

        Returns
        -------
        int
            From 0 to k - 1.
        """
        raise OptionError(f"{type(self).__name__} must define choose(self, job, candidates, state)")

    def choose_nodes(self, job: JobToPlace, free: Integers, state: Any) -> Any:
        """The nodes of a cluster that the job takes.

        Parameters
        ----------
        job : JobToPlace
            The job to place: its index (row in the workload), size (nodes to take), estimate (s) and submit (s).
        free : int32 array of shape (k,), k >= job.size
            The free nodes that it may take, ascending.
        state : object
            ``state.now`` (s) and ``state.nodes``, the number of nodes of the cluster.

        Returns
        -------
        array_like of int, shape (job.size,)
            Different nodes, each of them free.
        """
        raise OptionError(f"{type(self).__name__} must define choose_nodes(self, job, free, state)")

    def check_machine(self, machine: MachineFacts) -> None:
        """Refuse a machine for which the rule has no method; on pods no rule has one, as its row says."""
        if self.is_written() and (machine.has_boxes or machine.any_nodes):
            how, seen = ("choose", "candidates") if machine.has_boxes else ("choose_nodes", "free")
            if getattr(type(self), how) is getattr(Placement, how):
                raise OptionError(f"{type(self).__name__} must define {how}(self, job, {seen}, state) for {machine}")

    def place_ranks(self, machine: MachineFacts, size: Integers) -> Integers | None:
        """Which form of place jobs of these sizes have, as the machine numbers them; None if there is one form."""
        return None

    def unlisted_sizes(self, machine: MachineFacts, size: Integers) -> Flags | None:
        """Which of these sizes no job can have, though the machine has as many nodes; None: it has no list of sizes."""
        return None

    def _plain(self) -> Lowered:
        """With its order of boxes, for one written in Python."""
        own = {"box_order": checks.choice("box_order", self.box_order, BOX_ORDERS)} if self.is_written() else {}
        return {**super()._plain(), **own}


@dataclass(frozen=True)
class FirstFit(Placement):
    """The first free box in contract order; on a pod, the first slice; on a cluster, the lowest free nodes.

    Parameters
    ----------
    box_order : {"extents-descending", "extents-ascending", "bases"}, default "extents-descending"
        Order in which the boxes of a size are listed.  Torus only.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.FirstFit(box_order="bases")
    FirstFit(box_order='bases')
    """

    name: ClassVar[str] = "first_fit"
    box_order: BoxOrder = BOX_ORDERS[0]

    def choose(self, job: JobToPlace, candidates: Integers, state: Occupancy) -> int:
        """Always 0, the first."""
        return 0


@dataclass(frozen=True)
class MaxFreePartition(Placement):
    """The box that leaves the largest free partition (MFP); ties go to the first in box order.  Torus only.

    Parameters
    ----------
    box_order : {"extents-descending", "extents-ascending", "bases"}, default "extents-descending"
        Order in which the boxes of a size are listed.

    References
    ----------
    [krevat2002] section 2 (the MFP heuristic).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.MaxFreePartition().lower()
    {'name': 'max_free_partition', 'box_order': 'extents-descending'}
    """

    name: ClassVar[str] = "max_free_partition"
    box_order: BoxOrder = BOX_ORDERS[0]


@dataclass(frozen=True)
class MostCubic(Placement):
    """The box with the least surface; ties go to the first in box order.  Torus only.

    The surface of extents (a, b, c) is 2 (ab + bc + ca), also where a box wraps around an axis.

    Parameters
    ----------
    box_order : {"extents-descending", "extents-ascending", "bases"}, default "extents-descending"
        Order in which the boxes of a size are listed.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[8])
    >>> held = fs.simulate(log, fs.Torus(4, 4, 8), placement=fs.MostCubic(), record=True).allocations
    >>> [int(held[extent][0]) for extent in "abc"]
    [2, 2, 2]
    """

    name: ClassVar[str] = "most_cubic"
    box_order: BoxOrder = BOX_ORDERS[0]


@dataclass(frozen=True)
class Balancing(Placement):
    """The box with the least expected loss of largest free partition and of work if the job fails. Torus only.

    The loss of a box is MFP before - MFP after + P * nodes of the box, where P is the probability, by the predictor,
    that a node of it fails while the job is expected to run.  A later box wins only if it is better by more than 1e-9.

    Parameters
    ----------
    rule : {"prod", "max"}, default "prod"
        P is 1 - (1 - p)**k for k nodes that are predicted to fail, each with p, or the largest of their p. Both are in
        the paper.
    box_order : {"extents-descending", "extents-ascending", "bases"}, default "extents-descending"
        Order in which the boxes of a size are listed.

    References
    ----------
    [oliner2004] sections 4.1 and 5.2.1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Balancing().rule
    'prod'
    """

    name: ClassVar[str] = "balancing"
    rule: Annotated[Literal["prod", "max"], Check(checks.choice, "rule", known=("prod", "max"))] = "prod"
    box_order: BoxOrder = BOX_ORDERS[0]


@dataclass(frozen=True)
class TieBreaking(Placement):
    """Among the boxes that leave the largest free partition, one that is not predicted to fail.  Torus only.

    The first such box in box order; if all are predicted to fail, the first.

    Parameters
    ----------
    box_order : {"extents-descending", "extents-ascending", "bases"}, default "extents-descending"
        Order in which the boxes of a size are listed.

    References
    ----------
    [oliner2004] sections 4.2 and 5.2.2.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.TieBreaking().lower()
    {'name': 'tie_breaking', 'box_order': 'extents-descending'}
    """

    name: ClassVar[str] = "tie_breaking"
    box_order: BoxOrder = BOX_ORDERS[0]


@dataclass(frozen=True)
class LeastFailuresFirst(Placement):
    """The free nodes that have failed least often so far, ties to the lowest numbers. Cluster or site.

    Failures of idle nodes and failures before the first submit count too.

    References
    ----------
    [zhang2004] section 5.2.3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.LeastFailuresFirst().lower()
    {'name': 'least_failures_first'}
    """

    name: ClassVar[str] = "least_failures_first"


@dataclass(frozen=True)
class SafestFirst(Placement):
    """The free nodes that are not predicted to fail while the job is expected to run, then the others; not with boxes.

    Lowest numbers first within both groups.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.SafestFirst().lower()
    {'name': 'safest_first'}
    """

    name: ClassVar[str] = "safest_first"


@dataclass(frozen=True)
class CurveBestFit(Placement):
    """The smallest sufficient free interval of a curve through the nodes, else few intervals.  Cluster only.

    The nodes need coordinates: ``Cluster(nodes, shape=(x, y, z))``.  Jobs need not be contiguous, so that no node stays
    idle for want of a box, yet mostly get nodes that are near each other.

    Parameters
    ----------
    curve : {"snake", "hilbert"}, default "snake"
        Row by row, every other one backwards, or the Hilbert curve of the smallest cube that holds the machine.

    References
    ----------
    [leung2002], whose best fit the allocators of SST use.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[3, 4])
    >>> machine = fs.Cluster(8, shape=(2, 2, 2))
    >>> fs.simulate(log, machine, placement=fs.CurveBestFit(), record=True).allocations["nodes"]
    array([0, 1, 3, 2, 5, 6, 7], dtype=int32)
    """

    name: ClassVar[str] = "curve_best_fit"
    curve: Annotated[Literal["snake", "hilbert"], Check(checks.choice, "curve", known=CURVES)] = "snake"


@dataclass(frozen=True)
class ConsecutiveBestFit(Placement):
    """Nodes of the smallest weight, in the smallest sufficient run of neighbours, the fullest first.  Site only.

    The default where jobs share the nodes of a site, and what Slurm's ``select/cons_tres`` does: nodes that can serve
    the job are cut into runs of consecutive numbers and equal weight; a job of one node takes the fullest one of the
    best run.

    References
    ----------
    model.md#consecutive-best-fit.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.ConsecutiveBestFit().lower()
    {'name': 'consecutive_best_fit'}
    """

    name: ClassVar[str] = "consecutive_best_fit"


@dataclass(frozen=True)
class BestFit(Placement):
    """The nodes with the fewest free cores that suffice, then least free memory, then fewest free GPUs.  Site only.

    Ties go to the lowest numbers.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.BestFit().lower()
    {'name': 'best_fit'}
    """

    name: ClassVar[str] = "best_fit"


@dataclass(frozen=True)
class LeastLoaded(Placement):
    """The nodes with the largest share of free cores, ties to the lowest numbers.  Site only.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.LeastLoaded().lower()
    {'name': 'least_loaded'}
    """

    name: ClassVar[str] = "least_loaded"
