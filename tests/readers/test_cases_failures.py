"""Tables of failures as people have them: the files of shared/data/cases, and others of their kinds."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from helpers.refusals import refused


@pytest.fixture
def case(data_dir: Path) -> Any:
    """The path of a case by its name."""
    if not (data_dir / "cases").is_dir():
        pytest.skip("the folder of data has no cases")
    return lambda name: data_dir / "cases" / name


def read(tmp_path: Path, text: str, **options: Any) -> fs.FailureTrace:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    return fs.read_failures(path, **options)


# -- the files


@pytest.mark.parametrize("name", ["F01-fta-lanl-tabs.tab", "F01b-fta-lanl-noheader.tab"])
def test_archive_with_tabs_and_header(case: Any, name: str) -> None:
    trace = fs.read_fta(case(name))
    assert (trace.node.tolist(), trace.downtime.tolist()) == ([0, 1], [150900, 0])
    assert main(["failures", "summary", str(case(name))]) == 0


@pytest.mark.parametrize("name", ["F02-fta-spaces.tab", "F03-fta-comment-float-type2.tab"])
def test_archive_with_spaces_and_comments(case: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(fs.read_fta(case(name))) == 1
    assert main(["failures", "summary", str(case(name))]) == 0
    assert "1         failures" in capsys.readouterr().out


def test_stop_before_start(case: Any) -> None:
    path = case("F05-fta-stop-before-start.tab")
    assert fs.read_fta(path).dropped == {"unreadable event": 1}
    refused(fs.InputError, "line 1: the event stops", fs.read_fta, path, strict=True)


def test_overlaps(case: Any) -> None:
    assert len(fs.read_failures(case("F06-overlap.csv"))) == 4


@pytest.mark.parametrize(
    ("name", "time", "node", "down", "nodes"),
    [
        ("F07-foreign.csv", [0], [0], [9000], ("node001",)),
        ("F08-node-names.csv", [100], [0], [50], ("n001",)),
        ("F09-missing-downtime.csv", [100, 200], [0, 1], [0, 60], ()),
        ("F10-iso-times.csv", [0], [0], [60], ()),
        ("F12-semicolon.csv", [100], [0], [60], ()),
        ("F13-quoted.csv", [100], [0], [60], ()),
        ("F14-pandas-index-inf.csv", [100, 200], [0, 1], [60, float("inf")], ()),
    ],
)
def test_tables(case: Any, name: str, time: Any, node: Any, down: Any, nodes: Any) -> None:
    trace = fs.read_failures(case(name))
    found = trace.time.tolist(), trace.node.tolist(), trace.downtime.tolist()
    assert found == (time, node, down)
    assert trace.nodes == nodes
    assert not trace.dropped
    assert fs.read(case(name)) == trace


def test_empty_table(case: Any) -> None:
    assert len(fs.read_failures(case("F11-empty.csv"))) == 0


def test_blue_gene(case: Any) -> None:
    assert len(fs.read_bluegene_ras(case("F15-bgl.log"))) >= 1
    refused(fs.InputError, "no failures", fs.read_bluegene_ras, case("F16-bgl-no-failure.log"))


# -- the kind


@pytest.mark.parametrize(
    "text",
    [
        "start,host,end\n100,n2,150\n300,n10,310\n",
        "host\tstart\tduration\nn2\t100\t50\nn10\t300\t10\n",
        "NodeName|TimeStart|TimeEnd\nn2|100|150\nn10|300|310\n",
        '"hostname";"failed at";"repair time (s)"\n"n2";"100";"50"\n"n10";"300";"10"\n',
        ",timestamp,server,downtime\n0,100,n2,50s\n1,300,n10,10s\n",
        "time,node,down_time_ms\n100,n2,50000\n300,n10,1e4\n",
        "# exported\nnode,time,downtime\nn10,300,10\nn2,100,0:00:50\n",
    ],
)
def test_names_of_columns_are_guessed(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    assert trace.nodes == ("n2", "n10")
    assert (trace.time.tolist(), trace.node.tolist(), trace.downtime.tolist()) == ([100, 300], [0, 1], [50, 10])


@pytest.mark.parametrize(
    ("options", "time", "down"),
    [
        ({"time": "a", "node": "b", "downtime": "c"}, 100, 5),
        ({"columns": {"time": "a", "node": "b", "downtime": "c"}}, 100, 5),
        ({"columns": {"time": "a", "node": "b", "end": "d"}}, 100, 20),
        ({"time": "a", "node": "b", "downtime": "c", "unit": "min"}, 6000, 300),
        ({"time": "a", "node": "b", "downtime": "c", "unit": {"downtime": "h"}}, 100, 18000),
    ],
)
def test_names_and_units_are_given(tmp_path: Path, options: dict[str, Any], time: float, down: float) -> None:
    trace = read(tmp_path, "a,b,c,d\n100,3,5,120\n", **options)
    assert (trace.time.tolist(), trace.node.tolist(), trace.downtime.tolist()) == ([time], [3], [down])


@pytest.mark.parametrize("word", ["", "Unknown", "NULL", "inf", "UNLIMITED"])
def test_open_intervals_end_with_the_trace(tmp_path: Path, word: str) -> None:
    trace = read(tmp_path, f"start,node,end\n100,0,{word}\n200,1,260\n")
    assert (trace.downtime.tolist(), trace.span) == ([160, 60], 260)
    assert read(tmp_path, f"start,node,end\n100,0,{word}\n", span="1h").downtime.tolist() == [3500]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("x,0,5", "unreadable time"),
        (",0,5", "time missing"),
        ("-5,0,5", "time negative"),
        ("9,,5", "node missing"),
        ("9,-3,5", "node missing"),
        ("9,0,many", "unreadable down time"),
        ("9,0,-1", "down time negative"),
        ("9,0", "unreadable record"),
    ],
)
def test_reasons(tmp_path: Path, row: str, reason: str) -> None:
    text = f"time,node,downtime\n1,1,1\n{row}\n"
    assert read(tmp_path, text).dropped == {reason: 1}
    if reason.startswith("unreadable"):
        refused(fs.InputError, "line 3", read, tmp_path, text, strict=True)


def test_dates_with_zones(tmp_path: Path) -> None:
    text = "start,node,end\n2024-03-31T01:30:00,a,2024-03-31T03:30:00\n"
    assert read(tmp_path, text).downtime.tolist() == [7200]
    assert read(tmp_path, text, zone="Europe/Berlin").downtime.tolist() == [3600]
    assert read(tmp_path, text, begin="2024-03-31 01:00").time.tolist() == [1800]


def test_nodes_of_the_machine(tmp_path: Path) -> None:
    text = "time,node\n5,b\n6,a\n"
    trace = read(tmp_path, text, nodes=["z", "a", "b"])
    assert (trace.node.tolist(), trace.of.size) == ([2, 1], 3)
    refused(fs.InputError, "'b' is not among nodes", read, tmp_path, text, nodes=["a"])
    assert read(tmp_path, "time,node\n5,1\n", nodes=8).of.size == 8


def test_names_stay_with_the_trace(tmp_path: Path) -> None:
    trace = read(tmp_path, "time,node,downtime\n5,b,1\n6,a,1\n7,b,9\n")
    for same in (trace[1:], trace.renamed("x"), trace.window(0, 7), trace.merge_overlaps()):
        assert same.nodes == ("a", "b")
    assert trace.map_nodes(4).nodes == ()
    assert fs.FailureTrace.concat([trace, trace]).nodes == ()
    trace.write_csv(tmp_path / "again.csv")
    again = fs.read_failures(tmp_path / "again.csv")
    assert (again, again.nodes) == (trace, trace.nodes)


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"host": ["b", "a"], "start": [10.0, 5.0], "downtime": [1.0, None]})
    parquet.write_table(table, tmp_path / "t.parquet")
    trace = fs.read_failures(tmp_path / "t.parquet")
    assert (trace.time.tolist(), trace.node.tolist(), trace.nodes) == ([5, 10], [0, 1], ("a", "b"))
    interval = {
        "failure_interval": [60_000, 120_000],
        "failure_duration": [1000, 2000],
        "failure_intensity": [0.5, 0.01],
    }
    parquet.write_table(pa.table(interval), tmp_path / "o.parquet")
    trace = fs.read_failures(tmp_path / "o.parquet", nodes=10)
    assert trace.time.tolist() == [60] * 5 + [180]
    assert trace.downtime.tolist() == [1] * 5 + [2]
    assert len(np.unique(trace.node[:5])) == 5
    refused(fs.OptionError, "nodes=", fs.read_failures, tmp_path / "o.parquet")


def test_compressed_utf16_and_standard_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress("time;host\n5;a\n".encode("utf-16")))
    assert fs.read_failures(path).nodes == ("a",)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a,b\n1,2\n", "no column 'time' and no column 'node'; it has a, b"),
        ("tim,node\n1,2\n", "no column 'time'; did you mean 'tim'"),
        ("", "empty; expected"),
        ("time,node\nx,y\n", "line 2: column 'time': 'x' is no date"),
        ("start,node,end\n2024-01-01,0,5\n", "one has dates, one numbers"),
    ],
)
def test_refused(tmp_path: Path, text: str, what: str) -> None:
    refused(fs.InputError, what, read, tmp_path, text)
