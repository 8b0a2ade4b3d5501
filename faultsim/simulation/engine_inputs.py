"""What the engines receive about failures and predictions: plain columns, made before a run begins.

All draws happen here, from streams keyed by (seed, purpose) and never by a policy, so that two policies always face the
same failures and the same predictions.
"""

import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.data.failures import FailureTrace
from faultsim.errors import InputError, OptionError
from faultsim.policies import (
    Accuracy,
    BeforeFailure,
    Blind,
    Buckets,
    Confidence,
    Fars,
    IntervalPredictor,
    Perfect,
    PredictedWindows,
    PredictionTrace,
    Predictor,
)
from faultsim.policies.base import Policy
from faultsim.simulation.options import RunOptions

Table = dict[str, Any]
#: Most pairs of interval and node, or other rows, in predictions: more suggest a mistake in units.
MOST = 10**8
#: Interval numbers up to this are exact as doubles.
EXACT = 2.0**53
Pairs = tuple[NDArray[np.int64], NDArray[np.int32]]


def stream(seed: int, purpose: str) -> np.random.Generator:
    """The random stream of a seed for one purpose.

    Examples
    --------
    >>> stream(0, "a").random() == stream(0, "a").random(), stream(0, "a").random() == stream(0, "b").random()
    (True, False)
    """
    key = zlib.crc32(purpose.encode())
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(key,))))


def make_world(run: RunOptions, begin: float) -> dict[str, Table] | None:
    """Failures, predictions and alarms of a run whose first job is submitted at `begin` (s); None without any.

    Returns
    -------
    dict or None
        ``failures``: time, node, downtime; ``predictions``: begin, end (equal for dated ones), node and their
        probability p; ``alarms``: time and node of requested checkpoints, node -1 for a request to all victims;
        ``ticks``: when `Fars` acts, and what is suspicious then (`ticks`). Empty tables are omitted.
    """
    if run.failures is None and run.predictor is None:
        return None
    world: dict[str, Table] = {}
    trace = run.failures
    if trace is not None and len(trace):
        world["failures"] = {"time": trace.time, "node": trace.node, "downtime": trace.downtime}
    foreseen = predictions(run.predictor, trace, nodes=run.machine.nodes, seed=run.seed)
    if len(foreseen["node"]):
        world["predictions"] = foreseen
    asked = alarms(run.checkpointing, run.predictor, trace, foreseen, begin)
    if len(asked["node"]):
        world["alarms"] = asked
    if isinstance(run.rescheduling, Fars):
        coming = ticks(foreseen, run.rescheduling.interval)
        if len(coming["node"]):
            world["ticks"] = coming
    return world or None


# -- predictions


def predictions(predictor: Predictor | None, trace: FailureTrace | None, *, nodes: int, seed: int) -> Table:
    """What a predictor predicts, in order of time (model.md#predictors).

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([10, 20], [0, 1], 0, coin=[0.3, 0.6])
    >>> predictions(fs.Accuracy(0.5), trace, nodes=2, seed=0)["node"]
    array([0], dtype=int32)
    """
    if isinstance(predictor, IntervalPredictor):
        return _intervals(predictor, trace, nodes, seed)
    if isinstance(predictor, PredictionTrace):
        return _dated(predictor.time, predictor.node, 1.0)
    if trace is None or predictor is None or isinstance(predictor, Blind | Buckets):
        return _dated(np.empty(0), np.empty(0, np.int32), 1.0)
    if isinstance(predictor, Perfect):
        return _dated(trace.time, trace.node, 1.0)
    if isinstance(predictor, Confidence):
        rows = slice(None) if predictor.a > 0 else slice(0)
        return _dated(trace.time[rows], trace.node[rows], predictor.a)
    if isinstance(predictor, Accuracy):
        seen = trace.coin < predictor.a
        return _dated(trace.time[seen], trace.node[seen], 1.0)
    raise OptionError(f"{predictor!r} makes no predictions; use one of faultsim's, or PredictionTrace for your own")


def _dated(time: NDArray[np.float64], node: NDArray[np.int32], p: float) -> Table:
    return {"begin": time, "end": time, "node": node, "p": p}


def bucket_numbers(time: NDArray[np.float64], length: float) -> NDArray[np.int64]:
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


def _refuse_short(what: str, length: float, span: float) -> None:
    if span / length > MOST:
        raise OptionError(f"{what} of {length:g} s is too short for a span of {span:g} s: at most {MOST:,} fit")


def _intervals(predictor: IntervalPredictor, trace: FailureTrace | None, nodes: int, seed: int) -> Table:
    """Interval k reaches from k * I to (k + 1) * I; sorted by interval, then node."""
    length = predictor.interval
    if predictor.index is not None and predictor.node is not None:
        index, node = predictor.index, predictor.node
        if len(index) and not math.isfinite((float(index[-1]) + 1.0) * length):
            raise InputError(f"pairs: interval {index[-1]} of {length:g} s is beyond what a float64 holds")
    else:
        assert trace is not None  # Run refuses the predictor without failures
        _refuse_short("an interval", length, trace.span)
        index, node = _reported(predictor, trace, nodes, seed)
    return {"begin": index * length, "end": (index + 1) * length, "node": node, "p": predictor.precision}


def _reported(predictor: IntervalPredictor, trace: FailureTrace, nodes: int, seed: int) -> Pairs:
    """The pairs (interval, node) that are reported: some with a failure, and false alarms without one."""
    failing = np.unique(bucket_numbers(trace.time, predictor.interval) * nodes + trace.node)
    assert predictor.recall is not None
    keys = stream(seed, "predictor").random(len(failing))
    right = failing[np.argsort(keys, kind="stable")[: round(predictor.recall * len(failing))]]
    wanted = len(right) * (1.0 - predictor.precision) / predictor.precision
    n_false = round(min(wanted, 1e18))  # infinite next to 0; there are fewer pairs than this
    n_pairs = (int(bucket_numbers(np.array([trace.span]), predictor.interval)[0]) + 1) * nodes
    quiet = n_pairs - int(np.count_nonzero(failing >= 0))
    if n_false > quiet:
        raise OptionError(
            f"precision={predictor.precision:g} needs {_count(wanted)} false alarms, but only {quiet:,} pairs of an "
            f"interval and a node have no failure: take a higher precision or a shorter interval"
        )
    chosen = np.sort(np.concatenate([right, _false_alarms(failing, n_pairs, n_false, stream(seed, "false alarms"))]))
    return chosen // nodes, (chosen % nodes).astype(np.int32)


def _count(n: float) -> str:
    return f"{round(n):,}" if n < 1e15 else f"{n:.3g}"


def _false_alarms(failing: NDArray[np.int64], n_pairs: int, wanted: int, rng: np.random.Generator) -> NDArray[np.int64]:
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


# -- rescheduling


def ticks(foreseen: Table, interval: float) -> Table:
    """The ticks of `Fars` at which nodes become suspicious or cease to be (model.md#suspicious).

    Tick k is at k * interval and looks at (k * interval, (k + 1) * interval].

    Parameters
    ----------
    foreseen : dict
        What `predictions` returns.
    interval : float
        Seconds.

    Returns
    -------
    dict
        ``time`` (t,): ascending; ``first`` (t + 1,): the nodes that are suspicious from ``time[i]`` on are
        ``node[first[i]:first[i + 1]]``, ascending, each once.

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([200, 300, 1000], [1, 0, 1], 0)
    >>> table = ticks(predictions(fs.Perfect(), trace, nodes=2, seed=0), 300.0)
    >>> table["time"], table["first"], table["node"]
    (array([   0.,  300.,  900., 1200.]), array([0, 2, 2, 3, 3]), array([0, 1, 1], dtype=int32))
    """
    begin, end, node = foreseen["begin"], foreseen["end"], foreseen["node"].astype(np.int64)
    if not len(node):
        return {"time": np.empty(0), "first": np.zeros(1, np.int64), "node": np.empty(0, np.int32)}
    _refuse_short("a Fars interval", interval, float(end[-1] - begin[0]))
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
    return {
        "time": acting * interval,
        "first": np.append(np.searchsorted(number, acting), len(number)),
        "node": place.astype(np.int32),
    }


def _floors(time: NDArray[np.float64], length: float) -> NDArray[np.int64]:
    """Number k of the interval [k * length, (k + 1) * length) of each time."""
    k = np.floor(time / length)
    k -= k * length > time  # the quotient may round across a border
    k += (k + 1.0) * length <= time
    return k.astype(np.int64)


# -- requested checkpoints


def alarms(
    policy: Policy | None, predictor: Predictor | None, trace: FailureTrace | None, foreseen: Table, begin: float
) -> Table:
    """Requests for checkpoints, in order of time; none before `begin`, when nothing can run (model.md#requested)."""
    time, node = np.empty(0), np.empty(0, np.int32)
    if isinstance(policy, BeforeFailure):
        if predictor is None and trace is not None:
            time, node = trace.time, trace.node
        else:
            time, node = foreseen["begin"], foreseen["node"]
        time = _in_time(time, policy.cost)
    elif isinstance(policy, PredictedWindows) and trace is not None:
        time = _windows(policy, trace)
        node = np.full(len(time), -1, np.int32)
    here = time >= begin
    return {"time": time[here], "node": node[here]}


def _in_time(time: NDArray[np.float64], cost: float) -> NDArray[np.float64]:
    """The latest begins of checkpoints that end by `time`: ``time - cost``, unless rounding makes that too late."""
    begin = time - cost
    while (late := begin + cost > time).any():
        begin[late] = np.nextafter(begin[late], -np.inf)
    return begin


def _windows(policy: PredictedWindows, trace: FailureTrace) -> NDArray[np.float64]:
    """The start of each bucket with a failure, and every `interval` in it."""
    length = policy.bucket.seconds
    _refuse_short("a bucket", length, trace.span)
    hot = np.unique(bucket_numbers(trace.time, length)).astype(np.float64)
    each = math.ceil(length / policy.interval) + 1  # one too many, since the quotient may round; filtered below
    if each * len(hot) > MOST:
        raise OptionError(
            f"an interval of {policy.interval:g} s makes {each * len(hot):,} requests in {len(hot):,} buckets of "
            f"{length:g} s; at most {MOST:,} are allowed"
        )
    start, end = (hot * length)[:, None], ((hot + 1.0) * length)[:, None]
    time = start + np.arange(each) * policy.interval
    inside: NDArray[np.float64] = time[time < end]
    return inside
