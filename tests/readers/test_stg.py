"""`read_stg`: files that the test writes, fault by fault, and the real ones."""

import re

import pytest

import faultsim as fs
from faultsim.errors import InputError

GOOD = ["3", "0 0 0", "1 3 1 0", "2 4.5 1 0", "3 2 2 1 2", "4 0 1 3", "# CP Length : 6"]


def written(tmp_path, lines: list[str]):
    path = tmp_path / "w.stg"
    path.write_text("\n".join(lines))
    return path


def test_tasks_and_edges(tmp_path) -> None:
    wf = fs.read_stg(written(tmp_path, GOOD))
    assert wf == fs.Workflow([3, 4.5, 2], [(0, 2), (1, 2)])
    assert (wf.name, wf.labels) == ("w", ("1", "2", "3"))
    both = fs.read_stg(written(tmp_path, GOOD), dummies=True, name="x")
    assert both == fs.Workflow([0, 3, 4.5, 2, 0], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    assert both.name == "x"


def test_blank_lines_and_comments_are_left_aside(tmp_path) -> None:
    assert fs.read_stg(written(tmp_path, ["# first", "", *GOOD[:2], "", "1 3 1 0 # one", *GOOD[3:]])).n_jobs == 3


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (0, "three", "line 1: not a Standard Task Graph; expected the number of tasks alone: 'three'"),
        (0, "0", "line 1: not a Standard Task Graph"),
        (0, "9" * 5000, "line 1: not a Standard Task Graph"),
        (0, "5", r"w\.stg: 5 tasks; the first line promises 5 and 2 dummies"),
        (2, "1 3", "line 3: 0 predecessors, no number of promised: '1 3'"),
        (2, "1 x 1 0", "line 3: expected task, time, number of predecessors, predecessors: '1 x 1 0'"),
        (2, "1 3 2 0", "line 3: 1 predecessors, 2 promised"),
        (2, "2 3 1 0", "line 3: task 2; expected task 1 here"),
        (2, "1 3_0 1 0", "line 3: expected task, time, number of predecessors, predecessors: '1 3_0 1 0'"),
        (2, "1 -3 1 0", "line 3: time -3; expected a finite number of 0 or more"),
        (2, "1 nan 1 0", "line 3: time nan; expected a finite number"),
        (2, "1 3 1 9", "line 3: task 9 is unknown; the tasks are 0 to 4"),
        (2, "1 3 1 5", "line 3: task 5 is unknown; the tasks are 0 to 4"),
        (2, "1 3 1 -1", "line 3: predecessor -1 is negative"),
        (4, "3 2 2 1 1", "line 5: a predecessor appears twice"),
        (2, "1 3 1 3", r"w\.stg: cycle: '1' -> '3' -> '1'"),
        (2, "1 3 1 1", "job '1' depends on itself"),
        (1, "0 2 0", "line 2: the dummy task 0 must take no time"),
    ],
)
def test_bad_files_are_named_with_their_place(tmp_path, line: int, text: str, message: str) -> None:
    lines = list(GOOD)
    lines[line] = text
    with pytest.raises(InputError, match=message):
        fs.read_stg(written(tmp_path, lines), strict=True)


def test_an_empty_file(tmp_path) -> None:
    with pytest.raises(InputError, match="no number of tasks"):
        fs.read_stg(written(tmp_path, ["# nothing"]))


def test_real_files_against_their_trailers(data_dir) -> None:
    files = sorted((data_dir / "dags" / "stg").glob("*.stg"))
    if not files:
        pytest.skip("no dags/stg/*.stg in the folder of public logs")
    for path in files:
        text = path.read_text()
        wf = fs.read_stg(path)
        told = {key: re.search(rf"# +{key} +: ([\d.]+)", text) for key in ("Tasks", "Edges", "CP Length")}
        assert wf.n_jobs == int(told["Tasks"][1]), path
        assert wf.n_edges == int(told["Edges"][1]), path
        assert wf.critical_path() == float(told["CP Length"][1]), path
        assert wf.cost.sum() / wf.critical_path() == pytest.approx(
            float(re.search(r"Parallelism +: ([\d.]+)", text)[1])
        )
