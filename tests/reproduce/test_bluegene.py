"""Oliner's schedulers on a real failure record: expectations on made-up numbers, alignment, and all of it, small."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.reproduce.bluegene import CLAIMS
from faultsim.reproduce.bluegene.inputs import Jobs, Record, aligned, load, mapped
from faultsim.reproduce.bluegene.runs import CLEAN, COLUMNS, POLICIES, Evidence, Key, Plan, plan
from faultsim.reproduce.claims import Verdict

RULES = {claim.id: claim for claim in CLAIMS}
NOISE = np.array([-0.01, 0.01, 0.0, 0.005, -0.005])


# -- expectations, on numbers where the answer is known


def made(**columns):
    what = Plan(replicates=5)
    sources = {name: SimpleNamespace(label=name) for name in ("sdsc", "nasa")}
    record = {"hardware": SimpleNamespace(label="x")}
    functions = dict.fromkeys(COLUMNS, lambda k: 1.0) | columns
    runs = {k: {name: f(k) * (1 + NOISE) for name, f in functions.items()} for k in what.settings(record, sources)}
    return Evidence(record, sources, runs, what)


def verdict(label, evidence):
    return RULES[label].judge(evidence).verdict


def confidence(key):
    return POLICIES[key.policy][1] if key.policy != CLEAN else 1.0


def test_expectations_follow_the_numbers():
    good = made(
        slowdown=lambda k: 10.0 if k.policy == CLEAN else 20.0 - 5.0 * (confidence(k) > 0),
        lost_work=lambda k: 0.1 - 0.05 * confidence(k) - 0.02 * k.policy.startswith("balancing"),
        kills=lambda k: 50.0 if k.map == "natural" else 90.0,
    )
    assert {label: verdict(label, good) for label in RULES} == dict.fromkeys(RULES, Verdict.HOLDS)
    none = made()
    assert {label: verdict(label, none) for label in RULES} == dict.fromkeys(RULES, Verdict.FAILS)
    one = made(slowdown=lambda k: 1.0 + (k.policy != CLEAN and k.log == "sdsc"))
    assert verdict("R1", one) is Verdict.PARTLY


# -- inputs


def test_aligned_jobs_go_round_the_log():
    log = Workload(submit=[5, 15, 25, 35], runtime=[1, 2, 3, 4], size=[8, 16, 32, 64])
    jobs = Jobs("sdsc", log, False, "")
    assert jobs.period == pytest.approx(40)
    part = aligned(jobs, 0.5, 60.0, jobs.load)
    assert part.submit.tolist() == pytest.approx([0, 10, 20, 30, 40, 50])
    assert part.size.tolist() == [32, 64, 8, 16, 32, 64]
    assert part.runtime.tolist() == pytest.approx([3, 4, 1, 2, 3, 4])
    twice = aligned(jobs, 0.5, 60.0, 2 * jobs.load)
    assert twice.runtime.tolist() == pytest.approx([6, 8, 2, 4, 6, 8])


@pytest.fixture(scope="module")
def stand_ins():
    return load(None, seed=0)


def test_alignments_keep_the_load(stand_ins):
    jobs = stand_ins[1]["nasa"]
    part = aligned(jobs, 0.3, 200 * 86_400.0, 0.65)
    assert part.work.sum() / (128 * 200 * 86_400) == pytest.approx(0.65, rel=0.05)


def test_maps_keep_times_and_move_nodes():
    record = Record("hardware", FailureTrace([1, 2, 3], [0, 0, 127], 0.0), False, "")
    assert mapped(record, "natural", 0, seed=0) is record.trace
    tables = [mapped(record, "permuted", r, seed=0) for r in (0, 0, 1)]
    assert tables[0] == tables[1] != tables[2]
    assert tables[0].time.tolist() == [1, 2, 3]
    assert tables[0].node[0] == tables[0].node[1] != tables[0].node[2]


def test_the_real_record(data_dir):
    records, logs = load(data_dir, seed=0)
    assert {name: len(record.trace) for name, record in records.items()} == {"hardware": 537, "all": 8600}
    assert all(source.real for source in (*records.values(), *logs.values()))
    trace = records["hardware"].trace
    assert len(np.unique(trace.node)) == 128
    # Row by row: sixteen midplanes of a row of racks fail at once, and no other sixteen.
    times, counts = np.unique(np.round(trace.time / 10), return_counts=True)
    for at in times[counts == 16]:
        together = np.sort(trace.node[np.round(trace.time / 10) == at])
        assert (together == together[0] // 16 * 16 + np.arange(16)).all()
    assert (counts == 16).any()


def test_stand_ins_say_what_they_are(tmp_path):
    records, logs = load(None, seed=1)
    assert list(records) == ["hardware"]
    assert all("built-in" in source.text and not source.real for source in (*records.values(), *logs.values()))
    with pytest.raises(OptionError, match="no such folder"):
        load(tmp_path / "no", seed=0)
    with pytest.raises(OptionError, match=r"Best\.all-fail"):
        load(tmp_path, seed=0)


# -- all of it


@pytest.fixture(scope="module")
def tiny(tiny_study):
    return tiny_study("bluegene")


def test_plans():
    assert plan(False).replicates == 10
    assert plan(True, 3).replicates == 3
    assert "no prediction" in plan(True).policies
    settings = plan(False).settings({"hardware": 0, "all": 0}, {"sdsc": 0})
    assert len(set(settings)) == len(settings) == 3 * (1 + 2 * len(POLICIES)) + 4


def test_tables_show_every_policy_and_load(tiny):
    shown = tiny.done.text()
    for words in ("0.5 natural", "0.8 permuted", "stand-in", "map of midplanes", *POLICIES, CLEAN):
        assert words in shown
    assert len(tiny.done.grids) == 2 * 3
    page = tiny.page.read_text()
    assert "| no prediction |" in page
    assert len(re.findall(r"^\| R\d \|", page, flags=re.M)) == 5
    assert not re.search(r"\bnan\b", page)


def test_runs_without_prediction_meet_the_failures(tiny):
    e = tiny.done.evidence
    for log in e.logs:
        key = Key("hardware", log, 0.8, "natural", "no prediction")
        assert e.runs[key]["events"].min() > 0
        assert not e.values("kills", log, 0.8, CLEAN).any()
