"""`read_pbs`, `read_lsf`, `read_sge`: accounting of other batch systems, quirk by quirk."""

import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.readers.table import what_is
from helpers.refusals import refused

T = 1_719_820_800  # 2024-07-01 08:00 UTC


@pytest.fixture
def write(tmp_path):
    def call(*lines, name="accounting"):
        path = tmp_path / name
        path.write_text("\n".join([*lines, ""]))
        return path

    return call


# -- PBS ---------------------------------------------------------------------------------------------------------------


def pbs(job="1.srv", kind="E", stamp="07/01/2024 10:10:00", start=3, end=600, user="u1", more="", **facts):
    times = f"ctime={T} qtime={T} etime={T} start={T + start} " + (f"end={T + end} " if end is not None else "")
    size = facts.pop("size", "Resource_List.nodect=2 Resource_List.walltime=01:00:00")
    return f"{stamp};{kind};{job};user={user} group=g jobname=x y queue=batch {times}{size} {more}".rstrip()


def test_records_of_pbs(write):
    path = write(
        "07/01/2024 10:00:00;Q;1.srv;queue=batch",
        pbs(kind="S", end=None),
        pbs(more='account="phys" Exit_status=0 resources_used.walltime=00:09:57 session=5'),
        "07/01/2024 10:00:00;Q;2.srv;queue=batch",
        pbs("3[7].srv", more="project=_pbs Resource_List.ncpus=64 Resource_List.mem=4gb resvID=S5.srv", user="u2"),
        pbs("3[].srv"),
        pbs("4.srv", kind="S", end=None),
        "07/01/2024 10:20:00;D;5.srv;requestor=u1@srv",
        "07/01/2024 10:20:00;L;license;floating license hour:1",
    )
    log = fs.read_pbs(path)
    assert (log.id.tolist(), log.submit.tolist(), log.runtime.tolist()) == (["1", "3[7]"], [28_800] * 2, [597] * 2)
    assert (log.estimate.tolist(), log.size.tolist(), log.user.tolist()) == ([3600] * 2, [2] * 2, [0, 1])
    assert log.columns["account"].tolist() == ["phys", "_pbs"]
    assert log.columns["reservation"].tolist() == ["", "S5.srv"]
    assert dict(log.dropped) == {"record of no job's end": 6, "job array": 1, "never started": 1, "still running": 1}
    assert what_is(path).name == "pbs"


@pytest.mark.parametrize(
    ("size", "sizes"),
    [
        ("Resource_List.nodect=2 Resource_List.ncpus=16 Resource_List.ngpus=4", (2, 16, 4)),
        ("exec_host=n1/0*8+n2/0*8", (2, 16, None)),
        ("exec_host=n1/0+n1/1+n2/0", (2, 3, None)),
        ("exec_host=n1/0-7,9+n2/0", (2, 10, None)),
        ("Resource_List.select=2:ncpus=8:ngpus=1+1:ncpus=4", (3, 20, 2)),
        ("Resource_List.nodes=2:ppn=6:gpus=2", (2, 12, 4)),
        ("unique_node_count=4 total_execution_slots=32", (4, 32, None)),
    ],
)
def test_sizes_of_pbs_and_torque(write, size, sizes):
    path = write(pbs(size=size))
    for kind, expected in zip(("nodes", "cpus", "gpus"), sizes, strict=True):
        if expected is None:
            refused(InputError, "no jobs are left .size missing: 1", fs.read_pbs, path, size=kind)
        else:
            assert fs.read_pbs(path, size=kind).size.tolist() == [expected]


def test_reruns_of_pbs_are_lost_runs(write):
    path = write(
        pbs(kind="S", end=None, more="exec_host=n2/0*8"),
        pbs(kind="R", start=3, end=100, more="exec_host=n2/0*8"),  # PBS Professional
        pbs(kind="S", start=200, end=None, more="exec_host=n10/0*8"),
        "07/01/2024 10:05:00;R;1.srv;",  # Torque: at 300 s, by the difference of the server's clock to UTC
        pbs(start=400, end=900, stamp="07/01/2024 10:15:00"),
        pbs("2.srv", stamp="07/01/2024 10:15:00", end=900),
        pbs("2.srv", kind="S", start=1000, end=None, stamp="07/01/2024 10:16:40"),
        "07/01/2024 10:20:00;R;2.srv;",
    )
    log = fs.read_pbs(path)
    assert (log.id.tolist(), log.runtime.tolist()) == ([1, 2], [500, 897])
    assert log.lost_runs.time.tolist()[0] == 28_900
    assert (log.lost_runs.nodes, set(log.lost_runs.reasons.tolist())) == (("n2", "n10"), {"rerun"})


@pytest.mark.parametrize(
    "bad",
    ["07/01/2024;E;1.srv;user=u", "99/01/2024 10:00:00;E;1.srv;user=u", "half a line", "07/01/2024 10:00:00",
     pbs().replace("ctime=", "ctime=x")],
)  # fmt: skip
def test_unreadable_records_of_pbs(write, bad):
    log = fs.read_pbs(write(pbs(), bad))
    assert (len(log), dict(log.dropped)) == (1, {"unreadable record": 1})
    refused(InputError, "accounting, line 2", fs.read_pbs, write(pbs(), bad), strict=True)
    refused(InputError, "accounting, line 1", fs.read_pbs, write(bad))


def test_options_of_pbs(write):
    path = write(pbs(), pbs("2.srv", end=700))
    assert fs.read_pbs(path, columns=["partition"]).further == ("partition",)
    assert len(fs.read_pbs(path, end="2024-07-02", name="x")) == 2
    refused(InputError, r"no column 'queue'", fs.read_pbs, path, columns=["queue"])
    refused(OptionError, "columns: expected a list of names", fs.read_pbs, path, columns="partition")
    refused(OptionError, "unknown size 'cores'", fs.read_pbs, path, size="cores")
    assert len(fs.read_pbs(write(pbs(), pbs()))) == 1


# -- LSF ---------------------------------------------------------------------------------------------------------------

USAGE = "-1 " * 19


def lsf(job=7, start=3, end=600, slots=16, asked=(), hosts=("n1", "n2"), index=0, limit=3600, command="sleep 597",
        submit=0, text='"text"'):  # fmt: skip
    host_lists = " ".join(f"{len(names)} " + " ".join(f'"{name}"' for name in names) for names in (asked, hosts))
    return (
        f'"JOB_FINISH" "10.1" {T + end} {job} 1000 0 {slots} {T + submit} 0 0 {T + start if start else 0} "ann" '
        f'"normal" "select[ib]" "" "" "login" "/home" "" "" "" "" {host_lists} 64 60.0 "name" "{command}" {USAGE}"" '
        f'"phys" 0 16 "" "" {index} 0 0 "" "" "" "" 0 "" 0 "" -1 "" "" "" "" -1 "" "" 0 "" 0 {text} 1 "k" "v" '
        f'0 0 {limit} 5 "x"'
    )


def test_records_of_lsf(write):
    path = write(
        lsf(),
        lsf(8, asked=("n5",), hosts=("8*n1", "8*n2", "4*n3"), index=3, command='echo ""a b""; x'),
        lsf(9, start=0),
        lsf(10, command="one\ntwo", limit=0, text='"reservation" "text"'),
        '"EVENT_ADRSV_FINISH" "10.1" 1656313251 5',
    )
    log = fs.read_lsf(path)
    assert (log.id.tolist(), log.size.tolist(), log.runtime.tolist()) == (["7", "8[3]", "10"], [2, 20, 2], [597] * 3)
    assert log.estimate.tolist() == [3600, 3600, -1]
    assert log.columns["nodes"].tolist() == [2, 3, 2]
    assert (set(log.columns["account"].tolist()), set(log.columns["features"].tolist())) == ({"phys"}, {"select[ib]"})
    assert dict(log.dropped) == {"never started": 1, "record of no job's end": 1}
    assert fs.read_lsf(path, size="nodes").size.tolist() == [2, 3, 2]
    assert what_is(path).name == "lsf"


@pytest.mark.parametrize("fields", [13, 14, 22, 23, 24, 25, 27, 30, 55])
def test_records_of_lsf_that_are_cut_are_read_as_far_as_they_go(write, fields):
    log = fs.read_lsf(write(" ".join(lsf().split(" ")[:fields])))
    assert (log.runtime.tolist(), log.estimate.tolist()) == ([597], [-1])
    assert log.size.tolist() == [16 if fields < 26 else 2]


def test_runs_of_one_job_of_lsf(write):
    other = lsf(submit=5, start=9)
    log = fs.read_lsf(write(lsf(end=100), lsf(start=200, end=700, hosts=("n9",)), other, other))
    assert (log.id.tolist(), log.runtime.tolist(), log.size.tolist()) == ([7, 7], [500, 591], [1, 2])
    assert dict(log.dropped) == {"earlier run of a requeued job": 1, "repeated record": 1}
    assert (log.lost_runs.time.tolist(), log.lost_runs.nodes) == ([28_900], ("n1",))


@pytest.mark.parametrize("bad", ['"JOB_FINISH" "10.1" 5 6', "no quotes at all", lsf().replace(f"{T}", "soon", 1),
                                 '"JOB_FINISH" "10.1" 5 6 "open', lsf(slots="many")])  # fmt: skip
def test_unreadable_records_of_lsf(write, bad):
    log = fs.read_lsf(write(lsf(), bad, lsf(8)))
    assert (log.id.tolist(), dict(log.dropped)) == ([7, 8], {"unreadable record": 1})
    refused(InputError, "accounting, line 2", fs.read_lsf, write(lsf(), bad), strict=True)


# -- Grid Engine -------------------------------------------------------------------------------------------------------


def sge(job=7, submit=0, start=3, end=600, failed=0, status=0, slots=16, task=0, category="-l h_rt=3600 -pe mpi 16",
        pe_task="NONE", factor=1, host="n1", fields=None):  # fmt: skip
    times = [T + submit, T + start if start else 0, T + end if end else 0]
    line = ["all.q", host, "users", "ann", "job", job, "sge", 5, *(time * factor for time in times), failed, status]
    line += [597, *[0] * 17, "phys", "dep", "mpi", slots, task, 1, 1, 0, category, 0, pe_task, 0]
    return ":".join(map(str, line[:fields]))


def test_records_of_grid_engine(write):
    path = write(
        "# Version: 8.1.9",
        "#",
        sge(),
        sge(8, task=3, category="-l h_rt=10:00:00,h_vmem=2G,gpu=2", factor=1000),
        sge(9, start=0, end=0),
        sge(10, pe_task="1.n2"),
        sge(11, category="NONE", slots=1),
        "",
    )
    log = fs.read_sge(path)
    assert (log.id.tolist(), log.size.tolist(), log.runtime.tolist()) == (["7", "8_3", "11"], [16, 16, 1], [597] * 3)
    assert (log.estimate.tolist(), log.columns["memory"].tolist()[1]) == ([3600, 36_000, -1], 32_768)
    assert (log.columns["gpus"].tolist(), log.columns["project"].tolist()) == ([0, 2, 0], ["phys"] * 3)
    assert dict(log.dropped) == {"never started": 1, "task of a parallel job": 1}
    assert "slot" not in log.header["Note"]
    assert what_is(path).name == "sge"


@pytest.mark.parametrize("fields", [14, 20, 31, 34])
def test_records_without_slots_are_said(write, fields):
    log = fs.read_sge(write(sge(fields=fields), sge(8)))
    assert log.size.tolist() == [1, 16]
    assert "taken for 1 slot: 1" in log.header["Note"]


@pytest.mark.parametrize("again", [{"failed": 25}, {"failed": 24}, {"status": 99}])
def test_runs_of_one_job_of_grid_engine(write, again):
    log = fs.read_sge(write(sge(end=100, host="n3", **again), sge(start=200, end=700), sge(8), sge(8)))
    assert (log.id.tolist(), log.runtime.tolist()) == ([7, 8], [500, 597])
    assert dict(log.dropped) == {"earlier run of a requeued job": 1, "repeated record": 1}
    assert (log.lost_runs.nodes, log.lost_runs.time.tolist()) == (("n3",), [28_900])


@pytest.mark.parametrize("bad", ["all.q:n1:users", sge(job="x"), sge(fields=13), "text", sge().replace(str(T), "-1")])
def test_unreadable_records_of_grid_engine(write, bad):
    log = fs.read_sge(write(sge(), bad))
    assert (len(log), dict(log.dropped)) == (1, {"unreadable record": 1})
    refused(InputError, "accounting, line 2", fs.read_sge, write(sge(), bad), strict=True)


# -- what a file is ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("JobID|User|Submit|Start|End|State", "sacct"), ("User^|^JobIDRaw^|^State", "sacct"),
        ("JobID;User;Submit;Elapsed;NNodes", "sacct"), ("JobID,Submit,ElapsedRaw,AllocTRES", "sacct"),
        ("7|u|2024-03-01T08:00:00|2024-03-01T08:00:05|600", "sacct"), ("JobID    JobName  State", "sacct"),
        ('{"jobs": [{"job_id": 7}]}', "sacct"), ('{\n  "meta": {\n    "plugin": {}},\n "jobs": []}', "sacct"),
        ("Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User", "events"), ("NodeName;Start;End", "events"),
        ("07/01/2024 10:00:05;E;1.srv;user=u1", "pbs"), ('"JOB_FINISH" "9.1" 1656313251 905984 1', "lsf"),
        (sge(), "sge"), ("job,submit,runtime,size", "csv"), ("1 0 5 10 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1", "swf"),
        ('{"name": "w", "schemaVersion": "1.5"}', "wfcommons"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_formats_are_told_by_how_a_file_begins(tmp_path, text, name, mark):
    path = tmp_path / "file"
    path.write_text(mark + text + "\n", encoding="utf-8")
    assert what_is(path).name == name


def test_any_accounting_file_is_read_by_its_content(write):
    for line, reader in ((pbs(), fs.read_pbs), (lsf(), fs.read_lsf), (sge(), fs.read_sge)):
        path = write(line)
        assert fs.read(path) == reader(path)
