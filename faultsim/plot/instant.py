"""The jobs that hold nodes at one instant: their colours, and which of them the legend names."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from faultsim.arrays import LongIntegers
from faultsim.plot.touching import FILLS, STRONG

Neighbour = Callable[[LongIntegers], LongIntegers]
#: Jobs that the legend names, the largest ones: the strong colours, each for one job; and in a small figure.
NAMED, NAMED_IN_SMALL = len(STRONG), 4
#: The first of the strong colours, which are easier to tell apart than the last three.
_CLEAREST = 7


class Fills(NamedTuple):
    """Number of the colour in `FILLS` of each job, and the jobs that the legend names, the largest first."""

    of_job: LongIntegers
    named: list[int]


def fills_at(state: LongIntegers, near: Sequence[Neighbour], chosen: LongIntegers, most: int = NAMED) -> Fills:
    """Colours for a picture of one instant.

    Each of the `most` largest jobs has a strong colour of its own, the one chosen for the whole run if it is free.
    All other jobs are pale; those that touch here differ if ten pale colours are enough.

    Parameters
    ----------
    state : array of int
        The row of the job that holds each node; below 0 no job.
    near : sequence of functions
        Numbers of nodes -> the nodes beside them, beyond the last one where there is none.
    chosen : array of int, shape (jobs,)
        Colours for the whole run.
    most : int
        Jobs with strong colours, at most `NAMED`.

    Examples
    --------
    >>> state = np.array([0, 0, 1, 2])
    >>> fills_at(state, [lambda node: node + 1], np.array([4, 4, 4]))
    Fills(of_job=array([4, 0, 1]), named=[0, 1, 2])
    """
    here, nodes = np.unique(state[state >= 0], return_counts=True)
    order = here[np.lexsort((here, -nodes))].tolist()
    fills = chosen.copy()
    most += len(order) == most + 1 <= NAMED  # one job is named, not called a smaller one
    free = list(range(max(_CLEAREST, min(most, len(order)))))
    for job in order[:most]:
        best = int(fills[job]) if fills[job] in free else free[0]
        fills[job] = best
        free.remove(best)
    beside = _beside(state.reshape(-1), near)
    pale: dict[int, int] = {}
    for turn, job in enumerate(order[most:]):
        around = {pale[other] for other in beside.get(job, ()) if other in pale}
        colours = [(turn + step) % (len(FILLS) - len(STRONG)) for step in range(len(FILLS) - len(STRONG))]
        pale[job] = next((c for c in colours if c not in around), colours[0])
        fills[job] = len(STRONG) + pale[job]
    return Fills(fills, order[:most])


def _beside(state: LongIntegers, near: Sequence[Neighbour]) -> dict[int, set[int]]:
    """Job -> the jobs on nodes beside its own."""
    found: dict[int, set[int]] = {}
    node = np.arange(len(state))
    for neighbour in near:
        there = neighbour(node)
        inside = (there >= 0) & (there < len(state))
        one, other = state[node[inside]], state[there[inside]]
        apart = (one >= 0) & (other >= 0) & (one != other)
        for a, b in np.unique(np.column_stack([one[apart], other[apart]]), axis=0).tolist():
            found.setdefault(a, set()).add(b)
            found.setdefault(b, set()).add(a)
    return found
