"""How far apart the nodes of a job are (model.md#dispersal), from the record of who held what."""

from collections.abc import Mapping

import numpy as np

from faultsim.arrays import Floats, Integers, LongIntegers, Values
from faultsim.errors import OptionError
from faultsim.machines import Machine
from faultsim.results.held import held_last, nodes_of

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
    rows = np.flatnonzero(held_last(held, n_jobs))
    some, job = np.unique(held["job"][rows], return_inverse=True)  # of a run that is not over, some have held none
    hops = np.zeros(len(some))
    if machine.has_boxes:
        nodes = _volume(held, rows).astype(float)
        size = np.bincount(job, nodes, len(some))
        alone = np.bincount(job)[job] == 1
        hops[:] = np.bincount(job[alone], _in_boxes(held, rows[alone], machine, nodes[alone]), len(some))
        if not alone.all():
            hops += _in_several(held, rows[~alone], job[~alone], machine, len(some))
    else:
        begin, end = held["node_offsets"][rows], held["node_offsets"][rows + 1]
        size = np.bincount(job, end - begin, len(some))
        hops[:] = np.bincount(job, _in_lists(held, rows, end - begin, machine.shape), len(some))
    pairs = size * (size - 1.0) / 2.0
    mean = np.full(n_jobs, np.nan)
    mean[some] = np.divide(hops, pairs, out=np.full(len(some), np.nan), where=pairs > 0)
    return mean


def _volume(held: Mapping[str, Values], rows: LongIntegers) -> Integers:
    volume: Integers = held["a"][rows] * held["b"][rows] * held["c"][rows]
    return volume


def _in_several(
    held: Mapping[str, Values], rows: LongIntegers, job: LongIntegers, machine: Machine, n_jobs: int
) -> Floats:
    """Hops between all pairs of nodes of jobs that have several boxes."""
    hops = np.zeros(n_jobs)
    for base, name, length in zip("xyz", "abc", machine.array_shape, strict=True):
        extent = held[name][rows]
        step = np.arange(length)
        apart = np.abs(step[:, None] - step)
        if machine.wraps:
            apart = np.minimum(apart, length - apart)
        each = np.where(step < extent[:, None], (_volume(held, rows) // extent)[:, None], 0)
        where = job[:, None] * length + (held[base][rows][:, None] + step) % length
        cells = np.bincount(where.ravel(), each.ravel(), n_jobs * length).reshape(n_jobs, length)
        hops += ((cells @ apart) * cells).sum(axis=1) / 2.0
    return hops


def _in_boxes(held: Mapping[str, Values], rows: LongIntegers, machine: Machine, size: Floats) -> Floats:
    """Hops between all pairs of nodes of boxes, each by itself.

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
