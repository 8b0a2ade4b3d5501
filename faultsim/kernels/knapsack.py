"""The Python interface of the 0-1 knapsack."""

from __future__ import annotations

from operator import index

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim._core.fars.knapsack import Knapsack
from faultsim.arrays import Flags, Floats, LongIntegers
from faultsim.entries import entry
from faultsim.errors import InputError


@entry
def knapsack(values: ArrayLike, weights: ArrayLike, capacity: int) -> tuple[Flags, float]:
    """Choose the items of the largest total value whose weights fit into the capacity.

    The dynamic program by which FARS chooses the jobs to move ([li2009] section 4.3), with fixed tie-breaking: items in
    the order given, an item is taken only if that is strictly better, and the choice is read back from the last item.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Finite.  An item with a value of 0 or less is never taken.
    weights : array_like of int, shape (n,)
        Whole numbers, 0 or more.  An item of weight 0 with a positive value is always taken, unless it is too small to
        change the sum of doubles.
    capacity : int
        A whole number, 0 or more.

    Returns
    -------
    taken : ndarray of bool, shape (n,)
    total : float
        Sum of the values taken, added in the order of the items.

    Raises
    ------
    InputError
        If the arrays differ in length, or a number is not as described.
    MemoryError
        If the table, one bit for each item and unit of capacity, does not fit.

    Notes
    -----
    Time and space grow with the number of items times the capacity divided by the greatest common divisor of the
    weights.  When all items fit, both are linear.

    Examples
    --------
    >>> import faultsim as fs
    >>> taken, total = fs.knapsack([60.0, 100.0, 120.0], [10, 20, 30], capacity=50)
    >>> taken.tolist(), total
    ([False, True, True], 220.0)
    """
    value = _values(values)
    weight = _weights(weights)
    if len(value) != len(weight):
        raise InputError(f"knapsack: {len(value)} values but {len(weight)} weights; there must be one of each per item")
    try:
        room = index(capacity)
    except TypeError:
        raise InputError(f"knapsack: capacity must be a whole number, not {capacity!r}") from None
    if room < 0:
        raise InputError(f"knapsack: capacity must be 0 or more, not {room}")
    taken = np.zeros(len(value), dtype=np.uint8)
    # No weight is larger than an int64, so a sum that reaches a larger capacity is far past any table.
    total = Knapsack().solve(value, weight, min(room, 2**63 - 1), taken)
    return taken.view(np.bool_), total


def _values(values: ArrayLike) -> Floats:
    raw = checks.real_array("knapsack: values", values)
    try:
        if raw.dtype.kind == "m":
            raise TypeError("durations")
        value = np.ascontiguousarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("knapsack: values must be a row of numbers") from None
    if value.ndim != 1:
        raise InputError(f"knapsack: values must be a row of numbers, not an array of shape {value.shape}")
    bad = np.flatnonzero(~np.isfinite(value))
    if len(bad):
        raise InputError(f"knapsack: values must be finite, but values[{bad[0]}] is {value[bad[0]]}")
    return value


def _weights(weights: ArrayLike) -> LongIntegers:
    checks.refuse_masked("knapsack: weights", weights)
    raw = np.asarray(weights)
    if raw.ndim != 1:
        raise InputError(f"knapsack: weights must be a row of whole numbers, not an array of shape {raw.shape}")
    if raw.size == 0:
        return np.zeros(0, dtype=np.int64)
    if raw.dtype.kind not in "iuf":
        raise InputError(f"knapsack: weights must be whole numbers, not {raw.dtype}")
    # 2**63 is a double; the comparison is then exact, and NaN fails it.
    bad = np.flatnonzero(~((raw >= 0) & (raw < 2.0**63) & (raw == np.floor(raw))))
    if len(bad):
        raise InputError(f"knapsack: weights must be whole numbers from 0, but weights[{bad[0]}] is {raw[bad[0]]}")
    return np.ascontiguousarray(raw, dtype=np.int64)
