"""`faultsim slurm check`: what it prints, its document, and what it refuses."""

import json
from pathlib import Path

import pytest

from helpers.command import refused, run

SCENE = Path(__file__).parents[1] / "readers" / "slurm" / "08s-scene"


def check(capsys, *argv):
    return run(capsys, "slurm", "check", *argv)


@pytest.fixture
def conf(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SlurmctldPort=6817\nLicenses=matlab:2\nPriorityWeigtAge=3\nNodeName=n[1-2] CPUs=8 RealMemory=4096\n"
        "NodeName=x CPUs=1\nPartitionName=a Nodes=n[1-2] Default=YES MaxTime=60 DefaultTime=90\n"
    )
    return path


def test_what_it_prints(capsys, conf):
    status, out, err = check(capsys, conf)
    assert (status, err) == (0, "")
    assert "  3 nodes: 17 CPUs, 8 GiB, 0 GPUs" in out
    assert "  partition a: 2 nodes, at most 60 min, tier 1, job factor 1, default, UP" in out
    assert f"  Licenses=matlab:2 ({conf}, line 2): jobs would wait for licences" in out
    assert "PriorityWeigtAge=3" in out
    assert "unknown key (did you mean 'PriorityWeightAge'?)" in out
    assert "  partition a: MaxTime (60 min) is below DefaultTime" in out
    assert "  1 node in no partition: x" in out
    assert "  1 keys of daemons" in out
    assert "SlurmctldPort" not in out
    assert "SlurmctldPort=6817" in check(capsys, conf, "--all")[1]


def test_one_document(capsys):
    status, out, _ = check(
        capsys, SCENE / "slurm.conf", "--accounts", SCENE / "sacctmgr.cfg", SCENE / "qos.txt", "--gres",
        SCENE / "gres.conf", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert (status, found["nodes"], found["gpus"], found["users"]) == (0, 8, 8, 5)
    assert "PriorityMaxAge=1200 s" in check(capsys, SCENE / "slurm.conf")[1]
    assert found["settings"]["PriorityWeightTRES"] == [["cpu", 300.0], ["mem", 200.0], ["gres/gpu", 400.0]]
    assert {qos["name"]: qos["priority"] for qos in found["qos"]} == {"normal": 0, "high": 100}
    assert found["site"].startswith("site:g=2x32c")


def test_what_scontrol_prints(capsys):
    files = [SCENE / name for name in ("config.txt", "nodes.txt", "partitions.txt")]
    status, out, _ = check(capsys, *files)
    assert status == 0
    assert "  8 nodes: 160 CPUs, 875 GiB, 8 GPUs" in out
    assert "no accounts: give --accounts" in out


def test_bad_input_is_refused_in_one_line(capsys, conf, tmp_path):
    assert "no such file" in refused(capsys, "slurm", "check", tmp_path / "none.conf")
    conf.write_text("NodeName=n1 CPUs=eight\nPartitionName=a Nodes=n1\n")
    assert "slurm.conf, line 1: CPUs=eight: expected a whole number" in refused(capsys, "slurm", "check", conf)
