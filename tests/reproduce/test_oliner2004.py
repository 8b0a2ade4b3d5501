"""The reproduction of [oliner2004]: its rules on made-up numbers, and all of it on a tiny plan."""

import csv
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from faultsim.data.workload import Workload
from faultsim.errors import InputError
from faultsim.reproduce import oliner2004
from faultsim.reproduce.claims import Verdict
from faultsim.reproduce.oliner2004.checks import figure_2
from faultsim.reproduce.oliner2004.inputs import TRACES, failures, halved, load
from faultsim.reproduce.oliner2004.runs import COLUMNS, GRID, LOADS, LOGS, Evidence, Key, Plan, key, plan, run
from faultsim.reproduce.replicates import reduction
from helpers import tiny_studies

TINY = tiny_studies.TINY["oliner2004"]
RULES = {claim.id: claim for claim in oliner2004.CLAIMS}
HOLDS, PARTLY, FAILS = Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS
NOISE = np.array([-0.01, 0.01, 0.0, 0.005, -0.005])


# -- the rules, on numbers where the answer is known


def made(slowdown, what=None, **columns):
    """Evidence in which each column is a function of the setting; five replicates that scatter by one percent."""
    what = Plan(replicates=5) if what is None else what
    functions = dict.fromkeys(COLUMNS, lambda k: 1.0) | {"slowdown": slowdown, "slowdown_min": slowdown} | columns
    runs = {k: {name: f(k) * (1 + NOISE) for name, f in functions.items()} for k in what.settings()}
    source = SimpleNamespace(label="X", real=True)
    return Evidence(dict.fromkeys((*LOGS, "sdsc-all"), source), runs, what)


def verdict(label, evidence):
    return RULES[label].judge(evidence).verdict


def steps(k, first, more=0.0):
    """A slowdown that falls by `first` at a = .1 and by `more` from there to a = 1."""
    return 300.0 * (1 - (first + more * (k.a - 0.1) / 0.9 if k.a else 0.0))


SCATTER = dict(zip(GRID, (300, 150, 170, 140, 160, 150, 165, 145, 160, 150, 155), strict=True))
MIDDLE = {"sdsc": 600.0, "nasa": 200.0, "llnl": 1000.0, "sdsc-all": 1.0}
PAPER = {"sdsc": 0.65, "nasa": 0.2, "llnl": 0.5, "sdsc-all": 0.0}
SHARES = {"utilized": lambda k: 0.6 if k.c == 1 else 0.65, "unused": lambda k: 0.3 if k.c == 1 else 0.25}
USEFUL = {
    "lost": lambda k: 0.3 - (0.15 if k.c == 1 else 0.05) * k.a,
    "utilized": lambda k: 0.5 + 0.1 * k.a + (0.02 * (k.a > 0) if k.scheduler == "balancing" else 0.0),
}


@pytest.mark.parametrize(
    ("labels", "slowdown", "columns", "expected"),
    [
        ("O2", lambda k: 100.0 * (1 + 0.7 * (k.failures > 0)), {}, HOLDS),
        ("O2", lambda k: 100.0 * (1 + 1.05 * (k.failures > 0)), {}, PARTLY),
        ("O2", lambda k: 100.0, {}, FAILS),
        ("O2", lambda k: 100.0 * (1 + 2.0 * (k.failures > 0)), {}, FAILS),
        # A curve that flattens, a straight and a flat one.
        ("O3", lambda k: 10 + 500 * np.sqrt(1 - np.exp(-k.failures / 600)), {}, HOLDS),
        ("O3", lambda k: 10 + k.failures / 10, {}, PARTLY),
        ("O3", lambda k: 10.0, {}, FAILS),
        # Gains of balancing are measured where the paper does.
        ("O4 O6 O14", lambda k: steps(k, 0.5, 0.1), {}, HOLDS),
        ("O7", lambda k: steps(k, 0.5, 0.1), {}, PARTLY),
        ("O7", lambda k: steps(k, 0.75), {}, HOLDS),
        ("O6 O7 O11 O14", lambda k: 300.0, {}, FAILS),
        ("O4", lambda k: steps(k, 0.1, 0.8), {}, FAILS),
        ("O4", lambda k: steps(k, 0.4, 0.55), {}, PARTLY),
        ("O6", lambda k: steps(k, 0.1, 0.8), {}, FAILS),
        ("O5", lambda k: 100.0 if k.c == 1 else 200.0, SHARES, HOLDS),
        ("O5", lambda k: 100.0, {}, FAILS),  # nothing changes, and little enough of it
        ("O5", lambda k: 100.0 if k.c == 1 else 200.0, {}, PARTLY),
        ("O5", lambda k: 100.0, {"utilized": lambda k: 0.6 if k.c == 1 else 0.8, "unused": lambda k: 0.3}, FAILS),
        ("O8", lambda k: float(SCATTER[k.a]), {}, HOLDS),
        ("O8", lambda k: 300 - 100 * k.a, {}, FAILS),
        ("O8", lambda k: 1.0, {}, Verdict.NOT_JUDGED),  # a flat line correlates with nothing
        # Axes are matched within a factor of two.
        ("O9", lambda k: MIDDLE[k.log], {}, HOLDS),
        ("O9", lambda k: 600.0 if k.log == "sdsc" else 1.0, {}, FAILS),
        ("O9", lambda k: 1.0 if k.log == "llnl" else MIDDLE[k.log], {}, PARTLY),
        ("O9", lambda k: 10.0, {}, FAILS),
        ("O10 O13", lambda k: 100.0, USEFUL, HOLDS),
        ("O10 O13", lambda k: 100.0, {"lost": lambda k: 0.2 + 0.1 * k.a, "utilized": lambda k: 0.5 - 0.1 * k.a}, FAILS),
        ("O11", lambda k: steps(k, 0.05, PAPER[k.log] - 0.05), {}, HOLDS),
        ("O11", lambda k: steps(k, 0.05, 0.2), {}, PARTLY),
        ("O12", lambda k: 300 * (1 + 0.2 * (k.a in (0.1, 0.2))), {}, HOLDS),
        ("O12", lambda k: steps(k, 0.3), {}, FAILS),
    ],
)
def test_claims_follow_the_numbers(labels, slowdown, columns, expected):
    e = made(slowdown, **columns)
    assert {verdict(label, e) for label in labels.split()} == {expected}


def test_a_single_replicate_is_never_significant():
    one = Plan(replicates=1)
    runs = {k: {name: np.array([steps(k, 0.5)]) for name in COLUMNS} for k in one.settings()}
    source = SimpleNamespace(label="X", real=True)
    e = Evidence(dict.fromkeys((*LOGS, "sdsc-all"), source), runs, one)
    assert verdict("O14", e) is Verdict.UNDECIDED
    assert reduction(np.array([2.0]), np.array([1.0])).value == 0.5


def test_unit_claims_notice_a_wrong_answer():
    good = {"O1": figure_2(), "O15": {"empty": {4: 2.0}, "busy": 1.5}}
    e = Evidence({}, {}, plan(True), good)
    assert RULES["O1"].judge(e).verdict is Verdict.HOLDS
    assert RULES["O15"].judge(e).verdict is Verdict.HOLDS
    always_b = dict.fromkeys(good["O1"]["balancing"], "b")
    bad = {"O1": good["O1"] | {"balancing": always_b}, "O15": {"empty": {4: 0.5}, "busy": 0.9}}
    e = Evidence({}, {}, plan(True), bad)
    assert RULES["O1"].judge(e).verdict is Verdict.PARTLY
    assert RULES["O15"].judge(e).verdict is Verdict.FAILS


# -- inputs


def test_spans_of_the_real_logs(data_dir):
    sources = load(data_dir, llnl=None, jobs=None, seed=0)
    assert [source.real for source in sources.values()] == [True, True, False, True]
    assert {name: len(source.log) for name, source in sources.items() if source.real} == {
        "sdsc": 10_000, "nasa": 18_239, "sdsc-all": 54_044}  # fmt: skip
    assert sources["llnl"].label == "LLNL-like"


def test_stand_ins_say_what_they_are():
    sources = load(None, llnl=None, jobs=50, seed=3)
    assert [source.label for source in sources.values()] == ["SDSC-like", "NASA-like", "LLNL-like",
                                                             "SDSC-like, all of the log"]  # fmt: skip
    assert all("stand-in" in source.text and "first 50 jobs" in source.text for source in sources.values())
    assert all(int(source.log.size.max()) <= 128 for source in sources.values())


def test_the_users_t3d_log_is_halved_upward(tmp_path):
    log = Workload(submit=[0, 5, 9, 10], runtime=[10, 20, 30, 5], size=[1, 2, 255, 256], estimate=[20, 20, 30, 5])
    log.write_swf(tmp_path / "t3d.swf")
    sources = load(None, llnl=tmp_path / "t3d.swf", jobs=None, seed=0)
    assert sources["llnl"].real
    assert sources["llnl"].label == "LLNL"
    assert sources["llnl"].log.size.tolist() == [1, 1, 128, 128]
    assert halved(log).estimate.tolist() == log.estimate.tolist()
    too_big = Workload(submit=[0], runtime=[1], size=[257])
    too_big.write_swf(tmp_path / "big.swf")
    with pytest.raises(InputError, match="129 nodes does not fit"):
        load(None, llnl=tmp_path / "big.swf", jobs=None, seed=0)


def test_failures_are_drawn_by_replicate_in_bursts_over_the_log(stand_ins):
    source = stand_ins["sdsc"]
    trace = failures(source, 0, seed=0)
    assert len(trace) == TRACES["sdsc"].count == 4000
    assert trace == failures(source, 0, seed=0)
    assert trace != failures(source, 1, seed=0)
    assert trace != failures(source, 0, seed=1)
    instants = len(np.unique(trace.time))
    assert 6.5 < 4000 / instants < 9.5
    assert source.log.submit[0] <= trace.time[0]
    assert trace.time[-1] <= trace.span == source.log.submit[-1]
    assert not trace.downtime.any()
    fewer, more = trace.with_count(500, rng=0), trace.with_count(1000, rng=0)
    assert set(zip(fewer.time, fewer.node, strict=True)) <= set(zip(more.time, more.node, strict=True))


# -- what is run


def test_plans_hold_what_the_claims_look_at():
    full, quick = plan(False), plan(True)
    assert full.grid == GRID == tuple(i / 10 for i in range(11))
    assert list(full.counts) == list(range(0, 4001, 500))
    assert full.replicates == 10
    assert plan(False, 4).replicates == 4
    assert full.jobs is None
    assert quick.jobs is None
    # 27 counts and confidences on SDSC share a = 0 and .1 at 4,000; 11 + 10 confidences at two loads on three logs.
    keys = full.settings()
    assert len(set(keys)) == len(keys)
    assert sum(k.log == "nasa" for k in keys) == 2 * (11 + 10) + 2
    with pytest.raises(ValueError, match="confidences"):
        Plan(grid=(0.0, 1.0))


def test_without_prediction_or_failures_settings_are_shared():
    assert key("nasa", 1.0, "tie-breaking", 0.0, 4000) == Key("nasa", 1.0, "balancing", 0.0, 4000)
    assert key("nasa", 1.0, "tie-breaking", 0.5, 0) == Key("nasa", 1.0, "balancing", 0.0, 0)
    assert key("nasa", 1.0, "tie-breaking", 0.5, 10).scheduler == "tie-breaking"


def test_both_schedulers_without_prediction_are_krevats(stand_ins):
    log = stand_ins["sdsc"].log.head(300)
    trace = failures(replace(stand_ins["sdsc"], log=log), 0, seed=0).with_count(200)
    tables = [run(log, scheduler, 0.0, trace).simulate().jobs for scheduler in ("balancing", "tie-breaking")]
    for name in ("start", "finish", "restarts", "allocated"):
        assert np.array_equal(tables[0][name], tables[1][name]), name
    assert tables[0]["restarts"].sum() > 0


# -- all of it


@pytest.fixture(scope="module")
def stand_ins():
    return load(None, llnl=None, jobs=None, seed=0)


@pytest.fixture(scope="module")
def tiny(tiny_study):
    return tiny_study("oliner2004")


def test_runs_are_those_of_the_plan(tiny):
    keys = TINY.what.settings()
    expected = sum(2 if k.failures else 1 for k in keys)
    assert tiny.done.runs == expected
    with (tiny.out / "runs.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == expected


def test_runs_are_those_of_simulate(tiny):
    e = tiny.done.evidence
    source = e.sources["nasa"]
    for scheduler, a, c in (("balancing", 0.9, 1.2), ("tie-breaking", 0.2, 1.0)):
        trace = failures(source, 1, seed=0)
        result = run(source.log.with_runtime_factor(c), scheduler, a, trace).simulate()
        assert e.values("slowdown", "nasa", c, scheduler, a)[1] == result.metrics["mean_bounded_slowdown"]
        shares = [e.values(part, "nasa", c, scheduler, a)[1] for part in ("utilized", "unused", "lost")]
        assert sum(shares) == pytest.approx(1)


@pytest.mark.slow
def test_what_the_notes_foresee_on_the_real_logs(data_dir, tmp_path):
    """The orders that hold for any seed, on the real logs with few replicates."""
    done = oliner2004.reproduce(data=data_dir, quick=True, replicates=5, out=tmp_path, workers=2, seed=1)
    found = {row.claim.id: row.finding.verdict for row in done.rows}
    assert found["O1"] is Verdict.HOLDS
    e = done.evidence
    for c in LOADS:
        for log in ("sdsc", "nasa"):
            none, full = (e.values("lost_work", log, c, "balancing", a).mean() for a in (0.0, 1.0))
            assert full < none, (log, c)
            assert (
                e.values("slowdown", log, c, "balancing", 0.0).mean()
                > e.values("slowdown", log, c, "balancing", 0.0, 0).mean()
            )
