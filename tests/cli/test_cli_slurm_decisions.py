"""`faultsim slurm compare-decisions`: what it prints, its status, and what it refuses."""

import json
import lzma
import shutil
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.cli.slurm_decisions import site_of
from helpers.command import refused, run

SCENE = Path(__file__).parents[1] / "readers" / "slurm" / "08s-scene"
LOG = SCENE / "slurmctld.log.xz"


@pytest.fixture
def scene(tmp_path):
    """A copy of the recording that a test may change."""
    return Path(shutil.copytree(SCENE, tmp_path / "scene"))


def compare(capsys, *argv):
    return run(capsys, "slurm", "compare-decisions", *argv)


@pytest.mark.parametrize("log", [SCENE, LOG])
def test_files_beside_the_log_are_used(capsys, log):
    status, out, err = compare(capsys, log)
    assert (status, err) == (0, "")
    assert "Slurm 22.05.8" in out
    assert [" ".join(line.split()) for line in out.splitlines()[2:6]] == [
        "priorities 23 of 23 (100.00 %)",
        "charges of usage 77 of 77 (100.00 %)",
        "levels of fair share 140 of 140 (100.00 %)",
        "seconds of running jobs 2,464 of 2,464 (100.00 %)",
    ]


def test_one_document(capsys):
    status, out, _ = compare(
        capsys, LOG, "--accounts", SCENE / "sacctmgr.cfg", SCENE / "qos.txt", "--gres", SCENE / "gres.conf", "--json"
    )
    found = json.loads(out)
    assert (status, found["reproduced"], found["version"]) == (0, True, "22.05.8")
    assert (found["priorities"]["reproduced"], found["priorities"]["total"]) == (23, 23)
    assert found["files"]["accounts"] == [str(SCENE / "sacctmgr.cfg"), str(SCENE / "qos.txt")]
    assert found["other_settings"] == []


def test_without_accounting_the_log_says_what_jobs_are(capsys, scene):
    (scene / "sacct.txt").unlink()
    status, out, _ = compare(capsys, scene)
    assert status == 0
    assert "none given (--jobs)" in out
    assert "taken from the log: size, resources and QOS, as printed: 23 priorities" in out


def test_differences_have_a_time_and_a_cause(capsys, scene):
    conf = scene / "slurm.conf"
    conf.write_text(conf.read_text().replace("PriorityWeightAge=1000", "PriorityWeightAge=1500"))
    status, out, _ = compare(capsys, scene, "--first", 1)
    assert status == 1
    assert "other setting: priorityweightage: 1500 in slurm.conf, 1000 in the log" in out
    assert out.count(": recorded ") == 1
    assert "more" in out


def test_an_association_that_is_not_configured_counts(capsys, scene):
    accounts = scene / "accounts.txt"
    accounts.write_text(accounts.read_text().replace("u1,u2", "u2"))
    status, out, _ = compare(capsys, scene)
    assert status == 1
    assert "no association of user u1 in account physics is configured" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["nowhere.log"], "nowhere.log: no such file"),
        (["slurm.conf", "--conf", "slurm.conf"], "--accounts: there is no accounts.txt"),
        (["slurm.conf", "--conf", "slurm.conf", "--accounts", "qos.txt"], "not a log of slurmctld"),
        (["quiet.log", "--conf", "slurm.conf", "--accounts", "qos.txt"], "DebugFlags=Backfill,Priority"),
        (["slurmctld.log.xz"], "--conf: there is no slurm.conf beside the log"),
        (["."], "a folder without slurmctld.log"),
        (["slurmctld.log.xz", "--conf", "qos.txt", "--accounts", "qos.txt"], "expected Key=value"),
        (["slurmctld.log.xz", "--conf", "slurm.conf", "--accounts", "slurm.conf"], "expected sacctmgr dump"),
        (["slurmctld.log.xz", "--first", "-1"], "--first: got -1"),
    ],
)
def test_bad_input(capsys, tmp_path, monkeypatch, argv, message):
    (tmp_path / "logs").mkdir()
    shutil.copy(LOG, tmp_path / "logs" / "slurmctld.log.xz")
    shutil.copy(SCENE / "qos.txt", tmp_path / "logs" / "qos.txt")
    (tmp_path / "logs" / "quiet.log").write_text("[2026-12-01T00:02:02.884] slurmctld version 22.05.8 started\n")
    files = {"slurm.conf": SCENE / "slurm.conf"}
    monkeypatch.chdir(tmp_path / "logs")
    if argv == ["."]:
        (tmp_path / "logs" / "slurmctld.log.xz").unlink()
    argv = [str(files.get(word, word)) if place else word for place, word in enumerate(argv)]
    if argv[0] == "slurm.conf":
        (tmp_path / "logs" / "slurm.conf").write_bytes(files["slurm.conf"].read_bytes())
    assert message in refused(capsys, "slurm", "compare-decisions", *argv)


def test_fewer_gpus_than_slurm_conf_has(capsys, scene):
    gres = scene / "gres.conf"
    gres.write_text(gres.read_text().replace("[0-3]", "[0-1]"))
    assert "node g1 has 2 GPUs in gres.conf, but 4 in slurm.conf" in refused(
        capsys, "slurm", "compare-decisions", scene
    )


def test_a_plain_log_is_read_alike(capsys, scene):
    log = scene / "slurmctld.log.xz"
    (scene / "slurmctld.log").write_bytes(lzma.decompress(log.read_bytes()))
    packed = compare(capsys, log)
    plain = compare(capsys, scene / "slurmctld.log")
    assert plain == (packed[0], packed[1].replace("slurmctld.log.xz", "slurmctld.log"), packed[2])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("PriorityFlags=DEPTH_OBLIVIOUS", "PriorityFlags=DEPTH_OBLIVIOUS: priorities are not modelled with it"),
        ("PriorityType=priority/basic", "only priority/multifactor has factors"),
        ("FairShareDampeningFactor=0", "FairShareDampeningFactor=0: expected at least 1"),
        ("PriorityMaxAge=soon", "PriorityMaxAge=soon: expected minutes"),
        ("PriorityWeightAge=much", "PriorityWeightAge=much: expected a whole number"),
    ],
)
def test_settings_that_have_no_meaning(capsys, scene, line, message):
    conf = scene / "slurm.conf"
    conf.write_text(conf.read_text() + line + "\n")
    assert message in refused(capsys, "slurm", "compare-decisions", scene)


def test_flags_of_raw_factors_at_once(scene):
    conf = scene / "slurm.conf"
    conf.write_text(conf.read_text() + "PriorityFlags=NO_NORMAL_ALL, MAX_TRES\n")
    flags = site_of(fs.read_slurm_conf(conf)).weights.flags
    assert flags == {
        "MAX_TRES", "NO_NORMAL_ALL", "NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES",
    }  # fmt: skip
