"""``faultsim run`` where nodes fail: files, made-up failures, policies, error lines."""

import json

import pytest

import faultsim as fs
from helpers import command


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.swf").write_text(command.swf(50, 99))
    (tmp_path / "lanl.csv").write_text(command.LANL)
    fs.FailureTrace([60, 130, 500], [0, 5, 200], [60, 0, 60], span=9000).write_csv("own.csv")
    return tmp_path


def run(capsys, *argv):
    return command.run(capsys, "run", "small.swf", *argv)


def document(capsys, *argv):
    status, out, err = run(capsys, *argv, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def refused(capsys, *argv):
    return command.refused(capsys, "run", "small.swf", *argv)


def test_a_file(capsys, here):
    made = document(capsys, "--failures", "own.csv", "--map-failures", "modulo")
    assert made["failures"] == {"source": "own.csv (3 failures)", "built_in": False}
    assert made["settings"]["failures"] == {"count": 3, "span": 9000}
    assert made["settings"]["recovery"] == {"name": "requeue", "place": "arrival", "restart_cost": 0}
    assert made["metrics"]["failures"] == 3
    assert made["metrics"]["service_unit_loss"] > 0
    assert document(capsys, "--failures", "own.csv", "--map-failures", "drop")["metrics"]["failures"] == 2
    shuffled = document(capsys, "--failures", "own.csv", "--map-failures", "permute", "--seed", "3")
    assert shuffled["metrics"]["failures"] == 3
    status, out, _ = run(capsys, "--failures", "own.csv", "--map-failures", "modulo", "--recovery", "hold")
    assert status == 0
    assert "failures own.csv (3 failures)\n" in out
    assert "3 failures, 3 within the run, hold" in out


def test_formats_and_their_options(capsys, here):
    for words, count in (("lanl,system=20", 2), ("system=2", 2), ("lanl,system=2", 2)):
        made = document(capsys, "--failures", f"lanl.csv:{words}")
        assert made["settings"]["failures"]["count"] == count
    (here / "odd:lanl").write_text((here / "own.csv").read_text())
    assert document(capsys, "--failures", "odd:lanl", "--map-failures", "drop")["metrics"]["failures"] == 2


def test_made_up_failures(capsys, here):
    made = document(capsys, "--failures", "synthetic:exponential,mtbf=0.01d,downtime=0,count=7")
    source = made["failures"]["source"]
    assert source == "built-in synthetic exponential (7 failures of 16 nodes in 0.0 days, seed 0)"
    assert made["failures"]["built_in"]
    assert made["settings"]["failures"]["span"] == pytest.approx(400 + 89)
    assert document(capsys, "--failures", "synthetic:count=5")["settings"]["failures"]["count"] == 5
    assert document(capsys, "--failures", "synthetic")["failures"]["source"].startswith("built-in synthetic weibull (")
    one, other = (
        document(capsys, "--failures", "synthetic:count=50", "--seed", seed)["metrics"] for seed in ("1", "2")
    )
    assert one != other


def test_policies(capsys, here):
    made = document(
        capsys, "--failures", "synthetic:count=20", "--machine", "torus:4x2x2",
        "--placement", "balancing:rule=max", "--predictor", "confidence:0.1", "--recovery", "requeue:place=tail",
        "--checkpointing", "predicted-windows:bucket=36s,victims=big:2,cost=3",
    )  # fmt: skip
    settings = made["settings"]
    assert settings["placement"]["rule"] == "max"
    assert settings["predictor"] == {"name": "confidence", "probability": 0.1}
    assert settings["recovery"]["place"] == "tail"
    assert settings["checkpointing"]["victims"] == {"name": "big", "count": 2}
    assert made["warnings"] == [] or "the failure trace ends" in made["warnings"][0]
    on_cluster = document(
        capsys, "--failures", "synthetic:count=20", "--placement", "lff", "--migration", "least-failures"
    )
    assert on_cluster["settings"]["migration"] == {"name": "least_failures", "threshold": 1, "cost": 300}


MOVING = ["--failures", "own.csv", "--map-failures", "modulo", "--predictor", "interval:1,1,30"]


def test_rescheduling(capsys, here):
    made = document(capsys, *MOVING, "--rescheduling", "fars:30,sul,static:2,1,1", "--checkpointing", "periodic:30,1")
    settings = made["settings"]["rescheduling"]
    assert (settings["name"], settings["interval"], settings["checkpoint_cost"]) == ("fars", 30, 1)
    assert settings["strategy"] == {"name": "service_unit_loss"}
    assert settings["spares"] == {"name": "static", "nodes": 2}
    assert made["metrics"]["moves"] > 0
    assert made["ledger"]["migration"] > 0
    assert document(capsys, *MOVING, "--rescheduling", "none")["settings"]["rescheduling"] is None
    status, out, _ = run(capsys, *MOVING, "--rescheduling", "fars:interval=30,strategy=jfr-d")
    assert status == 0
    assert "fars job_failure_rate" in out
    assert "\nmoves " in out
    assert "\n  migration " in out
    stolen = document(
        capsys, *MOVING, "--rescheduling", "fars:30,node-stealing,live=true", "--checkpointing", "periodic:30,1"
    )
    assert stolen["settings"]["rescheduling"]["strategy"]["name"] == "node_stealing"
    on_torus = document(
        capsys, *MOVING, "--machine", "torus:4x2x2", "--placement", "balancing", "--rescheduling", "fars:30,fsd"
    )
    assert on_torus["settings"]["machine"]["name"] == "torus"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--rescheduling", "fars"], ["needs interval and strategy, for instance fars:interval=300"]),
        (
            ["--rescheduling", "fars:300,sul"],
            ["fars requires a predictor", "--predictor interval:", "interval=300"],
        ),
        (["--rescheduling", "fars:300,sul,speed=2"], ["unknown option 'speed=2'", "known: interval, strategy, spares"]),
        (["--rescheduling", "frs:300,sul"], ["unknown rescheduling 'frs' (did you mean 'fars'?)"]),
        (["--migration", "fars:300,sul"], ["unknown migration 'fars' (it is a rescheduling)"]),
        (["--reschedule", "fars:300,sul"], ["--reschedul"]),
        (
            [*MOVING, "--rescheduling", "fars:30,sul,static:16"],
            ["static:nodes=16 leaves no node of cluster:16", "fewer than 16"],
        ),
        ([*MOVING, "--rescheduling", "fars:30,sul,static:8"], ["40 jobs are larger", "16 - 8 = 8 nodes", "oversized"]),
        (["--predictor", "interval:0.7,0,300"], ["recall must be above 0 and at most 1, got 0", "use blind"]),
    ],
)
def test_error_lines_of_rescheduling(capsys, here, argv, says):
    err = refused(capsys, *argv)
    for part in says:
        assert part in err, err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--failures", "none.csv"], ["none.csv", "no such file"]),
        (["--failures", "own.csv:nonsense"], ["unknown format 'nonsense'", "known: csv, lanl, fta, ras"]),
        (["--failures", "own.csv:lanl,system=x"], ["is no whole number", "'faultsim failures summary --help'"]),
        (["--failures", "own.csv"], ["own.csv: 1 of 3 failures", "16 nodes", "node 200", "--map-failures modulo"]),
        (["--failures", "lanl.csv:lanl,system=7"], ["no system 7; it has 2, 20"]),
        (["--failures", "lanl.csv:lanl,sytem=2"], ["unknown argument '--sytem=2'", "did you mean '--system'?"]),
        (["--failures", "lanl.csv:lanl,gap=3"], ["--gap is for ras"]),
        (["--failures", "synthetic:weibul"], ["unknown kind 'weibul'", "did you mean 'weibull'?"]),
        (["--failures", "synthetic:uptimes=constant"], ["--uptimes is for renewal, not for weibull"]),
        (["--failures", "synthetic:count=many"], ["--count", "many"]),
        (["--map-failures", "drop"], ["--map-failures drop: there are no --failures to map"]),
        (["--recovery", "hodl"], ["did you mean 'hold'?"]),
        (["--checkpointing", "periodic"], ["needs interval and cost, for instance periodic:2h,5m"]),
        (["--checkpointing", "risk-based:60,1"], ["risk-based requires a predictor"]),
        (["--predictor", "confidence:0.1"], ["predicts the failures of the run, but there are none"]),
        (["--placement", "balancing", "--predictor", "blind"], ["balancing places boxes, and cluster:16 has none"]),
        (["--placement", "lff", "--machine", "torus:4x2x2"], ["least-failures-first chooses single nodes"]),
        (["--predictor", "buckets:4h", "--checkpointing", "before-failure:3", "--failures", "synthetic"], ["says w"]),
    ],
)  # fmt: skip
def test_error_lines(capsys, here, argv, says):
    err = refused(capsys, *argv)
    for part in says:
        assert part in err, err
