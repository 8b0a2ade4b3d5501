"""The machines: `Cluster` (any free nodes serve) and `Torus` (a job needs a contiguous box).

See model.md#machines.  Node numbers are 0..N-1; on a torus node = (x*Y + y)*Z + z.
"""

from dataclasses import dataclass
from typing import Any

from faultsim import checks
from faultsim.errors import OptionError

__all__ = ["Cluster", "Torus", "machine_from_lowered", "parse_machine"]

MAX_NODES = 2**31 - 1  # node numbers are int32


@dataclass(frozen=True)
class Cluster:
    """A flat machine: any free nodes serve any job.

    Parameters
    ----------
    nodes : int
        Number of nodes, at least 1.

    Raises
    ------
    OptionError
        If `nodes` is not a whole number of at least 1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Cluster(128).nodes
    128
    """

    nodes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", checks.whole("nodes of a cluster", self.nodes, low=1, high=MAX_NODES))

    @property
    def name(self) -> str:
        """The kind of machine, ``"cluster"``."""
        return "cluster"

    def lower(self) -> dict[str, Any]:
        """The plain form that the engine takes and that provenance keeps."""
        return {"name": "cluster", "nodes": self.nodes}

    def __str__(self) -> str:
        return f"cluster:{self.nodes}"


@dataclass(frozen=True)
class Torus:
    """A three-dimensional torus or mesh: a job needs a contiguous box of nodes.

    Parameters
    ----------
    x, y, z : int
        Extents, each at least 1.  Use 1 for a dimension that is not there.
    wrap : bool, default True
        Whether boxes wrap round the edges; ``False`` is a mesh.

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

    x: int
    y: int
    z: int
    wrap: bool = True

    def __post_init__(self) -> None:
        for axis in "xyz":
            object.__setattr__(self, axis, _extent(axis, getattr(self, axis)))
        object.__setattr__(self, "wrap", checks.flag("wrap", self.wrap))
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

    def lower(self) -> dict[str, Any]:
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


def _extent(axis: str, value: Any) -> int:
    """An extent of at least 1; zero and less get the hint that a missing dimension is 1."""
    n = checks.whole(f"the extent {axis} of a torus", value)
    if n < 1:
        raise OptionError(
            f"the extent {axis} of a torus must be at least 1, got {n}; use 1 for a dimension that is not there"
        )
    return n


_FORMS = "'cluster:128', 'torus:4x4x8' or 'mesh:4x4x8'"
_PRESETS = {"bluegene-l": Torus.bluegene_l, "bluegene-l-nodes": Torus.bluegene_l_nodes, "tpu-v4": Torus.tpu_v4}


def parse_machine(text: str) -> "Cluster | Torus":
    """A machine from text, as the command line takes it.

    Parameters
    ----------
    text : str
        ``"cluster:N"``, ``"torus:XxYxZ"``, ``"mesh:XxYxZ"`` or a preset: ``"bluegene-l"``, ``"bluegene-l-nodes"``,
        ``"tpu-v4"``.  ``str(machine)`` gives the first three back.

    Raises
    ------
    OptionError
        If the text has none of these forms or an extent is not a whole number of at least 1.

    Examples
    --------
    >>> parse_machine("torus:4x4x8")
    Torus(x=4, y=4, z=8, wrap=True)
    >>> parse_machine("cluster:128")
    Cluster(nodes=128)
    """
    kind, colon, rest = str(text).strip().partition(":")
    kind = kind.lower()
    if not colon and kind.replace("_", "-") in _PRESETS:
        return _PRESETS[kind.replace("_", "-")]()
    if kind not in ("cluster", "torus", "mesh"):
        hint = checks.did_you_mean(kind, ["cluster", "torus", "mesh", *_PRESETS])
        raise OptionError(f"unknown machine {text!r}{hint}; write {_FORMS}, or one of {', '.join(_PRESETS)}")
    parts = rest.lower().split("x")
    try:
        extents = [int(p) for p in parts]
    except ValueError:
        raise OptionError(f"machine {text!r} needs whole numbers after the colon: {_FORMS}") from None
    if len(extents) != (1 if kind == "cluster" else 3):
        raise OptionError(f"machine {text!r} needs {'one number' if kind == 'cluster' else 'three extents'}: {_FORMS}")
    if kind == "cluster":
        return Cluster(extents[0])
    return Torus(extents[0], extents[1], extents[2], wrap=kind == "torus")


def machine_from_lowered(lowered: dict[str, Any]) -> "Cluster | Torus":
    """The machine whose ``lower()`` gave this dict.

    Examples
    --------
    >>> machine_from_lowered({"name": "cluster", "nodes": 4})
    Cluster(nodes=4)
    """
    kinds: dict[str, type[Cluster] | type[Torus]] = {"cluster": Cluster, "torus": Torus}
    rest = dict(lowered)
    return kinds[checks.choice("machine", rest.pop("name", None), kinds)](**rest)
