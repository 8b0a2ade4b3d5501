"""The statistics of a log."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.workload_summary import ROWS, bin_workload, offered_load

LOG = fs.Workload(
    submit=[0, 10, 40, 100],
    runtime=[10, 20, 30, 5],
    size=[1, 2, 2, 8],
    estimate=[-1, 15, 30, 60],
    user=[7, 7, -1, 3],
    dropped={"run time missing": 3},
    name="four",
)


def test_every_number() -> None:
    work = np.array([10.0, 40.0, 60.0, 40.0])
    summary = LOG.summary(nodes=4)
    assert list(summary) == list(ROWS)
    assert dict(summary) == pytest.approx(
        {
            "n_jobs": 4,
            "n_dropped": 3,
            "n_users": 2,
            "n_estimates": 3,
            "n_overruns": 1,
            "first_submit": 0,
            "last_submit": 100,
            "span": 100,
            "runtime_mean": 16.25,
            "runtime_sd": np.std([10, 20, 30, 5], ddof=1),
            "runtime_max": 30,
            "size_mean": 3.25,
            "size_sd": np.std([1, 2, 2, 8], ddof=1),
            "size_max": 8,
            "power_of_two_share": 1.0,
            "work_total": 150,
            "work_mean": 37.5,
            "work_sd": np.std(work, ddof=1),
            "nodes": 4,
            "n_oversize": 1,
            "offered_load": 150 / 400,
            "bin_work_mean": 110 / 4,
            "bin_work_sd": np.std([10, 100, 0, 0], ddof=1),
        }
    )


def test_rows_about_a_machine_need_one() -> None:
    assert "offered_load" not in LOG.summary()
    named = fs.Workload(submit=[0, 1], runtime=[1, 1], size=[1, 1], comments=["; MaxProcs: 16"])
    assert named.summary()["nodes"] == 16
    assert named.summary(nodes=2)["nodes"] == 2


def test_one_job_has_no_deviation_and_an_infinite_load() -> None:
    summary = LOG.head(1).summary(nodes=4)
    assert summary["size_sd"] == summary["runtime_sd"] == summary["work_sd"] == 0
    assert summary["offered_load"] == float("inf")
    assert "inf" in str(summary)


def test_print_is_a_table_with_reasons() -> None:
    text = str(LOG.summary(nodes=4)).splitlines()
    assert text[0] == "four"
    assert text[1].split() == ["n_jobs", "4", "jobs"]
    assert text[3].split() == ["3", "run", "time", "missing"]
    assert len(text) == 1 + len(ROWS) + 1
    assert repr(LOG.summary()).startswith("Summary('four', {'n_jobs': 4,")


def test_pieces() -> None:
    assert offered_load(np.array([0.0, 10.0]), np.array([5.0, 5.0]), 1) == 1.0
    assert bin_workload(np.array([9]), np.array([1.0]), 3).tolist() == [0, 0, 0]
