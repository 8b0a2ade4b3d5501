"""Synthetic failures of a whole machine: Weibull gaps, ordered gaps, Zipf locations, bursts ([zhang2004] section 3).

Times, sizes of bursts, locations, down times and coins come from separate streams, so that changing one leaves the
others unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from faultsim import checks, rates, renames
from faultsim.arrays import Floats, LongIntegers
from faultsim.data.columns import MAX_NODES
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.synthetic.times import Times, WeibullTimes, sample_times

_DAY = 86_400.0
_KEYS_AT_ONCE = 1 << 21


@entry
@renames.arguments("weibull_failures")
def weibull_failures(
    nodes: int,
    span: checks.Duration,
    shape: float,
    scale: checks.Duration,
    *,
    window: int = 2,
    zipf: float = 0.01,
    downtime: Times = 120.0,
    count: int | None = None,
    burst: float | None = None,
    permute: bool = False,
    any_rate: bool = False,
    rng: checks.Random,
) -> FailureTrace:
    """Failures of a machine with Weibull gaps and Zipf locations ([zhang2004] section 3).

    Parameters
    ----------
    nodes : int
        Nodes of the machine.
    span : float
        Span of the trace in seconds.
    shape, scale : float
        Of the gaps between failures of the whole machine; scale in seconds.  Zhang: 18,000 s and .2, .55, .65, .85.
    window : int
        W, even: how much failures cluster in time.  In each run of W gaps the first half is sorted descending and the
        second ascending, so that short gaps meet in the middle; the gaps themselves stay.  2 leaves them as drawn.
        Zhang: 2, 8, 32, 64.
    zipf : float
        alpha, 0 or more: the node of rank k fails with a probability proportional to k**-alpha.  Zhang: .01, .5, .99.
    downtime : float, or object with sample(n, rng), or function of (n, rng)
        Down time in seconds, one for all or drawn; `ExponentialTimes` and `LognormalTimes` are at hand.  Zhang: 120,
        3,600 and 14,400.
    count : int, optional
        F, the exact number of failures; the gaps are then scaled such that they and one more gap fill the span.
    burst : float, optional
        Mean number of nodes that fail in one instant, 1 or more: geometric, at most `nodes`, distinct nodes.  Gaps are
        then those between bursts.
    permute : bool
        False: node 0 has rank 1, node 1 rank 2, and so on.  True: ranks are dealt out at random.
    any_rate : bool
        Accept what otherwise is taken for a mistake in units: nodes that fail more than once a day (once an hour if the
        value was given with its unit), or that are down for most of the time.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.

    Returns
    -------
    FailureTrace
        With this span and its own coins.

    Raises
    ------
    OptionError
        For an invalid value; for rates that are taken for a mistake in units, without `any_rate`; for more than 10
        million failures, estimated before any is drawn.

    Notes
    -----
    Row beta = .2 of Zhang's Table 1 cannot come from a Weibull(18,000 s, .2) renewal process: 62 days of it have 14
    failures on average, the table has 78.  Hence `count`: 78, 138, 198 and 266 over about 62 days.

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.synthetic.weibull_failures(320, 62 * 86_400, shape=0.85, scale=18_000, rng=1)
    >>> trace.span, int(trace.node.max()) < 320
    (5356800.0, True)
    >>> len(fs.synthetic.weibull_failures(320, 62 * 86_400, 0.85, 18_000, window=32, count=266, burst=8, rng=1))
    266
    """
    return _drawn(
        "weibull_failures",
        nodes,
        span,
        shape,
        ("scale", scale, 1),
        window=window,
        zipf=zipf,
        downtime=downtime,
        count=count,
        burst=burst,
        permute=permute,
        any_rate=any_rate,
        rng=rng,
    )


def _drawn(
    what: str,
    nodes: int,
    span: checks.Duration,
    shape: float,
    scale: tuple[str, object, int],
    *,
    window: int = 2,
    zipf: float = 0.0,
    downtime: Times,
    count: int | None,
    burst: float | None = None,
    permute: bool = False,
    any_rate: bool,
    rng: checks.Random,
) -> FailureTrace:
    """What `weibull_failures` returns, for the function `what`; `scale` is a parameter, its value and a divisor."""
    n = checks.whole("nodes", nodes, low=1, high=MAX_NODES)
    end = checks.number("span", span, above=0.0, unit="s")
    name, given, divisor = scale
    gap = WeibullTimes(checks.number("shape", shape), checks.number(name, given, above=0.0, unit="s") / divisor)
    width = checks.whole("window", window, low=2)
    if width % 2:
        raise OptionError(f"window must be even (half of it descends, half ascends), got {width}")
    alpha = checks.number("zipf", zipf, low=0.0)
    mean_burst = 1.0 if burst is None else checks.number("burst", burst, low=1.0, unit="nodes")
    shuffled, any_rate = checks.flag("permute", permute), checks.flag("any_rate", any_rate)
    exact = None if count is None else checks.whole("count", count, low=0, high=rates.MOST_FAILURES)
    failures = end / gap.mean * mean_burst if exact is None else float(exact)
    between = math.inf if not failures else n * end / failures
    mean_time = ("the time between failures of a node", None, between)
    down = rates.known_mean(downtime)
    if exact is None:  # else the rate is what the caller counted
        # The scale is that of the whole machine, and a small one may fail often.
        most = rates.MOST_PER_DAY if name == "mtbf" else rates.MOST_PER_DAY_WITH_UNIT
        rates.check_rate(what, name, given, gap.scale * divisor, _DAY / between, any_rate, most=most)
        rates.check_count(what, failures, f"{n:,} nodes for {end:g} s at {name}={given}")
        if down is not None:
            rates.check_repair(what, ("downtime", downtime, down), mean_time, any_rate)
    times, sizes, places, ranks, downs, coins = checks.generator(rng).spawn(6)
    if exact is None:
        instants = _until(gap, end, width, times)
        size = _burst_sizes(len(instants), mean_burst, n, sizes)
    else:
        size = _bursts_of(exact, mean_burst, n, sizes)
        instants = _exactly(len(size), gap, end, width, times)
    node = _places(size, zipf_shares(n, alpha), places)
    if shuffled:
        node = ranks.permutation(n)[node]
        node = node[np.lexsort((node, np.repeat(np.arange(len(size)), size)))]  # ascending in each burst, as ever
    lasting = sample_times("downtime", downtime, len(node), downs)
    if exact is None and down is None and (mean := rates.judged_draws(lasting)) is not None:
        rates.check_repair(what, ("the mean of downtime", None, mean), mean_time, any_rate)
    return FailureTrace(
        np.repeat(instants, size),
        node,
        lasting,
        coin=coins.random(len(node)),
        span=end,
        of=n,
        name=f"Weibull({float(shape):g})",
    )


@entry
@renames.arguments("exponential_failures")
def exponential_failures(
    nodes: int,
    span: checks.Duration,
    mtbf: checks.Duration,
    *,
    downtime: Times = 0.0,
    count: int | None = None,
    any_rate: bool = False,
    rng: checks.Random,
) -> FailureTrace:
    """Independent failures at a constant rate on every node: a Poisson process, as in most theory.

    Parameters
    ----------
    nodes : int
        Nodes of the machine.
    span : float
        Span of the trace in seconds.
    mtbf : float
        Mean time between failures of one node, in seconds; of the machine it is ``mtbf / nodes``.
        With infinity no node fails.
    downtime : float, or object with sample(n, rng), or function of (n, rng)
        Down time in seconds.  Failures do not wait for repairs here: see `renewal_failures` for nodes that do.
    count : int, optional
        The exact number of failures: that many independent uniform times.  `mtbf` does not matter then.
    any_rate : bool
        Accept what otherwise is taken for a mistake in units: nodes that fail more than once a day (once an hour if the
        value was given with its unit), or that are down for most of the time.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.

    Raises
    ------
    OptionError
        For an invalid value; for rates that are taken for a mistake in units, without `any_rate`; for more than 10
        million failures, estimated before any is drawn.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.synthetic.exponential_failures(128, "60d", mtbf=20, rng=1)
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: exponential_failures: mtbf=20 is 20 s: 4,320 failures per node and day; are these
    hours? write mtbf='20h', or any_rate=True
    >>> trace = fs.synthetic.exponential_failures(512, 100 * 86_400, mtbf=56 * 86_400, rng=1)
    >>> len(trace)  # 914 expected
    920
    """
    n = checks.whole("nodes", nodes, low=1, high=MAX_NODES)
    if checks.number("mtbf", mtbf, above=0.0, unit="s", finite=False) == math.inf:
        mtbf, count = 1.0, count or 0  # nodes that never fail
    what, scale = "exponential_failures", ("mtbf", mtbf, n)
    trace = _drawn(what, n, span, 1.0, scale, downtime=downtime, count=count, any_rate=any_rate, rng=rng)
    return trace.renamed("exponential")


def reorder_gaps(gaps: Floats, window: int) -> Floats:
    """The same gaps in runs of `window`: first half descending, second half ascending ([zhang2004] section 3).

    An incomplete last run is halved likewise (an odd element ascends).

    Examples
    --------
    >>> reorder_gaps(np.array([1.0, 2.0, 4.0, 3.0, 5.0, 6.0]), 4)
    array([2., 1., 3., 4., 5., 6.])
    """
    ordered = gaps.copy()
    full = len(gaps) - len(gaps) % window
    half = window // 2
    runs = ordered[:full].reshape(-1, window)
    runs[:, :half] = -np.sort(-runs[:, :half], axis=1)
    runs[:, half:] = np.sort(runs[:, half:], axis=1)
    rest = ordered[full:]
    half = len(rest) // 2
    rest[:half] = -np.sort(-rest[:half])
    rest[half:] = np.sort(rest[half:])
    return ordered


def zipf_shares(nodes: int, alpha: float) -> Floats:
    """The share of the failures of each rank, ``rank ** -alpha`` over their sum.

    Examples
    --------
    >>> round(float(zipf_shares(320, 0.99)[0]), 3)
    0.153
    """
    weight = np.arange(1, nodes + 1, dtype=np.float64) ** -alpha
    shares: Floats = weight / weight.sum()
    return shares


def _until(gap: WeibullTimes, end: float, window: int, rng: np.random.Generator) -> Floats:
    """The instants of a renewal process up to `end`; the gaps that fit are reordered."""
    parts, reached = [], 0.0
    while reached <= end:
        parts.append(gap.sample(64 + int(1.1 * (end - reached) / gap.mean), rng))
        reached += float(parts[-1].sum())
    gaps = np.concatenate(parts)
    gaps = gaps[np.cumsum(gaps) <= end]
    return np.minimum(np.cumsum(reorder_gaps(gaps, window)), end)  # another order, another rounding


def _exactly(n: int, gap: WeibullTimes, end: float, window: int, rng: np.random.Generator) -> Floats:
    """`n` instants whose gaps, with the one after the last, fill `end`."""
    instants = np.cumsum(reorder_gaps(gap.sample(n + 1, rng), window))
    scaled: Floats = instants[:-1] / instants[-1] * end
    return scaled


def _burst_sizes(n: int, mean: float, nodes: int, rng: np.random.Generator) -> LongIntegers:
    return np.minimum(rng.geometric(1.0 / mean, n), nodes)


def _bursts_of(count: int, mean: float, nodes: int, rng: np.random.Generator) -> LongIntegers:
    """Sizes of bursts that make `count` failures; the last one is cut to fit."""
    size = _burst_sizes(count, mean, nodes, rng)  # each has at least one
    ends = np.cumsum(size)
    size = size[: int(np.searchsorted(ends, count)) + 1]
    if len(size):
        size[-1] -= ends[len(size) - 1] - count
    return size


def _places(size: LongIntegers, share: Floats, rng: np.random.Generator) -> LongIntegers:
    """Ranks (from 0) that fail in each burst, distinct and ascending in it."""
    if not len(size) or size.max() == 1:
        return np.minimum(np.searchsorted(np.cumsum(share), rng.random(len(size)), side="right"), len(share) - 1)
    return np.concatenate(list(_distinct(size, share, rng)))


def _distinct(size: LongIntegers, share: Floats, rng: np.random.Generator) -> Iterator[LongIntegers]:
    """Draws without replacement, one after the other, are the first arrivals of clocks with these rates."""
    step = max(1, _KEYS_AT_ONCE // len(share))
    for begin in range(0, len(size), step):
        some = size[begin : begin + step, None]
        arrival = rng.standard_exponential((len(some), len(share))) / share
        most = int(some.max())
        first = np.argpartition(arrival, most - 1, axis=1)[:, :most]
        order = np.argsort(np.take_along_axis(arrival, first, axis=1), axis=1)
        first = np.take_along_axis(first, order, axis=1)
        wanted = np.arange(most) < some
        ranks = np.sort(np.where(wanted, first, len(share)), axis=1)
        yield ranks[ranks < len(share)]
