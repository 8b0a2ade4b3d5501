"""The knapsack: problems a second, against the plain twin and against the usual programme on NumPy rows.

pytest benchmarks/bench_knapsack.py --benchmark-enable
"""

import numpy as np
import pytest

import faultsim as fs
from faultsim.reference.fars.knapsack import knapsack as slow_knapsack

# (jobs at risk, spare nodes, largest job): a small cluster, a large one, and the whole 32x32x64 machine.
CASES = {
    "10 jobs, 100 nodes": (10, 100, 30),
    "100 jobs, 1000 nodes": (100, 1000, 100),
    "100 jobs, 65536 nodes": (100, 65536, 3000),
}


def numpy_knapsack(values, weights, capacity):
    """The usual programme: a row of best values by capacity, a byte a decision."""
    best = np.zeros(capacity + 1)
    decisions = np.zeros((len(values), capacity + 1), dtype=bool)
    for item, (value, weight) in enumerate(zip(values, weights, strict=True)):
        with_it = best[: capacity + 1 - weight] + value
        np.greater(with_it, best[weight:], out=decisions[item, weight:])
        best[weight:] = np.maximum(with_it, best[weight:])
    taken, room = np.zeros(len(values), dtype=bool), capacity
    for item in reversed(range(len(values))):
        if decisions[item, room]:
            taken[item] = True
            room -= weights[item]
    return taken, best[capacity]


SOLVERS = {"faultsim": fs.knapsack, "numpy": numpy_knapsack, "reference": slow_knapsack}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_knapsack(benchmark, solver, case):
    n, capacity, largest = CASES[case]
    if solver == "reference" and n * capacity > 1_000_000:
        pytest.skip("the plain twin needs seconds for this one")
    rng = np.random.default_rng(0)
    values, weights = rng.random(n), rng.integers(1, largest, n)
    benchmark.group = case
    taken, total = benchmark(SOLVERS[solver], values, weights, capacity)
    assert (list(taken), total) == (
        fs.knapsack(values, weights, capacity)[0].tolist(),
        fs.knapsack(values, weights, capacity)[1],
    )
    if benchmark.stats:
        rate = 1 / benchmark.stats.stats.min
        benchmark.extra_info["problems/s"] = rate
        print(f"\n{solver}, {case}: {rate:,.0f} problems/s, {rate * n * capacity:.3g} table entries/s")
