"""`Cluster`: any free nodes will do for any job."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from faultsim import checks
from faultsim.data.columns import MAX_NODES
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.machines.machine import Machine


@dataclass(frozen=True, repr=False)
class Cluster(Machine):
    """A flat machine: any free nodes will do for any job.

    Parameters
    ----------
    nodes : int
        Number of nodes, at least 1.
    shape : (int, int, int), optional
        Extents (X, Y, Z) of a mesh on which the nodes lie, whose product is `nodes`: node (x, y, z) has the number
        (x Y + y) Z + z, as on a `Torus`.  Any free nodes still serve; `CurveBestFit` and the metric of dispersal need
        coordinates, everything else ignores them.

    Raises
    ------
    OptionError
        If `nodes` is not a whole number of at least 1, or `shape` is not three of them with that product.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Cluster(128).nodes
    128
    >>> fs.Cluster(128, shape=(4, 4, 8))
    Cluster(128, shape=(4, 4, 8))
    """

    any_nodes: ClassVar[bool] = True

    nodes: int
    _: KW_ONLY
    shape: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", checks.whole("nodes of a cluster", self.nodes, low=1, high=MAX_NODES))
        if self.shape is not None:
            object.__setattr__(self, "shape", _extents(self.shape, self.nodes))

    @property
    def name(self) -> str:
        """The kind of machine, ``"cluster"``."""
        return "cluster"

    @property
    def with_coordinates(self) -> str:
        """How to write it with coordinates."""
        return f"Cluster({self.nodes}, shape=(x, y, z))"

    def lower(self) -> Lowered:
        """The plain form that the engine takes and that provenance keeps."""
        lowered = {"name": "cluster", "nodes": self.nodes}
        return lowered if self.shape is None else {**lowered, "shape": list(self.shape)}

    def __str__(self) -> str:
        return f"cluster:{self.nodes if self.shape is None else 'x'.join(map(str, self.shape))}"

    def __repr__(self) -> str:
        return f"Cluster(nodes={self.nodes})" if self.shape is None else f"Cluster({self.nodes}, shape={self.shape})"


def _extents(shape: Sequence[int], nodes: int) -> tuple[int, int, int]:
    """A shape that has so many nodes."""
    if isinstance(shape, str) or not isinstance(shape, Sequence) or len(shape) != 3:
        raise OptionError(f"the shape of a cluster must be three extents, such as (4, 4, 8), got {checks.shown(shape)}")
    x, y, z = (checks.whole("an extent of the shape of a cluster", extent, low=1) for extent in shape)
    if x * y * z != nodes:
        raise OptionError(f"the shape {x}x{y}x{z} of a cluster has {x * y * z} nodes, not {nodes}")
    return x, y, z
