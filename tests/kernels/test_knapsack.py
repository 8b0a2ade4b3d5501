"""The 0-1 knapsack, its twin and an exhaustive search: the rule of model.md#knapsack."""

from itertools import product
from math import nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import faultsim as fs
from faultsim._core.fars.knapsack import Knapsack
from faultsim.reference.fars.knapsack import knapsack as slow_knapsack
from helpers.refusals import refusals, refused

# Small whole values make ties; fractions and huge ones make sums that round.
tied = st.integers(-2, 6).map(float)
fractions = st.floats(-1, 100, allow_nan=False)
huge = st.sampled_from([1e300, 1e16, 1.0, 0.1, -1.0])


@st.composite
def problems(draw, max_items, max_weight):
    value = draw(st.sampled_from([tied, fractions, huge]))
    step = draw(st.integers(1, 4))  # weights with a common divisor
    n = draw(st.integers(0, max_items))
    weights = draw(st.lists(st.integers(0, max_weight).map(lambda w: w * step), min_size=n, max_size=n))
    values = draw(st.lists(value, min_size=n, max_size=n))
    capacity = draw(st.integers(0, sum(weights) + 3))
    return values, weights, capacity


def check_agree(values, weights, capacity):
    """Assert that fast and slow give the same, and return it."""
    taken, total = fs.knapsack(values, weights, capacity)
    assert (taken.tolist(), total) == slow_knapsack(values, weights, capacity)
    return taken, total


def exhaustive(values, weights, capacity):
    """The best total, summed in item order, over every subset that fits."""
    best = 0.0
    for chosen in product((False, True), repeat=len(values)):
        if sum(w for w, c in zip(weights, chosen, strict=True) if c) <= capacity:
            best = max(best, sum(v for v, c in zip(values, chosen, strict=True) if c))
    return best


@given(problem=problems(max_items=40, max_weight=30))
@example(problem=([1.0] * 3, [0, 0, 64], 64))
@example(problem=([1.0, 2.0, 3.0], [63, 64, 65], 128))
def test_fast_equals_slow(problem):
    check_agree(*problem)


@given(problem=problems(max_items=6, max_weight=400))
def test_fast_equals_slow_over_several_words(problem):
    check_agree(*problem)


@given(problem=problems(max_items=9, max_weight=12))
def test_total_is_the_best_of_all_subsets(problem):
    values, weights, capacity = problem
    taken, total = check_agree(*problem)
    assert sum(np.asarray(weights)[taken]) <= capacity
    assert total == sum(np.asarray(values)[taken].tolist())
    if all(float(value).is_integer() and abs(value) < 100 for value in values):
        assert total == exhaustive(values, weights, capacity)
    else:
        # Rounded sums of huge values may hide small ones from the programme: then only the relative size is promised.
        assert total == pytest.approx(exhaustive(values, weights, capacity), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_exhaustive_search_of_fourteen_items(seed):
    rng = np.random.default_rng(seed)
    values, weights = rng.integers(-3, 20, 14).astype(float).tolist(), rng.integers(0, 15, 14).tolist()
    capacity = sum(weights) // 2
    _, total = check_agree(values, weights, capacity)
    assert total == exhaustive(values, weights, capacity)


@pytest.mark.parametrize("seed", range(5))
def test_large_problems_equal_integer_programming(seed):
    from scipy.optimize import Bounds, LinearConstraint, milp

    rng = np.random.default_rng(seed)
    n = 60
    values, weights = rng.integers(1, 1000, n).astype(float), rng.integers(1, 200, n)
    capacity = int(weights.sum() * 0.3)
    taken, total = fs.knapsack(values, weights, capacity)
    assert weights[taken].sum() <= capacity
    answer = milp(
        -values,
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(weights[None, :], ub=capacity),
    )
    assert answer.success
    assert total == pytest.approx(-answer.fun, rel=1e-9)


@pytest.mark.parametrize("solve", [fs.knapsack, slow_knapsack], ids=["fast", "slow"])
def test_ties_go_to_the_earlier_items(solve):
    # A later item is taken only if it is strictly better, so of equals the first ones stay.
    assert list(solve([1.0, 1.0, 1.0], [2, 2, 2], 4)[0]) == [True, True, False]
    assert list(solve([3.0, 1.0, 2.0], [3, 1, 2], 3)[0]) == [True, False, False]
    assert list(solve([1.0, 2.0, 3.0], [1, 2, 3], 3)[0]) == [True, True, False]


@pytest.mark.parametrize("solve", [fs.knapsack, slow_knapsack], ids=["fast", "slow"])
def test_worthless_and_weightless_items(solve):
    assert list(solve([0.0, -1.0, 5.0, 1.0], [0, 0, 0, 1], 0)[0]) == [False, False, True, False]
    assert solve([0.0, -1.0, 5.0, 1.0], [0, 0, 0, 1], 0)[1] == 5.0


def test_no_items_and_no_room():
    taken, total = fs.knapsack([], [], 10)
    assert (taken.dtype, len(taken), total) == (np.bool_, 0, 0.0)
    taken, total = fs.knapsack([1.0], [1], 0)
    assert (taken.tolist(), total) == ([False], 0.0)


def test_capacity_and_weights_past_any_table_when_everything_fits():
    taken, total = fs.knapsack([1.0, 2.0], [2**62, 2**61], 2**70)
    assert (taken.tolist(), total) == ([True, True], 3.0)


def test_common_divisor_shrinks_the_table():
    taken, total = fs.knapsack([1.0, 2.0, 2.5], [2**60, 2**60, 2**61], 2**61 + 5)
    assert (taken.tolist(), total) == ([True, True, False], 3.0)
    # Items without a weight are divided by anything, wherever they stand.
    taken, total = fs.knapsack([0.5, 1.0, 0.25, 2.5, 2.0], [0, 2**60, 0, 2**61, 2**60], 2**61 + 5)
    assert (taken.tolist(), total) == ([True, True, True, False, True], 3.75)


def test_table_past_all_memory_is_refused():
    refused(MemoryError, "knapsack of 2 items and capacity", fs.knapsack, [1.0, 2.0], [2**62 - 1, 2**62], 2**62)


def test_scratch_serves_problems_of_any_size_in_turn():
    rng = np.random.default_rng(7)
    sack = Knapsack()
    for n in (5, 60, 1, 0, 33):
        values, weights = rng.random(n), rng.integers(0, 90, n)
        capacity = int(weights.sum()) // 3
        taken = np.ones(n, dtype=np.uint8)
        total = sack.solve(values, weights, capacity, taken)
        assert (taken.astype(bool).tolist(), total) == slow_knapsack(values.tolist(), weights.tolist(), capacity)


test_bad_arguments_are_refused = refusals(
    fs.InputError,
    lambda arguments: fs.knapsack(*arguments),
    (([1.0], [1, 2], 3), "1 values but 2 weights"),
    (([nan], [1], 3), r"values\[0\] is nan"),
    (([1.0, np.inf], [1, 1], 3), r"values\[1\] is inf"),
    (([[1.0]], [1], 3), r"values must be a row of numbers, not an array of shape \(1, 1\)"),
    ((["a"], [1], 3), "values must be a row of numbers"),
    (([1.0], [[1]], 3), r"weights must be a row of whole numbers, not an array of shape \(1, 1\)"),
    (([1.0], [1.5], 3), r"weights\[0\] is 1.5"),
    (([1.0], [-1], 3), r"weights\[0\] is -1"),
    (([1.0], [2**63], 3), r"weights\[0\] is 9223372036854775808"),
    (([1.0], ["a"], 3), "weights must be whole numbers"),
    (([1.0], [1], 2.5), "capacity must be a whole number, not 2.5"),
    (([1.0], [1], -1), "capacity must be 0 or more, not -1"),
)
