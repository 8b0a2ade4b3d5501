"""Jobs that were cancelled while they waited, and users who give up."""

import numpy as np
import pytest

import faultsim as fs
from faultsim import synthetic
from helpers.command import refused, run

SWF = """; MaxProcs: 4
1 0 5 100 2 -1 -1 2 200 -1 1 1 -1 -1 -1 -1 -1 -1
2 10 60 -1 -1 -1 -1 4 300 -1 5 1 -1 -1 -1 -1 -1 -1
3 20 60 -1 -1 -1 -1 4 -1 -1 5 1 -1 -1 -1 -1 -1 -1
4 30 -1 -1 -1 -1 -1 4 300 -1 5 1 -1 -1 -1 -1 -1 -1
5 40 7 50 1 -1 -1 1 100 -1 5 1 -1 -1 -1 -1 -1 -1
"""
SACCT = """JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|State
7|ann|2024-01-31T12:00:00|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|01:00:00|2|COMPLETED
8|bob|2024-01-31T12:00:30|None|2024-01-31T12:10:30|00:00:00|00:20:00|1|CANCELLED by 1000
9|bob|2024-01-31T12:01:00|None|2024-01-31T12:10:30|00:00:00|UNLIMITED|1|CANCELLED by 1000
10|bob|2024-01-31T12:02:00|Unknown|Unknown|00:00:00|00:20:00|1|PENDING
"""


@pytest.fixture
def swf(tmp_path):
    (tmp_path / "log.swf").write_text(SWF)
    return tmp_path / "log.swf"


def test_swf_keeps_jobs_that_were_cancelled_while_they_waited(swf):
    usual = fs.read_swf(swf)
    assert (usual.id.tolist(), dict(usual.dropped)) == ([1, 5], {"run time missing": 3})
    log = fs.read_swf(swf, cancelled="keep")
    assert (log.id.tolist(), dict(log.dropped)) == ([1, 2, 5], {"run time missing": 2})
    assert log.columns["cancel"].tolist() == [-1, 70, -1]
    assert log.runtime.tolist() == [100, 300, 50]
    assert log.recorded_wait.tolist() == [5, -1, 7]
    assert log.further == ("cancel",)
    state = fs.simulate(log, fs.Cluster(4)).jobs["state"]
    assert state.tolist() == ["ended", "withdrawn", "ended"]


def test_a_log_with_cancelled_jobs_survives_swf(swf, tmp_path):
    log = fs.read_swf(swf, cancelled="keep")
    log.write_swf(tmp_path / "again.swf")
    again = fs.read_swf(tmp_path / "again.swf", cancelled="keep")
    assert again == log
    assert again.recorded_wait.tolist() == log.recorded_wait.tolist()


def test_a_schedule_with_withdrawn_jobs_is_such_a_log(swf, tmp_path):
    fs.simulate(fs.read_swf(swf, cancelled="keep"), fs.Cluster(4)).write_swf(tmp_path / "run.swf")
    again = fs.read_swf(tmp_path / "run.swf", cancelled="keep")
    assert again.columns["cancel"].tolist() == [-1, 70, -1]


def test_sacct_keeps_jobs_that_were_cancelled_while_they_waited(tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT)
    assert dict(fs.read_sacct(tmp_path / "sacct.txt").dropped) == {"never started": 3}
    log = fs.read_sacct(tmp_path / "sacct.txt", cancelled="keep")
    assert (log.id.tolist(), dict(log.dropped)) == ([7, 8], {"never started": 2})
    noon = 12 * 3600
    assert log.columns["cancel"].tolist() == [-1, noon + 630]
    assert (log.runtime.tolist(), log.recorded_wait.tolist()) == ([600, 1200], [300, -1])
    later = fs.read_sacct(tmp_path / "sacct.txt", cancelled="keep", begin="2024-01-31T12:00:10")
    assert later.columns["cancel"].tolist() == [620]


@pytest.mark.parametrize("read", [fs.read_swf, fs.read_sacct])
def test_another_word_is_refused(read, swf):
    with pytest.raises(fs.OptionError, match=r"cancelled.*keep"):
        read(swf, cancelled="yes")


def test_the_command_line_keeps_them(swf, tmp_path, capsys):
    status, out, _ = run(capsys, "run", f"{swf}:cancelled=keep", "--csv", tmp_path / "jobs.csv")
    assert status == 0
    assert "withdrawn_jobs" in out
    assert "withdrawn" in (tmp_path / "jobs.csv").read_text()


def test_the_command_line_follows_columns_of_a_table(tmp_path, capsys):
    (tmp_path / "log.csv").write_text(
        "id,submit,runtime,size,after\n1,0,10,1,\n2,0,10,1,afterok:1+5\n3,0,10,1,afternotok:1\n"
    )
    status, out, _ = run(capsys, "run", tmp_path / "log.csv", "--machine", "cluster:4")
    assert status == 0
    assert "unmet_jobs" in out
    (tmp_path / "log.csv").write_text("id,submit,runtime,size,after\n1,0,10,1,afterok:2\n2,0,10,1,afterok:1\n")
    said = refused(capsys, "run", tmp_path / "log.csv", "--machine", "cluster:4")
    assert "after, row 0: jobs wait for each other, 1 -> 2 -> 1" in said


def test_a_sweep_file_follows_them(swf):
    (swf.parent / "sweep.toml").write_text(
        '[base]\nlog = { file = "log.swf", cancelled = "keep" }\nmachine = "cluster:4"\n'
        '[grid]\nscheduler = ["fcfs", "easy"]\n'
    )
    table = fs.read_sweep(swf.parent / "sweep.toml").run()
    assert (table["n_jobs"].tolist(), table["withdrawn_jobs"].tolist()) == ([2, 2], [1, 1])


# -- patience


def test_patience_is_drawn_from_a_distribution():
    log = synthetic.exponential(4000, rng=1, mean_gap=60, mean_runtime=600)
    patient = synthetic.with_patience(log, "1h", rng=2, share=0.25)
    cancel = patient.columns["cancel"]
    given = cancel >= 0
    assert given.mean() == pytest.approx(0.25, abs=0.03)
    assert (cancel - patient.submit)[given].mean() == pytest.approx(3600, rel=0.1)
    assert synthetic.with_patience(log, "1h", rng=2, share=0.25) == patient
    fixed = synthetic.with_patience(log, lambda n, rng: np.full(n, 9.0), rng=2)
    np.testing.assert_array_equal(fixed.columns["cancel"], log.submit + 9)


def test_patience_that_cannot_be_is_refused():
    log = fs.Workload([0], [1], [1])
    with pytest.raises(fs.OptionError, match="share"):
        synthetic.with_patience(log, 60, rng=1, share=2)
    with pytest.raises(fs.OptionError, match="patience: drew -1"):
        synthetic.with_patience(log, lambda n, rng: [-1.0] * n, rng=1)
    with pytest.raises(fs.InputError, match="column cancel already"):
        synthetic.with_patience(log.with_columns(cancel=[5.0]), 60, rng=1)
