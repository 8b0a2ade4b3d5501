"""`read_squeue`: text with | or spaces, JSON, and what is wrong."""

import json

import numpy as np
import pytest

import faultsim as fs
from helpers.refusals import refused

HEAD = (
    "JOBID|STATE|PARTITION|USER|ACCOUNT|QOS|NODES|CPUS|MIN_MEMORY|TIME_LIMIT|TIME|SUBMIT_TIME|PRIORITY|TRES_PER_NODE|"
    "FEATURES|OVER_SUBSCRIBE|REASON"
)
ROWS = (
    "9|PENDING|batch|bob|phys|normal|2-4|64|4G|2-00:00:00|0:00|2026-12-01T00:10:00|300|gres/gpu:v100:2|ib&new|OK|(None)",
    "7|RUNNING|batch|ann|bio|normal|1|8|2000M|1:00:00|12:30|2026-12-01T00:00:00|900|N/A|(null)|OK|None",
    "11_3|PENDING|gpu|cy|bio|high|1|4|0|UNLIMITED|0:00|2026-12-01T00:12:00|800|gres:gpu:1|(null)|NO|(JobHeldUser)",
    "8|PENDING|batch|bob|phys|normal|1|16|0|30:00|0:00|2026-12-01T00:11:00|500|N/A|(null)|OK|(Priority)",
    "5|COMPLETED|batch|bob|phys|normal|1|16|0|30:00|29:00|2026-12-01T00:00:00|0|N/A|(null)|OK|None",
)


def written(tmp_path, *rows, head=HEAD):
    path = tmp_path / "squeue.txt"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_what_each_column_says(tmp_path):
    state = fs.read_squeue(written(tmp_path, *ROWS))
    jobs = state.jobs
    assert repr(state) == "QueueState(1 running, 3 waiting, 1 of them held)"
    assert jobs.id.tolist() == [7, 9, 8, 11]  # by submit time
    assert jobs.submit.tolist() == [0, 600, 660, 720]
    assert state.now == 720
    np.testing.assert_equal(state.elapsed, [750, np.nan, np.nan, np.nan])
    assert jobs.id[state.served].tolist() == [8, 9]  # by priority, without the held one
    assert jobs.estimate.tolist() == [3600, 172_800, 1800, 365 * 86_400]
    columns = jobs.columns
    assert columns["cores"].tolist() == jobs.size.tolist() == [8, 64, 16, 4]
    assert columns["nodes"].tolist() == [1, 2, 1, 1]
    assert columns["memory"].tolist() == [2000, 4096, 0, 0]
    assert columns["gpus"].tolist() == [0, 4, 0, 1]  # of all nodes
    assert columns["features"].tolist() == ["", "ib&new", "", ""]
    assert columns["exclusive"].tolist() == [False, False, False, True]
    assert columns["user_name"].tolist() == ["ann", "bob", "bob", "cy"]
    assert columns["partition"].tolist() == ["batch", "batch", "batch", "gpu"]


def test_spaces_between_columns(tmp_path):
    head = "JOBID PARTITION USER ST TIME TIME_LIMIT NODES CPUS NODELIST(REASON)"
    path = written(
        tmp_path,
        " 7 batch ann R 1-00:00:05 2-00:00:00 1 8 n[1-2]",
        " 8 batch bob PD 0:00 5:00 1 8 (Priority)",
        head=head,
    )
    state = fs.read_squeue(path)
    np.testing.assert_equal(state.elapsed, [86_405, np.nan])
    assert state.served.tolist() == [1]


def number(value):
    return {"set": True, "infinite": False, "number": value}


def test_json(tmp_path):
    jobs = [
        {
            "job_id": 7, "job_state": ["RUNNING"], "partition": "batch", "user_name": "ann", "cpus": number(8),
            "node_count": number(1), "time_limit": number(60), "submit_time": number(1000), "start_time": number(1100),
            "priority": number(900), "tres_per_node": "gres/gpu:2", "memory_per_node": number(2000),
        },
        {
            "job_id": 8, "job_state": ["PENDING"], "partition": "batch", "user_name": "bob", "cpus": number(16),
            "node_count": number(1), "time_limit": {"set": False, "infinite": True, "number": 0},
            "submit_time": number(1300), "start_time": number(0), "priority": number(500), "state_reason": "Priority",
        },
    ]  # fmt: skip
    path = tmp_path / "squeue.json"
    path.write_text(json.dumps({"jobs": jobs, "last_update": number(1500)}))
    state = fs.read_squeue(path)
    np.testing.assert_equal(state.elapsed, [400, np.nan])
    assert state.jobs.estimate.tolist() == [3600, 365 * 86_400]
    assert state.jobs.columns["gpus"].tolist() == [2, 0]
    assert state.served.tolist() == [1]


@pytest.mark.parametrize(
    ("head", "rows", "said"),
    [
        ("a|b|c", ["1|2|3"], "no table of squeue: its first line is 'a|b|c'"),
        ("JOBID|STATE|CPUS|TIME_LIMIT", ["7|RUNNING|8|1:00"], r"no column of elapsed \(%M\)"),
        ("JOBID|STATE|CPUS|TIME_LIMIT|TIME", ["7|RUNNING|8|1:00"], "line 2: 4 values for 5 columns"),
        ("JOBID|STATE|CPUS|TIME_LIMIT|TIME", ["7|RUNNING|many|1:00|0:10"], "line 2: cores 'many' is no number"),
        ("JOBID|STATE|CPUS|TIME_LIMIT|TIME", ["7|RUNNING|8|soon|0:10"], "line 2: limit 'soon' is no time"),
        ("JOBID|STATE|CPUS|TIME_LIMIT|TIME", ["7|COMPLETED|8|1:00|0:10"], "no job runs or waits"),
        ("JOBID|STATE|CPUS|TIME_LIMIT|TIME", [], "no jobs of squeue"),
        ("JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME", ["7|RUNNING|8|1:00|0:10|noon"], "time 'noon' is no time"),
        ("JOBID|STATE|CPUS|TIME_LIMIT|TIME|MIN_MEMORY", ["7|RUNNING|8|1:00|0:10|lots"], "memory 'lots' is no amount"),
    ],
)  # fmt: skip
def test_what_is_wrong(tmp_path, head, rows, said):
    refused(fs.InputError, said, fs.read_squeue, written(tmp_path, *rows, head=head))


def test_json_that_is_none(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("{")
    refused(fs.InputError, "not JSON", fs.read_squeue, path)
    path.write_text('{"jobs": 3}')
    refused(fs.InputError, "no list of jobs", fs.read_squeue, path)
