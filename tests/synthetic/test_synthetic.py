"""Made-up workloads: the moments they promise, the statistics they stand in for, and the same bytes for a seed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.synthetic import HyperErlang, HyperErlangModel, hyper_erlang_fit
from faultsim.synthetic.stand_in import Mix, counts, daily_arrivals, draw_mix, in_series, site_schedule
from helpers.refusals import refusals, refused

GENERATORS: dict[str, Callable[[int, object], fs.Workload]] = {
    "exponential": lambda n, rng: fs.synthetic.exponential(n, rng=rng, mean_gap=60, mean_runtime=600, sizes=[1, 2, 5]),
    "hyper_erlang": lambda n, rng: fs.synthetic.hyper_erlang(n, rng=rng, model=fs.synthetic.lublin(400, rng=1)),
    "llnl_like": fs.synthetic.llnl_like,
    "lublin": fs.synthetic.lublin,
    "nasa_like": fs.synthetic.nasa_like,
    "sdsc_like": fs.synthetic.sdsc_like,
}


@pytest.mark.parametrize("name", GENERATORS)
def test_what_all_generators_share(name: str) -> None:
    make = GENERATORS[name]
    for n in (1, 2, 3, 10, 101):
        log = make(n, rng=5)
        assert len(log) == n
        assert log.name
    assert make(50, rng=7) == make(50, rng=7)
    assert make(50, rng=7) != make(50, rng=8)
    assert make(50, rng=np.random.Generator(np.random.PCG64DXSM(7))) == make(50, rng=7)
    rng = np.random.default_rng(3)
    assert make(50, rng=rng) != make(50, rng=rng), "one generator goes on, it does not start again"
    for bad in (None, "7", -1, 1.5, True):
        refused(fs.OptionError, "rng must be a seed .* got", make, 10, rng=bad)
    for bad in (0, -1, 2.5, "ten"):
        refused(fs.OptionError, "jobs must be", make, bad, rng=1)


def test_exponential_means() -> None:
    log = fs.synthetic.exponential(40_000, rng=1, mean_gap=60, mean_runtime=600, sizes=[1, 8], weights=[3, 1])
    assert np.diff(log.submit).mean() == pytest.approx(60, rel=0.02)
    assert log.runtime.mean() == pytest.approx(600, rel=0.02)
    assert log.runtime.std() == pytest.approx(600, rel=0.03)
    assert (log.size == 8).mean() == pytest.approx(0.25, abs=0.01)
    rounded = fs.synthetic.exponential(40_000, rng=1, mean_gap=60, mean_runtime=600, mean_size=10, max_size=64)
    assert rounded.size.min() == 1
    assert rounded.size.max() <= 64
    assert rounded.size.mean() == pytest.approx(10, rel=0.03)


test_exponential_refuses = refusals(
    fs.OptionError,
    lambda options: fs.synthetic.exponential(3, rng=1, **options),
    ({"mean_gap": 0, "mean_runtime": 1}, "mean_gap must be above 0 seconds, got 0"),
    ({"mean_gap": 1, "mean_runtime": float("nan")}, "mean_runtime must be above 0 seconds"),
    ({"mean_gap": 1, "mean_runtime": 1, "sizes": []}, "sizes: expected at least one"),
    ({"mean_gap": 1, "mean_runtime": 1, "weights": [1, 2]}, "weights: expected 1 numbers"),
    ({"mean_gap": 1, "mean_runtime": 1, "mean_size": -1}, "mean_size must be above 0"),
    ({"mean_gap": 1, "mean_runtime": 1, "mean_size": 3, "max_size": 0}, "max_size must be at least 1"),
)


@given(
    stages=st.integers(1, 12),
    mean1=st.floats(1, 1e5),
    ratio=st.floats(0.001, 0.9),
    p1=st.floats(0.02, 0.98),
)
def test_three_moments_are_met(stages: int, mean1: float, ratio: float, p1: float) -> None:
    wanted = HyperErlang(stages, stages / mean1, stages / (mean1 * ratio), p1).moments()
    fit = hyper_erlang_fit(*wanted)
    assert fit.moments() == pytest.approx(wanted, rel=1e-6)
    assert fit.stages <= stages
    assert 0 <= fit.p1 <= 1
    assert 0 < fit.rate1 <= fit.rate2
    one, two, three = wanted
    for n in range(1, fit.stages):  # the smallest order that can do it
        assert n <= 1 / (two / one**2 - 1) * (1 + 1e-6) or one * three / two**2 <= (n + 2) / (n + 1) * (1 + 1e-6)


def test_special_cases_of_the_fit() -> None:
    erlang = hyper_erlang_fit(3.0, 13.5, 81.0)
    assert erlang.stages == 2
    assert erlang.rate1 == erlang.rate2 == pytest.approx(2 / 3)
    hyper = hyper_erlang_fit(*HyperErlang(1, 0.1, 2.0, 0.3).moments())
    assert (hyper.stages, hyper.rate1, hyper.rate2, hyper.p1) == pytest.approx((1, 0.1, 2.0, 0.3))
    for bad in ((1.0, 0.5, 1.0), (1.0, 2.0, 1.0), (0.0, 1.0, 1.0), (1.0, float("nan"), 1.0)):
        refused(fs.InputError, "hyper_erlang_fit", hyper_erlang_fit, *bad)
    refused(fs.InputError, "more than 1000 stages", hyper_erlang_fit, 1.0, 1.0, 1.0)


def test_samples_have_the_moments() -> None:
    fit = HyperErlang(4, 1.186e-4, 6.81e-3, 0.3893)  # service of one-node jobs at CTC, re-fitted: 13,487 s, cv 1.43
    values = fit.sample(200_000, 1)
    assert fit.moments()[0] == pytest.approx(13_487, rel=0.01)
    assert values.mean() == pytest.approx(fit.moments()[0], rel=0.01)
    assert (values**2).mean() == pytest.approx(fit.moments()[1], rel=0.02)


def test_hyper_erlang_workload_is_like_the_one_it_is_fitted_to() -> None:
    log = fs.synthetic.lublin(20_000, rng=1)
    made = fs.synthetic.hyper_erlang(20_000, rng=2, model=HyperErlangModel.fit(log))
    ours, theirs = made.summary(nodes=128), log.summary(nodes=128)
    for key, tolerance in {"runtime_mean": 0.1, "runtime_sd": 0.1, "size_mean": 0.1, "span": 0.15}.items():
        assert ours[key] == pytest.approx(theirs[key], rel=tolerance), key
    assert set(made.size.tolist()) <= set(log.size.tolist())


def test_hyper_erlang_of_odd_logs() -> None:
    constant = fs.Workload(submit=range(0, 1000, 10), runtime=[7.0] * 100, size=[3] * 100)
    made = fs.synthetic.hyper_erlang(200, rng=1, model=constant)
    assert made.runtime.mean() == pytest.approx(7, rel=0.02)
    assert made.runtime.std() < 0.5
    for log in (constant.head(2), constant.with_gap_factor(1).head(2)):
        refused(fs.InputError, "no size class has 3 jobs", HyperErlangModel.fit, log)


def test_lublin_is_like_the_authors_own_sample(data_dir: Path) -> None:
    """The archive's lublin_256 comes from the authors' program, all jobs of one type, on 256 nodes."""
    theirs = fs.read_swf(data_dir / "swf" / "lublin_256.swf.gz")
    ours = fs.concat([fs.synthetic.lublin(10_000, rng=seed, nodes=256, types=False) for seed in range(3)])
    for key, tolerance in {
        "runtime_mean": 0.03,
        "runtime_sd": 0.04,
        "size_mean": 0.05,
        "size_sd": 0.05,
        "power_of_two_share": 0.02,
    }.items():
        assert ours.summary()[key] == pytest.approx(theirs.summary()[key], rel=tolerance), key
    assert (ours.size == 1).mean() == pytest.approx((theirs.size == 1).mean(), abs=0.02)
    assert ours.runtime.max() <= 162_754
    # The span itself is in the hands of a few gaps of days; quantiles of the gaps are not.
    levels = [0.25, 0.5, 0.75, 0.9]
    gaps = [
        np.quantile(np.diff(log.submit), levels) for log in (fs.synthetic.lublin(30_000, rng=1, types=False), theirs)
    ]
    assert gaps[0] == pytest.approx(gaps[1], rel=0.08)
    hours = [np.bincount((log.submit % 86_400 // 3600).astype(int), minlength=24) / len(log) for log in (ours, theirs)]
    assert np.abs(hours[0] - hours[1]).max() < 0.02, "the daily cycle is at other hours"


def test_lublin_types_and_machines() -> None:
    log = fs.synthetic.lublin(20_000, rng=1)
    batch, active = log[log.user == 1], log[log.user == 0]
    assert batch.runtime.mean() > 5 * active.runtime.mean()
    assert active.size.max() <= 46
    assert log.size.max() == 128
    assert (batch.size == 1).mean() == pytest.approx(0.2927, abs=0.02)
    assert (active.size == 1).mean() == pytest.approx(0.1541, abs=0.02)
    for nodes in (8, 100, 1024):
        sizes = fs.synthetic.lublin(5000, rng=2, nodes=nodes).size
        assert nodes / 2 < sizes.max() <= nodes
    refused(
        fs.OptionError, "nodes: expected a whole number of at least 8, got 4", fs.synthetic.lublin, 10, rng=1, nodes=4
    )


# [krevat2002] Table 1, as printed.
TABLE_1 = {
    "nasa_like": {"size_mean": 6.3, "size_sd": 14.4, "bin_work_mean": 0.881e6, "bin_work_sd": 5.41e6},
    "sdsc_like": {"size_mean": 9.7, "size_sd": 14.8, "bin_work_mean": 7.1e6, "bin_work_sd": 25.5e6},
}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", TABLE_1)
def test_look_alikes_keep_table_1_within_5_percent(name: str, seed: int) -> None:
    log = GENERATORS[name](10_000, rng=seed)
    summary = log.summary(nodes=128)
    for key, printed in TABLE_1[name].items():
        assert summary[key] == pytest.approx(printed, rel=0.05), key
    days, load = {"nasa_like": (17.08, 0.596), "sdsc_like": (110.6, 0.744)}[name]
    assert summary["span"] / 86_400 == pytest.approx(days, rel=1e-3)
    assert summary["offered_load"] == pytest.approx(load, rel=0.01)
    assert log.max_nodes == 128
    assert (log.submit == np.floor(log.submit)).all()
    assert (log.runtime == np.floor(log.runtime)).all()
    assert log.runtime.min() >= 1


def test_nasa_like_in_detail() -> None:
    log = fs.synthetic.nasa_like(10_000, rng=1)
    assert log.summary()["power_of_two_share"] == 1.0
    assert (log.estimate == -1).all()
    checks = (log.size == 1) & (log.runtime == 36) & (log.user == 0)
    assert int(checks.sum()) == 6_135


# Sizes of at most 128 that have a box on a 4x4x8 torus (products of extents).
FEASIBLE = {a * b * c for a in range(1, 5) for b in range(1, 5) for c in range(1, 9)}


def test_sdsc_like_in_detail() -> None:
    log = fs.synthetic.sdsc_like(10_000, rng=1)
    assert len(FEASIBLE) == 38
    assert np.mean([size not in FEASIBLE for size in log.size.tolist()]) == pytest.approx(0.044, abs=0.006)
    assert (log.estimate >= log.runtime).all()
    assert (log.estimate % 300 == 0).mean() > 0.8
    assert log.estimate[log.runtime <= 64_800].max() == 64_800
    assert 0.3 < np.corrcoef(np.log2(log.size[1:]), np.log2(log.size[:-1]))[0, 1] < 0.6, "jobs come in series"


@pytest.mark.parametrize("name", TABLE_1)
def test_look_alikes_scale_with_n(name: str) -> None:
    small, large = (GENERATORS[name](n, rng=1).summary(nodes=128) for n in (2_000, 20_000))
    assert small["offered_load"] == pytest.approx(large["offered_load"], rel=0.03)
    assert small["size_mean"] == pytest.approx(large["size_mean"], rel=0.03)
    assert large["span"] / small["span"] == pytest.approx(10, rel=1e-3)


def test_day_and_night() -> None:
    log = fs.synthetic.sdsc_like(10_000, rng=3)
    hour = ((log.submit + 13 * 3600) % 86_400 // 3600).astype(int)
    by_hour = np.bincount(hour, minlength=24)
    assert by_hour[14:20].mean() > 1.7 * by_hour[4:10].mean()


@pytest.mark.parametrize("seed", range(3))
def test_llnl_like(seed: int) -> None:
    log = fs.synthetic.llnl_like(10_000, rng=seed)
    summary = log.summary()
    assert (log.max_nodes, summary["nodes"], summary["power_of_two_share"]) == (256, 256, 1.0)
    assert summary["size_mean"] == pytest.approx(46.7, abs=0.1)
    assert summary["offered_load"] == pytest.approx(0.62, abs=0.01)
    assert summary["span"] == pytest.approx(53.56 * 86_400, rel=1e-3)
    assert log.runtime[log.size != 64].max() <= 4 * 3600
    assert 4 * 3600 < log.runtime.max() <= 40 * 3600
    assert log.runtime[log.size < 8].max() <= 2 * 3600
    assert (log.estimate == -1).all()
    assert (log.submit == np.floor(log.submit)).all()
    by_hour = np.bincount((log.submit % 86_400 // 3600).astype(int), minlength=24)
    assert by_hour[9:17].mean() > 1.8 * by_hour[0:7].mean()
    assert fs.synthetic.llnl_like(2000, rng=seed).summary()["offered_load"] == pytest.approx(0.62, abs=0.02)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=10), st.integers(0, 1000))
def test_counts_add_up_and_are_within_one(shares: list[float], n: int) -> None:
    whole = counts(shares, n)
    assert whole.sum() == n
    assert (np.abs(whole - np.array(shares) / sum(shares) * n) < 1 + 1e-9).all()


@given(st.integers(1, 200), st.integers(0, 1000))
def test_pieces_of_a_look_alike(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mix = [Mix(1, 3.0, 50.0, (1, 5, 10, 20, 40, 90, 400)), Mix(7, 1.0, 500.0, (1, 5, 90, 200, 400, 900, 4000))]
    drawn = draw_mix(mix, n, rng)
    assert sum(len(runtime) for _, runtime in drawn) == n
    size, runtime, series = in_series(drawn, rng, length=4, likeness=0.5, spread=1.5, slots=5)
    for wanted, times in drawn:
        assert np.array_equal(np.sort(runtime[size == wanted]), np.sort(times))
    for number in np.unique(series):
        assert len(np.unique(size[series == number])) == 1
    gaps = [(0.0, 0.0), (1.0, 3.0)]
    submit = daily_arrivals(n, rng, span=5000.0, hours=range(1, 25), gaps=gaps, memory=0.5, begin=50_000.0)
    assert (np.diff(submit) >= 0).all()
    assert submit[0] == 0
    starts = site_schedule(submit, runtime, size, nodes=8, patience=60.0)
    assert (starts >= submit).all()
    for time in starts:  # never more than the machine
        assert size[(starts <= time) & (starts + runtime > time)].sum() <= 8


def test_run_times_of_a_series_are_the_more_alike_the_higher_the_likeness() -> None:
    """By rank, the spread within a series: that of a free draw at 0, that of neighbours at 1, and between them."""
    spread = []
    for likeness in (0.0, 0.5, 0.9, 1.0):
        rng = np.random.default_rng(3)
        drawn = [(1, np.arange(4000.0))]
        _, runtime, series = in_series(drawn, rng, length=8, likeness=likeness, spread=1.0, slots=10)
        spread.append(np.mean([np.ptp(runtime[series == one]) for one in np.unique(series)]))
    assert spread[0] > 1.3 * spread[1] > 3 * spread[2] > 9 * spread[3] > 0
