"""Who held which nodes of a cluster, kept as ranges of nodes and listed node by node only when somebody asks."""

from collections.abc import Iterator, Mapping

import numpy as np

from faultsim.arrays import Flags, Integers, LongIntegers, Values
from faultsim.data.tabular import AnyColumn, ColumnTable, with_lists

#: Nodes that are listed at a time where nobody needs all at once.
_BLOCK = 1 << 20


class Held(ColumnTable):
    """The columns of `Result.allocations` on a cluster; O(ranges of nodes) of memory until ``nodes`` is looked at.

    Examples
    --------
    >>> import numpy as np
    >>> held = Held(
    ...     {
    ...         "job": np.array([0, 1]),
    ...         "node_offsets": np.array([0, 3, 5]),
    ...         "range_offsets": np.array([0, 2, 3]),
    ...         "ranges": np.array([[0, 2], [7, 1], [2, 2]], np.int32),
    ...     }
    ... )
    >>> list(held), held["nodes"]
    (['job', 'node_offsets', 'nodes'], array([0, 1, 7, 2, 3], dtype=int32))
    """

    def __init__(self, columns: Mapping[str, Values]) -> None:
        self._columns = dict(columns)
        #: First node and number of nodes of each range; those of row k are at ``range_offsets[k:k + 2]``.
        self.ranges, self.range_offsets = self._columns.pop("ranges"), self._columns.pop("range_offsets")
        for column in (*self._columns.values(), self.ranges, self.range_offsets):
            column.setflags(write=False)

    def column(self, name: str) -> Values:
        """The column of this name."""
        if name == "nodes" and name not in self._columns:
            nodes = _listed(self.ranges, int(self._columns["node_offsets"][-1]))
            nodes.setflags(write=False)
            self._columns[name] = nodes
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self._columns if name != "nodes"] + ["nodes"])

    def __len__(self) -> int:
        return len(self._columns["node_offsets"]) - 1

    def _tabular(self) -> dict[str, AnyColumn]:
        return with_lists(self)

    def __contains__(self, name: object) -> bool:
        return name == "nodes" or name in self._columns

    def __repr__(self) -> str:
        return f"<Held: {len(self['node_offsets']) - 1:,} stays on {self['node_offsets'][-1]:,} nodes>"

    def blocks(self) -> Iterator[Integers]:
        """All nodes in their order, a block at a time."""
        ends = np.cumsum(self.ranges[:, 1], dtype=np.int64)
        low = 0
        while low < len(ends):
            before = int(ends[low - 1]) if low else 0
            high = max(low + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
            yield _listed(self.ranges[low:high], int(ends[high - 1]) - before)
            low = high


def nodes_of(held: Mapping[str, Values], rows: Values) -> Integers:
    """The nodes of some rows, one list after the other.

    Examples
    --------
    >>> import numpy as np
    >>> nodes_of({"node_offsets": np.array([0, 3, 5]), "nodes": np.array([0, 1, 7, 2, 3])}, np.array([1, 0]))
    array([2, 3, 0, 1, 7])
    """
    offsets = held["node_offsets"]
    if not isinstance(held, Held):
        taken: Integers = held["nodes"][_within(offsets[rows], offsets[rows + 1] - offsets[rows])]
        return taken
    first, end = held.range_offsets[rows], held.range_offsets[rows + 1]
    return _listed(held.ranges[_within(first, end - first)], int((offsets[rows + 1] - offsets[rows]).sum()))


def held_last(held: Mapping[str, Values], n_jobs: int) -> Flags:
    """Which rows are the nodes that jobs held last: one of each job, or one per box of it.

    Examples
    --------
    >>> import numpy as np
    >>> begin, end = np.array([0.0, 4.0, 4.0, 5.0]), np.array([4.0, 7.0, 7.0, 6.0])
    >>> held_last({"job": np.array([0, 0, 0, 1]), "begin": begin, "end": end}, 2)
    array([False,  True,  True,  True])
    """
    job = held["job"]
    last = np.zeros(n_jobs, dtype=np.int64)
    last[job] = np.arange(len(job))  # rows are in order of time, and the last one stays
    found: Flags = (held["begin"] == held["begin"][last[job]]) & (held["end"] == held["end"][last[job]])
    return found


def _within(first: Values, count: Values) -> LongIntegers:
    """The numbers from `first` on, `count` of each, one after the other."""
    ends = np.cumsum(count)
    places: LongIntegers = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - (ends - count), count)
    return places


def _listed(ranges: Integers, total: int) -> Integers:
    """The nodes of ranges, in place: steps of one, but for those from a range to the next."""
    nodes = np.ones(total, np.int32)
    if total:
        first, count = ranges.T
        nodes[0] = first[0]
        nodes[np.cumsum(count[:-1], dtype=np.int64)] = first[1:] - (first[:-1] + count[:-1] - 1)
        np.cumsum(nodes, out=nodes)
    return nodes
