"""The reproduction of [zhang2004]: its rules on made-up numbers, its inputs, and all of it on a tiny plan."""

import csv
import re
from types import SimpleNamespace

import numpy as np
import pytest

from faultsim.cli import main
from faultsim.reproduce.claims import Claim, Finding, Verdict
from faultsim.reproduce.replicates import Estimate, below
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


def verdict(label, **numbers):
    return RULES[label].judge(made(**numbers)).verdict


def curve(low, medium, high):
    return [low] * 3 + [medium] * 3 + [high] * 3


def arms(policies, values, kinds=("b85", "w64", "a99")):
    return {(kind, policy): value for kind in kinds for policy, value in zip(policies, values, strict=True)}


def test_counts_of_failures():
    fits = {shape: (count - 5, count, count + 5) for shape, count in COUNTS.items()}
    assert verdict("Z1", renewals=fits) is Verdict.HOLDS
    assert verdict("Z1", renewals=fits | {0.2: (1, 14, 36)}) is Verdict.PARTLY


def test_rise_of_the_slowdown():
    last = [1.0] * (N - 1)
    for few, many, expected in ((1.4, 4.0, "holds"), (1.4, 1.3, "partly"), (1.1, 1.3, "does not hold")):
        given = {("b20", "none"): [*last, few], ("b85", "none"): [*last, many]}
        assert verdict("Z2", slowdown=given) == expected


def test_work_loss_by_shape():
    linear = {("b20", "none"): 0.001, ("b55", "none"): 0.0045, ("b65", "none"): 0.0055, ("b85", "none"): 0.0075}
    assert verdict("Z3", work_loss=linear, slowdown={("b20", "none"): 1.2}) is Verdict.HOLDS
    assert verdict("Z3", work_loss=linear) is Verdict.PARTLY
    assert verdict("Z3", work_loss=linear | {("b65", "none"): 0.0005}) is Verdict.FAILS


def test_work_loss_by_load():
    for high, expected in ((1.4, "holds"), (1.9, "partly"), (1.15, "partly"), (1.05, "does not hold")):
        assert verdict("Z4", work_loss={("b85", "none"): curve(0.01, 0.01, 0.01 * high)}) == expected


def test_correlation_in_time():
    assert verdict("Z5", work_loss={("w64", "none"): 0.011}) is Verdict.HOLDS
    assert verdict("Z5", work_loss={("w64", "none"): 0.009}) is Verdict.PARTLY
    both = {"work_loss": {("w64", "none"): 0.005}, "slowdown": {("w64", "none"): 2.0}}
    assert verdict("Z5", **both) is Verdict.FAILS


def test_correlation_in_space():
    loss, slow = curve(0.03, 0.012, 0.01), curve(1.0, 1.3, 1.1)
    assert verdict("Z6", work_loss={("a99", "none"): loss}, slowdown={("a99", "none"): slow}) is Verdict.HOLDS
    assert verdict("Z6", work_loss={("a99", "none"): loss}) is Verdict.PARTLY
    assert verdict("Z6", work_loss={("a99", "none"): curve(0.01, 0.01, 0.03)}) is Verdict.FAILS


def test_the_strongest_parameter():
    few = {("b20", "none"): 0.001}
    slow = {("b85", "none"): 3.0, ("a99", "none"): 3.1, ("b85, 4 h down", "none"): 3.1}
    assert verdict("Z7", slowdown=slow, work_loss=few) is Verdict.HOLDS
    strong = {("w64", "none"): 30.0}
    assert verdict("Z7", slowdown=slow | strong, work_loss=few) is Verdict.PARTLY
    assert verdict("Z7", slowdown=slow | strong, work_loss=few | strong) is Verdict.FAILS


def test_down_times():
    assert verdict("Z8") is Verdict.HOLDS
    assert verdict("Z8", slowdown={("w64, 4 h down", "none"): 1.2}) is Verdict.PARTLY
    long = {(f"{kind}, {hours} h down", "none"): 2.0 for kind in ("b85", "w64", "a99") for hours in (1, 4)}
    assert verdict("Z8", slowdown=long) is Verdict.FAILS


PERIODIC = ("periodic 2 h", "periodic 4 h", "periodic 24 h")


def test_periodic_checkpoints():
    slight = arms(PERIODIC, (0.9, 0.95, 1.0), ("b65", "w64", "a99")) | arms(PERIODIC, (0.99, 1.0, 1.0), ("b20",))
    assert verdict("Z9", slowdown=slight) is Verdict.HOLDS
    assert verdict("Z9", slowdown=slight | {("b20", "periodic 4 h"): 0.85}) is Verdict.PARTLY
    much = arms(PERIODIC, (0.5, 0.5, 0.5), ("b65", "b20", "w64", "a99"))
    assert verdict("Z9", slowdown=much) is Verdict.FAILS
    assert verdict("Z10", slowdown=slight) is Verdict.HOLDS
    assert verdict("Z10", slowdown=slight | {("b65", "periodic 4 h"): 1.05}) is Verdict.PARTLY
    wrong = arms(PERIODIC, (1.2, 1.2, 1.0), ("b65", "b20"))
    assert verdict("Z10", slowdown=wrong) is Verdict.FAILS
    assert verdict("Z12", slowdown=slight) is Verdict.HOLDS
    assert verdict("Z12", slowdown=slight | {("w64", "periodic 4 h"): 0.5}) is Verdict.PARTLY
    assert verdict("Z12", slowdown=much) is Verdict.FAILS


def test_loss_and_overhead():
    key = ("b65", "periodic 2 h")
    for loss, cost, expected in ((0.001, 0.005, "holds"), (0.003, 0.005, "partly"), (0.003, 0.003, "does not hold")):
        assert verdict("Z11", work_loss={key: loss}, overhead={key: cost}) == expected


def test_perfect_prediction():
    for left, expected in ((0.0005, "holds"), (0.002, "partly"), (0.005, "does not hold")):
        given = arms(["before"], [0.0005]) | {("a99", "before"): left}
        assert verdict("Z13", work_loss=given) == expected


def test_buckets():
    eight = {("b85", f"8 h {name}"): 0.8 for name in ("all", "long", "big")}
    slow = eight | {("b85", "before"): 0.5, ("b85", "1 h all"): 0.55, ("b85", "4 h all"): 0.6}
    waste = {("b85", "before"): 0.001, ("b85", "1 h all"): 0.002, ("b85", "4 h all"): 0.003, ("b85", "8 h all"): 0.004}
    assert verdict("Z14", slowdown=slow, work_loss=waste) is Verdict.HOLDS
    assert verdict("Z14", slowdown=slow | {("b85", "4 h all"): 0.9}, work_loss=waste) is Verdict.PARTLY
    bad = {("b85", "before"): 0.5, ("b85", "1 h all"): 1.2}
    assert verdict("Z14", slowdown=bad, work_loss={("b85", "1 h all"): 0.05}) is Verdict.FAILS


def test_victims():
    policies = ("4 h all", "4 h long", "4 h big")
    for values, expected in (
        ((0.31, 0.3, 0.3), "holds"),
        ((0.31, 0.3, 0.9), "partly"),
        ((0.6, 0.75, 0.9), "does not hold"),
    ):
        assert verdict("Z15", slowdown=arms(policies, values, ("b85",))) == expected


def test_who_benefits_more():
    policies = ("4 h all", "4 h long", "4 h big")
    more = arms(policies, (0.5,) * 3, ("w64",)) | arms(policies, (0.8,) * 3, ("w2",))
    less = {key: 0.01 * value for key, value in more.items()}
    assert verdict("Z16", slowdown=more, work_loss=less) is Verdict.HOLDS
    assert verdict("Z16", slowdown=more) is Verdict.PARTLY
    assert verdict("Z16") is Verdict.FAILS


def test_least_failures_first():
    for left, expected in ((0.0055, "holds"), (0.0075, "partly"), (0.0095, "does not hold")):
        assert verdict("Z17", work_loss={("a99", "LFF 1"): left}) == expected
    slow = {("a99", "none"): 3.0} | arms(PERIODIC, (2.8, 2.9, 3.0), ("a99",))
    for ours, expected in ((1.5, "holds"), (2.5, "partly"), (2.95, "does not hold")):
        assert verdict("Z18", slowdown=slow | {("a99", "LFF 1"): ours}) == expected


def test_coarse_prediction():
    slow = {("b85", "none"): 2.0, ("b85", "2 h all"): 1.5, ("b85", "4 h all"): 1.6}
    assert verdict("Z19", slowdown=slow) is Verdict.HOLDS
    assert verdict("Z19", slowdown=slow | {("b85", "4 h all"): 1.9}) is Verdict.PARTLY
    assert (
        verdict("Z19", slowdown={("b85", "none"): 2.0, ("b85", "2 h all"): 2, ("b85", "4 h all"): 2}) is Verdict.FAILS
    )


def test_measures_on_given_numbers():
    view = made(slowdown={("b85", "none"): curve(1.5, 2.0, 4.0), ("b85", "before"): curve(1.25, 1.5, 2.5)})
    assert changes(view("slowdown", "b85"), view("slowdown"))[[0, 4, 8]] == pytest.approx([0.5, 1.0, 3.0])
    rise, at = largest_change(view, "slowdown", ("b85", "none"), ("", "none"))
    assert (rise.value, at) == (pytest.approx(3.0), 0.9)
    assert level(view, "slowdown", ("b85", "none"), "medium").value == 2
    assert gap_closed(view, ("b85", "before"), ("b85", "none")).value == pytest.approx(0.5)
    assert below(Estimate(-0.1, float("nan")))
    assert not below(Estimate(-0.1, 0.2))


def test_a_claim_holds_under_both_readings_or_partly():
    def by_reading(view):
        return Finding("x", Verdict.HOLDS if view.reading == "arrival" else Verdict.FAILS)

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
    log = evidence.sources["fit"].log(1).scale_runtime(1.0)
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
    for label in ("Z3", "Z11", "Z13", "Z17", "Z19"):
        assert re.search(rf"^{label} +HOLDS", out, flags=re.M), label
