"""`Resources`: the nodes that workflows run on, how fast they compute and how fast they exchange data."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Floats, Values
from faultsim.checks import OldNames
from faultsim.data.columns import MAX_NODES, Column, as_column, read_only
from faultsim.data.lowered import Lowered
from faultsim.data.workflow import Workflow
from faultsim.errors import InputError, OptionError

_SPEED = Column("speed", "f8", "1", None, "Seconds of cost done per second.", "[topcuoglu2002] section 2", 0.0)


class Resources(OldNames):
    """The nodes that workflows run on.

    Parameters
    ----------
    nodes : int, optional
        Number of nodes, at least 1; by default the length of `speed`.
    speed : array_like of float, shape (nodes,), optional
        Job j takes ``cost[j] / speed[p]`` on node p; 1 by default.  Above 0.  If a workflow's cost is a matrix, all
        speeds must be 1: the matrix already includes them.
    bandwidth : float or array_like of float, shape (nodes, nodes), optional
        What a transfer is divided by, above 0 (infinite: transfers take no time): one number for all pairs of nodes, or
        a matrix (row from, column to) whose diagonal is ignored. By default transfers are already in seconds (bandwidth
        1), and transfers in bytes are rejected. Within one node a transfer takes 0 seconds.

    Attributes
    ----------
    nodes : int
    speed : numpy.ndarray of float64, shape (nodes,)
    bandwidth : None, float or numpy.ndarray of float64, shape (nodes, nodes)

    Raises
    ------
    OptionError
        No nodes; lengths that differ; a speed or bandwidth that is not above 0.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Resources(3)
    Resources(3)
    >>> machine = fs.Resources(speed=[1, 2], bandwidth=125e6)
    >>> machine.durations(fs.Workflow([10, 30]))
    array([[10.,  5.],
           [30., 15.]])
    """

    __slots__ = ("_bandwidth", "_speed")

    _bandwidth: float | Floats | None
    _speed: Floats

    def __init__(
        self,
        nodes: int | None = None,
        *,
        speed: ArrayLike | None = None,
        bandwidth: float | ArrayLike | None = None,
    ) -> None:
        if nodes is None and speed is None:
            raise OptionError("Resources needs a number of nodes, or speed= with one number per node")
        count = None if nodes is None else checks.whole("nodes of Resources", nodes, low=1, high=MAX_NODES)
        speeds = _checked_speed(speed, count)
        object.__setattr__(self, "_speed", speeds)
        object.__setattr__(self, "_bandwidth", _checked_bandwidth(bandwidth, len(speeds)))

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"Resources are read-only: {key} cannot be set")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"Resources are read-only: {key} cannot be deleted")

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self._speed, self._bandwidth)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self._speed)

    @property
    def speed(self) -> Floats:
        """Seconds of cost that each node does per second."""
        return self._speed

    @property
    def bandwidth(self) -> float | Floats | None:
        """What transfers are divided by: None (they are seconds), one number, or a matrix with a diagonal of inf."""
        return self._bandwidth

    def durations(self, workflow: Workflow) -> Floats:
        """Seconds that each job computes on each node, shape (jobs, nodes); also checks that the two are compatible.

        Raises
        ------
        InputError
            A cost matrix with another number of nodes; transfers in bytes without a bandwidth; speeds besides a cost
            matrix.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Resources(2).durations(fs.Workflow([[1, 2, 3]]))
        Traceback (most recent call last):
        ...
        faultsim.errors.InputError: workflow: its costs are for 3 nodes, the resources have 2
        """
        self.check(workflow)
        if workflow.cost.ndim == 2:
            return workflow.cost
        return read_only(workflow.cost[:, None] / self._speed)

    def check(self, workflow: Workflow) -> None:
        """Raise `InputError`, as `durations` does, if a workflow cannot run here."""
        name = f"workflow {workflow.name!r}" if workflow.name else "workflow"
        if workflow.cost.ndim == 2:
            if workflow.cost.shape[1] != self.nodes:
                costs = workflow.cost.shape[1]
                raise InputError(f"{name}: its costs are for {costs} nodes, the resources have {self.nodes}")
            if (self._speed != 1.0).any():
                raise InputError(f"{name}: its costs are a matrix, so the speeds of the resources must all be 1")
        if workflow.transfer_unit == "bytes" and self._bandwidth is None and workflow.transfer.any():
            raise InputError(f"{name}: its transfers are in bytes; give the resources a bandwidth in bytes per second")

    def transfer_times(self, workflow: Workflow, source: int, target: int) -> Floats:
        """Seconds that each edge's data take from one node to another, in the order of the workflow's edges.

        Examples
        --------
        >>> import faultsim as fs
        >>> wf = fs.Workflow([1, 1], [(0, 1, 500)], transfer_unit="bytes")
        >>> machine = fs.Resources(2, bandwidth=100)
        >>> machine.transfer_times(wf, 0, 1), machine.transfer_times(wf, 1, 1)
        (array([5.]), array([0.]))
        """
        self.check(workflow)
        a = checks.whole("source", source, low=0, high=self.nodes - 1)
        b = checks.whole("target", target, low=0, high=self.nodes - 1)
        if a == b:
            return read_only(np.zeros(workflow.n_edges))
        band = self._bandwidth
        return read_only(workflow.transfer / (1.0 if band is None else band if isinstance(band, float) else band[a, b]))

    def lower(self) -> Lowered:
        """The plain form that provenance keeps: numbers and lists."""
        band = self._bandwidth
        return {
            "nodes": self.nodes,
            "speed": None if (self._speed == 1.0).all() else self._speed.tolist(),
            "bandwidth": band.tolist() if isinstance(band, np.ndarray) else band,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resources) and self.lower() == other.lower()

    def __hash__(self) -> int:
        return hash(repr(self.lower()))

    def __repr__(self) -> str:
        parts = []
        if (self._speed == 1.0).all():
            parts.append(str(self.nodes))
        else:
            speeds = ", ".join(format(value, "g") for value in self._speed[:8].tolist())
            parts.append(f"speed=[{speeds}{', ...' if self.nodes > 8 else ''}]")
        if isinstance(self._bandwidth, np.ndarray):
            parts.append(f"bandwidth=<{self.nodes} x {self.nodes}>")
        elif self._bandwidth is not None:
            parts.append(f"bandwidth={self._bandwidth:g}")
        return f"Resources({', '.join(parts)})"


def longest_run(workflows: Iterable[Workflow], resources: Resources) -> float:
    """Seconds until the slowest node would have done it all: longer than the run, but for many failures.

    Examples
    --------
    >>> import faultsim as fs
    >>> longest_run([fs.Workflow([4, 4], submit=10)], fs.Resources(speed=[1, 2]))
    18.0
    """
    flows = list(workflows)
    costs = (flow.cost if flow.cost.ndim == 1 else flow.cost.max(axis=1) for flow in flows)
    return max(flow.submit for flow in flows) + sum(float(cost.sum()) for cost in costs) / float(resources.speed.min())


def _checked_speed(speed: ArrayLike | None, nodes: int | None) -> Floats:
    if speed is None:
        assert nodes is not None
        return read_only(np.ones(nodes))
    try:
        speeds = as_column(speed, _SPEED, length=nodes)
    except InputError as error:  # an option, not data
        raise OptionError(str(error).replace("rows", "nodes").replace("row", "node")) from None
    if not len(speeds):
        raise OptionError("speed: expected one number for each node, got none")
    if (low := speeds <= 0).any():
        node = int(np.argmax(low))
        raise OptionError(f"speed, node {node}: {speeds[node]:g} is not above 0")
    return speeds


def _checked_bandwidth(bandwidth: float | ArrayLike | None, nodes: int) -> float | Floats | None:
    if bandwidth is None:
        return None
    if np.ndim(bandwidth) == 0:
        return checks.number("bandwidth", bandwidth, above=0.0, finite=False)
    try:
        matrix = np.array(bandwidth, dtype=float)
    except (TypeError, ValueError):
        raise OptionError("bandwidth: expected a number, or a matrix of numbers") from None
    if matrix.shape != (nodes, nodes):
        raise OptionError(f"bandwidth: expected a number or shape ({nodes}, {nodes}), got {matrix.shape}")
    np.fill_diagonal(matrix, np.inf)
    bad = ~(matrix > 0)
    if bad.any():
        a, b = (int(i) for i in np.argwhere(bad)[0])
        raise OptionError(f"bandwidth from node {a} to node {b}: {matrix[a, b]:g} is not above 0")
    return read_only(matrix)


def _restored(kind: type[Resources], speed: Values, bandwidth: float | Floats | None) -> Resources:
    """Unpickle: arrays come back writable."""
    new = object.__new__(kind)
    object.__setattr__(new, "_speed", read_only(speed))
    object.__setattr__(new, "_bandwidth", read_only(bandwidth) if isinstance(bandwidth, np.ndarray) else bandwidth)
    return new
