"""SWF logs as sites and other programs write them: the files of shared/data/cases, and others of their kinds."""

from pathlib import Path
from typing import Any

import pytest

import faultsim as fs
from faultsim.cli import main
from helpers.refusals import refused

ROW = "{id} {submit} {wait} {run} {alloc} -1 -1 {req} 20 -1 {status} 1 1 1 1 1 {before} {think}"


def row(id: object = 1, **fields: object) -> str:
    usual = {"submit": 0, "wait": -1, "run": 10, "alloc": 2, "req": 2, "status": 1, "before": -1, "think": -1}
    return ROW.format(**{"id": id, **usual, **fields})


def read(tmp_path: Path, *lines: str, **options: Any) -> fs.Workload:
    path = tmp_path / "log.swf"
    path.write_text("\n".join(lines) + "\n")
    return fs.read_swf(path, **options)


@pytest.fixture
def case(data_dir: Path) -> Any:
    """The path of a case by its name."""
    if not (data_dir / "cases").is_dir():
        pytest.skip("the folder of data has no cases")
    return lambda name: data_dir / "cases" / name


# -- the files


def test_text_after_field_18(case: Any) -> None:  # W01
    log = fs.read_swf(case("W01-metacentrum-tail.swf"))
    assert log.size.tolist() == [64, 12]
    assert not log.dropped


def test_semicolons(case: Any) -> None:  # W02
    log = fs.read_swf(case("W02-semicolons.swf"))
    assert (log.id.tolist(), log.runtime.tolist(), log.estimate.tolist()) == ([1001, 1002], [15, 1201], [420, 1800])


def test_17_fields_are_named(case: Any) -> None:  # W03
    refused(fs.InputError, "line 1: 17 fields, expected 18", fs.read_swf, case("W03-17-fields.swf"))


def test_ids_twice(case: Any) -> None:  # W04
    result = fs.simulate(fs.read_swf(case("W04-dup-ids.swf")), fs.Cluster(2))
    assert any("have an id that an earlier job has" in note for note in result.warnings)


def test_parts_of_jobs(case: Any) -> None:  # W05
    log = fs.read_swf(case("W05-partials.swf"))
    assert (log.id.tolist(), float(log.work.sum())) == ([1, 2], 1300.0)
    assert log.dropped == {"part of a job": 2}


def test_cancelled_jobs(case: Any) -> None:  # W06
    assert len(fs.read_swf(case("W06-status5.swf"))) == 4


def test_ids_beyond_a_double(case: Any) -> None:  # W08
    assert fs.read_swf(case("W08-huge-ids.swf")).id.tolist() == [2**53 + 1, 2**53 + 2]
    refused(fs.InputError, "does not fit into int64", fs.read_swf, case("W08b-huge-ids.swf"))


def test_negative_submit(case: Any) -> None:  # W09
    assert fs.read_swf(case("W09-neg-submit.swf")).dropped == {"submit time negative": 1}


def test_larger_than_the_machine(case: Any, capsys: pytest.CaptureFixture[str]) -> None:  # W10
    assert main(["run", str(case("W10-over-machine.swf"))]) == 2
    assert "--oversized drop" in capsys.readouterr().err


def test_tabs_and_latin1(case: Any) -> None:  # W12
    assert fs.read_swf(case("W12-tabs-latin1.swf")).runtime.tolist() == [10.0, 10.5]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("W13-named-header.swf", "not an SWF log; line 1 is 'job_number submit_time"),
        ("W14-only-comments.swf", "an empty log"),
        ("W14b-empty.swf", "an empty log"),
        ("W15-hash-comment.swf", "not an SWF log; line 1 is '# converted'"),
    ],
)
def test_what_is_no_log(case: Any, name: str, what: str) -> None:
    refused(fs.InputError, what, fs.read_swf, case(name))


def test_nodes_beside_processors(case: Any) -> None:  # W17
    log, failures = fs.read_swf(case("W17-nodes-vs-cores.swf")), fs.FailureTrace([5], [0], span=100)
    notes = fs.simulate(log, fs.Cluster(80), failures=failures).warnings
    assert any("2 nodes with 80 processors" in note and "not a node of 40" in note for note in notes)
    assert not any("processors" in note for note in fs.simulate(log, fs.Cluster(80)).warnings)


def test_one_job(case: Any) -> None:  # W18
    assert len(fs.read_swf(case("W18-one-job.swf"))) == 1


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("W210-header.swf", 100),
        ("W22-header.swf", None),
        ("W23-header.swf", None),
        ("W24-header.swf", 93312),
        ("W25-header.swf", 64),
        ("W26-header.swf", 128),
        ("W27-header.swf", 64),
        ("W28-header.swf", 64),
        ("W29-header.swf", 1500),
        ("W18-one-job.swf", None),
    ],
)
def test_machine_of_the_header(
    case: Any, name: str, nodes: int | None, capsys: pytest.CaptureFixture[str]
) -> None:  # W29
    assert fs.read_swf(case(name)).max_nodes == nodes
    assert main(["run", str(case(name))]) == 0
    assert ("the log names no machine; 128 nodes assumed" in capsys.readouterr().out) == (nodes is None)


# -- the kinds


@pytest.mark.parametrize(
    "line",
    [
        row() + " q_2w",
        row() + "\t{1,2} x y",
        row() + " ; remark",
        row().replace(" ", ";"),
        row().replace(" ", " ; "),
        row().replace(" ", ","),
        row().replace(" ", ";") + ";",
        row().replace(" -1 -1 2 20", " nan NULL 2 20"),
        row().replace(" 1 1 1 1 1 -1 -1", " 1 NA long q p -1 none"),
        row().replace(" 20 ", " 20.0 "),
    ],
)
def test_lines_of_one_job(tmp_path: Path, line: str) -> None:
    """Text behind the fields, other separators, and words in fields that are not used."""
    log = read(tmp_path, "; MaxProcs: 8", line, row(2, submit=5), strict=True)
    assert (log.id.tolist(), log.runtime.tolist(), log.size.tolist()) == ([1, 2], [10, 10], [2, 2])


@pytest.mark.parametrize("word", ["nan", "NULL", "-", "NA", "-1"])
def test_missing_run_time(tmp_path: Path, word: str) -> None:
    assert read(tmp_path, row(1, run=word), row(2)).dropped == {"run time missing": 1}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"submit": -3600}, "submit time negative"),
        ({"submit": -1}, "submit time missing"),
        ({"submit": -0.5}, "submit time negative"),
        ({"run": -16}, "run time negative"),
        ({"run": -1.03}, "run time negative"),
        ({"run": -1}, "run time missing"),
        ({"run": "x"}, "unreadable runtime"),
        ({"status": 2}, "part of a job"),
        ({"status": 3}, "part of a job"),
        ({"status": 4, "submit": -1}, "part of a job"),
        ({"alloc": 0, "req": -1}, "size missing"),
    ],
)
def test_reasons(tmp_path: Path, fields: dict[str, object], reason: str) -> None:
    assert read(tmp_path, row(1, **fields), row(2)).dropped == {reason: 1}


@pytest.mark.parametrize("status", [-1, 0, 1, 5, 7])
def test_other_states_are_jobs(tmp_path: Path, status: int) -> None:
    assert len(read(tmp_path, row(1, status=status), row(2, status=2), row(3))) == 2


@pytest.mark.parametrize(
    ("text", "nodes"),
    [("26,304", 26304), ("1,000,000", 10**6), ("26'304", 26304), ("338.0", 338), ("2e3 cores", 2000), ("12,34", 12)],
)
def test_numbers_of_the_header(tmp_path: Path, text: str, nodes: int) -> None:
    assert read(tmp_path, f"; MaxProcs: {text}", row()).max_nodes == nodes


def test_waits_are_kept_and_written(tmp_path: Path) -> None:
    log = read(tmp_path, row(2, submit=5, wait=7), row(1, wait=3), row(3, submit=9))
    assert log.recorded_wait is not None
    assert log.recorded_wait.tolist() == [3, 7, -1]
    log.write_swf(tmp_path / "b.swf")
    again = fs.read_swf(tmp_path / "b.swf")
    assert again == log
    assert again.recorded_wait.tolist() == [3, 7, -1]
    assert log[log.id > 1].recorded_wait.tolist() == [7, -1]
    assert log.from_zero().renamed("x").recorded_wait.tolist() == [3, 7, -1]
    assert log.with_gap_factor(2).recorded_wait is log.with_size_factor(2).recorded_wait is None
    assert fs.concat([log, log]).recorded_wait.tolist() == [3, 3, 7, 7, -1, -1]
    assert read(tmp_path, row()).recorded_wait is None


def test_preceding_jobs_are_columns_that_runs_follow(tmp_path: Path) -> None:
    log = read(tmp_path, row(1), row(2, submit=5, before=1, think=60), row(3, submit=9))
    assert {key: log.columns[key].tolist() for key in log.further} == {
        "preceding_job": [-1, 1, -1],
        "think_time": [-1.0, 60.0, -1.0],
    }
    result = fs.simulate(log, fs.Cluster(4))
    assert result.jobs["start"][1] == result.jobs["finish"][0] + 60
    assert not any("preceding" in note for note in result.warnings)
    lost = fs.simulate(log[1:], fs.Cluster(4))
    assert lost.jobs["start"][0] == 5
    assert any(note.startswith("1 of 2 jobs name a preceding job") for note in lost.warnings)
    assert read(tmp_path, row(1), row(2, before=-1, think=0)).further == ()


def test_a_further_field_that_is_no_int64(tmp_path: Path) -> None:
    assert read(tmp_path, row(1, before=10**30), row(2, before=1)).dropped == {"unreadable preceding_job": 1}
    assert read(tmp_path, row(1, status=2**63), row(2)).dropped == {"unreadable status": 1}


def test_result_keeps_waits_and_header(tmp_path: Path) -> None:
    log = read(tmp_path, "; MaxNodes: 2", "; MaxProcs: 80", row(1, wait=3))
    result = fs.simulate(log, fs.Cluster(80), failures=fs.FailureTrace([5], [0], span=100))
    result.save(tmp_path / "r.npz")
    again = fs.load_result(tmp_path / "r.npz")
    assert again.workload.recorded_wait.tolist() == [3]
    assert again.warnings == result.warnings
    assert again.workload.header["MaxProcs"] == "80"
