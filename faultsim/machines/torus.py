"""`Torus`: a job needs a contiguous box."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, overload

from faultsim import checks
from faultsim.data.columns import MAX_NODES
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.machines.extents import three
from faultsim.machines.machine import Machine


@dataclass(frozen=True)
class Torus(Machine):
    """A three-dimensional torus or mesh: a job needs a contiguous box of nodes.

    Parameters
    ----------
    x, y, z : int
        Extents, each at least 1, or all three in the place of `x`: ``Torus((4, 4, 8))``, ``Torus("4x4x8")``.  Use 1
        for a missing dimension.
    wrap : bool, default True
        Whether boxes wrap around; ``False`` is a mesh.

    Raises
    ------
    OptionError
        If an extent is not a whole number of at least 1, or the machine has 2**31 nodes or more.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Torus(4, 4, 8).nodes
    128
    >>> fs.Torus.bluegene_l_nodes().nodes
    65536
    """

    has_boxes: ClassVar[bool] = True
    picture: ClassVar[str] = "Nodes of the torus"

    x: int
    y: int
    z: int
    wrap: bool = True

    @overload
    def __init__(self, x: int, y: int, z: int, wrap: bool = True) -> None: ...
    @overload
    def __init__(self, x: Sequence[int] | str, *, wrap: bool = True) -> None: ...
    def __init__(self, x: object, y: object = None, z: object = None, wrap: object = True) -> None:
        if y is None and z is None:
            x, y, z = _all_three(x)
        elif z is None:
            raise OptionError(f"{_THREE}, got {checks.shown(x)} and {checks.shown(y)}")
        for axis, extent in zip("xyz", (x, y, z), strict=True):
            object.__setattr__(self, axis, _extent(axis, extent))
        object.__setattr__(self, "wrap", checks.flag("wrap", wrap))
        if self.nodes > MAX_NODES:
            raise OptionError(
                f"a torus may have at most {MAX_NODES} nodes, got {self.x}x{self.y}x{self.z} = {self.nodes}"
            )

    @property
    def nodes(self) -> int:
        """Number of nodes, x*y*z."""
        return self.x * self.y * self.z

    @property
    def shape(self) -> tuple[int, int, int]:
        """The extents as a tuple, the shape of its occupancy array."""
        return (self.x, self.y, self.z)

    @property
    def name(self) -> str:
        """The kind of machine, ``"torus"`` (a mesh is a torus with ``wrap=False``)."""
        return "torus"

    @property
    def wraps(self) -> bool:
        """As given by `wrap`."""
        return self.wrap

    def first_events(self, many: int) -> int:
        """Few: a pass that searches a large torus takes long."""
        return 64 if self.nodes <= 4096 else 1

    def lower(self) -> Lowered:
        """The plain form that the engine takes and that provenance keeps."""
        return {"name": "torus", "x": self.x, "y": self.y, "z": self.z, "wrap": self.wrap}

    def __str__(self) -> str:
        return f"{'torus' if self.wrap else 'mesh'}:{self.x}x{self.y}x{self.z}"

    @classmethod
    def bluegene_l(cls) -> "Torus":
        """BlueGene/L as [krevat2002] schedules it: 4x4x8 supernodes of 512 nodes.

        Examples
        --------
        >>> import faultsim as fs
        >>> str(fs.Torus.bluegene_l())
        'torus:4x4x8'
        """
        return cls(4, 4, 8)

    @classmethod
    def bluegene_l_nodes(cls) -> "Torus":
        """BlueGene/L node by node: 32x32x64.

        Examples
        --------
        >>> import faultsim as fs
        >>> str(fs.Torus.bluegene_l_nodes())
        'torus:32x32x64'
        """
        return cls(32, 32, 64)

    @classmethod
    def tpu_v4(cls) -> "Torus":
        """A TPU v4 machine: 16x16x16 chips ([jouppi2023]).

        Examples
        --------
        >>> import faultsim as fs
        >>> str(fs.Torus.tpu_v4())
        'torus:16x16x16'
        """
        return cls(16, 16, 16)


_THREE = "a torus has three extents: Torus(4, 4, 8) or Torus((4, 4, 8))"


def _all_three(value: object) -> tuple[int, int, int]:
    """The extents from one argument."""
    if isinstance(value, int):
        raise OptionError(f"{_THREE}, got {value}")
    return three("a torus", value, low=None)


def _extent(axis: str, value: object) -> int:
    """An extent of at least 1; for zero and below, the error hints that a missing dimension is 1."""
    n = checks.whole(f"the extent {axis} of a torus", value)
    if n < 1:
        raise OptionError(f"the extent {axis} of a torus must be at least 1, got {n}; use 1 for a missing dimension")
    return n
