"""Sweeps of the configuration of a site that runs Slurm, in Python and from a TOML file: rows, names, failures."""

import json
import re

import numpy as np
import pytest

import faultsim as fs
from helpers.command import run

CONF = """\
PriorityType=priority/multifactor
PriorityWeightAge=1000
SchedulerParameters=bf_window=60
NodeName=c[1-2] CPUs=4 RealMemory=1000
NodeName=g1 CPUs=4 RealMemory=1000 Gres=gpu:2
PartitionName=batch Nodes=ALL Default=YES MaxTime=600
"""
SPEC = """
[base]
log = "jobs.csv"
slurm = "slurm.conf"
failures = "failures.csv"
[grid]
scheduler = ["slurm", "slurm:bf_window=30,PriorityWeightAge=5", "easy"]
machine = ["slurm", "slurm+c:2"]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "slurm.conf").write_text(CONF)
    rng = np.random.default_rng(3)
    lines = ["submit,runtime,size,estimate,cores,partition"]
    for k, cores in enumerate(rng.choice([1, 2, 4], 60).tolist()):
        lines.append(f"{60 * k},{int(rng.integers(300, 3000))},{cores},3600,{cores},batch")
    (tmp_path / "jobs.csv").write_text("\n".join(lines) + "\n")
    fs.FailureTrace([1000.0, 2000.0, 3000.0], [0, 2, 1], downtime=300.0).write_csv(tmp_path / "failures.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_configurations_are_an_axis(here):
    conf, log = fs.read_slurm_conf("slurm.conf"), fs.read_jobs("jobs.csv")
    now = conf.scheduler
    base = {"log": log, "machine": conf.site}
    sweep = fs.Sweep(base, {"scheduler": [now, now.replace(bf_window=30), now.replace(bf_resolution=600)]})
    table = sweep.run("s.db")
    assert table["scheduler"].tolist() == ["slurm", "slurm:bf_window=30", "slurm:bf_resolution=600"]
    one = fs.simulate(log, conf.site, scheduler=now.replace(bf_resolution=600))
    assert table["mean_wait"][2] == one.metrics["mean_wait"]
    assert sweep.fill("s.db").made == 0
    parts = fs.Sweep({**base, "scheduler": now}, {"scheduler.bf_resolution": [60, 600]}).run("s.db")
    assert parts["scheduler.bf_resolution"].tolist() == [60, 600]
    assert parts["mean_wait"].tolist() == table["mean_wait"][[0, 2]].tolist()
    assert fs.load_sweep("s.db", sweep.id)["scheduler"].tolist() == table["scheduler"].tolist()
    with pytest.raises(fs.OptionError, match="did you mean 'bf_window'"):
        fs.Sweep({**base, "scheduler": now}, {"scheduler.bf_windo": [60]}).run()


def test_a_file_that_names_slurm_conf(here, capsys):
    (here / "s.toml").write_text(SPEC)
    status, out, _ = run(capsys, "sweep", "s.toml", "--workers", 1)
    assert status == 0
    assert "6 runs made" in out
    table = fs.load_sweep("s.db")
    assert table["scheduler"].tolist()[::2] == ["slurm", "slurm:PriorityWeightAge=5,bf_window=30", "easy"]
    assert table["machine"].tolist()[:2] == ["slurm", "slurm+c:2"]
    assert run(capsys, "sweep", "s.toml")[1].count("0 runs made") == 1
    # Node 2 of the site, its g1, is node 4 where there are two more of the first class.
    conf, log = fs.read_slurm_conf("slurm.conf"), fs.read_jobs("jobs.csv")
    trace = fs.FailureTrace([1000.0, 2000.0, 3000.0], [0, 4, 1], downtime=300.0)
    more = fs.simulate(log, conf.site.with_nodes("c", 4), scheduler=conf.scheduler, failures=trace)
    assert table["mean_wait"][1] == more.metrics["mean_wait"]
    assert table["failed_jobs"][1] == more.metrics["failed_jobs"] > 0


def test_the_command_moves_failures_of_a_file_with_their_nodes(here, capsys):
    command = ["run", "--slurm", "slurm.conf", "--jobs", "jobs.csv", "--failures", "failures.csv", "--json"]
    found = json.loads(run(capsys, *command, "--add-nodes", "c:2")[1])["metrics"]["mean_wait"]
    trace = fs.FailureTrace([1000.0, 2000.0, 3000.0], [0, 4, 1], downtime=300.0)
    conf, log = fs.read_slurm_conf("slurm.conf"), fs.read_jobs("jobs.csv")
    site = conf.site.with_nodes("c", 4)
    assert found == fs.simulate(log, site, scheduler=conf.scheduler, failures=trace).metrics["mean_wait"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"slurm.conf"', "3", "4: base.slurm: slurm is the path of slurm.conf"),
        ('"slurm.conf"', '{ conf = "slurm.conf", acounts = "a" }', "did you mean 'accounts'"),
        ('"slurm.conf"', '"no.conf"', "no.conf: no such file"),
        ("slurm+c:2", "slurm+h:2", "the site has no class or partition 'h'"),
        ("slurm+c:2", "cluster:4", 'machine: must be "slurm"'),
        ("bf_window=30", "bf_windo=30", "did you mean 'bf_window'"),
    ],
)
def test_mistakes_in_the_file_are_named(here, old, new, message):
    (here / "s.toml").write_text(SPEC.replace(old, new))
    with pytest.raises(fs.InputError, match=re.escape(message)):
        fs.read_sweep("s.toml")
