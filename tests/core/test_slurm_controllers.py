"""Slurm's compiled controller decides what that in Python decides: the same jobs, nodes and cores in each second."""

import random

import numpy as np
import pytest

import faultsim as fs
from faultsim.simulation import slurm_run
from helpers.site_runs import drawn_parts
from helpers.slurm_sites import (
    Both,
    Endless,
    both,
    random_site,
    stay_off,
    with_limits,
    with_preemption,
    with_reservations,
)
from helpers.thresholds import least

#: Sites of a test, and seconds after which nothing is expected of jobs that can never run.
SITES, GIVE_UP = 5, 1200.0


@pytest.fixture
def pairs(monkeypatch):
    """All controllers that are made: each is both."""
    made = []

    def make(site, priorities, begin, booked, engine):
        made.append(Both(site, priorities, begin, booked))
        return made[-1]

    monkeypatch.setattr(slurm_run, "controller_of", make)
    monkeypatch.setattr(slurm_run, "GIVE_UP", GIVE_UP)
    return made


def run(site, version="22.05", **options):
    """A run, of which some jobs may wait for ever."""
    conf, log, failures = site
    scheduler = conf.scheduler.replace(version=version)
    try:
        return fs.simulate(
            log, conf.site, scheduler=scheduler, failures=failures, oversized="drop", record=True, **options
        )
    except fs.DecisionError as error:
        assert "deadlock" in str(error)  # noqa: PT017 - most sites have none
        return None
    except Endless:
        return None


@pytest.mark.parametrize("seed", range(40))
def test_both_controllers_say_the_same_on_random_sites(tmp_path, pairs, seed):
    for each in range(SITES * seed, SITES * (seed + 1)):
        run(random_site(tmp_path, each))
    assert sum(pair.acts for pair in pairs) > 0


@pytest.mark.parametrize("seed", range(20))
def test_both_controllers_keep_reservations(tmp_path, pairs, seed):
    """The record of each run says so, too."""
    for each in range(SITES * seed, SITES * (seed + 1)):
        conf, log, failures = random_site(tmp_path, each)
        log, reserved = with_reservations(each, conf, log)
        if reserved:
            result = run((conf, log, failures), reservations=reserved)
            if result is not None:
                stay_off(result, reserved, conf.site)


@pytest.mark.parametrize("seed", range(12))
def test_no_job_starts_beside_a_part_that_is_down(tmp_path, pairs, seed):
    """Both controllers say the same, and both engines run it."""
    rng = np.random.default_rng(seed)
    for each in range(SITES * seed, SITES * (seed + 1)):
        conf, log, failures = random_site(tmp_path, each)
        if failures is None:
            continue
        parts = drawn_parts(rng, conf.site, failures)
        failures = fs.FailureTrace(failures.time, failures.node, failures.downtime, part=parts, span=failures.span)
        found = [run((conf, log, failures), engine=engine) for engine in ("core", "reference")]
        if found[0] is None:
            assert found[1] is None
            continue
        assert np.array_equal(found[0].jobs["start"], found[1].jobs["start"], equal_nan=True)
        stays = found[0].allocations
        node, first = stays["nodes"], stays["node_offsets"]
        for at, begin in enumerate(stays["begin"].tolist()):
            here = np.isin(failures.node, node[first[at] : first[at + 1]]) & (failures.time <= begin)
            assert not (here & (begin < failures.time + failures.downtime)).any()
    assert sum(pair.acts for pair in pairs) > 0


@pytest.mark.parametrize("seed", range(10))
def test_both_controllers_know_classic_fair_share(tmp_path, pairs, seed):
    for each in range(SITES * seed, SITES * (seed + 1)):
        run(random_site(tmp_path, each, more=["PriorityFlags=NO_FAIR_TREE", "FairShareDampeningFactor=3"]))
    assert sum(pair.acts for pair in pairs) > 0


@pytest.mark.parametrize("seed", range(20))
def test_both_controllers_keep_limits(tmp_path, pairs, seed):
    """Of QOS, of partitions, of accounts and of users."""
    for each in range(SITES * seed, SITES * (seed + 1)):
        run(random_site(tmp_path, each, **with_limits(random.Random(f"{each} limits"))))
    assert sum(pair.acts for pair in pairs) > 0


@pytest.mark.parametrize("seed", range(20))
def test_both_controllers_preempt(tmp_path, pairs, seed):
    """By QOS and by partition, with limits on every other site."""
    for each in range(SITES * seed, SITES * (seed + 1)):
        draw = random.Random(f"{each} preemption")
        rules = with_preemption(draw)
        run(random_site(tmp_path, each, **(both(rules, with_limits(draw)) if each % 2 else rules)))
    assert sum(pair.acts for pair in pairs) > 0


@pytest.mark.parametrize("mode", ["REQUEUE", "CANCEL"])
def test_a_job_is_preempted_in_the_second_of_its_start(tmp_path, pairs, mode):
    """By priority 0 goes before 1 and 1 before 2, but 2 preempts 0: they go before each other in a circle."""
    lines = ["PriorityType=priority/multifactor", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core"]
    lines += ["PreemptType=preempt/qos", f"PreemptMode={mode}", "NodeName=n1 CPUs=8"]
    (tmp_path / "slurm.conf").write_text("\n".join([*lines, "PartitionName=batch Nodes=n1 Default=YES"]) + "\n")
    accounts = ["add QOS Name=low", "add QOS Name=mid", "add QOS Name=high Preempt=low", "add account a"]
    (tmp_path / "accounts.txt").write_text("\n".join([*accounts, "add user u account=a"]) + "\n")
    conf = fs.read_slurm_conf(tmp_path / "slurm.conf", tmp_path / "accounts.txt")
    columns = {"cores": np.array([4, 2, 6]), "qos": np.array(["low", "mid", "high"])}
    columns |= {
        "user_name": np.array(["u"] * 3),
        "account": np.array(["a"] * 3),
        "nice": np.array([-300.0, -200, -100]),
    }
    log = fs.Workload([0.0] * 3, [600.0] * 3, [1] * 3, estimate=[900.0] * 3, columns=columns)
    jobs = run((conf, log, None)).jobs
    first, second, third = jobs["start"].tolist()
    assert second < third < second + 30.0
    assert jobs["restarts"].tolist() == [0, 0, 0]
    assert np.isnan(first) if mode == "CANCEL" else first > third + 120.0


ACCOUNTS = """
add account bio fairshare=4
add account phys fairshare=4
add account sub parent=phys fairshare=1
add user u1 account=bio fairshare=1
add user u2 account=bio fairshare=1
add user u3 account=phys fairshare=3
add user u4 account=sub fairshare=1
"""


def tied_site(folder, users, submit, runtime, cores, *, nodes, period):
    """A site with one partition, on which fair share alone decides, and jobs."""
    lines = ["PriorityType=priority/multifactor", "PriorityWeightFairshare=100000", "PriorityDecayHalfLife=0"]
    lines += [f"PriorityCalcPeriod={period}", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core"]
    lines += [f"NodeName=n[1-{nodes}] CPUs=1", f"PartitionName=batch Nodes=n[1-{nodes}] Default=YES MaxTime=600"]
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
    (folder / "accounts.txt").write_text(ACCOUNTS)
    conf = fs.read_slurm_conf(folder / "slurm.conf", folder / "accounts.txt")
    of = {"u1": "bio", "u2": "bio", "u3": "phys", "u4": "sub"}
    columns = {"cores": np.array(cores), "user_name": np.array(users)}
    columns["account"] = np.array([of[user] for user in users])
    log = fs.Workload(submit, runtime, np.ones(len(users), int), estimate=np.array(runtime) + 60.0, columns=columns)
    return conf, log, None


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(("version", "first"), [("22.05", ["u2", "u1", "u3"]), ("26.05", ["u2", "u3", "u1"])])
def test_later_versions_merge_tied_accounts(tmp_path, engine, version, first):
    """Four nodes run for bio, three of them for u1, and four for phys: both have the same level."""
    users = ["u1", "u1", "u1", "u2", "u3", "u3", "u3", "u3", "u1", "u3", "u2"]
    submit, runtime, cores = [0.0] * 8 + [300.0] * 3, [620.0] * 8 + [30.0] * 3, [1] * 8 + [8] * 3
    site = tied_site(tmp_path, users, submit, runtime, cores, nodes=8, period="00:10:00")
    starts = run(site, version, engine=engine).jobs["start"]
    assert len(set(starts[8:].tolist())) == 3
    assert [users[row] for row in sorted(range(8, 11), key=lambda row: starts[row])] == first


@pytest.mark.parametrize("seed", range(8))
def test_both_controllers_merge_tied_accounts(tmp_path, pairs, seed):
    """Jobs of equal lengths, so that accounts are often tied."""
    draw = np.random.default_rng(seed)
    for version in ("22.05", "26.05"):
        users = draw.choice(["u1", "u2", "u3", "u4"], 60).tolist()
        submit = np.sort(draw.integers(0, 20, 60)) * 120.0
        run(tied_site(tmp_path, users, submit, [240.0] * 60, [1] * 60, nodes=4, period="00:01:00"), version)
    assert sum(pair.acts for pair in pairs) == 120


@pytest.mark.parametrize("seed", range(8))
def test_neither_depends_on_thresholds(tmp_path, pairs, seed):
    """Of the stored answers each takes the place of the last one."""
    with least():
        test_both_controllers_say_the_same_on_random_sites(tmp_path, pairs, seed)
        test_both_controllers_keep_limits(tmp_path, pairs, seed)
        test_both_controllers_preempt(tmp_path, pairs, seed)


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 10, 13, 15, 16])
def test_results_of_both_engines_are_equal(tmp_path, seed):
    """Each engine with its own controller."""
    core, reference = (run(random_site(tmp_path, seed), engine=engine) for engine in ("core", "reference"))
    assert len(core)
    for name in ("start", "finish", "restarts", "lost_work", "allocated"):
        assert np.array_equal(core.jobs[name], reference.jobs[name], equal_nan=True), name
    for name in core.allocations:
        assert np.array_equal(core.allocations[name], reference.allocations[name]), name
