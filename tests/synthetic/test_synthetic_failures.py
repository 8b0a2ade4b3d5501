"""Made-up failure traces against what theory says about them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.synthetic import ExponentialTimes, LognormalTimes, WeibullTimes, exponential_failures, weibull_failures
from faultsim.synthetic.failures import _places, reorder_gaps, zipf_shares
from helpers.refusals import refused

DAY = 86_400.0
HORIZON = 62 * DAY


def gaps(trace: fs.FailureTrace) -> np.ndarray:
    """Gaps between failures, from 0 and up to the end of the span."""
    return np.diff(np.concatenate([[0.0], trace.time, [trace.span]]))


# -- gaps ------------------------------------------------------------------------------------------------------------


def test_the_mean_of_a_weibull_gap() -> None:
    """18,000 s times Gamma(1 + 1/shape)."""
    for shape, mean in ((0.55, 30_644), (0.65, 24_593), (0.85, 19_583), (0.2, 2.16e6), (1.0, 18_000)):
        times = WeibullTimes(shape, 18_000.0)
        assert times.mean == pytest.approx(mean, rel=2e-5)
        if shape > 0.5:
            sample = times.sample(200_000, 3)
            assert abs(sample.mean() - times.mean) < 4 * sample.std() / math.sqrt(200_000)


@pytest.mark.parametrize(("shape", "expected"), [(0.2, 14.2), (0.55, 176), (0.65, 219), (0.85, 274)])
def test_zhangs_processes_over_62_days(shape: float, expected: float) -> None:
    """Mean counts of the renewal processes of Zhang's Table 1, from a Monte Carlo run of its own (notes, 3.2)."""
    counts = [len(weibull_failures(320, HORIZON, shape, 18_000, rng=seed)) for seed in range(300)]
    assert abs(np.mean(counts) - expected) < 4 * np.std(counts) / math.sqrt(300) + 0.5  # which is how it is rounded


def test_exponential_failures_are_a_poisson_process() -> None:
    traces = [exponential_failures(100, HORIZON, mtbf=30 * DAY, rng=seed) for seed in range(200)]
    counts = np.array([len(trace) for trace in traces])
    expected = 100 * 62 / 30
    assert abs(counts.mean() - expected) < 4 * math.sqrt(expected / 200)
    assert 0.7 < counts.var() / expected < 1.4  # chi square with 199 degrees of freedom: 0.1 % on each side
    places = np.bincount(np.concatenate([trace.node for trace in traces]), minlength=100)
    assert ((places - places.mean()) ** 2).sum() / places.mean() < 149  # chi square, 99 degrees of freedom, 0.1 %
    exact = exponential_failures(100, HORIZON, mtbf=1.0, count=500, rng=1)
    assert len(exact) == 500
    assert abs(exact.time.mean() - HORIZON / 2) < 4 * HORIZON / math.sqrt(12 * 500)
    assert exact.name == "exponential"


@given(st.lists(st.integers(0, 50), max_size=40), st.sampled_from([2, 4, 8, 32]))
def test_reordering_keeps_the_gaps_and_sorts_the_halves(values: list[int], window: int) -> None:
    before = np.array(values, dtype=float)
    after = reorder_gaps(before, window)
    assert np.array_equal(before, np.array(values, dtype=float)), "the argument is left alone"
    for begin in range(0, len(values), window):
        run = after[begin : begin + window]
        half = window // 2 if len(run) == window else len(run) // 2
        assert sorted(run[:half]) == sorted(values[begin : begin + half])
        assert sorted(run) == sorted(values[begin : begin + window])
        assert (np.diff(run[:half]) <= 0).all()
        assert (np.diff(run[half:]) >= 0).all()
    if window == 2:
        assert np.array_equal(after, before)


def test_window_keeps_the_multiset_of_gaps_and_clusters() -> None:
    plain = weibull_failures(320, HORIZON, 0.55, 18_000, count=1023, window=2, rng=5)
    spread = []
    for window in (8, 32, 64):
        other = weibull_failures(320, HORIZON, 0.55, 18_000, count=1023, window=window, rng=5)
        assert np.allclose(np.sort(gaps(other)), np.sort(gaps(plain)), rtol=1e-9, atol=1e-6)
        assert np.array_equal(other.node, plain.node)
        assert np.array_equal(other.coin, plain.coin)
        spread.append(np.corrcoef(gaps(other)[1:], gaps(other)[:-1])[0, 1])
    plain_spread = np.corrcoef(gaps(plain)[1:], gaps(plain)[:-1])[0, 1]
    assert min(spread) > plain_spread + 0.1  # a short gap beside short ones
    free = weibull_failures(320, HORIZON, 0.55, 18_000, window=2, rng=5)
    tied = weibull_failures(320, HORIZON, 0.55, 18_000, window=64, rng=5)
    assert np.allclose(np.sort(gaps(free)), np.sort(gaps(tied)), atol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 78, 138, 198, 266, 4000])
@pytest.mark.parametrize("burst", [None, 1.0, 8.0])
def test_counts_are_exact(count: int, burst: float | None) -> None:
    trace = weibull_failures(320, HORIZON, 0.55, 18_000, window=32, count=count, burst=burst, rng=1)
    assert len(trace) == count
    assert trace.span == HORIZON
    assert not count or 0 <= trace.time[0] <= trace.time[-1] < HORIZON


def test_a_counted_trace_fills_the_horizon_like_its_gaps() -> None:
    """The gaps are the drawn ones up to one factor: the coefficient of variation of Weibull(.85) comes out."""
    trace = weibull_failures(320, HORIZON, 0.85, 1.0, count=20_000, rng=2)
    cv = math.sqrt(math.gamma(1 + 2 / 0.85) / math.gamma(1 + 1 / 0.85) ** 2 - 1)
    assert gaps(trace).sum() == pytest.approx(HORIZON)
    assert gaps(trace).std() / gaps(trace).mean() == pytest.approx(cv, abs=0.04)


# -- places ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "first", "first32"), [(0.01, 0.0033, 0.10), (0.5, 0.029, 0.29), (0.99, 0.153, 0.63)])
def test_zipf_shares(alpha: float, first: float, first32: float) -> None:
    """Shares over 320 nodes (notes, 3.2), and that traces have them."""
    share = zipf_shares(320, alpha)
    assert share.sum() == pytest.approx(1.0)
    assert share[0] == pytest.approx(first, abs=5e-4)
    assert share[:32].sum() == pytest.approx(first32, abs=6e-3)
    trace = weibull_failures(320, HORIZON, 1.0, 1000.0, zipf=alpha, count=100_000, rng=4)
    places = np.bincount(trace.node, minlength=320)
    assert ((places - 100_000 * share) ** 2 / (100_000 * share)).sum() < 403  # chi square, 319 degrees, 0.1 %


def test_permuted_ranks() -> None:
    plain = weibull_failures(320, HORIZON, 1.0, 1000.0, zipf=0.99, count=20_000, rng=4)
    mixed = weibull_failures(320, HORIZON, 1.0, 1000.0, zipf=0.99, count=20_000, permute=True, rng=4)
    counts = np.bincount(plain.node, minlength=320), np.bincount(mixed.node, minlength=320)
    assert sorted(counts[0]) == sorted(counts[1])
    assert not np.array_equal(*counts)
    assert np.array_equal(plain.time, mixed.time)


# -- bursts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", [1.0, 2.0, 8.0])
def test_bursts_are_geometric_and_hit_distinct_nodes(mean: float) -> None:
    trace = weibull_failures(512, HORIZON, 1.0, 1000.0, zipf=0.5, burst=mean, rng=6)
    instants, size = np.unique(trace.time, return_counts=True)
    assert len(np.unique(np.stack([trace.time, trace.node]), axis=1).T) == len(trace)
    assert abs(len(instants) - HORIZON / 1000) < 4 * math.sqrt(HORIZON / 1000)
    assert abs(size.mean() - mean) <= 4 * math.sqrt(mean * (mean - 1) / len(size))
    p = 1 / mean
    for k in (1, 2, 5):
        share = p * (1 - p) ** (k - 1)
        assert abs((size == k).mean() - share) <= 4 * math.sqrt(share * (1 - share) / len(size))
    together = np.diff(trace.time) == 0
    assert (np.diff(trace.node)[together] > 0).all(), "ascending in a burst"


def test_a_burst_is_drawn_without_replacement() -> None:
    """Two of three nodes, weights 1, 1/2, 1/3: probability of each pair, by hand."""
    trace = weibull_failures(3, HORIZON, 1.0, 100.0, zipf=1.0, burst=2.0, rng=6, any_rate=True)
    instants, size = np.unique(trace.time, return_counts=True)
    pairs = trace.node[np.isin(trace.time, instants[size == 2])].reshape(-1, 2)
    w = zipf_shares(3, 1.0)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        share = w[a] * w[b] / (1 - w[a]) + w[b] * w[a] / (1 - w[b])
        seen = (pairs == (a, b)).all(axis=1).mean()
        assert abs(seen - share) < 4 * math.sqrt(share * (1 - share) / len(pairs))
    assert size.max() == 3  # all of them, never more


def test_a_last_burst_is_cut_to_the_count() -> None:
    for count in range(1, 40):
        assert len(weibull_failures(64, HORIZON, 1.0, 1000.0, burst=8.0, count=count, rng=count)) == count


# -- down times, coins, seeds ----------------------------------------------------------------------------------------


def test_down_times() -> None:
    def trace(downtime: Any) -> fs.FailureTrace:
        return weibull_failures(320, HORIZON, 1.0, 1000.0, count=40_000, downtime=downtime, rng=9)

    assert set(trace(3600).downtime) == {3600.0}
    drawn = trace(ExponentialTimes(600)).downtime
    assert abs(drawn.mean() - 600) < 4 * 600 / math.sqrt(40_000)
    times = LognormalTimes(mean=600, sd=900)
    drawn = trace(times).downtime
    assert abs(drawn.mean() - 600) < 4 * 900 / math.sqrt(40_000)
    assert (drawn < times.median).mean() == pytest.approx(0.5, abs=0.01)
    assert trace(lambda n, rng: np.arange(n)).downtime[:3].tolist() == [0, 1, 2]
    fit = fs.synthetic.HyperErlang(2, 0.1, 0.2, 0.5)
    assert trace(fit).downtime.mean() == pytest.approx(fit.moments()[0], rel=0.05)
    assert np.array_equal(trace(5).coin, trace(ExponentialTimes(600)).coin)


def test_a_seed_gives_the_same_trace_and_another_seed_another() -> None:
    def trace(rng: Any) -> fs.FailureTrace:
        return weibull_failures(320, HORIZON, 0.55, 18_000, window=32, burst=2, count=266, rng=rng)

    assert trace(1) == trace(1)
    assert trace(1) == trace(np.random.Generator(np.random.PCG64DXSM(1)))
    assert trace(1) != trace(2)
    rng = np.random.default_rng(1)
    first = trace(rng)
    assert first != trace(rng)
    assert len(set(first.coin)) == 266


@pytest.mark.parametrize("mtbf", [math.inf, "inf"])
def test_nodes_that_never_fail(mtbf: Any) -> None:
    def trace(**options: Any) -> fs.FailureTrace:
        return fs.synthetic.exponential_failures(4, 1000, mtbf=mtbf, rng=1, **options)

    assert (len(trace()), trace().span, len(trace(count=3))) == (0, 1000, 3)
    for uptimes in ("exponential", "bathtub_per_gap", "bathtub_per_node"):
        assert len(fs.synthetic.renewal_failures(4, 1000, mtbf=mtbf, downtime=10, uptimes=uptimes, rng=1)) == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"nodes": 0}, "nodes must be at least 1"),
        ({"span": 0}, "span must be above 0 s, got 0"),
        ({"span": math.inf}, "span must be above 0 s and finite, got inf"),
        ({"shape": 0}, "shape must be at least 0.05, got 0"),
        ({"scale": -1}, "scale must be above 0 s, got -1"),
        ({"window": 3}, "window must be even"),
        ({"window": 0}, "window must be at least 2"),
        ({"zipf": -0.1}, "zipf must be at least 0, got -0.1"),
        ({"downtime": -5}, "downtime must be at least 0 s, got -5"),
        ({"downtime": math.nan}, "downtime must be at least 0 s, got nan"),
        ({"downtime": lambda n, rng: [1.0]}, r"downtime: expected 266 values, got an array of shape \(1,\)"),
        ({"downtime": lambda n, rng: -np.ones(n)}, r"downtime: drew -1.0; expected finite times"),
        ({"count": -1}, "count must be at least 0"),
        ({"count": 2.5}, "count must be a whole number, got 2.5"),
        ({"burst": 0.5}, "burst must be at least 1 nodes, got 0.5"),
        ({"permute": 1}, "permute must be True or False, got 1"),
        ({"rng": None}, "rng must be a seed"),
        ({"count": None, "scale": 1e-6}, "weibull_failures: scale=1e-06 is 1e-06 s: 2.7e[+]08 failures per node"),
    ],
)
def test_bad_options(changed: dict[str, Any], message: str) -> None:
    options = {"nodes": 320, "span": HORIZON, "shape": 1.0, "scale": 18_000.0, "count": 266, "rng": 1}
    refused(OptionError, f"^{message}", weibull_failures, **{**options, **changed})


# -- nodes that fail and are repaired --------------------------------------------------------------------------------


def renewal(**changed: Any) -> fs.FailureTrace:
    options = {"nodes": 300, "span": 400 * DAY, "mtbf": 2 * DAY, "downtime": 0.25 * DAY, "any_rate": True, "rng": 1}
    return fs.synthetic.renewal_failures(**{**options, **changed})


def up_times(trace: fs.FailureTrace) -> np.ndarray:
    """Every time from a repair to the next failure of the same node."""
    order = np.argsort(trace.node, kind="stable")
    node, begin = trace.node[order], trace.time[order]
    end = begin + trace.downtime[order]
    return (begin[1:] - end[:-1])[node[1:] == node[:-1]]


@pytest.mark.parametrize("uptimes", ["exponential", "bathtub_per_gap", "bathtub_per_node"])
@pytest.mark.parametrize("repairs", ["exponential", "constant"])
def test_availability_of_an_alternating_renewal_process(uptimes: str, repairs: str) -> None:
    """A = MTBF / (MTBF + MTTR), whatever the distributions."""
    trace = renewal(uptimes=uptimes, repairs=repairs)
    up = up_times(trace)
    assert (up >= 0).all(), "outages of a node do not overlap"
    assert trace.merge_overlaps() is trace
    assert abs(up.mean() / (2 * DAY) - 1) < 4 * up.std() / (2 * DAY) / math.sqrt(len(up)) + 0.01  # cut at the horizon
    # From the middle on the start as new is forgotten.
    late = trace.window(200 * DAY, math.inf, under_way=True).summary(nodes=300)["availability"]
    cycles = 300 * 200 / 2.25
    # Standard deviation of the mean down share: by the delta method, 0.111 * 0.889 * (cv of up + cv of down).
    assert late == pytest.approx(2 / 2.25, abs=4 * 0.0988 * (up.std() / up.mean() + 1) / math.sqrt(cycles))


def test_expected_failures_of_exponential_nodes() -> None:
    """t / (MTBF + MTTR) in the long run."""
    trace = renewal()
    expected = 300 * 400 / 2.25
    # A renewal count has the variance t * cv^2 / mean, cv^2 = (2^2 + 0.25^2) / 2.25^2.  Nodes begin as new: less than
    # half a failure more for each.
    sd = math.sqrt(expected * (4 + 0.0625) / 2.25**2)
    assert -4 * sd < len(trace) - expected < 4 * sd + 300 * 0.5


def test_bathtub_mixture_drawn_for_each_gap() -> None:
    """Moments of the mixture of the three shapes at one scale: the mean is the MTBF, the squared cv 4.355."""
    up = up_times(renewal(uptimes="bathtub_per_gap", span=4000 * DAY, downtime=0.0))
    shapes = (0.5, 1.0, 1.5)
    mean = np.mean([math.gamma(1 + 1 / k) for k in shapes])
    cv2 = np.mean([math.gamma(1 + 2 / k) for k in shapes]) / mean**2 - 1
    assert cv2 == pytest.approx(4.355, abs=1e-3)
    assert up.mean() == pytest.approx(2 * DAY, rel=4 * math.sqrt(cv2 / len(up)) + 0.003)
    assert up.var() / up.mean() ** 2 == pytest.approx(cv2, rel=0.05)


def test_bathtub_with_one_population_a_node() -> None:
    trace = renewal(uptimes="bathtub_per_node", span=4000 * DAY, downtime=0.0)
    for which, shape in enumerate((0.5, 1.0, 1.5)):
        up = up_times(trace[trace.node % 3 == which])
        cv2 = math.gamma(1 + 2 / shape) / math.gamma(1 + 1 / shape) ** 2 - 1
        assert up.mean() == pytest.approx(2 * DAY, rel=4 * math.sqrt(cv2 / len(up)) + 0.003)
        assert up.var() / up.mean() ** 2 == pytest.approx(cv2, rel=0.06)


def test_a_bathtub_brings_early_failures() -> None:
    """Within 1.7 MTBF: more than exponential, per gap more than per node."""
    options: dict[str, Any] = {"nodes": 20_000, "span": 3.46 * DAY, "downtime": 0.0}
    count = {
        kind: len(renewal(uptimes=kind, **options)) for kind in ("exponential", "bathtub_per_gap", "bathtub_per_node")
    }
    assert count["exponential"] == pytest.approx(20_000 * 1.73, rel=0.025)
    assert count["bathtub_per_gap"] / count["exponential"] == pytest.approx(1.31, abs=0.04)
    assert count["bathtub_per_node"] / count["exponential"] == pytest.approx(1.19, abs=0.04)


def test_repair_times_of_any_kind() -> None:
    assert set(renewal(downtime=0.0).downtime) == {0.0}
    assert set(renewal(downtime=100, repairs="constant").downtime) == {100.0}
    assert renewal(downtime=LognormalTimes(3600, 7200)).downtime.mean() == pytest.approx(3600, rel=0.06)
    assert renewal(downtime=lambda n, rng: np.ones(n)).downtime.max() == 1.0
    assert renewal() == renewal(rng=np.random.Generator(np.random.PCG64DXSM(1)))
    assert renewal() != renewal(rng=2)
    refused(OptionError, "unknown distribution of up times 'bathtub'", renewal, uptimes="bathtub")
    refused(OptionError, "unknown distribution of repairs 'normal'", renewal, repairs="normal")
    refused(OptionError, "downtime must be at least 0 s, got -1", renewal, downtime=-1)
    refused(OptionError, "are about .* failures, and at most 10,000,000 are drawn", renewal, mtbf=0.1, downtime=0)


def test_the_largest_draw_there_is_names_a_node_that_is_there() -> None:
    """Ten shares of a tenth add up to the number next to 1, which a draw may be."""

    class Largest:
        def random(self, n: int) -> np.ndarray:
            return np.full(n, 1 - 2.0**-53)

    assert np.cumsum(np.full(10, 0.1))[-1] < 1
    assert _places(np.ones(3, dtype=np.int64), np.full(10, 0.1), Largest()).tolist() == [9, 9, 9]
