"""Waits and starts that logs record, in every form, are kept as Workload.recorded_wait."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import faultsim as fs


def read(tmp_path: Path, text: str, **options: Any) -> fs.Workload:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    return fs.read_jobs(path, **options)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("submit,runtime,size,start\n0,5,1,3\n1,5,1,1\n", {}),
        ("submit,runtime,size,wait\n0,5,1,3\n1,5,1,0\n", {}),
        ("submit,start,finish,size\n0,3,8,1\n1,1,6,1\n", {}),
        ("submit,runtime,size,began\n0,5,1,3\n1,5,1,1\n", {"start": "began"}),
        (
            "submit,runtime,size,start\n2024-01-31T00:00:00,5,1,2024-01-31T00:00:03\n"
            "2024-01-31T00:00:01,5,1,2024-01-31T00:00:01\n",
            {},
        ),
    ],
)
def test_tables(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    log = read(tmp_path, text, **options)
    if len(log) == 2:
        assert log.recorded_wait.tolist() == [3, 0]
    assert (log.recorded_wait >= 0).all()
    assert "recorded_wait" not in log.columns


@pytest.mark.parametrize("start", ["", "never", "-5", "nan"])
def test_a_start_that_cannot_be_read_is_missing(tmp_path: Path, start: str) -> None:
    log = read(tmp_path, f"submit,runtime,size,start\n0,5,1,{start}\n1,5,1,4\n")
    assert log.recorded_wait.tolist() == [-1, 3]
    assert not log.dropped


def test_without_any(tmp_path: Path) -> None:
    assert read(tmp_path, "submit,runtime,size\n0,5,1\n").recorded_wait is None
    assert read(tmp_path, "submit,runtime,size,start\n0,5,1,\n").recorded_wait is None


def test_they_follow_the_order_of_jobs(tmp_path: Path) -> None:
    log = read(tmp_path, "submit,runtime,size,start\n9,5,1,10\n5,-1,1,6\n1,5,1,5\n")
    assert log.recorded_wait.tolist() == [4, 1]


def test_slurm(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    head = "JobID|Submit|Start|End|ElapsedRaw|NNodes|State\n"
    row = "{}|2024-01-31T00:00:0{}|2024-01-31T00:00:0{}|2024-01-31T00:01:00|50|2|COMPLETED\n"
    path.write_text(head + row.format(1, 0, 4) + row.format(2, 1, 1))
    assert fs.read_sacct(path).recorded_wait.tolist() == [4, 0]


def test_accounting_of_pbs(data_dir: Path) -> None:
    path = data_dir / "cases" / "B-pbs-accounting.txt"
    if not path.exists():
        pytest.skip(f"no {path}")
    waits = fs.read_pbs(path).recorded_wait
    assert waits is not None
    assert (waits >= 0).any()


def test_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"submit": [0, 1], "runtime": [5, 5], "size": [1, 1], "start": [3, np.nan]})
    assert fs.Workload.from_pandas(frame).recorded_wait.tolist() == [3, -1]
