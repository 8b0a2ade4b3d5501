"""The log of slurmctld: records of priorities, fair trees, usage and starts, and what is refused."""

import gzip
import lzma
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.data import slurmctld_records as log_reader
from faultsim.readers.slurmctld_log import read_slurmctld_log
from faultsim.reference.slurm.compare_passes import plans_of

#: Lines of a recording of Slurm 22.05.8, shortened.
LINES = (Path(__file__).parent / "slurm" / "slurmctld.log").read_bytes()


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "slurmctld.log"
    file.write_bytes(LINES)
    return file


def test_records_in_the_order_of_the_log(path):
    log = read_slurmctld_log(path)
    assert (log.version, log.lines) == ("22.05.8", LINES.count(b"\n"))
    assert [type(record).__name__ for record in log.records] == [
        "Setting", "Decay", "Charge", "FairTree", "Priority", "NewPriority", "Submission", "Start", "Start", "Requeue",
    ]  # fmt: skip
    (charge,) = log.of(log_reader.Charge)
    assert (charge.job, charge.seconds, charge.tres) == (3, 9.0, {"cpu": 8.0, "billing": 8.0})
    assert charge.added[-1] == ("root", "", 71.626643, 269.306583)
    (tree,) = log.of(log_reader.FairTree)
    assert [(level.depth, level.name, level.account, level.tied) for level in tree.levels] == [
        (1, "root", "root", False), (1, "physics", "physics", True), (2, "u1", "physics", False),
    ]  # fmt: skip
    (priority,) = log.of(log_reader.Priority)
    assert (priority.job, priority.user, priority.account, priority.nice) == (4, "u7", "eng", 10.0)
    assert priority.factors == {"Age": 0.0, "JobSize": 0.3375}
    assert priority.tres == {"cpu": 0.3}
    assert (priority.priority, priority.partitions) == (1784, {"batch": 1784, "long": 900})
    assert [(start.job, start.cpus, start.backfilled) for start in log.of(log_reader.Start)] == [
        (4, 48, False), (9, 0, True),
    ]  # fmt: skip
    assert priority.second == 1796083412


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_logs_are_read(tmp_path, path, pack):
    packed = tmp_path / "packed"
    packed.write_bytes(pack(LINES))
    assert read_slurmctld_log(packed).records == read_slurmctld_log(path).records


def test_plans_beyond_the_window_are_dropped(path):
    """bf_window=15: the log announces a plan, and says in the next line that it is none."""
    at = "[2026-12-01T00:06:09.834] sched/backfill:"
    plan = "to start at 2026-12-01T00:{}, end at 2026-12-01T00:40:00 on nodes n[4-6] in partition batch"
    lines = [
        f"{at} _dump_job_sched: JobId=21 {plan.format('19:44')}",
        f"{at} _dump_job_sched: JobId=25 {plan.format('33:30')}",
        f"{at} _attempt_backfill: BACKFILL: JobId=25 StartTime set to time after current backfill window. No "
        "reservation created",
    ]
    path.write_text("\n".join(lines) + "\n")
    records = list(read_slurmctld_log(path).records)
    assert [(type(each).__name__, each.job) for each in records] == [("Plan", 21), ("Plan", 25), ("PlanDropped", 25)]
    assert [(job, nodes) for job, _, nodes in plans_of(records)] == [(21, ("n4", "n5", "n6"))]


@pytest.mark.parametrize(("old", "new"), [(b".117]", b"]"), (b".117]", b".117+01:00]"), (b".117]", b".117123]")])
def test_other_forms_of_time(tmp_path, path, old, new):
    other = tmp_path / "other.log"
    other.write_bytes(LINES.replace(old, new))
    seconds = [record.second for record in read_slurmctld_log(path).records]
    assert [record.second for record in read_slurmctld_log(other).records] == seconds


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"priority of job 4 for", b"priority of JobId=4 for"),
        (b"internal: Job 4 priority", b"internal: PRIO: JobId=4 priority"),
        (b"job 3 ran for", b"JobId=1_2(3) ran for"),
        (b"] priority/multifactor:", b"] [77123.sched] debug2: priority/multifactor:"),
        (b"initial priority for job 4 is", b"PRIO: initial priority for JobId=4_*(4) is"),
    ],
)
def test_words_of_other_versions(tmp_path, path, old, new):
    other = tmp_path / "other.log"
    other.write_bytes(LINES.replace(old, new))
    assert LINES.count(old)
    assert read_slurmctld_log(other).records == read_slurmctld_log(path).records


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "empty; expected the log of slurmctld"),
        (b"7 0 1 2 3\n" * 20_000, "not a log of slurmctld: lines begin with a time such as"),
        (b"[1234567] priority/multifactor: _decay_thread: PRIO: x\n", "LogTimeFormat=iso8601_ms"),
        (b"no time\n", "not a log of slurmctld"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    path = tmp_path / "bad.log"
    path.write_bytes(text)
    with pytest.raises(fs.InputError, match=message):
        read_slurmctld_log(path)


def test_missing_flags_are_named(tmp_path):
    path = tmp_path / "quiet.log"
    path.write_bytes(b"[2026-12-01T00:02:02.884] slurmctld version 22.05.8 started on cluster c\n")
    with pytest.raises(fs.InputError, match=r"no priorities among 1 lines.*DebugFlags=Backfill,Priority"):
        read_slurmctld_log(path).needs(log_reader.Priority, "priorities")


def test_a_log_cut_anywhere_is_read(tmp_path):
    """Logs begin and end where logrotate cuts them."""
    lines = LINES.splitlines(keepends=True)
    path = tmp_path / "cut.log"
    whole = tmp_path / "whole.log"
    whole.write_bytes(LINES)
    records = len(read_slurmctld_log(whole).records)
    for first in range(len(lines)):
        path.write_bytes(b"".join(lines[first:]))
        assert len(read_slurmctld_log(path).records) <= records
        path.write_bytes(b"".join(lines[: first + 1]))
        assert len(read_slurmctld_log(path).records) <= records
