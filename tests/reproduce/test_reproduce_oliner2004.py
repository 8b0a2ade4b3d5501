"""The reproduction of [oliner2004]: its rules on made-up numbers, and all of it on a tiny plan."""

import csv
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from faultsim.cli import main
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.reproduce import oliner2004, oliner_checks
from faultsim.reproduce.claims import Claim, Finding, Verdict
from faultsim.reproduce.oliner_figures import FIGURES
from faultsim.reproduce.oliner_inputs import TRACES, failures, halved, load
from faultsim.reproduce.oliner_measures import reduction, significant
from faultsim.reproduce.oliner_runs import COLUMNS, GRID, LOADS, LOGS, Evidence, Key, Plan, key, plan, run
from faultsim.reproduce.replicates import Estimate

TINY = Plan(jobs=60, replicates=2, grid=(0.0, 0.1, 0.2, 0.9, 1.0), counts=(0, 1000, 2000, 4000))
RULES = {claim.id: claim for claim in oliner2004.CLAIMS}
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


def test_there_are_15_claims_with_all_that_a_row_needs():
    assert [claim.id for claim in oliner2004.CLAIMS] == [f"O{i}" for i in range(1, 16)]
    for claim in oliner2004.CLAIMS:
        assert all((claim.text, claim.where, claim.paper, claim.rule, claim.settings)), claim.id
        assert claim.kind in ("number", "order", "unit")


@pytest.mark.parametrize(
    ("rise", "expected"), [(0.7, Verdict.HOLDS), (1.05, Verdict.PARTLY), (0.0, Verdict.FAILS), (2.0, Verdict.FAILS)]
)
def test_one_failure_in_four_days(rise, expected):
    assert verdict("O2", made(lambda k: 100.0 * (1 + rise * (k.failures > 0)))) is expected


def test_a_curve_that_flattens_is_told_from_a_straight_and_a_flat_one():
    assert verdict("O3", made(lambda k: 10 + 500 * np.sqrt(1 - np.exp(-k.failures / 600)))) is Verdict.HOLDS
    assert verdict("O3", made(lambda k: 10 + k.failures / 10)) is Verdict.PARTLY
    assert verdict("O3", made(lambda k: 10.0)) is Verdict.FAILS


def test_gains_of_balancing_are_measured_where_the_paper_does():
    half = made(lambda k: steps(k, 0.5, 0.1))
    assert [verdict(label, half) for label in ("O4", "O6", "O14")] == [Verdict.HOLDS] * 3
    assert verdict("O7", half) is Verdict.PARTLY
    assert verdict("O7", made(lambda k: steps(k, 0.75))) is Verdict.HOLDS
    none = made(lambda k: 300.0)
    assert [verdict(label, none) for label in ("O6", "O7", "O11", "O14")] == [Verdict.FAILS] * 4
    late = made(lambda k: steps(k, 0.1, 0.8))
    assert [verdict(label, late) for label in ("O4", "O6")] == [Verdict.PARTLY, Verdict.FAILS]


def test_load_turns_unused_into_used():
    shares = {"utilized": lambda k: 0.6 if k.c == 1 else 0.65, "unused": lambda k: 0.3 if k.c == 1 else 0.25}
    assert verdict("O5", made(lambda k: 100.0 if k.c == 1 else 200.0, **shares)) is Verdict.HOLDS
    assert verdict("O5", made(lambda k: 100.0)) is Verdict.PARTLY  # nothing changes, and little enough of it
    much = {"utilized": lambda k: 0.6 if k.c == 1 else 0.8, "unused": lambda k: 0.3}
    assert verdict("O5", made(lambda k: 100.0, **much)) is Verdict.FAILS


def test_steady_falls_are_told_from_scatter():
    scatter = dict(zip(GRID, (300, 150, 170, 140, 160, 150, 165, 145, 160, 150, 155), strict=True))
    assert verdict("O8", made(lambda k: float(scatter[k.a]))) is Verdict.HOLDS
    assert verdict("O8", made(lambda k: 300 - 100 * k.a)) is Verdict.FAILS
    assert verdict("O8", made(lambda k: 1.0)) is Verdict.NOT_JUDGED  # a flat line correlates with nothing


def test_axes_are_matched_within_a_factor_of_two():
    middle = {"sdsc": 600.0, "nasa": 200.0, "llnl": 1000.0, "sdsc-all": 1.0}
    assert verdict("O9", made(lambda k: middle[k.log])) is Verdict.HOLDS
    assert verdict("O9", made(lambda k: 600.0 if k.log == "sdsc" else 1.0)) is Verdict.PARTLY
    assert verdict("O9", made(lambda k: 10.0)) is Verdict.FAILS


def test_lost_capacity_becomes_useful():
    good = {
        "lost": lambda k: 0.3 - (0.15 if k.c == 1 else 0.05) * k.a,
        "utilized": lambda k: 0.5 + 0.1 * k.a + (0.02 * (k.a > 0) if k.scheduler == "balancing" else 0.0),
    }
    e = made(lambda k: 100.0, **good)
    assert verdict("O10", e) is Verdict.HOLDS
    assert verdict("O13", e) is Verdict.HOLDS
    e = made(lambda k: 100.0, lost=lambda k: 0.2 + 0.1 * k.a, utilized=lambda k: 0.5 - 0.1 * k.a)
    assert verdict("O10", e) is Verdict.FAILS
    assert verdict("O13", e) is Verdict.FAILS


def test_tie_breaking_has_its_own_numbers():
    paper = {"sdsc": 0.65, "nasa": 0.2, "llnl": 0.5, "sdsc-all": 0.0}
    assert verdict("O11", made(lambda k: steps(k, 0.05, paper[k.log] - 0.05))) is Verdict.HOLDS
    assert verdict("O11", made(lambda k: steps(k, 0.05, 0.15))) is Verdict.PARTLY
    worse = made(lambda k: 300 * (1 + 0.2 * (k.a in (0.1, 0.2))))
    assert verdict("O12", worse) is Verdict.HOLDS
    assert verdict("O12", made(lambda k: steps(k, 0.3))) is Verdict.FAILS


def test_a_single_replicate_is_never_significant():
    one = Plan(replicates=1)
    runs = {k: {name: np.array([steps(k, 0.5)]) for name in COLUMNS} for k in one.settings()}
    source = SimpleNamespace(label="X", real=True)
    e = Evidence(dict.fromkeys((*LOGS, "sdsc-all"), source), runs, one)
    assert verdict("O14", e) is Verdict.FAILS
    assert not significant(Estimate(1.0, float("nan")))
    assert reduction(np.array([2.0]), np.array([1.0])).value == 0.5


def test_unit_claims_notice_a_wrong_answer():
    good = {"O1": oliner_checks.figure_2(), "O15": {"empty": {4: 2.0}, "busy": 1.5}}
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


def test_wrong_files_are_refused(tmp_path):
    with pytest.raises(OptionError, match="no such folder"):
        load(tmp_path / "nowhere", llnl=None, jobs=None, seed=0)
    with pytest.raises(OptionError, match="holds none of"):
        load(tmp_path, llnl=None, jobs=None, seed=0)
    with pytest.raises(OptionError, match=r"--llnl .*no such file"):
        load(None, llnl=tmp_path / "no.swf", jobs=None, seed=0)


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
    fewer, more = trace.rescale(500, rng=0), trace.rescale(1000, rng=0)
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
    with pytest.raises(OptionError):
        plan(False, 0)


def test_without_prediction_or_failures_settings_are_shared():
    assert key("nasa", 1.0, "tie-breaking", 0.0, 4000) == Key("nasa", 1.0, "balancing", 0.0, 4000)
    assert key("nasa", 1.0, "tie-breaking", 0.5, 0) == Key("nasa", 1.0, "balancing", 0.0, 0)
    assert key("nasa", 1.0, "tie-breaking", 0.5, 10).scheduler == "tie-breaking"


def test_both_schedulers_without_prediction_are_krevats(stand_ins):
    log = stand_ins["sdsc"].log.head(300)
    trace = failures(replace(stand_ins["sdsc"], log=log), 0, seed=0).rescale(200)
    tables = [run(log, scheduler, 0.0, trace).simulate().jobs for scheduler in ("balancing", "tie-breaking")]
    for name in ("start", "finish", "restarts", "allocated"):
        assert np.array_equal(tables[0][name], tables[1][name]), name
    assert tables[0]["restarts"].sum() > 0


# -- all of it


@pytest.fixture(scope="module")
def stand_ins():
    return load(None, llnl=None, jobs=None, seed=0)


def few(stand_ins, jobs):
    """The first jobs of each stand-in, as `load` gives them."""
    return lambda data, llnl, jobs=jobs, seed=0: {
        name: replace(source, log=source.log.head(jobs)) for name, source in stand_ins.items()
    }


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, stand_ins):
    folder = tmp_path_factory.mktemp("oliner")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oliner2004, "load", few(stand_ins, TINY.jobs))
        done = oliner2004.reproduce(quick=True, out=folder / "out", what=TINY, page=folder / "page.md", workers=2)
    return SimpleNamespace(done=done, out=folder / "out", page=folder / "page.md")


def test_every_claim_has_a_verdict(tiny):
    rows = tiny.done.rows
    assert [row.claim.id for row in rows] == [f"O{i}" for i in range(1, 16)]
    assert all(row.finding.ours for row in rows)
    assert not any(re.search(r"\bnan\b", row.finding.ours + row.finding.note) for row in rows)


def test_runs_are_those_of_the_plan(tiny):
    keys = TINY.settings()
    expected = sum(2 if k.failures else 1 for k in keys)
    assert tiny.done.runs == expected
    with (tiny.out / "runs.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == expected


def test_runs_are_those_of_simulate(tiny):
    e = tiny.done.evidence
    source = e.sources["nasa"]
    for scheduler, a, c in (("balancing", 0.9, 1.2), ("tie-breaking", 0.2, 1.0)):
        trace = failures(source, 1, seed=0)
        result = run(source.log.scale_runtime(c), scheduler, a, trace).simulate()
        assert e.values("slowdown", "nasa", c, scheduler, a)[1] == result.metrics["mean_bounded_slowdown"]
        shares = [e.values(part, "nasa", c, scheduler, a)[1] for part in ("utilized", "unused", "lost")]
        assert sum(shares) == pytest.approx(1)


def test_every_figure_is_drawn_with_its_data(tiny):
    from matplotlib.image import imread

    assert list(FIGURES) == [f"fig{i}" for i in range(3, 11)]
    for name in FIGURES:
        pixels = imread(tiny.out / f"{name}.png")
        assert pixels.shape[0] > 500
        assert pixels[..., :3].std() > 0.02, f"{name} is blank"
        with (tiny.out / f"{name}.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) >= 9


def test_claims_are_written(tiny):
    written = json.loads((tiny.out / "claims.json").read_text())
    assert len(written["claims"]) == 15
    assert {log["name"] for log in written["logs"]} == {*LOGS, "sdsc-all"}
    assert not any(log["real"] for log in written["logs"])
    assert set(tiny.done.files) == {*tiny.out.iterdir(), tiny.page}
    lines = tiny.page.read_text()
    assert len(re.findall(r"^\| O\d+ \|", lines, flags=re.M)) == 15
    assert "stand-in" in lines
    assert "(out/fig3.png)" in lines
    assert "15 claims" in tiny.done.text()


# -- the command


@pytest.fixture
def tiny_plan(monkeypatch, stand_ins):
    checks = {"O1": oliner_checks.figure_2(), "O15": {"empty": {4: 2.0}, "busy": 1.5}}
    what = Plan(jobs=30, replicates=1, grid=(0.0, 0.1, 0.2, 0.9, 1.0), counts=(0, 1000), whole_log=False)
    monkeypatch.setattr(oliner2004, "draw", lambda evidence, folder: [])
    monkeypatch.setattr(oliner2004, "checks", lambda quick: checks)
    monkeypatch.setattr(oliner2004, "plan", lambda quick, replicates: what)
    monkeypatch.setattr(oliner2004, "load", few(stand_ins, what.jobs))
    monkeypatch.delenv("FAULTSIM_DATA", raising=False)


def test_threads_change_nothing(tiny_plan, tmp_path):
    tables = []
    for workers in (1, 2):
        out = tmp_path / str(workers)
        oliner2004.reproduce(quick=True, out=out, workers=workers)
        tables.append((out / "runs.csv").read_text())
    assert tables[0] == tables[1]


def test_command_prints_the_table_or_json(tiny_plan, capsys, tmp_path):
    assert main(["reproduce", "oliner2004", "--quick", "--out", str(tmp_path / "a")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(re.search(rf"^O{i} ", out, flags=re.M) for i in range(1, 16))
    assert "stand-in" in out
    assert main(["reproduce", "oliner2004", "--quick", "--json", "--out", str(tmp_path / "b")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(json.loads(out)["claims"]) == 15


@pytest.mark.parametrize(("found", "status"), [(Verdict.HOLDS, 0), (Verdict.PARTLY, 0), (Verdict.FAILS, 1)])
def test_strict_fails_only_when_a_claim_does(tiny_plan, capsys, tmp_path, monkeypatch, found, status):
    claim = Claim("O1", "a", "b", "order", "c", "d", "e", lambda evidence: Finding("x", found))
    monkeypatch.setattr(oliner2004, "CLAIMS", [claim])
    argv = ["reproduce", "oliner2004", "--quick", "--out", str(tmp_path)]
    assert main([*argv, "--strict"]) == status
    if found is Verdict.FAILS:
        assert main(argv) == 0
    capsys.readouterr()


def test_command_refuses_in_one_line(capsys, tmp_path):
    (tmp_path / "file").write_text("x")
    for argv, says in ((["--data", str(tmp_path / "no")], "no such folder"), (["--data", str(tmp_path)], "none of"),
                       (["--workers", "0"], "--workers"), (["--out", str(tmp_path / "file")], "--out"),
                       (["--llnl", str(tmp_path / "no.swf")], "--llnl"),
                       (["--replicates", "0"], "replicates")):  # fmt: skip
        assert main(["reproduce", "oliner2004", "--quick", *argv]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert says in err


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
