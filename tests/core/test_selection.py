"""Which jobs `Fars` moves is the best choice: exhaustive search for few jobs, an integer program for many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from faultsim.reference.fars.knapsack import knapsack as plain_knapsack
from helpers.by_hand import FCFS, cluster
from helpers.moving import moving, stays

T, INTERVAL, CHECKPOINT, RESTART = 20.0, 10.0, 2.0, 1.0
STRATEGIES = ("service_unit_loss", "job_failure_rate", "failure_slowdown")


def gain(strategy, job, k, p):
    """Equations 2 to 4 of [li2009]; the wait of a killed job is that of the last start, here 0."""
    begin, _, size, estimate = job
    f = 1.0 - (1.0 - p) ** k
    lost = T + INTERVAL / 2 - begin
    if strategy == "service_unit_loss":
        return f * size * (lost - CHECKPOINT - RESTART)
    if strategy == "job_failure_rate":
        return f
    return f * (lost + RESTART - CHECKPOINT - RESTART) / max(estimate, 10.0)


@st.composite
def ticks(draw, few, many):
    """(jobs, suspicious nodes of each, p): rigid jobs that all run at 20 s."""
    n = draw(st.integers(few, many))
    sizes = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    begins = sorted(draw(st.lists(st.integers(0, 19), min_size=n, max_size=n)))
    estimates = draw(st.lists(st.integers(31, 99), min_size=n, max_size=n))
    jobs = [(float(b), 30.0, s, float(e)) for b, s, e in zip(begins, sizes, estimates, strict=True)]
    suspicious = [draw(st.integers(0, size)) for size in sizes]
    return jobs, suspicious, draw(st.sampled_from([1.0, 0.7, 0.2]))


def one_tick(case, strategy, spare):
    """Gains and weights of the suspicious jobs, and which of them moved with all their suspicious nodes."""
    jobs, suspicious, p = case
    sizes = [job[2] for job in jobs]
    first = np.cumsum([0, *sizes]).tolist()  # first fit and nothing ends: job i holds the next nodes
    nodes = [first[i] + offset for i, k in enumerate(suspicious) for offset in range(k)]
    fars = {"strategy": {"name": strategy}, "suspicious": "ignore"}
    result = moving(jobs, cluster(sum(sizes) + spare), {2: nodes} if nodes else {}, FCFS, p=p, fars=fars)
    held = {}
    for job, _, _, where in stays(result):
        held.setdefault(job, []).append(set(where))
    suspects = [i for i, k in enumerate(suspicious) if k]
    whole = [len(held[i]) > 1 and not held[i][1] & set(nodes) for i in suspects]
    gains = [gain(strategy, jobs[i], suspicious[i], p) for i in suspects]
    return gains, [suspicious[i] for i in suspects], whole


def total(gains, moved):
    return sum(v for v, move in zip(gains, moved, strict=True) if move)


def exhaustive(gains, weights, capacity):
    """The most that any subset that fits is worth."""
    subsets = np.arange(2 ** len(gains))[:, None] >> np.arange(len(gains)) & 1
    return (subsets @ np.array(gains))[subsets @ np.array(weights, int) <= capacity].max()


def integer_program(gains, weights, capacity):
    """The same, by SciPy's branch and cut, with the gap that it is allowed closed."""
    found = milp(
        -np.array(gains), constraints=LinearConstraint(np.array(weights, float), -np.inf, capacity),
        integrality=np.ones(len(gains)), bounds=Bounds(0, 1), options={"mip_rel_gap": 0.0},
    )  # fmt: skip
    assert found.success
    return -found.fun


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_few_jobs_as_exhaustive_search(strategy):
    @given(ticks(1, 10), st.integers(0, 12))
    @settings(max_examples=2 * settings.default.max_examples)
    def best(case, spare):
        gains, weights, whole = one_tick(case, strategy, spare)
        assert total(weights, whole) <= spare
        assert total(gains, whole) == pytest.approx(exhaustive(gains, weights, spare), rel=1e-9)

    best()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n", range(11, 17))
def test_up_to_16_jobs_as_exhaustive_search(strategy, n):
    rng = np.random.default_rng(n)
    for spare in (4, 11, 20):
        sizes, estimates = rng.integers(1, 9, n), rng.integers(31, 90, n)
        jobs = [(float(b), 30.0, int(s), float(e)) for b, s, e in zip(range(n), sizes, estimates, strict=True)]
        case = jobs, [int(rng.integers(1, job[2] + 1)) for job in jobs], 0.7
        gains, weights, whole = one_tick(case, strategy, spare)
        assert len(gains) == n
        assert 0 < sum(whole) < n
        assert total(weights, whole) <= spare
        assert total(gains, whole) == pytest.approx(exhaustive(gains, weights, spare), rel=1e-9)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(4))
def test_many_jobs_as_an_integer_program(strategy, seed):
    rng = np.random.default_rng(seed)
    n = 150
    begins = np.sort(rng.integers(0, 20, n)).astype(float)
    sizes, estimates = rng.integers(1, 40, n).tolist(), rng.integers(31, 90, n).tolist()
    jobs = list(zip(begins.tolist(), [30.0] * n, sizes, map(float, estimates), strict=True))
    case = jobs, [int(rng.integers(1, job[2] + 1)) for job in jobs], 0.7
    spare = int(rng.integers(50, 800))
    gains, weights, whole = one_tick(case, strategy, spare)
    assert len(gains) == n
    assert 0 < sum(whole) < n
    assert total(weights, whole) <= spare
    assert total(gains, whole) == pytest.approx(integer_program(gains, weights, spare), rel=1e-9)


@given(st.data())
def test_the_plain_knapsack_is_an_integer_program(data):
    """Its own capacity, not what the choice left of it; gains below 0 among the items."""
    n = data.draw(st.integers(1, 60))
    gains = data.draw(st.lists(st.integers(-20, 99).map(lambda v: v / 7), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.integers(1, 30), min_size=n, max_size=n))
    capacity = data.draw(st.integers(0, 15 * n))
    taken, best = plain_knapsack(gains, weights, capacity)
    assert total(weights, taken) <= capacity
    assert best == pytest.approx(integer_program(gains, weights, capacity), abs=1e-6)
    assert best == pytest.approx(total(gains, taken))
