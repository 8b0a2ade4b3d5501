"""The speed of the knapsack, compared with its reference implementation."""

from functools import partial

import numpy as np

from faultsim.bench.clock import least
from faultsim.kernels.knapsack import knapsack
from faultsim.reference.fars.knapsack import knapsack as plain


def measure(*, quick: bool = False) -> list[dict[str, object]]:
    """Solve random instances of n items and capacity S.

    Returns
    -------
    list of dict
        One row per instance size: items, capacity, microseconds, cells_per_s (items x capacity), reference_ratio.

    Examples
    --------
    >>> measure(quick=True)[0]["items"]
    10
    """
    rows = []
    for n, capacity in ((10, 50), (50, 500)) if quick else ((10, 50), (50, 500), (200, 5000), (1000, 20_000)):
        rng = np.random.default_rng(n)
        values, weights = rng.random(n), rng.integers(1, max(2, capacity // 4), n).astype(np.int32)
        fast = least(
            partial(knapsack, values, weights, capacity),
            repeat=3,
            budget=0.0 if quick else 0.2,
        )
        row: dict[str, object] = {
            "items": n,
            "capacity": capacity,
            "microseconds": 1e6 * fast,
            "cells_per_s": n * capacity / fast,
            "reference_ratio": None,
        }
        if n * capacity <= 1_000_000:
            items = values.tolist(), weights.tolist()
            slow = least(partial(plain, *items, capacity), repeat=1)
            row["reference_ratio"] = slow / fast
        rows.append(row)
    return rows
