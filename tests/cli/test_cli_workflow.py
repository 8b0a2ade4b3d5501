"""``faultsim workflow``: the same as `fs.simulate_workflows` says."""

import csv
import json

import numpy as np
import pytest

import faultsim as fs
from helpers.command import refused, run


@pytest.fixture
def stg(tmp_path):
    """A chain of two jobs between the dummies of the format."""
    path = tmp_path / "chain.stg"
    path.write_text("2\n0 0 0\n1 5 1 0\n2 7 1 1\n3 0 1 2\n")
    return str(path)


def test_summary_has_a_row_for_each(capsys, stg):
    status, out, err = run(capsys, "workflow", "summary", stg, "--json")
    assert (status, err) == (0, "")
    (row,) = json.loads(out)["workflows"]
    found = fs.synthetic.dag_properties(fs.read_stg(stg))
    assert (row["jobs"], row["levels"], row["mean_cost"]) == (2, found.levels, found.mean_cost)
    assert len(run(capsys, "workflow", "summary", "--count", "3")[1].splitlines()) == 5


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_run_is_simulate_workflows(capsys, tmp_path, engine):
    failing = tmp_path / "failures.csv"
    fs.synthetic.exponential_failures(4, 4e6, 2e5, downtime=600, rng=3).write_csv(failing)
    files = {name: tmp_path / f"{name}.csv" for name in ("csv", "decisions", "events")}
    argv = ["workflow", "run", "--count", "2", "--seed", "7", "--nodes", "4", "--scheduler", "flaw", "--ccr", "0.3",
            "--failures", str(failing), "--predictor", "accuracy:0.5", "--transfers", "in_turn",
            "--outputs", "shared:5", "--every", "100", "--cost-factor", "0.5", "--engine", engine]  # fmt: skip
    out = run(capsys, *argv, "--json", *(word for name, path in files.items() for word in (f"--{name}", str(path))))[1]
    made = [workflow.with_cost_factor(0.5).with_ccr(0.3) for workflow in fs.synthetic.bench_dags(2, rng=7)]
    expected = fs.simulate_workflows(
        [workflow.submitted(100.0 * number) for number, workflow in enumerate(made)],
        fs.Resources(4),
        scheduler=fs.Flaw(),
        failures=fs.read_failures(failing),
        predictor=fs.Accuracy(0.5),
        transfers="in_turn",
        outputs=fs.SharedOutputs(5),
        seed=7,
        record=True,
    )
    document = json.loads(out)
    assert document["makespans"] == expected.makespans.tolist()
    assert (document["loss_time"], document["reschedulings"]) == (expected.loss_time, expected.reschedulings)
    assert expected.reschedulings > 0
    for name, path in files.items():
        columns = getattr(expected, "jobs" if name == "csv" else name)
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        for key, values in columns.items():
            np.testing.assert_array_equal([float(row[key]) for row in rows], np.asarray(values, dtype=float))


def test_decisions_are_the_log_of_the_run(capsys, stg):
    out = run(capsys, "workflow", "decisions", stg, "--speed", "1,2")[1]
    log = fs.simulate_workflows(fs.read_stg(stg), fs.Resources(speed=[1, 2]), record=True).log()
    assert out.splitlines()[1:] == log.splitlines()


def test_figure_is_drawn(capsys, stg, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "chain.svg"
    status, out, _ = run(capsys, "workflow", "figure", str(picture), stg, "--nodes", "2")
    assert status == 0
    assert str(picture) in out
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    assert run(capsys, "workflow", "run", stg, "--figure", "-")[1].startswith("<?xml")


def test_made_up_failures_reach_to_the_end_of_the_run(capsys):
    argv = ("workflow", "run", "--count", "1", "--nodes", "2", "--failures", "synthetic:exponential,count=50")
    out = run(capsys, *argv)[1]
    assert "reschedulings" in out
    assert "the failure trace ends" not in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run", "none.stg"], "none.stg"),
        (["run", "--scheduler", "flow"], "did you mean 'flaw'?"),
        (["run", "--speed", "1,x"], "--speed"),
        (["run", "--speed", "1", "--nodes", "2"], "one of the two"),
        (["run", "--outputs", "disk"], "shared:COST"),
        (["run", "--outputs", "shared:x"], "'x' is no duration: write 90 or 90s"),
        (["run", "--count", "0"], "at least 1"),
        (["run", "--map-failures", "drop"], "no --failures"),
        (["summary", "--seed", "-1"], "--seed"),
        (["decision"], "did you mean 'decisions'?"),
        (["figure", "x.nope", "--count", "1"], "unknown kind of picture"),
    ],
)
def test_mistakes_are_one_line(capsys, argv, words):
    assert words in refused(capsys, "workflow", *argv)


def test_files_and_counts_exclude_each_other(capsys, stg):
    assert "made up" in refused(capsys, "workflow", "summary", stg, "--count", "2")
    assert "without options" in refused(capsys, "workflow", "summary", f"{stg}:stg,dummies=true")


def test_run_and_show_write_a_report(capsys, stg, tmp_path):
    pytest.importorskip("matplotlib")
    page, saved = tmp_path / "page.html", str(tmp_path / "flow.npz")
    argv = ("workflow", "run", stg, "--report", str(page), "--title", "Mine", "--save", saved)
    assert f"written  {page}" in run(capsys, *argv)[1]
    text = page.read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in text
    assert "faultsim workflow run" in text
    assert "<svg" in text
    assert run(capsys, "show", saved, "--report", str(page), "--quiet")[0] == 0
    assert "<svg" in page.read_text(encoding="utf-8")  # what a report needs was recorded
    assert "--title is for --report FILE" in refused(capsys, "workflow", "run", stg, "--title", "x")
