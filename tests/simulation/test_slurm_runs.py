"""Runs under Slurm's scheduler."""

import json
import random
import shutil

import numpy as np
import pytest

import faultsim as fs
from faultsim.readers.slurm_requests import read_slurm_requests
from faultsim.simulation.slurm_run import SlurmDecisions
from helpers.slurm_sites import trace

CONF = """PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=2000
PriorityWeightJobSize=300
PriorityDecayHalfLife=1-0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-4] CPUs=8 RealMemory=8000 Weight=1
NodeName=g[1-2] CPUs=16 RealMemory=16000 Gres=gpu:2 Weight=10
PartitionName=batch Nodes=n[1-4],g[1-2] Default=YES MaxTime=600 {batch}
PartitionName=gpu Nodes=g[1-2] MaxTime=600 {gpu}
{more}
"""


def conf_of(folder, *, more="", batch="", gpu=""):
    path = folder / "slurm.conf"
    path.write_text(CONF.format(more=more, batch=batch, gpu=gpu))
    return fs.read_slurm_conf(path)


def jobs(seed, n=60):
    """Random jobs that overload six nodes; every run time is at most the limit."""
    draw = np.random.default_rng(seed)
    nodes = draw.choice([0, 1, 1, 1, 2, 3], n)
    gpus = np.where((nodes == 1) & (draw.random(n) < 0.3), draw.integers(1, 3, n), 0)
    limit = 60.0 * draw.integers(1, 60, n)
    return fs.Workload(
        np.sort(draw.integers(0, 7200, n)).astype(float), np.ceil(limit * draw.random(n)), np.ones(n, int),
        estimate=limit,
        columns={
            "cores": np.maximum(1, nodes) * draw.integers(1, 9, n), "nodes": nodes, "gpus": gpus,
            "memory": draw.integers(1, 3000, n), "account": draw.choice(["bio", "phys"], n),
            "user_name": draw.choice(["u1", "u2", "u3"], n),
            "partition": np.where(gpus > 0, draw.choice(["gpu", "batch", "batch,gpu"], n), "batch"),
            "exclusive": (draw.random(n) < 0.1) & (nodes > 0),
        },
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_both_engines_are_decided_alike_with_failures(tmp_path, seed):
    """Engines tell and are told the same, also of kills, requeues and nodes that are down."""
    options = ("", "SelectTypeParameters=CR_Core", "SchedulerParameters=bf_window=60,bf_busy_nodes")
    conf, log = conf_of(tmp_path, more=options[seed % 3]), jobs(seed)
    failures = trace(random.Random(seed), 6, 20_000)
    found = [
        fs.simulate(log, conf.site, scheduler=conf.scheduler, failures=failures, record=True, engine=engine)
        for engine in ("core", "reference")
    ]
    for name in ("start", "finish", "restarts", "lost_work"):
        assert np.array_equal(found[0].jobs[name], found[1].jobs[name]), name
    assert found[0].metrics["failed_jobs"] > 0 or seed > 2
    starts = found[0].jobs["start"]
    assert np.array_equal(starts, np.floor(starts))


def test_a_job_past_its_limit_is_killed_at_the_next_look(tmp_path):
    conf = conf_of(tmp_path)
    log = fs.Workload([0, 5], [1000, 1000], [1, 1], estimate=[120, 60], columns={"cores": [8, 8]})
    finish = fs.simulate(log, conf.site, scheduler=conf.scheduler).jobs["finish"]
    assert finish.tolist() == [120.0, 90.0]  # the second starts at 5, and looks are at 30, 60, 90


def test_a_job_that_lost_its_node_waits_for_121_seconds(tmp_path):
    conf = conf_of(tmp_path)
    log = fs.Workload([0, 10_000], [1000, 1], [1, 1], estimate=[2000, 60], columns={"cores": [8, 1]})
    node = conf.site.nodes_of("n")[0]
    failures = fs.FailureTrace([100], [node], [10], span=1000)
    start = fs.simulate(log, conf.site, scheduler=conf.scheduler, failures=failures, record=True).jobs["start"][0]
    assert 221 <= start <= 221 + 60


def test_a_job_that_may_not_be_requeued_is_gone(tmp_path):
    conf = conf_of(tmp_path, more="JobRequeue=0")
    log = fs.Workload([0, 10], [1000, 500], [1, 1], estimate=[2000, 600], columns={"cores": [8, 8]})
    failures = fs.FailureTrace([100], [conf.site.nodes_of("n")[0]], [10], span=1000)
    for engine in ("core", "reference"):
        result = fs.simulate(log, conf.site, scheduler=conf.scheduler, failures=failures, record=True, engine=engine)
        assert result.jobs["state"].tolist() == ["withdrawn", "ended"]
        assert result.jobs["lost_work"].tolist() == [800.0, 0.0]
        assert result.jobs["finish"].tolist() == [100.0, 510.0]


def test_a_higher_tier_preempts(tmp_path):
    """The victim is requeued, the preemptor starts when its nodes are clean."""
    conf = conf_of(
        tmp_path, more="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE", batch="PreemptMode=REQUEUE",
        gpu="PriorityTier=10 PreemptMode=OFF",
    )  # fmt: skip
    log = fs.Workload(
        [0, 50], [500, 100], [2, 2], estimate=[600, 600],
        columns={"cores": [48, 32], "nodes": [6, 2], "partition": ["batch", "gpu"], "exclusive": [True, True]},
    )  # fmt: skip
    result = fs.simulate(log, conf.site, scheduler=conf.scheduler, record=True)
    assert result.jobs["restarts"].tolist() == [1, 0]
    assert 50 < result.jobs["start"][1] <= 55
    assert result.jobs["start"][0] >= 150


def test_limits_and_fair_share_order_jobs(tmp_path):
    """MaxJobs of an association holds its second job back; the user without usage goes first."""
    accounts = tmp_path / "accounts.txt"
    accounts.write_text(
        "add account a fairshare=1\nadd user heavy account=a\nadd user light account=a\n"
        "add user one account=a maxjobs=1\n"
    )
    conf_of(tmp_path, more="AccountingStorageEnforce=associations,limits,qos\nPriorityCalcPeriod=00:01:00")
    conf = fs.read_slurm_conf(tmp_path / "slurm.conf", accounts)
    cores = [64, 64, 64]
    log = fs.Workload(
        [0, 100, 110], [1000] * 3, [6] * 3, estimate=[1200] * 3,
        columns={"cores": cores, "nodes": [0] * 3, "user_name": ["heavy", "heavy", "light"], "account": ["a"] * 3},
    )  # fmt: skip
    start = fs.simulate(log, conf.site, scheduler=conf.scheduler).jobs["start"]
    assert start[2] < start[1]
    log = fs.Workload(
        [0, 1], [100, 100], [1, 1], estimate=[200, 200], columns={"cores": [1, 1], "user_name": ["one"] * 2}
    )
    start = fs.simulate(log, conf.site, scheduler=conf.scheduler).jobs["start"]
    assert start[1] >= 100


def test_a_user_without_association_is_refused(tmp_path):
    accounts = tmp_path / "accounts.txt"
    accounts.write_text("add account a\nadd user u1 account=a\n")
    conf_of(tmp_path)
    conf = fs.read_slurm_conf(tmp_path / "slurm.conf", accounts)
    log = fs.Workload([0], [1], [1], id=[17], columns={"cores": [1], "user_name": ["u9"]})
    with pytest.raises(fs.InputError, match="job 17: the user 'u9' has no association in any account"):
        fs.simulate(log, conf.site, scheduler=conf.scheduler)


def test_what_is_not_simulated_is_refused(tmp_path):
    conf = conf_of(tmp_path)
    log = fs.Workload([0], [1], [1], columns={"cores": [1]})
    with pytest.raises(fs.OptionError, match="PreemptMode=SUSPEND"):
        fs.simulate(log, conf.site, scheduler=conf.scheduler.replace(PreemptMode="SUSPEND"))
    simulation = fs.Simulation(log, conf.site, scheduler=conf.scheduler)
    simulation.run()
    with pytest.raises(fs.NotAvailableError, match="live="):
        fs.Simulation(log, conf.site, scheduler=conf.scheduler, live=3)


def test_whole_nodes_and_defaults_of_slurm():
    """A log without cores takes whole nodes; fs.Slurm() has priorities in the order of submission."""
    log = fs.Workload([0, 1, 2], [100, 100, 10], [2, 3, 1], estimate=[100, 100, 10])
    start = fs.simulate(log, "site:a=3x4c", scheduler=fs.Slurm()).jobs["start"]
    assert start[0] == 0.0
    assert start[1] == 100.0
    assert start[2] <= 30.0  # a cycle of the backfill loop


def test_a_saved_run_is_repeated(tmp_path):
    conf, log = conf_of(tmp_path), jobs(3, 20)
    result = fs.simulate(log, conf.site, scheduler=conf.scheduler)
    result.save(tmp_path / "run")
    again = fs.rerun(fs.load_result(tmp_path / "run"))
    assert np.array_equal(again.jobs["start"], result.jobs["start"])


def test_sweeps_name_what_differs(tmp_path):
    conf, log = conf_of(tmp_path), jobs(4, 20)
    schedulers = [conf.scheduler, conf.scheduler.replace(bf_window="1h"), conf.scheduler.replace(bf_interval=300)]
    table = fs.Sweep({"log": log, "machine": conf.site}, {"scheduler": schedulers}).run()
    assert table["scheduler"].tolist() == ["slurm", "slurm:bf_window=60", "slurm:bf_interval=300"]


def recorded(data_dir, name):
    folder = data_dir / "slurm" / "runs" / name
    if not folder.is_dir():
        pytest.skip(f"no recordings of Slurm: {folder} is no folder")
    conf = fs.read_slurm_conf(folder / "slurm.conf", [folder / "accounts.txt"], folder / "gres.conf")
    return conf, fs.read_sacct(folder / "sacct.txt"), read_slurm_requests(folder / "sacct.txt")


@pytest.mark.parametrize("name", ["03s-scene", "03s-scene-lln"])
def test_a_scene_starts_and_ends_as_recorded(data_dir, name):
    """Start and end within the second of the loop."""
    conf, log, requests = recorded(data_dir, name)
    result = fs.simulate(log, conf.site, scheduler=conf.scheduler)
    runs = [requests[int(job)].runs[-1] for job in log.id]
    day = 86400.0 * np.floor(runs[0].submit / 86400.0)
    assert np.abs(np.array([run.start for run in runs]) - day - result.jobs["start"]).max() <= 1.0
    assert np.abs(np.array([run.end for run in runs]) - day - result.jobs["finish"]).max() <= 1.0


def test_the_mean_wait_of_a_recorded_run(data_dir):
    """Three runs of the real program: 1145, 1068 and 1119 s; model.md: loops begun in the second of the first job."""
    conf, log, _ = recorded(data_dir, "11-mixed-a")
    wait = fs.simulate(log, conf.site, scheduler=conf.scheduler).jobs["wait"]
    assert 1068 <= wait.mean() <= 1145


def test_the_command(tmp_path, monkeypatch, capsys, data_dir):
    from faultsim.cli.app import main

    folder = data_dir / "slurm" / "runs" / "08s-scene"
    if not folder.is_dir():
        pytest.skip(f"no recordings of Slurm: {folder} is no folder")
    for name in ("slurm.conf", "accounts.txt", "gres.conf", "sacct.txt"):
        shutil.copy(folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    site = ["--slurm", "slurm.conf", "--accounts", "accounts.txt", "--gres", "gres.conf"]
    assert main(["run", *site, "--jobs", "sacct.txt", "--set", "bf_window=60", "--add-nodes", "g:1"]) == 0
    assert "slurm:bf_window=60" in capsys.readouterr().out.replace("slurm,", "slurm:bf_window=60,")
    for argv, message in (
        ([*site, "--jobs", "sacct.txt", "--set", "bf_windo=3"], "did you mean 'bf_window'"),
        ([*site, "--jobs", "sacct.txt", "--add-nodes", "h:1"], "no class or partition 'h'"),
        ([*site, "--jobs", "sacct.txt", "--add-nodes", "g"], "expected CLASS:N"),
        ([*site, "--jobs", "sacct.txt", "--scheduler", "fcfs"], "--scheduler: the machine and the scheduler"),
        ([*site, "sacct.txt", "--jobs", "sacct.txt"], "the log is given already"),
        (["--set", "a=b"], "--set is for --slurm"),
        (["--jobs", "sacct.txt"], "a file is for --slurm"),
    ):
        assert main(["run", *argv]) == 2
        assert message in capsys.readouterr().err


def test_today_is_compared_with_a_change(tmp_path, monkeypatch, capsys, data_dir):
    """Paired differences by partition and account; no change saves nothing."""
    from faultsim.cli.app import main

    folder = data_dir / "slurm" / "runs" / "08s-scene"
    if not folder.is_dir():
        pytest.skip(f"no recordings of Slurm: {folder} is no folder")
    for name in ("slurm.conf", "accounts.txt", "sacct.txt"):
        shutil.copy(folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    site = ["compare", "--slurm", "slurm.conf", "--accounts", "accounts.txt", "--jobs", "sacct.txt"]
    assert main([*site, "--set", "bf_max_job_start=1000", "--json"]) == 0
    found = [each for each in json.loads(capsys.readouterr().out)["changes"] if each["site"] != "now"]
    assert {each["group"] for each in found} >= {"all", "batch", "account physics"}
    assert all(each["saved"] == 0.0 for each in found)
    for argv, message in (
        ([*site], "say by --set or --add-nodes"),
        ([*site, "site:a=1x1c", "--set", "bf_window=3"], "leave it out"),
        (["compare", "site:a=1x1c", "--jobs", "sacct.txt"], "and another"),
        (["compare", "site:a=1x1c", "site:a=2x1c", "--jobs", "sacct.txt", "--gres", "g"], "--gres is for --slurm"),
    ):
        assert main(argv) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("again", [False, True])
def test_a_job_that_is_stopped_in_the_second_of_its_start(tmp_path, again):
    """Nobody knows that it ran: it goes on waiting if it may, and else it is withdrawn, not forgotten."""
    conf = conf_of(tmp_path)
    log = fs.Workload([0.0], [60.0], [1], estimate=[60.0], columns={"cores": [1], "nodes": [1], "memory": [10]})
    slurm = SlurmDecisions(conf.scheduler, conf.site, log, log.estimate, conf.site.asks(log), engine="reference")
    controller = slurm._controller
    controller.submit(slurm._jobs.waiting(0), 0.0)
    acts = controller.decide(3.0)
    assert [run.job for run in acts.start] == [0]
    controller._stop(acts.start[0], 3.0, acts, again=again)
    assert not acts.start
    assert acts.stop == ([] if again else [(0, False)])
