"""Colours of jobs such that those that touch differ: on the nodes of the machine, on rows of a chart, and in time."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from faultsim.arrays import Floats, LongIntegers, Values
from faultsim.data.columns import read_only
from faultsim.plot import cubes
from faultsim.plot.held_runs import Runs, blocks, joined, stay_nodes

if TYPE_CHECKING:
    from faultsim.results.result import Result

Ints = LongIntegers
#: Fills of the jobs: far enough apart for colour-blind readers, on light and on dark ground.
STRONG = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#88CCEE", "#999933", "#AA4499")


def _pale(colour: str) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(0.5 * part + 0.5 * 244):02X}" for part in parts)


#: The strong ones, then paler ones for those that touch jobs of all strong colours.
FILLS = STRONG + tuple(map(_pale, STRONG))
#: Nodes of all stays up to which colours are chosen by who touches whom; beyond, a job is smaller than a pixel.
CHOSEN_UP_TO = 1_500_000
#: What is known of a result, for its other pictures: who touches on its nodes, and the colours.
_KNOWN: "WeakKeyDictionary[Result, dict[str, Ints]]" = WeakKeyDictionary()


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
    if int(stay_nodes(held).sum()) > CHOSEN_UP_TO:
        return np.arange(jobs, dtype=np.int64) % len(STRONG)
    known = _KNOWN.setdefault(result, {})
    if rows is None:
        if "colours" not in known:
            known["colours"] = read_only(coloured(_on_nodes(result, known, cubes.pod_of(result)), jobs))
        return known["colours"]
    job = np.asarray(held["job"], dtype=np.int64)
    begin, end = np.asarray(held["begin"], dtype=float), np.asarray(held["end"], dtype=float)
    there = job[touching(rows, begin, end, [next_node])]
    return coloured(np.concatenate([_on_nodes(result, known), there]), jobs)


def _on_nodes(result: "Result", known: dict[str, Ints], pod: "cubes.Cubes | None" = None) -> Ints:
    """Pairs of jobs that touch on the nodes of the machine, or on hosts as the cubes of a pod are drawn."""
    name = "nodes" if pod is None else "cubes"
    if name not in known:
        held = result.allocations
        torus = result.machine.shape if "x" in held else None
        near = [next_node] if pod is None and torus is None else neighbours(result)
        begin, end = np.asarray(held["begin"], dtype=float), np.asarray(held["end"], dtype=float)
        pairs = touching(joined(list(blocks(held, torus))), begin, end, near)
        known[name] = _once(np.asarray(held["job"], dtype=np.int64)[pairs], len(result))
    return known[name]


def neighbours(result: "Result") -> list[Callable[[Ints], Ints]]:
    """The neighbours of a node of a torus, or of a host of a pod as its cubes are drawn.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[2])
    >>> near = neighbours(fs.simulate(log, fs.Torus(1, 1, 4), record=True))
    >>> near[2](np.array([0, 3])).tolist()
    [1, 0]
    """
    if (pod := cubes.pod_of(result)) is not None:
        return cubes.beside(pod)
    assert result.machine.shape is not None
    return _beside(result.machine.shape)


def next_node(node: Ints) -> Ints:
    """The neighbour of a node in a row.

    Examples
    --------
    >>> next_node(np.array([3, 5])).tolist()
    [4, 6]
    """
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


def touching(runs: Runs, begin: Floats, end: Floats, beside: Sequence[Callable[[Ints], Ints]]) -> Ints:
    """Pairs of stays, shape (n, 2), that follow each other on a node, or overlap in time on neighbouring ones.

    Examples
    --------
    >>> runs = np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([1, 1, 1])
    >>> touching(runs, np.array([0.0, 1.0, 9.0]), np.array([5.0, 3.0, 10.0]), [next_node]).tolist()
    [[0, 2], [0, 1]]
    """
    row, first, count = runs
    lasts = (end > begin)[row]  # what takes no time has no area
    row, first, count = row[lasts], first[lasts], count[lasts]
    which = np.repeat(np.arange(len(row)), count)
    node = (first - (np.cumsum(count) - count))[which] + np.arange(len(which))
    stay = row[which]
    last = np.zeros(len(which), dtype=bool)
    last[np.cumsum(count) - 1] = True
    times = _distinct(np.concatenate([begin, end]))
    ranks = len(times) + 1
    from_, to = np.searchsorted(times, begin)[stay], np.searchsorted(times, end)[stay]
    order = np.argsort(node * ranks + from_)  # no two stays begin on a node at a time, so that any kind will do
    node, stay, from_, to = node[order], stay[order], from_[order], to[order]
    follows = np.flatnonzero(node[1:] == node[:-1])
    ones, others = [stay[follows]], [stay[follows + 1]]
    begins, ends = node * ranks + from_, node * ranks + to
    top = int(node[-1]) + 1 if len(node) else 0
    for neighbour in beside:
        # Within a run the next node is of the same stay.
        some = np.flatnonzero(last[order]) if neighbour is next_node else np.arange(len(node))
        # Once for each node, where that is less often than once for each node of each stay.
        there = (neighbour(np.arange(top))[node[some]] if top < len(some) else neighbour(node[some])) * ranks
        low = np.searchsorted(ends, there + from_[some], side="right")
        many = np.maximum(np.searchsorted(begins, there + to[some], side="left") - low, 0)
        here = np.repeat(np.arange(len(some)), many)
        other = (low - (np.cumsum(many) - many))[here] + np.arange(len(here))
        ones.append(stay[some][here])
        others.append(stay[other])
    one, another = np.concatenate(ones), np.concatenate(others)
    apart = one != another
    return np.column_stack([one[apart], another[apart]])


def _distinct(values: Values) -> Values:
    """In ascending order; sorting is faster than the hashing of `np.unique`."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _once(pairs: Ints, n: int) -> Ints:
    """Each pair of two of `n` once, the smaller first; nothing is a pair with itself."""
    less, more = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    keys = _distinct((less * n + more)[less != more])
    return np.column_stack(np.divmod(keys, max(n, 1)))


def coloured(pairs: Ints, n: int) -> Ints:
    """A colour for each of `n` such that the two of a pair differ; those with most neighbours choose first.

    Examples
    --------
    >>> coloured(np.array([[0, 1], [1, 2]]), 3).tolist()
    [1, 0, 2]
    """
    less, more = _once(pairs, n).T
    one, other = np.concatenate([less, more]), np.concatenate([more, less])
    degree = np.bincount(one, minlength=n)
    begins = np.concatenate([[0], np.cumsum(degree)]).tolist()
    neighbours = other[np.argsort(one)].tolist()
    found = [-1] * n
    near = [0] * n  # colours of neighbours, as bits
    used = [0] * len(FILLS)
    order = list(range(len(STRONG)))  # the strong ones, those used least first
    for one_of in np.argsort(-degree, kind="stable").tolist():
        around = neighbours[begins[one_of] : begins[one_of + 1]]
        for place, best in enumerate(order):
            if not near[one_of] >> best & 1:
                used[best] += 1
                while place + 1 < len(order) and (used[best], best) > (used[order[place + 1]], order[place + 1]):
                    order[place], order[place + 1] = order[place + 1], best
                    place += 1
                break
        else:
            taken = [found[i] for i in around]
            best = min(range(len(FILLS)), key=lambda c: (taken.count(c), used[c]))
            used[best] += 1
        found[one_of] = best
        for i in around:
            near[i] |= 1 << best
    return np.array(found, dtype=np.int64)
