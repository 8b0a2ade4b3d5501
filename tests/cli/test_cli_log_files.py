"""Logs of every format on the command line and in sweep files."""

import io
import json

import pytest

import faultsim as fs
from faultsim.readers.table import detect
from faultsim.sweep.input_sources import log_source
from helpers.command import refused, run, swf

CSV = "submitted,elapsed,nodes,queue\n0,2,4,long\n1,3,1,short\n2,1,2,long\n"
SACCT = (
    "JobID|User|Submit|Elapsed|NNodes|AllocCPUS|State\n"
    "1|ann|2024-01-31T00:00:10|00:01:00|2|64|COMPLETED\n"
    "1.batch||2024-01-31T00:00:10|00:01:00|2|64|COMPLETED\n"
)
NAMES = "submit=submitted,runtime=elapsed,size=nodes"


@pytest.fixture
def files(tmp_path):
    for name, text in {"jobs.csv": CSV, "jobs.txt": SACCT, "log.swf": swf(5, 60)}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_formats_are_told_by_their_first_line(files):
    found = [detect(files / name, fs.Workload).name for name in ("jobs.csv", "jobs.txt", "log.swf")]
    assert found == ["csv", "sacct", "swf"]
    (files / "plain.swf").write_text("1 0 -1 5 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    assert detect(files / "plain.swf", fs.Workload).name == "swf"
    failures = {"titan": "SN,location,insert,remove,duration,out,event\n", "stepfun": "[\n {}]", "csv": "time,node\n"}
    for name, text in failures.items():
        (files / "failures").write_text(text)
        assert detect(files / "failures", fs.FailureTrace).name == name


def jobs(capsys, *argv):
    status, out, err = run(capsys, "log", "head", *argv, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)["jobs"]


def test_a_file_and_how_to_read_it_as_one_word(files, capsys):
    log = jobs(capsys, f"{files}/jobs.csv:csv,{NAMES},unit=min")
    assert (log["submit"], log["runtime"], log["size"], log["queue"]) == (
        [0, 60, 120],
        [120, 180, 60],
        [4, 1, 2],
        ["long", "short", "long"],
    )
    assert "queue" not in jobs(capsys, f"{files}/jobs.csv:{NAMES},columns=")
    assert jobs(capsys, f"{files}/jobs.txt")["size"] == [2]
    log = jobs(capsys, f"{files}/jobs.txt:size=cpus,begin=2024-01-31", "--columns", "User")
    assert (log["size"], log["submit"], log["User"]) == ([64], [10], ["ann"])
    assert "queue" in jobs(capsys, f"{files}/log.swf:columns=queue+group")
    status, out, _ = run(capsys, "run", f"{files}/jobs.csv:{NAMES}", "--machine", "cluster:4", "--json")
    assert status == 0
    assert json.loads(out)["log"]["source"] == f"{files}/jobs.csv"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (
            "jobs.csv",
            "jobs.csv: no column 'submit', 'runtime', 'size'; it has submitted, elapsed, nodes, queue; name those",
        ),
        ("jobs.csv:sumbit=submitted", "csv has no option 'sumbit' (did you mean 'submit'?); it has submit, runtime"),
        ("jobs.csv:excel,a=b", "jobs.csv:excel,a=b: unknown format 'excel'; known: swf, csv, sacct"),
        ("log.swf:unit=h", "swf has no option 'unit'; it has size, columns, name"),
        (f"jobs.csv:{NAMES},size=nodes", "size is given twice"),
        ("none.csv", "none.csv: no such file"),
        ("log.swf:size=cpus", "size: expected one of 'requested', 'allocated', got 'cpus'"),
    ],
)
def test_refusals(files, capsys, word, said):
    assert said in refused(capsys, "log", "summary", f"{files}/{word}")


def test_standard_input(files, capsys, monkeypatch):
    for name, word in (("jobs.csv", f"-:csv,{NAMES}"), ("jobs.txt", "-:sacct"), ("log.swf", "-")):
        with (files / name).open("rb") as file:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
            assert jobs(capsys, word)["size"]


def test_columns_said_twice(files, capsys):
    err = refused(capsys, "log", "head", f"{files}/jobs.txt:columns=State", "--columns", "User")
    assert "says which columns, too; give one of the two" in err


def test_sweep_files(files):
    log = log_source({"file": "jobs.csv", "submit": "submitted", "runtime": "elapsed", "size": "nodes"}, files)
    assert log == fs.read_jobs(files / "jobs.csv", submit="submitted", runtime="elapsed", size="nodes")
    assert log_source("jobs.txt", files).id.tolist() == [1]
    assert log_source({"file": "jobs.txt", "format": "sacct", "size": "cpus"}, files).size.tolist() == [64]
    with pytest.raises(fs.OptionError, match="unknown key 'sumbit'"):
        log_source({"file": "jobs.csv", "format": "csv", "sumbit": "submitted"}, files)
    with pytest.raises(fs.OptionError, match="unknown format 'excel'"):
        log_source({"file": "jobs.csv", "format": "excel"}, files)


def test_failures_of_a_run(files, capsys):
    kind = {"Level": "Hardware Failure", "Class": "GPU", "Desc": "GPU Lost"}
    events = [
        {"node_id": "x", "event_time": t / 86_400, "event_type": f"fault_{what}", "fault_type": kind}
        for t, what in ((15, "start"), (20, "end"))
    ]
    (files / "faults.json").write_text(json.dumps(events))
    status, out, _ = run(capsys, "run", f"{files}/log.swf", "--failures", f"{files}/faults.json", "--json")
    assert status == 0
    assert json.loads(out)["metrics"]["failures"] == 1
    assert "titan" in refused(capsys, "failures", "summary", f"{files}/faults.json", "--downtime", "5")
