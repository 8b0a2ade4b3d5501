"""The reproduction of [zhang2004]: its rules on made-up numbers, its inputs, and all of it on a tiny plan."""

import csv
import re
from types import SimpleNamespace

import numpy as np
import pytest

from faultsim.cli import main
from faultsim.reproduce.claims import Claim, Finding, Verdict, combine
from faultsim.reproduce.zhang2004 import CLAIMS, judge
from faultsim.reproduce.zhang2004.figures import FIGURES
from faultsim.reproduce.zhang2004.fit import CTC, FITTED_JOBS, LARGEST, NODES
from faultsim.reproduce.zhang2004.inputs import COUNTS, DAY, FILE, Kind, failures, load, renewal_counts
from faultsim.reproduce.zhang2004.measures import changes, gap_closed, largest_change, level
from faultsim.reproduce.zhang2004.runs import COLUMNS, FACTORS, KINDS, POLICIES, READINGS, SERIES, Evidence, Plan, plan
from faultsim.simulation.simulate import simulate
from faultsim.synthetic import HyperErlangModel

RULES = {claim.id: claim for claim in CLAIMS}
N = len(FACTORS)
HOLDS, PARTLY, FAILS = Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS


# -- the rules on numbers where the answer is known


def made(slowdown=(), work_loss=(), overhead=(), replicates=3, renewals=None):
    """A view in which every column is 1 at every factor and replicate, but for what is given by (kind, policy)."""
    columns = {"slowdown": dict(slowdown), "work_loss": dict(work_loss), "checkpoint_overhead": dict(overhead)}
    defaults = {"slowdown": 1.0, "work_loss": 0.01, "checkpoint_overhead": 0.01}
    tables = {}
    for kind, policy in SERIES:
        for reading in READINGS if kind else READINGS[:1]:
            table = {}
            for name, given in columns.items():
                value = given.get((kind, policy), defaults[name])
                table[name] = np.broadcast_to(np.reshape(value, (-1, 1)), (N, replicates)).astype(float)
            tables["fit", kind, policy, reading] = table
    what = Plan(replicates=replicates)
    return Evidence({}, what, tables, {"Z1": renewals}).view("fit", "arrival")


def curve(low, medium, high):
    return [low] * 3 + [medium] * 3 + [high] * 3


def arms(policies, values, kinds=("b85", "w64", "a99")):
    return {(kind, policy): value for kind in kinds for policy, value in zip(policies, values, strict=True)}


FITS = {shape: (count - 5, count, count + 5) for shape, count in COUNTS.items()}
LAST = [1.0] * (N - 1)
LINEAR = {("b20", "none"): 0.001, ("b55", "none"): 0.0045, ("b65", "none"): 0.0055, ("b85", "none"): 0.0075}
CORRELATED = {("a99", "none"): curve(0.03, 0.012, 0.01)}
RISING = {("b85", "none"): 3.0, ("a99", "none"): 3.1, ("b85, 4 h down", "none"): 3.1}
FEW, STRONG = {("b20", "none"): 0.001}, {("w64", "none"): 30.0}
LONG = {(f"{kind}, {hours} h down", "none"): 2.0 for kind in ("b85", "w64", "a99") for hours in (1, 4)}
PERIODIC = ("periodic 2 h", "periodic 4 h", "periodic 24 h")
SLIGHT = arms(PERIODIC, (0.9, 0.95, 1.0), ("b65", "w64", "a99")) | arms(PERIODIC, (0.99, 1.0, 1.0), ("b20",))
MUCH = arms(PERIODIC, (0.5, 0.5, 0.5), ("b65", "b20", "w64", "a99"))
TWO_HOURS = ("b65", "periodic 2 h")
BUCKETS = {("b85", f"8 h {name}"): 0.8 for name in ("all", "long", "big")}
BUCKETS |= {("b85", "before"): 0.5, ("b85", "1 h all"): 0.55, ("b85", "4 h all"): 0.6}
WASTE = {("b85", "before"): 0.001, ("b85", "1 h all"): 0.002, ("b85", "4 h all"): 0.003, ("b85", "8 h all"): 0.004}
VICTIMS = ("4 h all", "4 h long", "4 h big")
MORE = arms(VICTIMS, (0.5,) * 3, ("w64",)) | arms(VICTIMS, (0.8,) * 3, ("w2",))
AWAY = {("a99", "none"): 3.0} | arms(PERIODIC, (2.8, 2.9, 3.0), ("a99",))
COARSE = {("b85", "none"): 2.0, ("b85", "2 h all"): 1.5, ("b85", "4 h all"): 1.6}


@pytest.mark.parametrize(
    ("label", "numbers", "expected"),
    [
        ("Z1", {"renewals": FITS}, HOLDS),
        ("Z1", {"renewals": FITS | {0.2: (1, 14, 36)}}, PARTLY),
        ("Z2", {"slowdown": {("b20", "none"): [*LAST, 1.4], ("b85", "none"): [*LAST, 4.0]}}, HOLDS),
        ("Z2", {"slowdown": {("b20", "none"): [*LAST, 1.4], ("b85", "none"): [*LAST, 1.3]}}, PARTLY),
        ("Z2", {"slowdown": {("b20", "none"): [*LAST, 1.1], ("b85", "none"): [*LAST, 1.3]}}, FAILS),
        ("Z3", {"work_loss": LINEAR, "slowdown": {("b20", "none"): 1.2}}, HOLDS),
        ("Z3", {"work_loss": LINEAR}, PARTLY),
        ("Z3", {"work_loss": LINEAR | {("b65", "none"): 0.0005}}, FAILS),
        ("Z4", {"work_loss": {("b85", "none"): curve(0.01, 0.01, 0.01 * 1.4)}}, HOLDS),
        ("Z4", {"work_loss": {("b85", "none"): curve(0.01, 0.01, 0.01 * 1.9)}}, FAILS),
        ("Z4", {"work_loss": {("b85", "none"): curve(0.01, 0.01, 0.01 * 1.15)}}, PARTLY),
        ("Z4", {"work_loss": {("b85", "none"): curve(0.01, 0.01, 0.01 * 0.95)}}, FAILS),
        ("Z5", {"work_loss": {("w64", "none"): 0.011}}, HOLDS),
        ("Z5", {"work_loss": {("w64", "none"): 0.009}}, PARTLY),
        ("Z5", {"work_loss": {("w64", "none"): 0.005}, "slowdown": {("w64", "none"): 2.0}}, FAILS),
        ("Z6", {"work_loss": CORRELATED, "slowdown": {("a99", "none"): curve(1.0, 1.3, 1.1)}}, HOLDS),
        ("Z6", {"work_loss": CORRELATED}, PARTLY),
        ("Z6", {"work_loss": {("a99", "none"): curve(0.01, 0.01, 0.03)}}, FAILS),
        ("Z7", {"slowdown": RISING, "work_loss": FEW}, HOLDS),
        ("Z7", {"slowdown": RISING | STRONG, "work_loss": FEW}, PARTLY),
        ("Z7", {"slowdown": RISING | STRONG, "work_loss": FEW | STRONG}, FAILS),
        ("Z8", {}, HOLDS),
        ("Z8", {"slowdown": {("w64, 4 h down", "none"): 1.2}}, PARTLY),
        ("Z8", {"slowdown": LONG}, FAILS),
        ("Z9", {"slowdown": SLIGHT}, HOLDS),
        ("Z9", {"slowdown": SLIGHT | {("b20", "periodic 4 h"): 0.85}}, PARTLY),
        ("Z9", {"slowdown": MUCH}, FAILS),
        ("Z10", {"slowdown": SLIGHT}, HOLDS),
        ("Z10", {"slowdown": SLIGHT | {("b65", "periodic 4 h"): 1.05}}, PARTLY),
        ("Z10", {"slowdown": arms(PERIODIC, (1.2, 1.2, 1.0), ("b65", "b20"))}, FAILS),
        ("Z11", {"work_loss": {TWO_HOURS: 0.001}, "overhead": {TWO_HOURS: 0.005}}, HOLDS),
        ("Z11", {"work_loss": {TWO_HOURS: 0.003}, "overhead": {TWO_HOURS: 0.005}}, PARTLY),
        ("Z11", {"work_loss": {TWO_HOURS: 0.003}, "overhead": {TWO_HOURS: 0.003}}, FAILS),
        ("Z12", {"slowdown": SLIGHT}, HOLDS),
        ("Z12", {"slowdown": SLIGHT | {("w64", "periodic 4 h"): 0.5}}, PARTLY),
        ("Z12", {"slowdown": MUCH}, FAILS),
        ("Z13", {"work_loss": arms(["before"], [0.0005])}, HOLDS),
        ("Z13", {"work_loss": arms(["before"], [0.0005]) | {("a99", "before"): 0.002}}, PARTLY),
        ("Z13", {"work_loss": arms(["before"], [0.005]) | {("a99", "before"): 0.0005}}, FAILS),
        ("Z14", {"slowdown": BUCKETS, "work_loss": WASTE}, HOLDS),
        ("Z14", {"slowdown": BUCKETS | {("b85", "4 h all"): 0.9}, "work_loss": WASTE}, PARTLY),
        (
            "Z14",
            {"slowdown": {("b85", "before"): 0.5, ("b85", "1 h all"): 1.2}, "work_loss": {("b85", "1 h all"): 0.05}},
            FAILS,
        ),
        ("Z15", {"slowdown": arms(VICTIMS, (0.31, 0.3, 0.3), ("b85",))}, HOLDS),
        ("Z15", {"slowdown": arms(VICTIMS, (0.31, 0.3, 0.9), ("b85",))}, PARTLY),
        ("Z15", {"slowdown": arms(VICTIMS, (0.6, 0.75, 0.9), ("b85",))}, FAILS),
        ("Z16", {"slowdown": MORE, "work_loss": {key: 0.01 * value for key, value in MORE.items()}}, HOLDS),
        ("Z16", {"slowdown": MORE}, PARTLY),
        ("Z16", {}, FAILS),
        ("Z17", {"work_loss": {("a99", "LFF 1"): 0.0055}}, HOLDS),
        ("Z17", {"work_loss": {("a99", "LFF 1"): 0.0075}}, PARTLY),
        ("Z17", {"work_loss": {("a99", "LFF 1"): 0.0095}}, FAILS),
        ("Z18", {"slowdown": AWAY | {("a99", "LFF 1"): 1.5}}, HOLDS),
        ("Z18", {"slowdown": AWAY | {("a99", "LFF 1"): 2.5}}, PARTLY),
        ("Z18", {"slowdown": AWAY | {("a99", "LFF 1"): 2.95}}, FAILS),
        ("Z19", {"slowdown": COARSE}, HOLDS),
        ("Z19", {"slowdown": COARSE | {("b85", "4 h all"): 1.9}}, PARTLY),
        ("Z19", {"slowdown": {("b85", policy): 2.0 for policy in ("none", "2 h all", "4 h all")}}, FAILS),
    ],
)
def test_claims_follow_the_numbers(label, numbers, expected):
    assert RULES[label].judge(made(**numbers)).verdict is expected


def test_measures_on_given_numbers():
    view = made(slowdown={("b85", "none"): curve(1.5, 2.0, 4.0), ("b85", "before"): curve(1.25, 1.5, 2.5)})
    assert changes(view("slowdown", "b85"), view("slowdown"))[[0, 4, 8]] == pytest.approx([0.5, 1.0, 3.0])
    rise, at = largest_change(view, "slowdown", ("b85", "none"), ("", "none"))
    assert (rise.value, at) == (pytest.approx(3.0), 0.9)
    assert level(view, "slowdown", ("b85", "none"), "medium").value == 2
    assert gap_closed(view, ("b85", "before"), ("b85", "none")).value == pytest.approx(0.5)


def test_a_claim_holds_under_both_readings_or_partly():
    def by_reading(view):
        return Finding("x", combine(view.reading == "arrival"))

    claim = Claim("Z9", "a", "b", "order", "c", "d", "e", by_reading)
    sources = {"fit": SimpleNamespace(label="F"), "ctc": SimpleNamespace(label="R")}
    (row,) = judge([claim], Evidence(sources, None, {}))
    assert row.finding.verdict is Verdict.PARTLY
    assert row.finding.ours == "By arrival (holds): x. At the tail (does not hold): x"
    assert row.finding.note.startswith("R: By arrival")


# -- inputs


def test_the_fit_is_that_of_the_log(data_dir):
    from faultsim.readers.swf import read_swf

    log = read_swf(data_dir / "swf" / f"{FILE}.gz")
    span = log[log.runtime > 0][:FITTED_JOBS]
    assert span.size.max() == LARGEST
    fitted = HyperErlangModel.fit(span).classes
    assert len(fitted) == len(CTC.classes)
    for ours, built_in in zip(fitted, CTC.classes, strict=True):
        for a, b in ((ours.gaps, built_in.gaps), (ours.runtimes, built_in.runtimes)):
            assert a.stages == b.stages
            assert [f"{a.rate1:.3e}", f"{a.rate2:.3e}"] == [f"{b.rate1:.3e}", f"{b.rate2:.3e}"]
            assert a.p1 == pytest.approx(b.p1, abs=5.1e-5)
        capped = np.minimum(span.size[(span.size >= ours.low) & (span.size <= ours.high)], NODES)
        sizes, counts = np.unique(capped, return_counts=True)
        assert sizes.tolist() == list(built_in.sizes)
        assert built_in.weights == pytest.approx(counts / counts.sum())


def test_workloads_last_62_days_at_the_loads_that_are_stated():
    source = load(None, replicates=3, seed=5)["fit"]
    loads = []
    for log in source.logs:
        assert 61 * DAY < log.submit[-1] < 62 * DAY
        assert 12_000 < len(log) < 16_500
        assert log.size.max() <= NODES
        loads.append(log.work.sum() / (NODES * 62 * DAY))
    assert 0.8 < np.mean(loads) < 0.95  # .869 is what the moments of the fit give
    assert source.logs[0] != source.logs[1]
    assert load(None, replicates=1, seed=5)["fit"].logs[0] == source.logs[0]


def test_the_real_log_is_cut_and_capped(data_dir):
    for folder in (data_dir, data_dir / "swf"):
        real = load(folder, replicates=1, seed=0)["ctc"]
    (log,) = real.logs
    assert real.real
    assert (log.size.max(), log.runtime.min() > 0) == (NODES, True)
    assert 0 <= log.submit[0] < DAY
    assert 61 * DAY < log.submit[-1] < 62 * DAY
    assert real.log(3) is log


def test_failures_are_those_of_table_1():
    for kind in KINDS.values():
        trace = failures(kind, seed=1, replicate=0)
        assert len(trace) == COUNTS[kind.shape]
        assert 0 < trace.time[0] < trace.time[-1] < 62 * DAY
        assert trace.span == 62 * DAY
        assert (trace.downtime == kind.downtime).all()
        assert trace.node.max() < NODES
    assert len(failures(Kind(), seed=1, replicate=0, days=31)) == 133


def test_kinds_differ_in_one_setting_only():
    def drawn(**settings):
        return failures(Kind(**settings), seed=1, replicate=2)

    base = drawn()
    later = drawn(downtime=3600.0)
    assert (later.time == base.time).all()
    assert (later.node == base.node).all()
    moved = drawn(zipf=0.99)
    assert (moved.time == base.time).all()
    assert (moved.node < 32).mean() > 0.5 > 0.2 > (base.node < 32).mean()
    # The gaps of W = 64, with that to the end of the span, are those of W = 2 in another order.
    gaps = [np.sort(np.diff(t.time, prepend=0, append=t.span)) for t in (base, drawn(window=64))]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-3)


def test_renewal_counts_are_those_of_the_notes():
    # 62 days: 14.2 (1-36), 176 (134-219), 219 (180-258), 274 (241-307) by an independent program.
    found = renewal_counts(3)
    for shape, low, mean, high in (
        (0.2, 1, 14.2, 36),
        (0.55, 134, 176, 219),
        (0.65, 180, 219, 258),
        (0.85, 241, 274, 307),
    ):
        assert found[shape] == pytest.approx((low, mean, high), abs=4)


# -- all of it


@pytest.fixture(scope="module")
def tiny(tiny_study):
    return tiny_study("zhang2004")


def test_runs_are_those_of_the_plan(tiny):
    expected = (1 + 2 * (len(SERIES) - 1)) * 3 * 2
    assert tiny.done.runs == expected
    with (tiny.out / "points.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == expected / 2
    for table in tiny.done.evidence.tables.values():
        assert all(np.isfinite(values).all() for values in table.values())


def test_points_are_those_of_simulate(tiny):
    from faultsim.machines import Cluster
    from faultsim.policies import EasyBackfill, Requeue

    evidence = tiny.done.evidence
    log = evidence.sources["fit"].log(1).with_runtime_factor(1.0)
    for kind, policy in (("b85", "none"), ("a99", "LFF 1"), ("w64", "4 h big")):
        for reading in READINGS:
            result = simulate(
                log, Cluster(320), scheduler=EasyBackfill(), estimates="actual",
                failures=failures(KINDS[kind], seed=0, replicate=1, days=1.5),
                recovery=Requeue(place=reading), **POLICIES[policy],
            )  # fmt: skip
            found = evidence.view("fit", reading)
            assert found("slowdown", kind, policy)[2, 1] == result.metrics["mean_slowdown"]
            assert found("work_loss", kind, policy)[2, 1] == result.metrics["work_loss_ratio"]


def test_plans_hold_what_the_claims_look_at():
    full, quick = plan(False), plan(True)
    assert full.replicates >= 8
    assert full.factors == (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1)
    assert set(quick.factors) < set(full.factors)
    assert set(COLUMNS) >= {"slowdown", "work_loss", "checkpoint_overhead"}
    assert len(set(SERIES)) == len(SERIES)
    drawn = {
        (kind, policy) for picture in FIGURES.values() for lines in picture.panels.values() for _, kind, policy in lines
    }
    assert drawn <= set(SERIES)


@pytest.mark.slow
def test_a_quick_run_is_quick_and_holds_what_needs_few_replicates(capsys, tmp_path, monkeypatch):
    import time

    monkeypatch.delenv("FAULTSIM_DATA", raising=False)
    began = time.process_time()
    assert main(["reproduce", "zhang2004", "--quick", "--workers", "1", "--out", str(tmp_path)]) == 0
    assert time.process_time() - began < 30  # of one core, on a machine with others on it
    out, _ = capsys.readouterr()
    # What does not hang on few replicates.
    for label, verdict in (("Z11", "PARTLY"), ("Z13", "HOLDS"), ("Z17", "HOLDS")):
        assert re.search(rf"^{label} +{verdict}", out, flags=re.M), label
