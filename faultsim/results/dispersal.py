"""How far apart the nodes of a job are (model.md#dispersal), from the record of who held what."""

from collections.abc import Mapping

import numpy as np

from faultsim.arrays import Floats, LongIntegers, Values
from faultsim.errors import OptionError
from faultsim.machines import Machine
from faultsim.results.held import nodes_of

#: Cells of a table of coordinates that are counted at a time.
_CELLS = 2**22


def dispersal_of(held: Mapping[str, Values], machine: Machine, n_jobs: int) -> Floats:
    """Mean number of hops between two nodes of each job, of those it held last; NaN for jobs of one node.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 0], runtime=[10, 5], size=[2, 1])
    >>> machine = fs.Cluster(3, shape=(1, 1, 3))
    >>> result = fs.simulate(log, machine, record=True)
    >>> dispersal_of(result.allocations, machine, 2)
    array([ 1., nan])
    """
    if machine.shape is None:
        more = f"; take {machine.with_coordinates}" if machine.with_coordinates else ""
        raise OptionError(f"dispersal: the nodes of {machine} have no coordinates{more}")
    last = np.full(n_jobs, -1, dtype=np.int64)  # of a run that is not over, some have held none
    last[held["job"]] = np.arange(len(held["job"]))  # rows are in order of time, and the last one stays
    some = last >= 0
    last = last[some]
    if machine.has_boxes:
        size = (held["a"] * held["b"] * held["c"])[last].astype(float)
        hops = _in_boxes(held, last, machine, size)
    else:
        begin, end = held["node_offsets"][last], held["node_offsets"][last + 1]
        size = (end - begin).astype(float)
        hops = _in_lists(held, last, end - begin, machine.shape)
    pairs = size * (size - 1.0) / 2.0
    mean = np.full(n_jobs, np.nan)
    mean[some] = np.divide(hops, pairs, out=np.full(len(last), np.nan), where=pairs > 0)
    return mean


def _in_boxes(held: Mapping[str, Values], rows: LongIntegers, machine: Machine, size: Floats) -> Floats:
    """Hops between all pairs of nodes of boxes.

    Along an axis, each of the extent's coordinates is that of size / extent nodes.
    """
    hops = np.zeros(len(rows))
    for name, length in zip("abc", machine.array_shape, strict=True):
        apart = np.arange(length)
        if machine.wraps:
            apart = np.minimum(apart, length - apart)
        # Of one more coordinate to all before it; of all pairs of the first ones.
        pairs = np.concatenate([[0], np.cumsum(np.cumsum(apart))]).astype(float)
        extent = held[name][rows]
        hops += pairs[extent] * (size / extent) ** 2
    return hops


def _in_lists(
    held: Mapping[str, Values], rows: LongIntegers, count: LongIntegers, shape: tuple[int, int, int]
) -> Floats:
    """Hops between all pairs of nodes of lists on a mesh.

    Between two neighbouring coordinates, every pair of a node below and one above makes a hop.
    """
    hops = np.zeros(len(rows))
    step = max(1, _CELLS // (max(shape) + max(1, int(count.max(initial=1)))))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        row = np.repeat(np.arange(len(rows[part])), count[part])
        for length, where in zip(shape, np.unravel_index(nodes_of(held, rows[part]), shape), strict=True):
            cells = np.bincount(row * length + where, minlength=len(rows[part]) * length)
            below = np.cumsum(cells.reshape(-1, length), axis=1).astype(float)
            hops[part] += (below * (below[:, -1:] - below)).sum(axis=1)
    return hops
