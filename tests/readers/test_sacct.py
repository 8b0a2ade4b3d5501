"""`read_sacct`: what Slurm's accounting prints, quirk by quirk."""

import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refused

FIELDS = "JobID|User|Partition|Submit|Start|End|Elapsed|Timelimit|AllocNodes|NNodes|AllocCPUS|State"
DAY = "2024-01-31T"


def record(job, submit="12:00:00", start="12:10:00", end="12:20:00", elapsed="00:10:00", limit="01:00:00", alloc=4,
           nodes=4, cpus=128, state="COMPLETED", user="ann"):  # fmt: skip
    times = "|".join(DAY + t if t[:1].isdigit() else t for t in (submit, start, end))
    return f"{job}|{user}|batch|{times}|{elapsed}|{limit}|{alloc}|{nodes}|{cpus}|{state}"


def sacct(tmp_path, *records, fields=FIELDS):
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join([fields, *records, ""]))
    return path


def test_jobs_of_every_kind(tmp_path):
    path = sacct(
        tmp_path,
        record("12", submit="12:00:05", elapsed="1-02:03:04", limit="UNLIMITED"),
        record("12.batch", user="", alloc=1),
        record("12.extern", user=""),
        record("12.0", user=""),
        record("13_4", submit="11:00:00", limit="Partition_Limit", user="bob", state="TIMEOUT"),
        record("13_5", limit="", state="CANCELLED by 1000"),
        record("13_[6-9%2]", start="Unknown", end="Unknown", elapsed="00:00:00", alloc=0, state="PENDING"),
        record("14", start="None", elapsed="00:00:00", alloc=0, state="CANCELLED by 1000"),
        record("15", start="12:20:00", elapsed="00:00:00", alloc=0, state="CANCELLED"),
        record("16", end="Unknown", state="RUNNING"),
        record("17", elapsed="00:00:00", state="FAILED"),
        record("18", alloc=0, nodes=2, state="NODE_FAIL"),
        record("19", alloc=0, nodes=0),
    )
    log = fs.read_sacct(path)
    assert log.id.tolist() == ["13_4", "13_5", "17", "18", "12"]
    assert log.submit.tolist() == [39_600, 43_200, 43_200, 43_200, 43_205]
    assert log.runtime.tolist() == [600, 600, 0, 600, 93_784]
    assert log.estimate.tolist() == [-1, -1, 3600, 3600, -1]
    assert log.size.tolist() == [4, 4, 4, 2, 4]
    assert log.user.tolist() == [1, 0, 0, 0, 0]
    assert log.further == ("partition", "State", "cores", "nodes", "user_name")
    assert log.columns["State"][1] == "CANCELLED by 1000"
    assert dict(log.dropped) == {"job step": 3, "never started": 3, "still running": 1, "size missing": 1}
    assert fs.read_sacct(path, size="cpus").size.tolist() == [128] * 5 + [128]


def test_heterogeneous_jobs_are_one(tmp_path):
    log = fs.read_sacct(
        sacct(
            tmp_path,
            record("20+0", alloc=1, start="12:10:00", elapsed="00:10:00", limit="02:00:00"),
            record("20+0.batch", alloc=1),
            record("20+1", alloc=8, start="12:10:02", elapsed="00:10:30"),
            record("21", alloc=3),
            record("22+0", start="Unknown", end="Unknown", elapsed="00:00:00", alloc=0, state="PENDING"),
            record("22+1", start="Unknown", end="Unknown", elapsed="00:00:00", alloc=0, state="PENDING"),
        )
    )
    assert (log.id.tolist(), log.size.tolist(), log.runtime.tolist()) == ([20, 21], [9, 3], [632, 600])
    assert log.estimate.tolist() == [7200, 3600]
    assert dict(log.dropped) == {"job step": 1, "component of a heterogeneous job": 2, "never started": 1}


def test_the_last_run_of_a_requeued_job(tmp_path):
    path = sacct(tmp_path, record("30", state="NODE_FAIL", elapsed="00:01:00"), record("30", submit="12:11:00"))
    log = fs.read_sacct(path)
    assert (log.id.tolist(), log.runtime.tolist(), log.submit.tolist()) == ([30], [600], [43_200])
    assert dict(log.dropped) == {"earlier run of a requeued job": 1}
    assert log.lost_runs.reasons.tolist() == ["NODE_FAIL"]


def test_other_fields(tmp_path):
    raw = "JobID|UID|User|Submit|ElapsedRaw|TimelimitRaw|ReqNodes|QOS|JobName"
    rows = '1|1000|ann|1706702400|60|10|2|high|"x', "2|1001|bob|1706702401|30|UNLIMITED|1|low|y"
    path = sacct(tmp_path, *rows, fields=raw)
    log = fs.read_sacct(path, name="raw")
    assert (log.name, log.submit.tolist(), log.runtime.tolist()) == ("raw", [43_200, 43_201], [60, 30])
    assert (log.estimate.tolist(), log.user.tolist()) == ([600, -1], [1000, 1001])
    assert log.further == ("qos", "user_name")
    assert fs.read_sacct(path, columns=["JobName"]).columns["JobName"].tolist() == ['"x', "y"]
    assert fs.read_sacct(path, begin=1_706_702_401).submit.tolist() == [0]
    between = sacct(tmp_path, f"1|{DAY}12:00:00|{DAY}12:10:00|{DAY}12:11:30|5", fields="JobID|Submit|Start|End|NNodes")
    assert fs.read_sacct(between).runtime.tolist() == [90]
    plain = sacct(tmp_path, f"1|{DAY}12:00:00|01:30|5", fields="JobID|Submit|Elapsed|NNodes")
    assert fs.read_sacct(plain).runtime.tolist() == [90]


@pytest.mark.parametrize(
    ("fields", "row", "said"),
    [
        ("JobID|Elapsed|NNodes", "1|00:01:00|2", "sacct.txt: no field Submit; it has JobID, Elapsed, NNodes; ask"),
        ("Submit|Elapsed|NNodes", "1|00:01:00|2", "no field JobID"),
        ("JobID|Submit|NNodes", "1|1|2", "no field ElapsedRaw or Elapsed"),
        ("JobID|Submit|End|NNodes", "1|1|2|2", r"no field ElapsedRaw or Elapsed \(or Start and End\)"),
        ("JobID|Submit|Elapsed", "1|1|00:01:00", "no field AllocNodes or NNodes or ReqNodes or AllocTRES"),
        ("JobID|Submit|Elapsed|NNodes", "1|1|2 x|1", "line 2: column 'Elapsed': '2 x' is no duration"),
        ("JobID|Submit|Elapsed|NNodes", "1|1|00:01:00|some", "line 2: column 'NNodes': 'some' is not a whole number"),
        ("JobID|Submit|Elapsed|NNodes", "1|1|00:01:00|", r"no jobs are left \(size missing: 1\)"),
        ("JobID|Submit|Elapsed|NNodes", "1|1|00:01:00", "line 2: 3 fields, expected 4"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, fields, row, said):
    refused(InputError, said, fs.read_sacct, sacct(tmp_path, row, fields=fields))


def test_wrong_options(tmp_path):
    path = sacct(tmp_path, record("1"))
    refused(OptionError, "unknown size 'node'", fs.read_sacct, path, size="node")
    refused(InputError, r"no field 'Stat' \(did you mean 'State'\?\)", fs.read_sacct, path, columns=["Stat"])
    refused(OptionError, "columns: expected a list of names", fs.read_sacct, path, columns="State")
