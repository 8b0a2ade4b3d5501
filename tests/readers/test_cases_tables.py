"""The rows C*, P* and of limits in minutes of the table of cases: each file behaves as its column "right" says.

Files are those of ``cases`` in the folder of public data; rows without them are skipped.
"""

import logging

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError
from faultsim.readers.table import what_is
from helpers.refusals import refused

ACME = {"submit": "submit_time", "runtime": "duration", "size": "gpu_num", "id": "job_id"}
GWF = {"submit": "SubmitTime", "runtime": "RunTime", "size": "NProcs", "id": "JobID"}
ALIBABA = {"submit": "start_time", "start": "start_time", "finish": "end_time", "size": "inst_num", "id": "job_name"}
ALCF = {"submit": "QUEUED_TIMESTAMP", "runtime": "RUNTIME_SECONDS", "size": "NODES_REQUESTED", "id": "JOB_NAME",
        "estimate": "WALLTIME_SECONDS", "user": "USERNAME_GENID"}  # fmt: skip
LIMITS = "R01-limits-in-minutes.csv"
MINUTES = {"submit": "dt", "runtime": "wall_time", "size": "n_tasks", "estimate": "wall_limit", "id": "job_id"}

#: File -> options, submits, run times, sizes, and what is dropped.
READ = {
    "C01-pandas-index.csv": ({}, [0, 5], [10, 20], [2, 4], {}),
    "C02-excel-de.csv": ({"decimal": ","}, [0.5, 5], [10.25, 20.5], [2, 4], {}),
    "C04-excel-utf16.csv": ({}, [0], [10], [2], {}),
    "C07-epoch-ms.csv": ({"unit": "ms"}, [1_709_280_000, 1_709_280_005], [10, 20], [2, 4], {}),
    "C11-acme.csv": (ACME, [58_702, 59_038], [117, 2693], [8, 8], {}),
    "C12-alibaba-end0.csv": (ALIBABA, [100], [200], [4], {"run time negative": 2}),
    "C13-frac-gpu.csv": ({}, [5], [20], [4], {"unreadable size": 1}),
    "C15-iso-z.csv": ({}, [43_200.123456, 43_205], [10, 10], [2, 2], {}),
    "C17-float-ids.csv": ({}, [0, 5], [10, 10], [2, 4], {}),
    "C18-inf-limit.csv": ({}, [0, 5], [10, 10], [2, 4], {}),
    "C19-mmss.csv": ({}, [5], [4230], [4], {"unreadable run time": 1}),
    "C20-trailing-comma.csv": ({}, [0, 5], [10, 10], [2, 4], {}),
    "C21-short-row.csv": ({}, [5], [10], [4], {"unreadable record": 1}),
    "C23-quoted-nl.csv": ({}, [0, 5], [10, 10], [2, 4], {}),
    "C24-neg.csv": ({}, [5], [10], [4], {"run time negative": 1}),
    "C25-1e3.csv": ({}, [0], [10], [1000], {"unreadable run time": 1}),
    "C26-us.csv": ({"unit": "us"}, [600], [90], [1], {}),
    "C27-quoted-header.csv": ({}, [0], [10], [2], {}),
    "C28-missing-ids.csv": ({}, [0, 5, 6], [10, 10, 10], [2, 2, 2], {}),
    "C29-gwf.gwf": (GWF, [0, 5], [10, 10], [2, 2], {}),
    "C30-excel-ids.csv": ({}, [0, 5], [10, 10], [2, 2], {}),
    "C31-neg.csv": ({}, [0], [10], [2], {"submit time negative": 1}),
    "C32-helios.csv": (ACME | {"size": "node_num"}, [0, 60, 60], [600, 0, 0], [1, 1, 2], {}),
    "C34-alcf.csv": (ALCF, [42, 42], [3600, 3600], [128, 128], {}),
    "C35-dateonly.csv": ({}, [0, 43_200], [10, 10], [2, 2], {}),
    "C39-units.csv": ({}, [0], [10], [4], {}),
    "C40-units.csv": ({}, [0], [5400], [4], {}),
    "C41-unlimited.csv": ({"estimate": "limit"}, [0, 5], [10, 10], [2, 2], {}),
    "P01-tz-categorical.parquet": ({}, [3540, 7200], [600, 1800], [2, 4], {"size missing": 1}),
    "P02-narrow.parquet": ({}, [0, 5], [1.5, 2.5], [2, 4], {}),
    "P03-decimal.parquet": ({}, [0.5, 5], [10, 20], [2, 4], {}),
    "P05-index.parquet": ({}, [0, 5], [10, 20], [2, 4], {}),
    "P08-strings.parquet": ({}, [0, 5], [10, 20], [2, 4], {}),
    LIMITS: (MINUTES, [0, 5, 9], [300, 1200, 60], [4, 8, 1], {}),
}
REFUSED = {
    "C02-excel-de.csv": r'line 2: column \'submit\': \'0,5\' is not a number: a decimal comma\? decimal="," reads it',
    "C05-ddmmyyyy.csv": "line 2: column 'submit': '31.01.2024 12:00' is no date and time such as 2024-01-31T12:00:00",
    "C06-mdyyyy.csv": "line 2: column 'submit': '1/31/2024 12:00' is no date and time such as",
    "C08-thousands.csv": "line 2: column 'runtime': '1,200' is no duration.*without separators of thousands",
    "C10-dup-cols.csv": "column 'note' appears twice",
    "C16-timedelta.csv": "line 2: column 'submit': '0 days 00:00:05' is no date and time",
    "C36-24h.csv": "line 2: column 'submit': '2024-01-31T24:00:00' is no date and time",
    "C37-ampm.csv": "line 2: column 'submit': '2024-01-31 12:05 AM' is no date and time",
    "C38-badclock.csv": "line 2: column 'runtime': '25:61:00' is no duration such as",
    "P07-empty.parquet": "no jobs are left",
}


@pytest.fixture(scope="module")
def cases(data_dir):
    if not (data_dir / "cases").is_dir():
        pytest.skip("no folder of cases in the public data")
    return data_dir / "cases"


@pytest.mark.parametrize("name", READ)
def test_what_is_read(cases, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    options, submit, runtime, size, dropped = READ[name]
    log = fs.read(cases / name, format="csv", **options)
    assert log.submit.tolist() == submit
    assert (log.runtime.tolist(), log.size.tolist()) == (runtime, size)
    assert dict(log.dropped) == dropped
    assert (what_is(cases / name).gives, what_is(cases / name).name) == (fs.Workload, "csv")
    if dropped.keys() & {"unreadable size", "unreadable run time", "unreadable record"}:
        refused(InputError, "line 2|line 3", fs.read_jobs, cases / name, **options, strict=True)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(cases, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    refused(InputError, REFUSED[name], fs.read_jobs, cases / name)


def test_further_values(cases):
    assert fs.read_jobs(cases / "C41-unlimited.csv", estimate="limit").estimate.tolist() == [-1, 3600]
    assert fs.read_jobs(cases / "C18-inf-limit.csv").estimate.tolist() == [-1, 30]
    assert fs.read_jobs(cases / "C28-missing-ids.csv").id.tolist() == [1, 4, 3]
    assert fs.read_jobs(cases / "C22-caps.csv", submit="Submit", runtime="Runtime", size="Size").size.tolist() == [2]
    assert fs.read_jobs(cases / "C01-pandas-index.csv").header["ColumnsLeftOut"] == "1: 'Unnamed: 0' (no name)"
    assert fs.read_jobs(cases / "C10-dup-cols.csv", columns=[]).further == ()


def test_limits_in_minutes_are_a_caveat(cases, caplog):
    with caplog.at_level(logging.WARNING, "faultsim"):
        log = fs.read_jobs(cases / LIMITS, **MINUTES)
    said = "100 % of the jobs run past their estimate (3 of the 3 that have one); are estimates in minutes?"
    assert said in caplog.text
    for overrun in ("extend", "kill"):
        warnings = fs.simulate(log, fs.Cluster(16), overrun=overrun).warnings
        assert any(said in text for text in warnings)
    right = fs.read_jobs(cases / LIMITS, **MINUTES, unit={"estimate": "min"})
    assert not any("past their estimate" in text for text in fs.simulate(right, fs.Cluster(16)).warnings)
    np.testing.assert_array_equal(right.estimate, [600, 1800, 300])
