"""Colours of jobs such that those that touch differ: on the nodes of the machine, on rows of a chart, and in time."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from faultsim.plot import cubes
from faultsim.plot.held_runs import Runs, blocks, joined, stay_nodes

if TYPE_CHECKING:
    from faultsim.results.result import Result

Ints = NDArray[np.int64]
#: Fills of the jobs: far enough apart for colour-blind readers, on light and on dark ground.
STRONG = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#88CCEE", "#999933", "#AA4499")


def _pale(colour: str) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(0.5 * part + 0.5 * 244):02X}" for part in parts)


#: The strong ones, then paler ones for those that touch jobs of all strong colours.
FILLS = STRONG + tuple(map(_pale, STRONG))
#: Nodes of all stays up to which colours are chosen by who touches whom; beyond, a job is smaller than a pixel.
CHOSEN_UP_TO = 1_500_000


def job_colours(result: "Result", rows: Runs | None = None) -> Ints:
    """Number of the colour in `FILLS` of each job.

    Jobs that hold neighbouring nodes at a time, or a node one after the other, have different colours, unless one has
    20 or more such neighbours; beyond `CHOSEN_UP_TO` colours go round.

    Parameters
    ----------
    result : Result
        A run made with ``record=True``.
    rows : runs, optional
        Where a chart draws the stays, if not on their nodes: those that touch there get different colours, too.

    Returns
    -------
    array of int, shape (jobs,)

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 0, 1], runtime=[10, 9, 5], size=[2, 1, 1])
    >>> job_colours(fs.simulate(log, fs.Cluster(4), record=True)).tolist()
    [1, 0, 2]
    """
    held, jobs = result.allocations, len(result)
    machine = result.machine
    torus = machine.shape if "x" in held else None
    total = int(stay_nodes(held).sum())
    if total > CHOSEN_UP_TO:
        return np.arange(jobs, dtype=np.int64) % len(STRONG)
    job = np.asarray(held["job"], dtype=np.int64)
    begin, end = np.asarray(held["begin"], dtype=float), np.asarray(held["end"], dtype=float)
    on_nodes = joined(list(blocks(held, torus)))
    near = [_next_node] if torus is None else _beside(torus)
    if rows is None and (pod := cubes.pod_of(result)) is not None:
        near = cubes.beside(pod)
    pairs = touching(on_nodes, begin, end, near)
    if rows is not None:
        pairs = np.concatenate([pairs, touching(rows, begin, end, [_next_node])])
    return coloured(job[pairs], jobs)


def _next_node(node: Ints) -> Ints:
    return node + 1


def _beside(shape: tuple[int, int, int]) -> list[Callable[[Ints], Ints]]:
    """The three neighbours of a node of a torus in the directions in which coordinates grow."""
    nx, ny, nz = shape

    def along(x: int, y: int, z: int) -> Callable[[Ints], Ints]:
        def neighbour(node: Ints) -> Ints:
            i, j, k = node // (ny * nz), node // nz % ny, node % nz
            return (((i + x) % nx) * ny + (j + y) % ny) * nz + (k + z) % nz

        return neighbour

    return [along(1, 0, 0), along(0, 1, 0), along(0, 0, 1)]


def touching(
    runs: Runs, begin: NDArray[np.float64], end: NDArray[np.float64], beside: Sequence[Callable[[Ints], Ints]]
) -> Ints:
    """Pairs of stays, shape (n, 2), that follow each other on a node, or overlap in time on neighbouring ones.

    Examples
    --------
    >>> runs = np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([1, 1, 1])
    >>> touching(runs, np.array([0.0, 1.0, 9.0]), np.array([5.0, 3.0, 10.0]), [lambda node: node + 1]).tolist()
    [[0, 2], [0, 1]]
    """
    row, first, count = runs
    lasts = (end > begin)[row]  # what takes no time has no area
    row, first, count = row[lasts], first[lasts], count[lasts]
    which = np.repeat(np.arange(len(row)), count)
    node = first[which] + np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    stay = row[which]
    times = np.unique(np.concatenate([begin, end])) if len(begin) else np.empty(0)
    ranks = len(times) + 1
    from_, to = np.searchsorted(times, begin)[stay], np.searchsorted(times, end)[stay]
    order = np.lexsort((from_, node))
    node, stay, from_, to = node[order], stay[order], from_[order], to[order]
    follows = np.flatnonzero(node[1:] == node[:-1])
    found = [np.column_stack([stay[follows], stay[follows + 1]])]
    begins, ends = node * ranks + from_, node * ranks + to
    for neighbour in beside:
        there = neighbour(node) * ranks
        low = np.searchsorted(ends, there + from_, side="right")
        many = np.maximum(np.searchsorted(begins, there + to, side="left") - low, 0)
        here = np.repeat(np.arange(len(node)), many)
        other = np.repeat(low - (np.cumsum(many) - many), many) + np.arange(len(here))
        found.append(np.column_stack([stay[here], stay[other]]))
    pairs = np.concatenate(found)
    apart: Ints = pairs[pairs[:, 0] != pairs[:, 1]]
    return apart


def coloured(pairs: Ints, n: int) -> Ints:
    """A colour for each of `n` such that the two of a pair differ; those with most neighbours choose first.

    Examples
    --------
    >>> coloured(np.array([[0, 1], [1, 2]]), 3).tolist()
    [1, 0, 1]
    """
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    keys = np.unique(np.concatenate([pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]]))
    one, other = keys // max(n, 1), keys % max(n, 1)
    degree = np.bincount(one, minlength=n)
    begins = np.concatenate([[0], np.cumsum(degree)]).tolist()
    neighbours = other.tolist()
    found = [-1] * n
    used = [0] * len(FILLS)
    strong, all_of_them = range(len(STRONG)), range(len(FILLS))
    for one_of in np.argsort(-degree, kind="stable").tolist():
        taken = [found[i] for i in neighbours[begins[one_of] : begins[one_of + 1]]]
        near = set(taken)
        best = min((c for c in strong if c not in near), key=used.__getitem__, default=-1)
        if best < 0:
            best = min(all_of_them, key=lambda c: (taken.count(c), used[c]))
        found[one_of] = best
        used[best] += 1
    return np.array(found, dtype=np.int64)
