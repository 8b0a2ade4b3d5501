"""What is measured of a run in which slices of one size are always wanted: how many of them run, over time.

The log says what its run is measured against, in further columns: ``needed``, a number of slices, and ``since`` and
``until``, the window in seconds.
"""

from weakref import WeakKeyDictionary

import numpy as np

from faultsim.arrays import Floats
from faultsim.results.result import Result

#: The probability with which a share of a pod is promised.
PROBABILITY = 0.97

_MADE: WeakKeyDictionary[Result, Floats] = WeakKeyDictionary()


def shares_of_time(result: Result) -> Floats:
    """The share of the window in which exactly s slices ran, s = 0, 1, ...; empty if the log names no window.

    Examples
    --------
    >>> import faultsim as fs
    >>> window = {"needed": [1.0, 1.0], "since": [0.0, 0.0], "until": [8.0, 8.0]}
    >>> log = fs.Workload(submit=[0, 2], runtime=[4, 4], size=[1, 1], columns=window)
    >>> shares_of_time(fs.simulate(log, fs.Cluster(2), record=True))
    array([0.25, 0.5 , 0.25])
    """
    if result not in _MADE:
        _MADE[result] = _shares(result)
    return _MADE[result]


def _shares(result: Result) -> Floats:
    if "until" not in result.jobs:
        return np.zeros(0)
    held = result.allocations
    since, until = float(result.jobs["since"][0]), float(result.jobs["until"][0])
    moments = np.concatenate([held["begin"], held["end"]])
    steps = np.repeat([1, -1], len(held["begin"]))
    order = np.argsort(moments, kind="stable")
    running = np.concatenate([[0], np.cumsum(steps[order])])
    edges = np.clip(np.concatenate([[-np.inf], moments[order], [np.inf]]), since, until)
    lasting = np.diff(edges)
    real = lasting > 0.0  # at one instant ends and begins come in any order
    shares: Floats = np.bincount(running[real], weights=lasting[real]) / (until - since)
    return shares


def _at_least(result: Result, more: int) -> float:
    shares = shares_of_time(result)
    if not len(shares):
        return np.nan
    return float(shares[int(result.jobs["needed"][0]) + more :].sum())


def kept(result: Result) -> float:
    """The share of time with at least the needed slices."""
    return _at_least(result, 0)


def exceeded(result: Result) -> float:
    """The share of time with more than the needed slices."""
    return _at_least(result, 1)


def slices(result: Result) -> float:
    """The mean number of slices that run."""
    shares = shares_of_time(result)
    return float(shares @ np.arange(len(shares))) if len(shares) else np.nan


def promised(result: Result) -> float:
    """The most slices that ran for 97 % of the time or more, in this run."""
    shares = shares_of_time(result)
    if not len(shares):
        return np.nan
    at_least = np.cumsum(shares[::-1])[::-1]
    return float(np.flatnonzero(at_least >= PROBABILITY - 1e-12)[-1])


def hosts_busy(result: Result) -> float:
    """The share of the hosts that jobs hold, in the window."""
    if "until" not in result.jobs:
        return np.nan
    held = result.allocations
    since, until = float(result.jobs["since"][0]), float(result.jobs["until"][0])
    seconds = np.clip(held["end"], since, until) - np.clip(held["begin"], since, until)
    return float(seconds @ result.jobs["size"][held["job"]]) / (result.machine.nodes * (until - since))
