"""One mistake of each kind with each reader: an error of one line that says what was expected."""

import math

import pytest

import faultsim as fs
from faultsim.readers.table import READERS
from helpers.refusals import refused

SWF = "1 0 3 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n"
FILES = {
    "nothing": b"",
    "blank lines": b"\n\n \n",
    "binary": bytes(range(256)) * 20,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "a page of the web": b"<!DOCTYPE html><html><body>404</body></html>",
    "prose": b"Dear all,\n\nplease find the log attached.\n",
    "another table": b"colour;taste\nred;sweet\ngreen;sour\n",
    "JSON": b'{"a": [1, 2]}',
}
HELPS = (
    "expected", "name th", "name it", "the file has none", "the field is missing", "binary", "HTML", "JSON",
    "is not DAX", "not the LANL failure records; no column",
)  # fmt: skip
READ = [row.read for row in READERS]


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
@pytest.mark.parametrize("read", READ, ids=lambda read: read.__name__)
def test_files_of_something_else(tmp_path, read, content):
    path = tmp_path / "input"
    path.write_bytes(content)
    with pytest.raises(fs.InputError, match=r"input\b") as caught:
        read(path)
    said = str(caught.value)
    assert "\n" not in said
    assert any(word in said for word in HELPS)
    assert "codec" not in said


@pytest.mark.parametrize("read", READ, ids=lambda read: read.__name__)
def test_folders_and_names_of_no_file(tmp_path, read):
    refused(fs.InputError, "is a directory; expected a file", read, tmp_path)
    refused(fs.InputError, "no such file", read, tmp_path / "none")


# -- kinds of the table of cases that other tests have fewer than five inputs of


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.dax", '<adag><job id="A" runtime="-0.01"/></adag>'),
        ("a.dax", '<adag><job id="A" runtime="-1e3"/></adag>'),
        ("a.stg", "1\n0 0 0\n1 -3 1 0\n2 0 1 1\n"),
        ("a.json", '{"workflow": {"tasks": [{"name": "a", "runtime": -2}]}}'),
        ("a.json", '{"workflow": {"jobs": [{"name": "a", "runtime": -0.5}]}}'),
        ("a.json", '{"workflow": {"specification": {"tasks": [{"id": "a", "parents": []}]}, "execution": {"tasks": '
                   '[{"id": "a", "runtimeInSeconds": -7}]}}}'),
    ],
)  # fmt: skip
def test_a_negative_run_time_costs_its_task_alone(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    flow = fs.read(path)
    assert (flow.cost.max(), flow.dropped) == (0, {"negative run time taken as 0": 1})
    refused(fs.InputError, "-", fs.read, path, strict=True)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("; MaxNodes: 2\n; MaxProcs: 80\n", True),
        ("; MaxProcs: 80\n; MaxNodes: 2\n", True),
        (";MaxNodes:2\n;MaxProcs: 80 (of 96)\n", True),
        ("; MaxNodes: 80\n; MaxProcs: 80\n", False),
        ("; MaxProcs: 80\n", False),
        ("; MaxNodes: 80\n", False),
    ],
)
def test_headers_of_nodes_and_of_processors(tmp_path, header, said):
    path = tmp_path / "a.swf"
    path.write_text(header + SWF)
    log = fs.read_swf(path)
    notes = fs.simulate(log, fs.Cluster(80), failures=fs.FailureTrace([5], [0], span=100)).warnings
    assert any("2 nodes with 80 processors" in note for note in notes) == said


@pytest.mark.parametrize(
    ("zone", "start", "finish", "seconds"),
    [
        ("Europe/Berlin", "2024-03-31T01:30:00", "2024-03-31T03:30:00", 3600),
        ("Europe/Berlin", "2024-10-27T01:30:00", "2024-10-27T03:30:00", 10_800),
        ("America/New_York", "2024-03-10T01:00:00", "2024-03-10T03:00:00", 3600),
        ("Australia/Lord_Howe", "2024-04-07T01:00:00", "2024-04-07T03:00:00", 9000),
        ("UTC", "2024-03-31T01:30:00", "2024-03-31T03:30:00", 7200),
        (None, "2024-03-31T01:30:00", "2024-03-31T03:30:00", 7200),
    ],
)
def test_spans_on_local_clocks(tmp_path, zone, start, finish, seconds):
    table, trace, sacct = (tmp_path / name for name in ("jobs.csv", "outages.csv", "sacct.txt"))
    table.write_text(f"submit,start,finish,size\n{start},{start},{finish},1\n")
    log = fs.read_jobs(table, start="start", finish="finish", zone=zone)
    assert log.runtime.tolist() == [seconds]
    assert ("RunsAcrossClockChange" in log.header) == (seconds != 7200)
    trace.write_text(f"node,start,end\nn1,{start},{finish}\n")
    assert fs.read_failures(trace, zone=zone).downtime.tolist() == [seconds]
    sacct.write_text(f"JobID|Submit|Start|End|NNodes|State\n1|{start}|{start}|{finish}|1|COMPLETED\n")
    assert fs.read_sacct(sacct, zone=zone).runtime.tolist() == [seconds]


@pytest.mark.parametrize(
    ("time", "down", "said"),
    [
        ([50], [3600], ""),
        ([50], [math.inf], ""),
        ([100], [0], ""),
        ([50], [50], "the only failure is not"),
        ([50, 60], [50, 40], "none of the 2 failures is"),
        ([5000], [10], "the only failure is not"),
    ],
)
def test_caveats_of_clocks_are_true(time, down, said):
    log = fs.Workload(submit=[100], runtime=[10], size=[1])
    trace = fs.FailureTrace(time, list(range(len(time))), down, span=10_000)
    notes = [note for note in fs.simulate(log, fs.Cluster(3), failures=trace).warnings if "failure" in note]
    assert [note[: len(said)] for note in notes if "in the run" in note] == ([said] if said else [])
