"""Estimates that cannot be meant: what readers, summaries, runs and the command line say of them."""

import json
import logging

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import app
from faultsim.data.estimates import DOUBTFUL, doubtful_estimates

WARNING = "85 % of the jobs run past their estimate (45,932 of the 54,009 that have one); are estimates in minutes?"


def said_of(runtime, estimate):
    return doubtful_estimates(np.array(runtime, float), np.array(estimate, float))


def heard(caplog):
    return [record.getMessage() for record in caplog.records if "past their estimate" in record.getMessage()]


@pytest.mark.parametrize(
    ("runtime", "estimate", "said"),
    [
        ([300, 1200, 60], [10, 30, 5], "100 % .* (3 of the 3 that have one); are estimates in minutes?"),
        ([7000, 100_000, 50], [2, 30, 1], "are estimates in hours?"),
        ([4e5, 9e4, 5e5], [5, 1.5, 6], "are run times and estimates in the same unit?"),
        ([11, 12, 13], [10, 10, 10], ": schedulers go by estimates that are too short"),
        ([5, 5, 5, 5], [0, 0, 0, 9], "; 3 estimates are 0: is that no limit? A missing estimate is -1"),
        ([300, 1200, 9], [-1, 30, -1], "100 % .* (1 of the 1 that have one)"),
        ([np.inf, 5, 300], [1, 9, 10], "50 % .* (1 of the 2 that have one)"),
    ],
)
def test_what_is_said(runtime, estimate, said):
    head, _, tail = said.rpartition(".* ")
    found = said_of(runtime, estimate)
    assert found.startswith(head.strip())
    assert found.endswith(tail) or tail in found


@pytest.mark.parametrize(
    ("runtime", "estimate"),
    [([], []), ([5], [5]), ([0, 0], [0, 0]), ([5, 5], [-1, -1]), ([20] * 39 + [1] * 61, [10] * 100)],
)
def test_nothing_is_said(runtime, estimate):
    assert said_of(runtime, estimate) is None


def test_the_threshold():
    assert DOUBTFUL == 0.4
    assert said_of([20] * 40 + [1] * 60, [10] * 100).startswith("40 % of the jobs run past their estimate")


# -- where it is said


@pytest.fixture
def minutes(tmp_path):
    """A log of ten jobs whose limits are in minutes, as a CSV and as an SWF."""
    log = fs.Workload(range(10), [600] * 10, [1] * 10, estimate=[30] * 10)
    log.write_csv(tmp_path / "jobs.csv")
    log.write_swf(tmp_path / "jobs.swf")
    return tmp_path


def test_readers_say_it(minutes, caplog):
    said = "100 % of the jobs run past their estimate (10 of the 10 that have one); are estimates in minutes?"
    for read, name in ((fs.read_jobs, "jobs.csv"), (fs.read_swf, "jobs.swf")):
        with caplog.at_level(logging.WARNING, "faultsim"):
            log = read(minutes / name)
        assert heard(caplog) == [f"{minutes / name}: {said}"]
        caplog.clear()
        assert str(log.summary()).splitlines()[-1] == f"note: {said}"
        assert said in fs.simulate(log, fs.Cluster(4)).warnings
        caplog.clear()
    right = fs.read_jobs(minutes / "jobs.csv", unit={"estimate": "min"})
    assert heard(caplog) == []
    assert "note:" not in str(right.summary())
    assert fs.simulate(right, fs.Cluster(4)).warnings == ()


def test_estimates_that_the_run_does_not_use_are_not_doubted(minutes):
    log = fs.read_jobs(minutes / "jobs.csv")
    for estimates in ("actual", 0.5):
        assert fs.simulate(log, fs.Cluster(4), estimates=estimates).warnings == ()


def test_the_command_line_says_it(minutes, capsys):
    said = "100 % of the jobs run past their estimate"
    assert app.main(["run", str(minutes / "jobs.swf"), "--machine", "cluster:4"]) == 0
    assert f"note: {said}" in capsys.readouterr().out
    assert app.main(["run", str(minutes / "jobs.swf"), "--machine", "cluster:4", "--json"]) == 0
    assert any(text.startswith(said) for text in json.loads(capsys.readouterr().out)["warnings"])
    assert app.main(["log", "summary", str(minutes / "jobs.swf")]) == 0
    assert f"note: {said}" in capsys.readouterr().out


# -- real logs


def test_no_public_log_is_doubted(data_dir, caplog):
    files = sorted((data_dir / "swf").glob("*.swf.gz"))
    assert files
    for path in files:
        fs.read_swf(path)
    assert heard(caplog) == []


def test_a_real_log_with_limits_in_minutes(data_dir):
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    estimate = np.where(log.estimate < 0, -1, log.estimate / 60)
    wrong = fs.Workload(log.submit, log.runtime, log.size, estimate=estimate)
    assert WARNING in fs.simulate(wrong, fs.Cluster(128)).warnings
    limited = fs.simulate(wrong, fs.Cluster(128), overrun="kill")
    assert WARNING in limited.warnings
    assert any(text.startswith("45,932 of 54,044 jobs (85.0 %)") for text in limited.warnings)


def test_limits_in_minutes_beside_seconds(data_dir, caplog):
    path = data_dir / "cases" / "R01-limits-in-minutes.csv"
    names = {"submit": "dt", "runtime": "wall_time", "size": "n_tasks", "estimate": "wall_limit", "id": "job_id"}
    fs.read_jobs(path, **names)
    assert heard(caplog)[0].endswith("are estimates in minutes?")
    caplog.clear()
    fs.read_jobs(path, **names, unit={"estimate": "min"})
    assert heard(caplog) == []
