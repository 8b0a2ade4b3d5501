"""`Cluster`: any free nodes serve any job."""

from dataclasses import dataclass
from typing import Any

from faultsim import checks
from faultsim.data.columns import MAX_NODES

__all__ = ["Cluster"]


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
