"""The rows S*, B*, E01 and D04 of the table of cases, and those without a file: each behaves as "right" there.

Files are those of ``cases`` in the folder of public data; rows with files are skipped without them.
"""

import math
import re
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.errors import InputError
from faultsim.machines.text import parse_machine
from faultsim.readers.table import what_is
from helpers.refusals import refused

ARRAYS = {"801_1": (1, 600), "802": (3, 600), "804": (1, 120)}
STEPS = {"job step": 1, "component of a heterogeneous job": 1, "never started": 2}

#: File -> run time and size of each job by id, and what is dropped.
SACCT = {
    "S01-pipe-in-name.txt": ({101: (2, 600), 102: (4, 1200), 103: (1, 60)}, {}),
    "S03-parsable-trailing.txt": ({301: (2, 600)}, {}),
    "S05-sacct.json": ({501: (2, 600)}, {}),
    "S08-array-het-cancel.txt": (ARRAYS, STEPS),
    "S09-negative-elapsed.txt": ({902: (2, 60)}, {"run time negative": 1}),
    "S10-tres.txt": ({1001: (2, 600)}, {}),
    "S11-k-suffix.txt": ({1101: (1536, 600), 1102: (2, 600)}, {}),
    "S12-delimiter.txt": (ARRAYS, STEPS),
    "S13-zones.txt": ({1301: (1, 120), 1302: (1, 60)}, {}),
    "S14-header-twice.txt": ({1401: (1, 600), 1402: (1, 600)}, {}),
    "S15-states.txt": (
        {1501: (1, 600), 1502: (1, 600), 1504: (1, 1200), 1505: (1, 600)},
        {"earlier run of a requeued job": 1, "never started": 1},
    ),
    "S18-bom-crlf.txt": ({1801: (1, 600)}, {}),
    "S21-jobid-second.txt": ({1: (2, 600)}, {}),
    "S22-jobidraw.txt": ({1: (2, 600)}, {}),
    "S23-het-requeued.txt": (
        {9: (4, 3600)},
        {"earlier run of a requeued job": 2, "component of a heterogeneous job": 1},
    ),
}
REFUSED = {
    "S04-fixed-width.txt": "columns of fixed width.*--parsable2",
    "S16-header-only.txt": r"no jobs are left \(the file has none\)",
    "S17-no-header.txt": r"line 1: not a line with the names of fields.*leave out --noheader \(-n\)",
}
#: File -> format, and id, size, run time, estimate and recorded wait of its job.
ACCOUNTING = {
    "B-lsb.acct": ("lsf", 905984, 16, 240_307, -1, 7),
    "B-pbs-accounting.txt": ("pbs", 1, 2, 597, 3600, 3),
    "B-sge-accounting.txt": ("sge", 1, 1, 597, -1, 3),
}


@pytest.fixture(scope="module")
def cases(data_dir):
    if not (data_dir / "cases").is_dir():
        pytest.skip("no folder of cases in the public data")
    return data_dir / "cases"


def test_every_case_is_named_in_a_test(cases):
    written = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    files = [path.name for path in cases.iterdir() if path.is_file() and path.name != "README.md"]
    assert [name for name in files if name not in written] == []
    assert len(files) > 100


@pytest.mark.parametrize("name", SACCT)
def test_sacct(cases, name, capsys):
    jobs, dropped = SACCT[name]
    for log in (fs.read_sacct(cases / name), fs.read(cases / name)):
        found = zip(log.id.tolist(), log.size.tolist(), log.runtime.tolist(), strict=True)
        assert {job: (size, runtime) for job, size, runtime in found} == jobs
        assert dict(log.dropped) == dropped
    assert main(["show", str(cases / name)]) == 0  # S18: the command line gives the same answer
    assert main(["run", str(cases / name), "--quiet"]) == 0
    assert "a job log, what sacct --parsable2" in capsys.readouterr().out


@pytest.mark.parametrize("name", REFUSED)
def test_sacct_that_is_refused(cases, name, capsys):
    refused(InputError, REFUSED[name], fs.read_sacct, cases / name)
    assert what_is(cases / name).name == "sacct"
    assert main(["run", str(cases / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_names_and_sizes(cases):  # S01, S10, S11
    log = fs.read_sacct(cases / "S01-pipe-in-name.txt", columns=["JobName"])
    assert log.columns["JobName"].tolist() == ["prep", "a|b", "post"]
    assert fs.read_sacct(cases / "S10-tres.txt", size="gpus").size.tolist() == [8]
    suffixed = fs.read_sacct(cases / "S11-k-suffix.txt")
    assert suffixed.columns["cores"].tolist() == [96 * 1024, 64]
    assert suffixed.columns["memory"].tolist() == [4096 * 1536, 1800 * 64]
    plain = fs.read_sacct(cases / "S08-array-het-cancel.txt", name="one")
    assert fs.read_sacct(cases / "S12-delimiter.txt", separator="^|^", name="one") == plain


def test_strict(cases):  # S09
    log = fs.read_sacct(cases / "S09-negative-elapsed.txt", strict=True)
    assert dict(log.dropped) == {"run time negative": 1}  # a record that can be read, of a clock set back


def test_recycled_ids(cases):  # S06
    log = fs.read_sacct(cases / "S06-recycled-ids.txt")
    assert (log.id.tolist(), log.size.tolist()) == ([12728301, 12728302, 12728301], [1, 2, 3])
    assert (float(log.work.sum()), dict(log.dropped), log.lost_runs) == (21_600, {}, None)


def test_parts_of_a_resized_job(cases):  # S19
    log = fs.read_sacct(cases / "S19-resized.txt")
    assert (log.size.tolist(), log.runtime.tolist(), float(log.work.sum())) == ([4, 8], [3600, 3600], 43_200)
    assert dict(log.dropped) == {"still running": 1}


@pytest.mark.parametrize(("name", "ends"), [("S15-states.txt", 29_405), ("S23-het-requeued.txt", 32_400)])
def test_lost_runs(cases, name, ends):
    assert fs.read_sacct(cases / name).lost_runs.time.tolist() == [ends]


def test_events_of_slurm(cases):  # E01
    trace = fs.read(cases / "E01-sacctmgr-events.txt")
    assert (trace.time.tolist(), trace.downtime.tolist()) == ([28_800, 115_200], [9000, 61_200])
    assert (trace.nodes, dict(trace.dropped)) == (("n001", "n002"), {"event of the cluster": 1})
    assert main(["show", str(cases / "E01-sacctmgr-events.txt")]) == 0


@pytest.mark.parametrize("name", ACCOUNTING)
def test_accounting_of_other_systems(cases, name):  # B-acct
    kind, *job = ACCOUNTING[name]
    assert what_is(cases / name).name == kind
    log = fs.read(cases / name)
    assert [column[0] for column in (log.id, log.size, log.runtime, log.estimate, log.recorded_wait)] == job
    assert main(["run", str(cases / name), "--quiet"]) == 0


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("B-gwf.gwf", "no column 'submit', 'runtime', 'size'; it has JobID, SubmitTime, WaitTime, RunTime, NProcs"),
        ("B-batsim.json", "a workload of Batsim"),
        ("D04-pegasus5.yml", "YAML, such as a workflow of Pegasus 5"),
    ],
)
def test_formats_without_a_reader_are_named(cases, name, what, capsys):
    refused(InputError, what, fs.read, cases / name)
    assert main(["show", str(cases / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "arguments", "what"),
    [
        ("F01-fta-lanl-tabs.tab", ["run"], "a failure trace, event_trace.tab .* no job log: --failures takes it"),
        ("F10-iso-times.csv", ["run"], "a failure trace, .* no job log: .*; the format csv reads it as a job log"),
        ("D03-dax3.6.dax", ["run"], "a workflow, Pegasus .* no job log: 'faultsim workflow run' takes it"),
        ("S03-parsable-trailing.txt", ["failures", "summary"], "a job log, what sacct .* 'faultsim run' takes it"),
        ("D03-dax3.6.dax", ["failures", "summary"], "a workflow, .* no failure trace: 'faultsim workflow run' takes"),
        ("E01-sacctmgr-events.txt", ["workflow", "summary"], "a failure trace, what sacctmgr .* and no workflow"),
    ],
)
def test_files_of_another_kind_are_named(cases, name, arguments, what, capsys):
    assert main([*arguments, str(cases / name)]) == 2
    said = capsys.readouterr().err
    assert re.search(what, said)
    assert said.count("\n") == 1


# -- rows without a file -----------------------------------------------------------------------------------------------


def test_an_empty_last_name(tmp_path):  # R-jaros
    path = tmp_path / "jaros3.swf"
    path.write_text("id\tsubmit\truntime\tsize\t\n7\t0\t10\t2\t\n8\t5\t20\t1\t\n")
    log = fs.read(path)
    assert (log.id.tolist(), log.header["ColumnsLeftOut"]) == ([7, 8], "1: 'Unnamed: 4' (no name)")


def test_failures_of_opendc(tmp_path):  # R-opendc-fail
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "trace.parquet"
    columns = {
        "failure_interval": [3_600_000, 100_000],
        "failure_duration": [1000, 5000],
        "failure_intensity": [0.5, 1],
    }
    parquet.write_table(arrow.table(columns), path)
    refused(fs.OptionError, "a trace of OpenDC.*nodes=", fs.read, path)
    trace = fs.read(path, nodes=2, rng=1)
    assert (sorted(set(trace.time.tolist())), len(trace)) == ([3600, 3700], 3)
    assert set(trace.downtime.tolist()) == {1, 5}


def test_an_outage_under_way_at_the_first_submit():  # B09
    log, trace = fs.Workload(submit=[100], runtime=[10], size=[2]), fs.FailureTrace([50], [0], [3600], span=10_000)
    result = fs.simulate(log, fs.Cluster(2), failures=trace)
    assert result.metrics["mean_wait"] == 3550
    assert not any("of the 1 failures" in text for text in result.warnings)
    over = fs.simulate(log, fs.Cluster(2), failures=fs.FailureTrace([50], [0], [50], span=10_000))
    assert any("the only failure is not in the run" in text for text in over.warnings)


def test_times_beyond_the_clock_are_errors_by_name():  # B15
    refused(InputError, "downtime, row 0: 1e[+]17 is beyond", fs.FailureTrace, [50], [0], [1e17], span=100)
    refused(InputError, "submit, row 1: .* is beyond", fs.Workload, submit=[0, 2.0**63], runtime=[1, 1], size=[1, 1])
    forever = fs.FailureTrace([50], [0], [math.inf], span=1000)
    result = fs.simulate(fs.Workload(submit=[0], runtime=[400], size=[2]), fs.Cluster(4), failures=forever)
    assert result.metrics["makespan"] == 450  # node 0 never comes back; three are left


def test_nodes_that_never_fail_need_no_checkpoints():  # N2
    log = fs.Workload(submit=[0, 5], runtime=[4000, 3000], size=[2, 1])
    trace = fs.FailureTrace([500], [0], [10], span=10_000)
    never = (fs.Young(30, math.inf), fs.Daly(30, "inf"), fs.MaxAvailability(30, math.inf, downtime=10))
    for engine in ("core", "reference"):
        plain = fs.simulate(log, fs.Cluster(4), failures=trace, engine=engine)
        for policy in never:
            run = fs.simulate(log, fs.Cluster(4), failures=trace, checkpointing=policy, engine=engine)
            assert run.metrics["makespan"] == plain.metrics["makespan"] == 4500
            assert run.metrics["checkpoint_overhead_ratio"] == 0
    refused(
        fs.OptionError, "interval of checkpoints must be above 0 seconds and finite, got inf", fs.Periodic, math.inf, 3
    )
    refused(fs.OptionError, "cost of a checkpoint must be above 0 seconds, got 0", fs.Young, 0, "56d")


def test_requests_of_zero_are_a_caveat():
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 10], size=[1, 1, 1], estimate=[0, 0, 0])
    warnings = fs.simulate(log, fs.Cluster(2), overrun="kill").warnings
    assert any("3 estimates are 0: is that no limit?" in text for text in warnings)


@pytest.mark.parametrize("kind", ["tpu-v5e", "tpu-v6e", "v5e"])
def test_pods_without_cubes(kind):  # T1
    refused(fs.OptionError, "it is a torus:16x16x1 of chips", parse_machine, f"pod:{kind}")
    assert parse_machine("torus:16x16x1").nodes == 256
