"""The reproduction of [yu2010]: its rules on made-up numbers, its inputs, and all of it on a tiny plan."""

import csv
import re

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.errors import OptionError
from faultsim.reproduce.claims import Verdict
from faultsim.reproduce.yu2010 import CLAIMS, inputs
from faultsim.reproduce.yu2010.checks import DECISIONS, conventional, run_checks, steps
from faultsim.reproduce.yu2010.inputs import DAY, NODES, SPAN, load, predicted, record, shares
from faultsim.reproduce.yu2010.measures import correlation, growth, saving, trend
from faultsim.reproduce.yu2010.runs import COLUMNS, READINGS, Evidence, plan
from helpers import tiny_studies

TINY = tiny_studies.TINY["yu2010"].what
FULL = plan(False)
RULES = {claim.id: claim for claim in CLAIMS}
CHECKS = run_checks()
HOLDS, PARTLY, FAILS = Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS
AOAS = np.array(FULL.aoas)


# -- the rules on numbers where the answer is known


def made(**columns):
    """A view in which every column is 1, but for what functions of (key, windows, shares) give."""
    tables = {}
    rng = np.random.default_rng(1)
    common = rng.uniform(0.9, 1.1, FULL.windows)
    for key in FULL.sets("bench"):
        share = FULL.shares[:, None] if key.mix else np.full((FULL.runs(key), 1), np.nan)
        tables[key] = {
            name: np.broadcast_to(columns.get(name, lambda *_: 1.0)(key, share) * common, (len(share), FULL.windows))
            if name != "aaa"
            else np.full((len(share), FULL.windows), columns.get(name, lambda *_: 1.0)(key, share))
            for name in COLUMNS
        }
    return Evidence(None, {}, FULL, tables, CHECKS).view("bench")


def verdict(label, **columns):
    return RULES[label].judge(made(**columns)).verdict


def falling(gain):
    """1 at AOA 0, falling along a line by a share that may depend on the number of workflows."""
    return lambda key, share: 1.0 - (0 if np.isnan(key.aoa) else key.aoa) * gain(key.flows)


@pytest.mark.parametrize("name", ["RANK_HYBD", "FLAW"])
def test_the_worked_example_is_judged_by_its_decisions(name, monkeypatch):
    monkeypatch.setitem(DECISIONS, name, DECISIONS[name][:-1])
    assert verdict("L1") is Verdict.PARTLY


def fifo(value):
    """A value of FIFO, or one for each AOA; 1 for the others."""
    at = value.get if isinstance(value, dict) else lambda aoa, other: value
    return lambda k, s: at(k.aoa, 1.0) if k.scheduler == "fifo" else 1.0


def answers(blind, half):
    return lambda k, s: np.interp(k.aoa, [0, 0.5, 1], [blind, half, 1.0]) if not np.isnan(k.aoa) else np.nan


def calm(base, step):
    def value(key, share):
        if key.scheduler == "rank" and key.reading == READINGS[0]:
            return 1 - step * (key.flows + (key.nodes < NODES))
        return base

    return value


@pytest.mark.parametrize(
    ("label", "columns", "expected"),
    [
        *((label, {}, HOLDS) for label in ("L1", "L2", "L3", "L4")),  # what needs no runs
        ("L5", {"makespan": fifo(1.2)}, HOLDS),
        ("L5", {"makespan": fifo(dict.fromkeys((0.0, 0.5, 0.6, 0.7, 0.8), 1.2) | {1.0: 0.9})}, PARTLY),
        ("L5", {"makespan": fifo({0.0: 1.2, 1.0: 0.9})}, FAILS),
        ("L5", {"makespan": fifo(0.9)}, FAILS),
        ("L6", {"makespan": falling(lambda flows: 0.01 * flows)}, HOLDS),
        ("L6", {"makespan": falling(lambda flows: 0.2 / flows)}, PARTLY),
        ("L6", {}, FAILS),
        ("L6", {"makespan": falling(lambda flows: -0.1)}, FAILS),
        ("L7", {"loss": falling(lambda flows: 0.5)}, HOLDS),
        ("L7", {"loss": falling(lambda flows: 0.2)}, PARTLY),
        ("L7", {"loss": falling(lambda flows: -0.2)}, FAILS),
        ("L8", {"reschedulings": falling(lambda flows: 0.5)}, HOLDS),
        ("L8", {"reschedulings": falling(lambda flows: 0.3 if flows >= 10 else 0.5)}, PARTLY),
        ("L8", {"reschedulings": falling(lambda flows: -0.2)}, FAILS),
        ("L9", {}, HOLDS),
        ("L9", {"makespan": lambda k, s: 1 + 0.1 * s if k.mix and k.aoa == 0.5 else 1.0}, PARTLY),
        ("L9", {"makespan": lambda k, s: 1 + 0.1 * s if k.mix else 1.0}, FAILS),
        ("L10", {"aaa": answers(0.6, 0.96)}, HOLDS),
        ("L10", {"aaa": answers(0.95, 0.96)}, PARTLY),
        ("L10", {"aaa": answers(0.99, 0.90)}, FAILS),
        ("L11", {"makespan": calm(1.6, 0.01)}, HOLDS),
        ("L11", {"makespan": calm(1.2, 0.01)}, PARTLY),
        ("L11", {"makespan": calm(0.9, -0.01)}, FAILS),
    ],
)
def test_claims_follow_the_numbers(label, columns, expected):
    assert verdict(label, **columns) is expected


def test_measures_on_given_numbers():
    view = made(makespan=falling(lambda flows: 0.02 * flows))
    assert saving(view, "makespan", 10, 1.0).value == pytest.approx(0.2)
    assert saving(view, "makespan", 10, 1.0).half == pytest.approx(0, abs=1e-12)
    assert trend(view, "makespan", 5).value == pytest.approx(-0.1)
    ends = [(view("makespan", n, 1.0), view("makespan", n, 0.0)) for n in (1, 20)]
    assert growth(*ends, relative=True).value == pytest.approx(0.38)
    assert growth(*ends, relative=False).value == pytest.approx(0.38 * view("makespan", 1, 0.0).mean())
    assert correlation(made(makespan=lambda k, s: 2 - s if k.mix else 1.0), 0.5).value == pytest.approx(-1)
    assert correlation(view, 0.5).value == 0


def test_precision_and_recall_by_period():
    assert conventional([(30, 40), (70, 80)], [22, 75], 10) == (1.0, 1.0)
    assert conventional([(30, 40), (70, 80)], [22, 75], 5) == (0.5, 0.5)
    assert conventional([(30, 40)], [50, 35, 36], 5) == (2 / 3, 1.0)


def test_logs_of_the_worked_example_are_those_of_figures_7_and_8():
    logs = {name: steps(run) for name, run in CHECKS["example"].items()}
    again = "(T3, P1) (T1, P0) (T2, P2)"
    assert ["60", "P1 fails, T3 killed, T1 killed, T2 killed", "T3 T1 T2", "P0 P2", ""] in logs["RANK_HYBD"]
    assert ["65", "P1 recovers", "T3 T1 T2", "P0 P1 P2", again] in logs["RANK_HYBD"]
    assert ["65", "P1 recovers", "T3", "P1", "(T3, P1)"] in logs["FLAW"]
    assert logs["FLAW"][-1] == ["150", "T4 done", "", "P0 P1 P2", ""]


# -- inputs


def test_windows_of_the_real_record(data_dir):
    found = record(data_dir, windows=4, seed=3)
    assert found.real
    assert len(found.whole) == pytest.approx(1332, abs=40), "1,332 records, some of which overlap"
    for trace in found.windows:
        assert trace.span == SPAN
        assert 0 <= trace.node.min() <= trace.node.max() < NODES
        assert 20 < len(trace) < 200
    assert record(data_dir / "failures", windows=2, seed=3).windows == found.windows[:2]
    assert found.windows[0] != found.windows[1]


def test_the_stand_in_is_like_the_record():
    found = record(None, windows=10, seed=0)
    assert not found.real
    assert "synthetic" in found.text
    summary = found.whole.summary(nodes=49)
    assert summary["per_day"] == pytest.approx(1.815, rel=0.05)
    assert summary["gap_cv"] == pytest.approx(1.142, rel=0.1)
    assert summary["downtime_mean"] == pytest.approx(7676, rel=0.25)
    assert summary["downtime_median"] == pytest.approx(2760, rel=0.15)
    assert 1.5 * 50 < 2 * np.mean([len(trace) for trace in found.windows]) < 2 * 110


def test_an_outage_under_way_comes_in_and_nodes_are_numbered_anew(monkeypatch):
    whole = fs.FailureTrace([0.0], [48], [730 * DAY], span=730 * DAY)
    monkeypatch.setattr(inputs, "OF_NODES", 49)
    cut = [inputs._window(whole, np.random.default_rng(seed)) for seed in range(20)]
    there = [trace for trace in cut if len(trace)]
    assert 5 < len(there) < 20, "node 48 is chosen in 32 of 49 windows"
    assert all(trace.time[0] == 0 and trace.node[0] == NODES - 1 for trace in there)


def test_predictions_have_the_accuracy():
    found = record(None, windows=2, seed=1)
    for aoa in (0.5, 0.7, 0.9):
        for share in (0.0, 0.4, 1.0):
            trace = found.windows[1]
            predictions = predicted(trace, aoa, share, seed=1, window=1, number=0)
            result = fs.simulate_workflows(
                fs.Workflow([1]), fs.Resources(NODES), scheduler=fs.Flaw(), failures=trace, predictor=predictions
            )
            assert result.aoa == pytest.approx(aoa, abs=0.03)
    assert predicted(trace, 0.5, 0.5, seed=1, window=1, number=0) != predicted(
        trace, 0.5, 0.5, seed=1, window=1, number=1
    )
    assert shares(1, 0, 5)[:3] == shares(1, 0, 3)
    assert shares(1, 0, 3) != shares(1, 1, 3)


def test_workflows_of_a_window(data_dir):
    sources = load(data_dir, windows=2, most=15, seed=0)
    assert set(sources) == {"bench", "real"}
    bench = sources["bench"]
    assert all(175 <= len(wf) <= 249 for group in bench.groups for wf in group)
    assert bench.groups[0] != bench.groups[1]
    assert load(None, windows=1, most=15, seed=0)["bench"].groups[0] == bench.groups[0]
    real = sources["real"]
    assert "HEFT_paper" not in real.text
    for group in real.groups:
        assert len(group) == 15
        assert len({wf.name for wf in group}) == 13, "every one of the 13 before one comes again"
        for wf in group:
            assert wf.cost.mean() == pytest.approx(inputs.MEAN_COST)
            assert wf.transfer_unit == "s"
    # Stretching keeps the ratio of communication to computation at 1 Gbit/s.
    montage = next(wf for wf in real.groups[0] if wf.name == "Montage_25")
    file = fs.read_dax(data_dir / "dags" / "dax" / "Montage_25.xml")
    assert montage.ccr == pytest.approx(file.ccr / 125e6)


def test_wrong_folders_are_refused(tmp_path):
    with pytest.raises(OptionError, match="no such folder"):
        record(tmp_path / "nowhere", windows=1, seed=0)
    with pytest.raises(OptionError, match="does not hold LA-UR"):
        record(tmp_path, windows=1, seed=0)
    assert set(load(tmp_path, windows=1, most=1, seed=0)) == {"bench"}


# -- all of it


@pytest.fixture(scope="module")
def tiny(tiny_study):
    return tiny_study("yu2010")


def test_runs_are_those_of_the_plan(tiny):
    keys = list(TINY.sets("bench"))
    assert len(set(keys)) == len(keys)
    extra = sum(TINY.runs(key) for key in TINY.judged()) * TINY.windows
    assert set(TINY.judged()) < set(keys)
    assert tiny.done.runs == sum(TINY.runs(key) for key in keys) * TINY.windows + 2 * extra
    with (tiny.out / "points.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(keys)
    for key, table in tiny.done.evidence.tables.items():
        assert np.isfinite(table["makespan"]).all(), key


def test_runs_are_those_of_simulate_workflows(tiny):
    evidence = tiny.done.evidence
    flows = list(evidence.sources["bench"].groups[1][:3])
    trace = evidence.record.windows[1]
    nodes = fs.Resources(NODES)
    blind = fs.simulate_workflows(flows, nodes, failures=trace)
    view = evidence.view("bench")
    assert view("makespan", 3, 0.0)[1] == blind.makespans.mean()
    assert view("loss", 3, 0.0)[1] == blind.loss_time
    seen = fs.simulate_workflows(flows, nodes, scheduler=fs.Flaw(), failures=trace, predictor=fs.Perfect())
    assert view("reschedulings", 3, 1.0)[1] == seen.reschedulings
    assert view("aaa", 3, 1.0)[1] == 1.0


def test_plans_hold_what_the_paper_has():
    quick = plan(True)
    assert (FULL.windows, FULL.traces, FULL.mixes) == (10, 5, 10)
    assert FULL.aoas == (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert FULL.many == quick.many == 10
    assert set(quick.aoas) < set(FULL.aoas)


@pytest.mark.slow
def test_a_quick_run_is_quick_and_holds_what_needs_few_windows(capsys, tmp_path, monkeypatch):
    import time

    monkeypatch.delenv("FAULTSIM_DATA", raising=False)
    began = time.process_time()
    assert main(["reproduce", "yu2010", "--quick", "--workers", "1", "--out", str(tmp_path)]) == 0
    assert time.process_time() - began < 20
    out, _ = capsys.readouterr()
    for label in ("L1", "L2", "L3", "L4", "L5"):
        assert re.search(rf"^{label} +HOLDS", out, flags=re.M), label
