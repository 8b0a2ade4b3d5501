"""The reproduction of [krevat2002]: its rules on made-up curves, and all of it on a tiny plan."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from faultsim.reproduce.claims import (
    Verdict,
)
from faultsim.reproduce.krevat2002 import CLAIMS
from faultsim.reproduce.krevat2002.checks import growth, pop_example
from faultsim.reproduce.krevat2002.inputs import FILES, load
from faultsim.reproduce.krevat2002.measures import knee, plotted, saturation
from faultsim.reproduce.krevat2002.runs import COLUMNS, PAPER_GRID, SERIES, Curve, Evidence, plan

RULES = {claim.id: claim for claim in CLAIMS}


# -- the measures


def made(utilization, wait, slowdown=None, c=PAPER_GRID, **columns):
    n = len(c)
    full = {name: np.full(n, np.nan) for name in COLUMNS}
    full |= {"utilization": np.asarray(utilization, float), "mean_wait": np.asarray(wait, float)}
    full["mean_bounded_slowdown"] = np.asarray(wait if slowdown is None else slowdown, float)
    full |= {name: np.asarray(values, float) for name, values in columns.items()}
    return Curve(np.asarray(c), full)


def evidence(curves, mean_runtime=100.0):
    source = SimpleNamespace(log=SimpleNamespace(runtime=np.array([mean_runtime])), label="X", real=True)
    return Evidence({"nasa": source, "sdsc": source}, curves)


def saturating(top, c=PAPER_GRID, load=0.744):
    """A curve whose utilization follows the load up to `top`, and whose wait explodes there."""
    offered = load * np.asarray(c)
    u = np.minimum(offered, top)
    return made(u, 50 / np.maximum(top + 0.01 - u, 0.005) + 1e5 * (offered > top), c=c)


def test_saturation_is_the_highest_point_that_the_paper_plots():
    far = (*PAPER_GRID, 1.6, 1.75)
    e = evidence({("nasa", "FCFS"): saturating(0.95, far, 0.596), ("nasa", "B+M"): saturating(0.95, far, 0.596),
                  ("sdsc", "FCFS"): saturating(0.63)})  # fmt: skip
    assert saturation(e, "nasa", "FCFS") == pytest.approx(59.6 * 1.4)  # the paper plots FCFS up to c = 1.4
    assert saturation(e, "nasa", "B+M") == pytest.approx(95)  # and schedulers with backfilling beyond
    assert saturation(e, "sdsc", "FCFS") == pytest.approx(63)
    assert plotted(e, "nasa", "FCFS").c[-1] == 1.4


def test_knee_is_where_the_wait_passes_ten_run_times():
    curve = made([0.5, 0.6, 0.7], [0, 500, 1500], c=(0.7, 0.8, 0.9))
    assert knee(evidence({("sdsc", "FCFS"): curve}), "sdsc", "FCFS") == pytest.approx(65)
    low = made([0.5, 0.6, 0.7], [0, 5, 15], c=(0.7, 0.8, 0.9))
    assert np.isnan(knee(evidence({("sdsc", "FCFS"): low}), "sdsc", "FCFS"))


def test_a_curve_at_a_utilization_follows_its_rising_part():
    curve = made([0.5, 0.7, 0.6, 0.8], [1, 3, 100, 4], c=(0.7, 0.8, 0.9, 1.0))
    assert curve.at_utilization("mean_wait", [0.4, 0.6, 0.75, 0.9]) == pytest.approx(
        [np.nan, 2, 3.5, np.nan], nan_ok=True
    )
    assert curve.at(0.9)["mean_wait"] == 100


# -- rules on curves where the answer is known


def verdict(label, curves, **more):
    return RULES[label].judge(evidence(curves, **more)).verdict


def test_saturation_claims_hold_at_the_papers_numbers_and_not_far_off():
    far = (*PAPER_GRID, 1.6, 1.75)
    papers = {"FCFS": 0.77, "Migration": 0.80, "Backfill": 0.90, "B+M": 0.89}
    for shift, expected in ((0.0, Verdict.HOLDS), (0.03, Verdict.PARTLY)):
        curves = {("nasa", name): saturating(top - shift, far, 0.596) for name, top in papers.items()}
        assert verdict("K9", curves) is expected
    assert verdict("K9", {("nasa", name): saturating(0.6, far, 0.596) for name in papers}) is Verdict.FAILS
    for shift, expected in ((0.0, Verdict.HOLDS), (-0.03, Verdict.PARTLY), (0.15, Verdict.FAILS)):
        curves = {("sdsc", name): saturating(top + shift) for name, top in (("FCFS", 0.63), ("Migration", 0.73))}
        assert verdict("K11", curves) is expected
    for top, expected in ((0.8, Verdict.HOLDS), (0.75, Verdict.PARTLY), (0.7, Verdict.FAILS)):
        assert verdict("K14", {("sdsc", "Flat FCFS"): saturating(top)}) is expected


def test_migration_claims_follow_the_counts():
    u = np.linspace(0.4, 0.8, len(PAPER_GRID))
    minutes = np.linspace(90, 30, len(PAPER_GRID))
    nasa = {"attempted": 60e4 / (minutes * 60), "makespan": np.full(len(u), 60e4)}
    straight = np.linspace(nasa["attempted"][0], nasa["attempted"][-1], len(u))
    linear = {"attempted": straight, "successful": 0.97 * straight, "makespan": nasa["makespan"]}
    curves = {
        ("nasa", name + which): made(u, u, **linear) for name in ("Migration", "B+M") for which in (", always", "")
    }
    assert verdict("K20", curves) is Verdict.HOLDS
    wrong = dict(linear, makespan=5 * linear["makespan"], attempted=np.where(np.arange(len(u)) % 2, 10, 20))
    curves = {
        ("nasa", name + which): made(u, u, **wrong) for name in ("Migration", "B+M") for which in (", always", "")
    }
    assert verdict("K20", curves) is Verdict.FAILS


def test_capacity_claims_follow_the_shares():
    def point(util, lost):
        return made([util], [1], c=(1.0,), lost=[lost], unused=[1 - util - lost])

    papers = {"FCFS": (0.63, 0.35), "Backfill": (0.63 * 1.15, 0.35 * 0.56), "Migration": (0.63 * 1.13, 0.35 * 0.68),
              "B+M": (0.63 * 1.15, 0.35 * 0.46)}  # fmt: skip
    flat = dict.fromkeys(papers, (0.6, 0.1))
    for shares, expected in ((papers, Verdict.HOLDS), (flat, Verdict.FAILS)):
        curves = {(log, name): point(*share) for log in ("sdsc", "nasa") for name, share in shares.items()}
        assert verdict("K24", curves) is expected
        assert verdict("K26", curves) is expected
    assert verdict("K25", curves) is Verdict.HOLDS


def test_unit_claims_notice_a_wrong_answer():
    good = {"K1": growth(), "K2": pop_example()}
    e = Evidence({}, {}, good)
    assert RULES["K1"].judge(e).verdict is Verdict.HOLDS
    assert RULES["K2"].judge(e).verdict is Verdict.HOLDS
    bad = Evidence({}, {}, {"K1": good["K1"] | {"allocated": 6}, "K2": [3, 4, 6, 8]})
    assert RULES["K1"].judge(bad).verdict is Verdict.FAILS
    assert RULES["K2"].judge(bad).verdict is Verdict.FAILS


# -- inputs


def test_real_spans_give_table_1_to_the_printed_digits(data_dir):
    for folder in (data_dir, data_dir / "swf"):
        sources = load(folder, jobs=None, seed=0)
        assert all(source.real and len(source.log) == 10_000 for source in sources.values())
    e = Evidence(sources, {})
    assert RULES["K4"].judge(e).verdict is Verdict.HOLDS
    assert RULES["K5"].judge(e).verdict is Verdict.HOLDS


def test_look_alikes_say_what_they_are():
    sources = load(None, jobs=50, seed=3)
    assert [source.label for source in sources.values()] == ["NASA-like", "SDSC-like"]
    assert all("stand-in" in source.text and "first 50" in source.text for source in sources.values())
    assert [len(source.log) for source in sources.values()] == [50, 50]


def test_one_real_log_and_one_look_alike(data_dir, tmp_path):
    name = FILES["sdsc"] + ".gz"
    (tmp_path / name).symlink_to(data_dir / "swf" / name)
    sources = load(tmp_path, jobs=20, seed=0)
    assert [source.label for source in sources.values()] == ["NASA-like", "SDSC"]


# -- all of it


@pytest.fixture(scope="module")
def tiny(tiny_study):
    return tiny_study("krevat2002")


def test_runs_are_those_of_the_plan(tiny):
    swept = sum(series.box_order == "extents-descending" for series in SERIES.values())
    assert swept == 10
    expected = swept * 7 + (len(SERIES) - swept) * 2
    assert tiny.done.runs == expected
    with (tiny.out / "runs.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == expected


def test_curves_are_those_of_simulate(tiny):
    source = tiny.done.evidence.sources["sdsc"]
    for name in ("FCFS", "B+M", "Flat Backfill"):
        result = SERIES[name].run(source.log.with_runtime_factor(1.4)).simulate()
        point = tiny.done.evidence.curve("sdsc", name).at(1.4)
        assert point["mean_wait"] == result.metrics["mean_wait"]
        assert point["utilization"] + point["unused"] + point["lost"] == pytest.approx(1)


def test_plans_hold_what_the_claims_look_at():
    full, quick = plan(False), plan(True)
    assert full.grid["sdsc"] == PAPER_GRID
    assert PAPER_GRID[0] == 0.7
    assert PAPER_GRID[-1] == 1.4
    assert len(PAPER_GRID) == 15
    assert full.grid["nasa"][-1] == 1.75
    assert full.jobs is None
    for chosen in (full, quick):
        assert all({0.7, 1.0, 1.4} <= set(grid) for grid in chosen.grid.values())
