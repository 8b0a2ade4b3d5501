"""`Workflow`: an immutable, columnar task graph."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, Integers, LongIntegers, Values
from faultsim.data.columns import content_hash, in_seconds, read_only
from faultsim.data.table import ReadOnly
from faultsim.data.workflow_checks import Costs, checked_cost, checked_labels, checked_submit
from faultsim.data.workflow_graph import Edges, edge_columns, row_starts, topological
from faultsim.errors import InputError, OptionError

if TYPE_CHECKING:
    import networkx as nx

Unit: TypeAlias = Literal["s", "bytes"]
_UNITS: tuple[Unit, ...] = get_args(Unit)


class Workflow(ReadOnly):
    """A workflow: jobs, and edges that carry the output of one job to another; read-only NumPy columns.

    Every method that changes something returns a new workflow.  Two workflows are equal when their columns, submit
    times and units are; names and labels do not matter.

    Parameters
    ----------
    cost : array_like of float, shape (jobs,) or (jobs, nodes)
        Seconds that each job computes, 0 or more: on a node of speed 1, or, as a matrix, on each node.
    edges : array_like, shape (m, 3) or (m, 2)
        Rows (from, to, transfer): job `to` needs the output of job `from`, and copying it from one node to another
        takes `transfer`, 0 or more; by default 0. Any order; each pair once.
    name : str
        Name for output and figures.
    submit : float
        When it arrives, in seconds, 0 or more.
    labels : sequence of str, optional
        Names of the jobs in their source, all different; messages use them.
    transfer_unit : {"s", "bytes"}
        Whether transfers are already in seconds, or in bytes, for which `Resources` must have a bandwidth.
    dropped : mapping of str to int, optional
        What a reader took as missing, and how often.

    Attributes
    ----------
    cost, transfer, successor_transfer, predecessor_transfer : numpy.ndarray of float64
    edge_from, edge_to, successor, predecessor : numpy.ndarray of int32
    successor_start, predecessor_start : numpy.ndarray of int64

    Raises
    ------
    InputError
        No jobs; a cost, transfer or submit time that is negative, NaN or infinite; an edge to an unknown job, from a
        job to itself or given twice; a cycle, whose jobs are named. Messages count rows from 0.

    Notes
    -----
    Edges are kept sorted by (from, to), and twice more as compressed rows: the successors of job j are
    ``successor[successor_start[j]:successor_start[j + 1]]``, ascending, and likewise its predecessors.

    Source: [yu2010] section 1.

    Examples
    --------
    >>> import faultsim as fs
    >>> wf = fs.Workflow([30, 20, 20, 10], [(0, 1, 5), (0, 2, 5), (1, 3, 1), (2, 3, 1)], name="diamond")
    >>> wf
    <Workflow 'diamond': 4 jobs, 4 edges>
    >>> wf.successor[wf.successor_start[0] : wf.successor_start[1]]
    array([1, 2], dtype=int32)
    >>> fs.Workflow([1, 1, 1], [(0, 1), (1, 2), (2, 1)])
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: cycle: 1 -> 2 -> 1
    """

    _CALLED: ClassVar[str] = "Workflow"
    __slots__ = ("_columns", "_dropped", "_labels", "_name", "_order", "_submit", "_transfer_unit")

    _columns: dict[str, Values]
    _dropped: dict[str, int]
    _labels: tuple[str, ...] | None
    _name: str
    _order: Integers
    _submit: float
    _transfer_unit: Unit

    def __init__(
        self,
        cost: Costs,
        edges: Edges = (),
        name: str = "",
        submit: checks.Duration = 0.0,
        *,
        labels: Sequence[str] | None = None,
        transfer_unit: Unit = "s",
        dropped: Mapping[str, int] | None = None,
    ) -> None:
        costs = checked_cost(cost)
        jobs = len(costs)
        put = object.__setattr__
        put(self, "_labels", checked_labels(labels, jobs))
        put(self, "_name", str(name))
        put(self, "_dropped", {str(what): int(count) for what, count in (dropped or {}).items()})
        put(self, "_transfer_unit", checks.choice("transfer_unit", transfer_unit, _UNITS))
        put(self, "_submit", checked_submit(submit))
        columns = {"cost": costs, **edge_columns(edges, jobs, self._labels, self._transfer_unit)}
        columns.update(_rows(columns, jobs))
        put(self, "_columns", columns)
        indegree = np.diff(columns["predecessor_start"])
        put(
            self,
            "_order",
            topological(columns["successor_start"], columns["successor"], indegree, self._labels),
        )

    def _with(self, **changed: object) -> Workflow:
        """A copy with some parts changed: columns that are already valid, name, submit, unit."""
        new = object.__new__(type(self))
        for slot in self.__slots__:
            object.__setattr__(new, slot, changed.get(slot, getattr(self, slot)))
        return new

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), {slot: getattr(self, slot) for slot in self.__slots__})

    # -- columns and facts -------------------------------------------------------------------------------------------

    @property
    def dropped(self) -> Mapping[str, int]:
        """What the reader took as missing, and how often."""
        return MappingProxyType(self._dropped)

    @property
    def cost(self) -> Floats:
        """Seconds that each job computes: shape (jobs,) at speed 1, or (jobs, nodes)."""
        return self._columns["cost"]

    @property
    def edge_from(self) -> Integers:
        """The job at the beginning of each edge; edges are sorted by (from, to)."""
        return self._columns["edge_from"]

    @property
    def edge_to(self) -> Integers:
        """The job at the end of each edge."""
        return self._columns["edge_to"]

    @property
    def transfer(self) -> Floats:
        """What each edge carries to another node, in `transfer_unit`."""
        return self._columns["transfer"]

    @property
    def successor_start(self) -> LongIntegers:
        """Where each job's entries begin in `successor`; one entry more than jobs."""
        return self._columns["successor_start"]

    @property
    def successor(self) -> Integers:
        """The successors of all jobs, one list after the other, each ascending."""
        return self._columns["successor"]

    @property
    def successor_transfer(self) -> Floats:
        """The transfers of the edges in `successor`."""
        return self._columns["successor_transfer"]

    @property
    def predecessor_start(self) -> LongIntegers:
        """Where each job's entries begin in `predecessor`; one entry more than jobs."""
        return self._columns["predecessor_start"]

    @property
    def predecessor(self) -> Integers:
        """The predecessors of all jobs, one list after the other, each ascending."""
        return self._columns["predecessor"]

    @property
    def predecessor_transfer(self) -> Floats:
        """The transfers of the edges in `predecessor`."""
        return self._columns["predecessor_transfer"]

    @property
    def n_jobs(self) -> int:
        """Number of jobs."""
        return len(self._columns["cost"])

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self._columns["edge_from"])

    @property
    def entries(self) -> Integers:
        """The jobs without a predecessor, ascending."""
        return read_only(np.flatnonzero(np.diff(self.predecessor_start) == 0).astype(np.int32))

    @property
    def exits(self) -> Integers:
        """The jobs without a successor, ascending."""
        return read_only(np.flatnonzero(np.diff(self.successor_start) == 0).astype(np.int32))

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the jobs in their source, or None."""
        return self._labels

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def submit(self) -> float:
        """When it arrives, in seconds."""
        return self._submit

    @property
    def transfer_unit(self) -> Unit:
        """``"s"``: transfers are seconds; ``"bytes"``: they need a bandwidth."""
        return self._transfer_unit

    @property
    def ccr(self) -> float:
        """Mean transfer over mean cost, in `transfer_unit` per second; 0 without edges, NaN if all costs are 0."""
        mean = float(self.cost.mean())
        carried = float(self.transfer.mean()) if self.n_edges else 0.0
        return carried / mean if mean > 0 else float("nan")

    def topological_order(self) -> Integers:
        """The jobs in topological order; among those that may come next, the lowest number comes first.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1, 1, 1], [(2, 0)]).topological_order()
        array([1, 2, 0], dtype=int32)
        """
        return self._order

    def critical_path(self) -> float:
        """Seconds of the longest path without transfers, each job on its fastest node: a bound on any run at speed 1.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([3, 2, 4], [(0, 1, 9), (1, 2, 9)]).critical_path()
        9.0
        """
        least = self.cost if self.cost.ndim == 1 else self.cost.min(axis=1)
        finish, starts, before = least.tolist(), self.predecessor_start.tolist(), self.predecessor.tolist()
        for job in self._order.tolist():
            ahead = before[starts[job] : starts[job + 1]]
            finish[job] += max((finish[other] for other in ahead), default=0.0)
        return float(max(finish))

    def __len__(self) -> int:
        return self.n_jobs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Workflow):
            return NotImplemented
        return (
            self._submit == other._submit
            and self._transfer_unit == other._transfer_unit
            and all(np.array_equal(values, other._columns[key]) for key, values in self._columns.items())
        )

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        jobs = "1 job" if self.n_jobs == 1 else f"{self.n_jobs:,} jobs"
        edges = "1 edge" if self.n_edges == 1 else f"{self.n_edges:,} edges"
        nodes = f", costs on {self.cost.shape[1]} nodes" if self.cost.ndim == 2 else ""
        unit = ", transfers in bytes" if self._transfer_unit == "bytes" else ""
        submit = f", submit {self._submit:.10g} s" if self._submit else ""
        return f"<Workflow{name}: {jobs}, {edges}{nodes}{unit}{submit}>"

    def digest(self) -> str:
        """Hash of everything that makes two workflows equal (BLAKE2b, 32 hexadecimal digits), the same on every
        machine.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1, 2], [(0, 1)]).digest() == fs.Workflow([1.0, 2.0], [(0, 1, 0)], name="other").digest()
        True
        """
        first = f"{self._transfer_unit};{self.cost.shape};".encode() + np.array([self._submit], dtype="<f8").tobytes()
        return content_hash(
            {key: self._columns[key].ravel() for key in ("cost", "edge_from", "edge_to", "transfer")}, first
        )

    # -- changed copies ----------------------------------------------------------------------------------------------

    def renamed(self, name: str) -> Workflow:
        """The same workflow under another name.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1]).renamed("one").name
        'one'
        """
        return self._with(_name=str(name))

    def submitted(self, at: float) -> Workflow:
        """The same workflow, arriving at another time (seconds, 0 or more).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1]).submitted(60).submit
        60.0
        """
        return self._with(_submit=checked_submit(at))

    def with_cost(self, cost: Costs) -> Workflow:
        """The same graph with other costs, of shape (jobs,) or (jobs, nodes).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1, 2], [(0, 1)]).with_cost([[1, 2], [3, 4]]).cost.shape
        (2, 2)
        """
        costs = checked_cost(cost)
        if len(costs) != self.n_jobs:
            raise InputError(f"cost: {len(costs)} rows for {self.n_jobs} jobs")
        return self._with(_columns={**self._columns, "cost": costs})

    def with_transfer(self, transfer: checks.Durations, unit: Unit = "s") -> Workflow:
        """The same graph with other transfers, one per edge in the order of `edge_from` and `edge_to`.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1, 2], [(0, 1)]).with_transfer([7]).transfer
        array([7.])
        """
        table = np.column_stack([self.edge_from, self.edge_to, np.zeros(self.n_edges)])
        try:
            given = np.asarray(transfer)
            if checks.choice("unit", unit, _UNITS) == "s":
                given = in_seconds(transfer, given)
            if given.dtype.kind == "m":
                raise TypeError("NumPy would take 1 h for 1")
            values = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"transfer: expected numbers, one for each of {self.n_edges} edges") from None
        if values.shape != (self.n_edges,):
            raise InputError(f"transfer: expected one for each of {self.n_edges} edges, got shape {values.shape}")
        table[:, 2] = values
        columns = {"cost": self.cost, **edge_columns(table, self.n_jobs, self._labels)}
        columns.update(_rows(columns, self.n_jobs))
        return self._with(_columns=columns, _transfer_unit=unit)

    def with_cost_factor(self, factor: float) -> Workflow:
        """All costs times a number above 0, such as the seconds in a unit of time.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1, 2]).with_cost_factor(300).cost
        array([300., 600.])
        """
        return self.with_cost(self.cost * checks.number("factor of with_cost_factor()", factor, above=0.0))

    def with_transfer_factor(self, factor: float) -> Workflow:
        """All transfers times a number of 0 or more.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([1, 2], [(0, 1, 4)]).with_transfer_factor(0.5).transfer
        array([2.])
        """
        by = checks.number("factor of with_transfer_factor()", factor, low=0.0)
        return self.with_transfer(self.transfer * by, self._transfer_unit)

    def with_ccr(self, ccr: float) -> Workflow:
        """Transfers in seconds, scaled so that mean transfer over mean cost is `ccr`.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([10, 30], [(0, 1, 4)]).with_ccr(0.5).transfer
        array([10.])
        """
        wanted = checks.number("ccr", ccr, low=0.0)
        now = self.ccr
        if not now > 0:
            if wanted == 0 or not self.n_edges:
                return self.with_transfer(np.zeros(self.n_edges))
            raise OptionError(f"with_ccr({wanted:g}): all costs or all transfers are 0, so no factor gives this")
        return self.with_transfer(self.transfer * (wanted / now))

    # -- networkx ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_networkx(
        cls,
        graph: nx.DiGraph[Hashable],
        *,
        cost: str = "cost",
        transfer: str = "transfer",
        name: str = "",
        transfer_unit: Unit = "s",
    ) -> Workflow:
        """A workflow from a ``networkx.DiGraph``; networkx itself is not imported.

        Parameters
        ----------
        graph : networkx.DiGraph
            Jobs are numbered in the order of the graph's nodes; their names become labels.
        cost : str
            The attribute of a node that holds its cost: a number, or a list with one per node of the machine.
        transfer : str
            The attribute of an edge that holds its transfer; 0 if missing.
        name : str
            Name of the workflow; that of the graph by default.
        transfer_unit : {"s", "bytes"}
            As in `Workflow`.

        Raises
        ------
        InputError
            An undirected graph; two edges between the same nodes; a node without a cost; what `Workflow` rejects.

        Examples
        --------
        >>> import networkx as nx
        >>> import faultsim as fs
        >>> graph = nx.DiGraph()
        >>> graph.add_node("a", cost=3); graph.add_node("b", cost=4); graph.add_edge("a", "b", transfer=1)
        >>> fs.Workflow.from_networkx(graph).labels
        ('a', 'b')
        """
        if isinstance(graph, type) or not (hasattr(graph, "is_directed") and hasattr(graph, "nodes")):
            raise InputError(f"graph: expected a networkx.DiGraph, got {checks.shown(graph)}")
        if not graph.is_directed():
            raise InputError("graph: edges have no direction; expected a networkx.DiGraph")
        nodes = list(graph.nodes)
        number = {node: job for job, node in enumerate(nodes)}
        for node in nodes:
            if cost not in graph.nodes[node]:
                raise InputError(f"graph: node {node!r} has no attribute {cost!r}; name the one with the cost in cost=")
        costs = [graph.nodes[node][cost] for node in nodes]
        edges = [(number[a], number[b], data.get(transfer, 0.0)) for a, b, data in graph.edges(data=True)]
        labels = [str(node) for node in nodes]
        return cls(costs, edges, name or str(getattr(graph, "name", "")), labels=labels, transfer_unit=transfer_unit)

    def to_networkx(self) -> nx.DiGraph[str | int]:
        """A ``networkx.DiGraph`` with the attributes cost and transfer; nodes are labels or, without any, numbers.

        Raises
        ------
        MissingExtraError
            If networkx is not installed.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workflow([3, 4], [(0, 1, 1)]).to_networkx().edges[0, 1]["transfer"]
        1.0
        """
        nx = checks.extra("networkx", "networkx", "to_networkx()")
        names: Sequence[object] = range(self.n_jobs) if self._labels is None else self._labels
        graph = nx.DiGraph(name=self._name)
        graph.add_nodes_from((names[job], {"cost": cost}) for job, cost in enumerate(self.cost.tolist()))
        rows = zip(self.edge_from.tolist(), self.edge_to.tolist(), self.transfer.tolist(), strict=True)
        graph.add_edges_from((names[a], names[b], {"transfer": carried}) for a, b, carried in rows)
        return graph


def _rows(columns: dict[str, Values], jobs: int) -> dict[str, Values]:
    """The edges in compressed rows, both ways."""
    source, target, transfer = columns["edge_from"], columns["edge_to"], columns["transfer"]
    back = np.lexsort((source, target))
    return {
        "successor_start": row_starts(source, jobs),
        "successor": target,
        "successor_transfer": transfer,
        "predecessor_start": row_starts(target[back], jobs),
        "predecessor": read_only(source[back]),
        "predecessor_transfer": read_only(transfer[back]),
    }


def _restored(kind: type[Workflow], parts: dict[str, Any]) -> Workflow:
    """Unpickle: arrays come back writable."""
    new = object.__new__(kind)
    for slot, value in ({"_dropped": {}} | parts).items():  # those of before have none
        if slot == "_columns":
            value = {key: read_only(column) for key, column in value.items()}
        object.__setattr__(new, slot, read_only(value) if slot == "_order" else value)
    return new
