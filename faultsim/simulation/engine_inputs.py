"""What the engines receive about failures and predictions: plain columns, made before a run begins.

All draws happen here and in the predictors, from streams keyed by (seed, purpose) and never by a policy, so that two
policies always face the same failures and the same predictions.
"""

import math

import numpy as np
from numpy.typing import NDArray

from faultsim.data.failures import FailureTrace
from faultsim.data.world import FailureRows, PredictionRows, RequestRows, TickRows, World
from faultsim.errors import OptionError
from faultsim.policies import BeforeFailure, Blind, Fars, PredictedWindows, Predictor
from faultsim.policies.adapters import own_predictions
from faultsim.policies.base import Policy
from faultsim.policies.interval_reports import MOST, bucket_numbers, refuse_short
from faultsim.simulation.options import RunOptions

#: Interval numbers up to this are exact as doubles.
EXACT = 2.0**53


def make_world(run: RunOptions, begin: float) -> World:
    """Failures, predictions, requests and ticks of a run whose first job is submitted at `begin` (s); None if empty."""
    world = World()
    if run.failures is None and run.predictor is None:
        return world
    trace = run.failures
    if trace is not None and len(trace):
        world.failures = FailureRows(trace.time, trace.node, trace.downtime)
    if run.predictor is not None and run.predictor.is_written():
        foreseen = own_predictions(run.predictor, trace, run.machine, run.seed)
    else:
        foreseen = predictions(run.predictor, trace, nodes=run.machine.nodes, seed=run.seed)
    if len(foreseen.node):
        world.predictions = foreseen
    asked = alarms(run.checkpointing, run.predictor, trace, foreseen, begin)
    if len(asked.node):
        world.alarms = asked
    if isinstance(run.rescheduling, Fars):
        coming = ticks(foreseen, run.rescheduling.interval)
        if len(coming.node):
            world.ticks = coming
    return world


def predictions(predictor: Predictor | None, trace: FailureTrace | None, *, nodes: int, seed: int) -> PredictionRows:
    """What a predictor predicts, in order of time (model.md#predictors).

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([10, 20], [0, 1], 0, coin=[0.3, 0.6])
    >>> predictions(fs.Accuracy(0.5), trace, nodes=2, seed=0).node
    array([0], dtype=int32)
    """
    return (predictor or Blind()).predictions(trace, nodes, seed)


# -- rescheduling


def ticks(foreseen: PredictionRows, interval: float) -> TickRows:
    """The ticks of `Fars` at which nodes become suspicious or cease to be (model.md#suspicious).

    Tick k is at k * interval and looks at (k * interval, (k + 1) * interval].

    Parameters
    ----------
    foreseen : PredictionRows
        What `predictions` returns.
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
    >>> table = ticks(predictions(fs.Perfect(), trace, nodes=2, seed=0), 300.0)
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


def _floors(time: NDArray[np.float64], length: float) -> NDArray[np.int64]:
    """Number k of the interval [k * length, (k + 1) * length) of each time."""
    k = np.floor(time / length)
    k -= k * length > time  # the quotient may round across a border
    k += (k + 1.0) * length <= time
    return k.astype(np.int64)


# -- requested checkpoints


def alarms(
    policy: Policy | None,
    predictor: Predictor | None,
    trace: FailureTrace | None,
    foreseen: PredictionRows,
    begin: float,
) -> RequestRows:
    """Requests for checkpoints, in order of time; none before `begin`, when nothing can run (model.md#requested)."""
    time, node = np.empty(0), np.empty(0, np.int32)
    if isinstance(policy, BeforeFailure):
        if predictor is None and trace is not None:
            time, node = trace.time, trace.node
        else:
            time, node = foreseen.begin, foreseen.node
        time = _in_time(time, policy.cost)
    elif isinstance(policy, PredictedWindows) and trace is not None:
        time = _windows(policy, trace)
        node = np.full(len(time), -1, np.int32)
    here = time >= begin
    return RequestRows(time[here], node[here])


def _in_time(time: NDArray[np.float64], cost: float) -> NDArray[np.float64]:
    """The latest begins of checkpoints that end by `time`: ``time - cost``, unless rounding makes that too late."""
    begin = time - cost
    while (late := begin + cost > time).any():
        begin[late] = np.nextafter(begin[late], -np.inf)
    return begin


def _windows(policy: PredictedWindows, trace: FailureTrace) -> NDArray[np.float64]:
    """The start of each bucket with a failure, and every `interval` in it."""
    length = policy.bucket.length
    refuse_short("a bucket", length, trace.span)
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
