"""What was up over time, by a trace of failures: exact, from its outages."""

from typing import NamedTuple

import numpy as np

from faultsim.arrays import Floats, LongIntegers
from faultsim.data.failure_summary import merged_outages
from faultsim.data.failures import FailureTrace
from faultsim.machines.pod import Pod
from faultsim.machines.slices import Slice
from faultsim.planning.blocks import block_of_host, count_blocks, most_slices


class Counts(NamedTuple):
    """A number that changes at some instants: ``up[i]`` from ``since[i]`` on, from 0 s to `span`."""

    since: Floats
    up: LongIntegers
    span: float

    @property
    def share(self) -> Floats:
        """Share of the time of each."""
        return np.diff(self.since, append=self.span) / self.span

    def at(self, times: Floats) -> LongIntegers:
        """The number at some times."""
        return self.up[np.searchsorted(self.since, times, side="right") - 1]


def blocks_up(trace: FailureTrace, block_of: LongIntegers) -> Counts:
    """How many blocks have no host that is down.

    Parameters
    ----------
    trace : FailureTrace
        Failures of hosts, from 0 s to its span.
    block_of : array of int, shape (n_hosts,)
        The block of each host; -1: none.

    Examples
    --------
    >>> import numpy as np
    >>> trace = FailureTrace([10, 15, 90], [0, 1, 2], [10, 10, 20], span=100)
    >>> found = blocks_up(trace, np.array([0, 0, 1]))
    >>> found.since.tolist(), found.up.tolist()
    ([0.0, 10.0, 25.0, 90.0], [2, 1, 2, 1])
    """
    block = block_of[trace.node]
    kept = (block >= 0) & (trace.downtime > 0) & (trace.time < trace.span)
    columns = {"time": trace.time[kept], "node": block[kept], "downtime": trace.downtime[kept]}
    first, lasts = merged_outages(columns, touching=True)
    begin = columns["time"][first]
    end = np.minimum(begin + lasts, trace.span)
    times = np.concatenate([[0.0], begin, end])
    steps = np.concatenate([[block_of.max() + 1], np.full(len(begin), -1), np.full(len(end), 1)])
    since, place = np.unique(times, return_inverse=True)
    count = np.cumsum(np.bincount(place, weights=steps)).astype(np.int64)
    if len(since) > 1 and since[-1] >= trace.span:
        since, count = since[:-1], count[:-1]
    return Counts(since, count, trace.span)


def time_between(trace: FailureTrace, block_of: LongIntegers) -> float:
    """Mean time for which a block is up before a failure hits it; infinite if none does.

    Failures of its hosts that come together, or while it is down, are one.

    Examples
    --------
    >>> import numpy as np
    >>> trace = FailureTrace([10, 10, 15, 90], [0, 1, 1, 2], [10, 10, 10, 20], span=100)
    >>> time_between(trace, np.array([0, 0, 1]))  # up for 85 + 90 s
    87.5
    """
    block = block_of[trace.node]
    kept = (block >= 0) & (trace.time < trace.span)
    columns = {"time": trace.time[kept], "node": block[kept], "downtime": trace.downtime[kept]}
    first, lasts = merged_outages(columns)
    if not len(first):
        return float("inf")
    down = float(np.minimum(lasts, trace.span - columns["time"][first]).sum())
    return (float(block_of.max() + 1) * trace.span - down) / len(first)


def slices_up(found: Counts, of_one: int) -> Floats:
    """Share of the time in which at least s slices are up, s = 0, 1, ..., up to the most that ever are.

    Examples
    --------
    >>> import numpy as np
    >>> slices_up(Counts(np.array([0.0, 25.0]), np.array([4, 3]), 100.0), 2)
    array([1.  , 1.  , 0.25])
    """
    exactly = np.bincount(found.up // of_one, weights=found.share)
    return np.minimum(np.cumsum(exactly[::-1])[::-1], 1.0)


def recorded_up(trace: FailureTrace, pod: Pod, of: Slice) -> Floats:
    """Share of the time with at least s slices up at once, s = 0, 1, ..., up to the most that the pod has."""
    counted = slices_up(blocks_up(trace, block_of_host(pod, of)), count_blocks(pod, of)[1])
    most = most_slices(pod, of)
    return np.append(counted, np.zeros(max(0, most + 1 - len(counted))))[: most + 1]


def nested_up(counts: list[Counts], needs: list[int]) -> float:
    """Share of the time in which so many blocks of each level are up."""
    since = np.unique(np.concatenate([each.since for each in counts]))
    enough = np.all([each.at(since) >= need for each, need in zip(counts, needs, strict=True)], axis=0)
    return float(np.diff(since, append=counts[0].span)[enough].sum() / counts[0].span)


def cubes_of(found: Counts, all_cubes: int, wanted: int) -> Floats:
    """P(at least `wanted` of n cubes chosen at random are up at a random time), n = `wanted` ... `all_cubes`.

    Examples
    --------
    >>> import numpy as np
    >>> cubes_of(Counts(np.array([0.0]), np.array([3]), 1.0), 4, 1)
    array([0.75, 1.  , 1.  , 1.  ])
    """
    from scipy.special import gammaln

    def ways(n: Floats, k: Floats) -> Floats:
        inside = (k >= 0) & (k <= n)
        k = np.where(inside, k, 0.0)
        return np.where(inside, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)

    share = np.bincount(found.up, weights=found.share, minlength=all_cubes + 1)
    healthy = np.flatnonzero(share).astype(float)
    chances = []
    for n in range(wanted, all_cubes + 1):
        k = np.arange(wanted, n + 1, dtype=float)[:, np.newaxis]
        chosen = ways(np.array(float(all_cubes)), np.array(float(n)))
        each = np.exp(ways(healthy, k) + ways(all_cubes - healthy, n - k) - chosen)
        chances.append(float(each.sum(axis=0) @ share[healthy.astype(int)]))
    return np.minimum(chances, 1.0)
