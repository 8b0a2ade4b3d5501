"""Intervals of time, and the draws of reports about them (model.md#predictors)."""

import zlib

import numpy as np

from faultsim.arrays import Floats, Integers, LongIntegers
from faultsim.data.failures import FailureTrace
from faultsim.data.world import PredictionRows, TickRows
from faultsim.errors import OptionError

#: Interval numbers up to this are exact as doubles.
EXACT = 2.0**53
#: Most pairs of interval and node, or other rows, in predictions: more suggest a mistake in units.
MOST = 10**8


def stream(seed: int, purpose: str) -> "np.random.Generator":
    """The random stream of a seed for one purpose.

    Examples
    --------
    >>> stream(0, "a").random() == stream(0, "a").random(), stream(0, "a").random() == stream(0, "b").random()
    (True, False)
    """
    key = zlib.crc32(purpose.encode())
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(key,))))


def bucket_numbers(time: Floats, length: float) -> LongIntegers:
    """Number k of the interval (k * length, (k + 1) * length] of each time.

    Examples
    --------
    >>> bucket_numbers(np.array([0.0, 1.0, 300.0, 300.5]), 300.0)
    array([-1,  0,  0,  1])
    """
    k = np.ceil(time / length) - 1.0
    k -= k * length >= time  # the quotient may round across a border
    k += (k + 1.0) * length < time
    return k.astype(np.int64)


def refuse_short(what: str, length: float, span: float) -> None:
    if span / length > MOST:
        raise OptionError(f"{what} of {length:g} s is too short for a span of {span:g} s: at most {MOST:,} fit")


def draw_reports(
    trace: FailureTrace, nodes: int, seed: int, *, interval: float, precision: float, recall: float
) -> tuple[LongIntegers, Integers]:
    """The pairs (interval, node) that are reported: some with a failure, and false alarms without one."""
    refuse_short("an interval", interval, trace.span)
    failing = np.unique(bucket_numbers(trace.time, interval) * nodes + trace.node)
    keys = stream(seed, "predictor").random(len(failing))
    right = failing[np.argsort(keys, kind="stable")[: round(recall * len(failing))]]
    wanted = len(right) * (1.0 - precision) / precision
    n_false = round(min(wanted, 1e18))  # infinite next to 0; there are fewer pairs than this
    n_pairs = (int(bucket_numbers(np.array([trace.span]), interval)[0]) + 1) * nodes
    quiet = n_pairs - int(np.count_nonzero(failing >= 0))
    if n_false > quiet:
        raise OptionError(
            f"precision={precision:g} needs {_count(wanted)} false alarms, but only {quiet:,} pairs of an "
            f"interval and a node have no failure: take a higher precision or a shorter interval"
        )
    chosen = np.sort(np.concatenate([right, _false_alarms(failing, n_pairs, n_false, stream(seed, "false alarms"))]))
    return chosen // nodes, (chosen % nodes).astype(np.int32)


def _count(n: float) -> str:
    return f"{round(n):,}" if n < 1e15 else f"{n:.3g}"


def _false_alarms(failing: LongIntegers, n_pairs: int, wanted: int, rng: "np.random.Generator") -> LongIntegers:
    """The first `wanted` of a fixed random order of the numbers below `n_pairs` that are not in `failing`.

    The numbers are drawn in blocks whose lengths do not depend on `wanted`, so the order does not either.
    """
    taken = np.empty(0, np.int64)
    block = 4096
    while len(taken) < wanted:
        drawn = rng.integers(0, n_pairs, block)
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]  # first occurrences, in the order drawn
        taken = np.concatenate([taken, drawn[~np.isin(drawn, failing) & ~np.isin(drawn, taken)]])
        block = min(2 * block, 1 << 22)
    return taken[:wanted]


# -- ticks


def ticks(foreseen: PredictionRows, interval: float) -> TickRows:
    """The ticks of `Fars` at which nodes become suspicious or cease to be (model.md#suspicious).

    Tick k is at k * interval and looks at (k * interval, (k + 1) * interval].

    Parameters
    ----------
    foreseen : PredictionRows
        What a predictor predicts.
    interval : float
        Seconds.

    Returns
    -------
    TickRows
        By time; the nodes of a tick ascend, each once.

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([200, 300, 1000], [1, 0, 1], 0)
    >>> table = ticks(fs.Perfect().predictions(trace, 2, 0), 300.0)
    >>> table.time, table.first, table.node
    (array([   0.,  300.,  900., 1200.]), array([0, 2, 2, 3, 3]), array([0, 1, 1], dtype=int32))
    """
    begin, end, node = foreseen.begin, foreseen.end, foreseen.node.astype(np.int64)
    if not len(node):
        return TickRows(np.empty(0), np.zeros(1, np.int64), np.empty(0, np.int32))
    refuse_short("a Fars interval", interval, float(end[-1] - begin[0]))
    if end[-1] / interval > EXACT:
        raise OptionError(f"a Fars interval of {interval:g} s is too short for predictions up to {end[-1]:g} s")
    # The first interval that a prediction touches: a dated one is in (k I, (k + 1) I], another in [k I, (k + 1) I).
    low = np.where(begin == end, bucket_numbers(begin, interval), _floors(begin, interval))
    high = np.maximum(bucket_numbers(end, interval), low)
    each = high - low + 1
    if each.sum() > MOST:
        raise OptionError(
            f"a Fars interval of {interval:g} s is too short: {each.sum():,} pairs of an interval and a node"
        )
    k = np.repeat(low, each) + np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
    nodes = int(node.max()) + 1
    number, place = np.divmod(np.unique((k - k.min()) * nodes + np.repeat(node, each)), nodes)
    number += k.min()
    acting = np.unique(np.concatenate([number, number + 1]))
    first = np.append(np.searchsorted(number, acting), len(number))
    return TickRows(acting * interval, first, place.astype(np.int32))


def _floors(time: Floats, length: float) -> LongIntegers:
    """Number k of the interval [k * length, (k + 1) * length) of each time."""
    k = np.floor(time / length)
    k -= k * length > time  # the quotient may round across a border
    k += (k + 1.0) * length <= time
    return k.astype(np.int64)
