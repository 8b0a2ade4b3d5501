"""How a stand-in for a real job log is made: the same mix of jobs, the same load, the same kind of order.

Sizes and run times are quantile-sampled, that is, their distribution is laid out evenly and only the order is drawn.
So the statistics of the mix hold for every seed, and two seeds differ in order, arrivals, users and estimates.

Order matters as much as the mix.  Users submit series of equal jobs: with shuffled jobs, first come, first served
saturates seven (SDSC) to sixteen (NASA) points of utilization earlier. And a log was shaped by its machine: users and
sites hold jobs back while too much is running, so its load is more even than that of independent arrivals.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from faultsim.arrays import Floats, LongIntegers

_DAY = 86_400.0

Whole = LongIntegers


@dataclass(frozen=True)
class Mix:
    """The jobs of one size: how many of the log's jobs, and how long they run.

    Parameters
    ----------
    size : int
        Nodes.
    share : float
        Jobs of this size per 10,000 jobs of the original.
    mean : float
        Mean run time in seconds; kept exactly, but for rounding to whole seconds.
    quantiles : tuple of float
        Run times in seconds at the levels 0, 0.1, 0.3, 0.5, 0.7, 0.9 and 1, between which their logarithm is linear.
    """

    size: int
    share: float
    mean: float
    quantiles: tuple[float, ...]


_LEVELS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def counts(shares: Sequence[float], n: int) -> Whole:
    """Split `n` by shares: whole numbers that add up to `n`, largest remainders first.

    Examples
    --------
    >>> counts([1, 1, 2], 5).tolist()
    [1, 1, 3]
    """
    exact = np.asarray(shares, dtype=float) * n / sum(shares)
    whole = np.floor(exact).astype(np.int64)
    left = n - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:left]] += 1
    return whole


def draw_mix(mix: Sequence[Mix], n: int, rng: np.random.Generator) -> list[tuple[int, Floats]]:
    """Run times of `n` jobs, by size: one value from each of equally likely slices, ascending.

    Examples
    --------
    >>> mix = [Mix(4, 1.0, 100.0, (10, 20, 40, 60, 100, 300, 900))]
    >>> [(size, len(runtime), float(runtime.mean())) for size, runtime in draw_mix(mix, 1000, np.random.default_rng(1))]
    [(4, 1000, 100.0)]
    """
    drawn = []
    for row, count in zip(mix, counts([row.share for row in mix], n), strict=True):
        if count:
            level = (np.arange(count) + rng.random(count)) / count
            runtime = np.exp(np.interp(level, _LEVELS, np.log(np.maximum(row.quantiles, 1.0))))
            drawn.append((row.size, _with_mean(runtime, row.mean)))
    return drawn


def _with_mean(runtime: Floats, mean: float) -> Floats:
    """Scale to the mean, in whole seconds of at least 1; what rounding takes or adds goes to the longest jobs."""
    scaled = np.maximum(np.floor(runtime * (mean / runtime.mean()) + 0.5), 1.0)
    excess = float(scaled.sum()) - round(mean * len(scaled))
    scaled[-1] = max(scaled[-1] - excess, 1.0)
    return np.sort(scaled)


def in_series(
    drawn: Sequence[tuple[int, Floats]],
    rng: np.random.Generator,
    *,
    length: float,
    likeness: float,
    spread: float,
    slots: int,
) -> tuple[Whole, Floats, Whole]:
    """Put jobs in an order made of series: equal sizes, similar run times, interleaved with other series.

    Parameters
    ----------
    drawn : sequence of (size, run times ascending)
        As `draw_mix` gives them.
    rng : numpy.random.Generator
        Source of randomness.
    length : float
        Mean number of jobs of a series (geometric).
    likeness : float
        How much alike the run times of a series are: 0 not at all, 1 neighbours in rank.
    spread : float
        Mean number of places from one job of a series to the next.
    slots : int
        Into how many parts of the log the work is spread evenly: of every `slots` series of about the same work, one
        begins in each part.

    Returns
    -------
    size, runtime, series : numpy.ndarray
        One entry per job, in order; `series` numbers the series.

    Examples
    --------
    >>> drawn = [(1, np.arange(60.0)), (4, np.arange(40.0))]
    >>> size, _, _ = in_series(drawn, np.random.default_rng(1), length=5, likeness=0.5, spread=1.5, slots=10)
    >>> int((size == 4).sum())
    40
    """
    sizes, runtimes, owners = [], [], []
    first = 0
    for size, runtime in drawn:
        n = len(runtime)
        # Ranks blurred by noise: neighbours in the blurred order go into one series, inside it the order is free again.
        blurred = likeness * np.arange(n) / n + (1 - likeness) * rng.random(n)
        breaks = rng.random(n) < 1 / length
        breaks[0] = True
        series = np.cumsum(breaks) - 1
        mixed = np.lexsort((rng.random(n), series))
        sizes.append(np.full(n, size, dtype=np.int64))
        runtimes.append(runtime[np.argsort(blurred, kind="stable")][mixed])
        owners.append(series + first)
        first += int(series[-1]) + 1
    all_sizes, all_runtimes, owner = np.concatenate(sizes), np.concatenate(runtimes), np.concatenate(owners)
    total = len(owner)
    heavy = np.argsort(-np.bincount(owner, weights=all_sizes * all_runtimes), kind="stable")
    begin = np.empty(first)
    for chunk in range(0, first, slots):
        mine = heavy[chunk : chunk + slots]
        begin[mine] = (rng.permutation(slots)[: len(mine)] + rng.random(len(mine))) * (total / slots)
    new = np.concatenate([[True], owner[1:] != owner[:-1]])
    steps = np.where(new, 0.0, rng.exponential(spread, total))
    run = np.cumsum(steps)
    offset = run - run[np.flatnonzero(new)][owner]
    order = np.argsort((begin[owner] + offset) % total, kind="stable")
    return all_sizes[order], all_runtimes[order], owner[order]


def daily_arrivals(
    n: int,
    rng: np.random.Generator,
    *,
    span: float,
    hours: Sequence[float],
    gaps: Sequence[tuple[float, float]],
    memory: float,
    begin: float = 0.0,
) -> Floats:
    """Arrival times over exactly `span` seconds: bursty gaps, quantile-sampled, stretched by the hour of the day.

    Parameters
    ----------
    n : int
        Number of arrivals; the first is at 0 and the last at `span`.
    rng : numpy.random.Generator
        Source of randomness.
    span : float
        Seconds.
    hours : sequence of 24 floats
        Relative rate of arrivals in each hour of the day.
    gaps : sequence of (level, gap)
        Quantiles of the gap in any unit, between which it is linear.
    memory : float
        Correlation of a gap's rank with that of the one before.
    begin : float
        Time of day of the first arrival, in seconds.

    Examples
    --------
    >>> gaps = [(0.0, 0.0), (1.0, 2.0)]
    >>> daily_arrivals(3, np.random.default_rng(1), span=7200.0, hours=[1] * 24, gaps=gaps, memory=0.0)[[0, -1]]
    array([   0., 7200.])
    """
    if n == 1:
        return np.zeros(1)
    level = (np.arange(n - 1) + rng.random(n - 1)) / (n - 1)
    points, values = zip(*gaps, strict=True)
    gap = np.interp(level, points, values)
    noise = rng.standard_normal(n - 1)
    state = np.empty(n - 1)
    last = rng.standard_normal()
    keep = np.sqrt(1 - memory**2)
    for i in range(n - 1):
        last = memory * last + keep * noise[i]
        state[i] = last
    ordered = np.empty(n - 1)
    ordered[np.argsort(state, kind="stable")] = gap
    worth = np.asarray(hours, dtype=float) / np.mean(hours)
    paid = np.concatenate([[0.0], np.cumsum(worth)]) * 3600.0  # one day, in seconds of the mean rate
    clock = np.arange(25) * 3600.0

    def paid_at(time: float) -> float:
        days, rest = divmod(time, _DAY)
        return float(days * _DAY + np.interp(rest, clock, paid))

    first, end = paid_at(begin), paid_at(begin + span)
    spent = np.concatenate([[0.0], np.cumsum(ordered)])
    spent = first + spent * ((end - first) / spent[-1])
    days, rest = np.divmod(spent, _DAY)
    times: Floats = days * _DAY + np.interp(rest, paid, clock) - begin
    times[0], times[-1] = 0.0, span
    return times


def site_schedule(submit: Floats, runtime: Floats, size: Whole, *, nodes: int, patience: float) -> Floats:
    """When jobs would start at a site that starts whatever fits on a flat machine, oldest first.

    A job that has waited for longer than `patience` is not passed over any more; one larger than the machine takes all.

    Examples
    --------
    >>> submit, runtime, size = np.array([0.0, 1.0, 2.0]), np.array([10.0, 5.0, 3.0]), np.array([3, 2, 1])
    >>> site_schedule(submit, runtime, size, nodes=4, patience=60.0)
    array([ 0., 10.,  2.])
    """
    arrive, length, need = submit.tolist(), runtime.tolist(), np.minimum(size, nodes).tolist()
    starts = np.empty(len(arrive))
    running: list[tuple[float, int]] = []
    queue: list[int] = []
    free, now, n, coming = nodes, 0.0, len(arrive), 0
    while coming < n or queue:
        next_arrival = arrive[coming] if coming < n else np.inf
        now = max(now, min(next_arrival, running[0][0] if running else np.inf))
        while running and running[0][0] <= now:
            free += heapq.heappop(running)[1]
        while coming < n and arrive[coming] <= now:
            queue.append(coming)
            coming += 1
        place = 0
        while place < len(queue) and free > 0:
            job = queue[place]
            if need[job] <= free:
                starts[job] = now
                free -= need[job]
                heapq.heappush(running, (now + length[job], need[job]))
                del queue[place]
            elif now - arrive[job] > patience:
                break
            else:
                place += 1
    return starts
