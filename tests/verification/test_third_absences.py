"""Reservations: both engines against a program of its own, each other, and closed forms (model.md#absences)."""

import itertools
import random

import numpy as np
import pytest
from verification.third_absences import HORIZON, Window, starts

import faultsim as fs


def drawn(rng: random.Random) -> tuple[int, list[tuple[int, int, int, int]], list[Window]]:
    """A machine, jobs and windows of whole seconds."""
    nodes = rng.choice([2, 4, 7])
    jobs = sorted(
        (rng.randint(0, 30), rng.choice([0, 1, 3, 8, 20]), rng.randint(1, nodes), rng.randint(0, 2))
        for _ in range(rng.randint(2, 12))
    )
    windows = []
    for _ in range(rng.randint(1, 3)):
        begin, length = rng.randint(0, 60), rng.choice([1, 4, 10])
        every = rng.choice([0, 0, length + rng.choice([25, 40, 70])])
        some = rng.sample(range(nodes), rng.randint(1, nodes))
        users = rng.choice([[], [], [0], [0, 1]])
        windows.append(Window(begin, begin + length, every, frozenset(some), frozenset(users)))
    return nodes, jobs, windows


def reservation(window: Window) -> fs.Reservation:
    users = sorted(window.users) or None
    return fs.Reservation(sorted(window.nodes), window.begin, window.end, users=users, every=window.every or None)


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("scheduler", ["fcfs", "easy"])
def test_jobs_start_when_trial_of_every_second_says(scheduler: str, engine: str) -> None:
    compared = 0
    for seed in range(150 if engine == "core" else 60):
        rng = random.Random(f"{scheduler} {seed}")
        nodes, jobs, windows = drawn(rng)
        submit, runtime, size, user = (list(column) for column in zip(*jobs, strict=True))
        log = fs.Workload(submit=submit, runtime=runtime, size=size, user=user)
        expected = starts(nodes, jobs, windows, backfills=scheduler == "easy")
        if HORIZON in expected:
            continue  # a job longer than the time between two windows
        given = [reservation(window) for window in windows]
        result = fs.simulate(log, fs.Cluster(nodes), scheduler=scheduler, reservations=given, engine=engine)
        assert result.jobs["start"].tolist() == expected, seed
        compared += 1
    assert compared > 40


@pytest.mark.parametrize(
    ("machine", "scheduler"),
    [
        *itertools.product(["cluster:8", "torus:2x2x2", "pod:1x1x2"], ["fcfs", "easy", "backfill:3", "conservative"]),
        ("cluster:8", "preemptive:order=shortest"),
    ],
)
def test_a_window_of_the_whole_machine_is_time_cut_out(machine: str, scheduler: str) -> None:
    """Jobs that end before it and jobs that begin after it run as in logs of their own."""
    on = fs.machines.parse_machine(machine)
    rng = np.random.default_rng(5)
    n = 40
    before = np.sort(rng.integers(0, 300, n)).astype(float)
    runtime, size = rng.integers(1, 60, n).astype(float), rng.integers(1, on.largest_job + 1, n)
    alone = fs.Workload(submit=before, runtime=runtime, size=size)
    first = fs.simulate(alone, on, scheduler=scheduler)
    begin = float(first.jobs["finish"].max())
    end = begin + 1000.0
    both = fs.Workload(submit=np.append(before, before + end), runtime=np.tile(runtime, 2), size=np.tile(size, 2))
    window = fs.Reservation("all", begin, end)
    result = fs.simulate(both, on, scheduler=scheduler, reservations=window)
    expected = np.append(first.jobs["start"], first.jobs["start"] + end)
    assert result.jobs["start"].tolist() == expected.tolist()
    assert result.ledger["reserved"] == pytest.approx(on.nodes * 1000.0)


@pytest.mark.parametrize("machine", ["cluster:8", "torus:2x2x2", "pod:1x1x2"])
@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "backfill:3", "backfill:unlimited", "conservative"])
def test_a_window_after_all_jobs_changes_nothing(machine: str, scheduler: str) -> None:
    on = fs.machines.parse_machine(machine)
    rng = np.random.default_rng(6)
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 300, 60)),
        runtime=rng.integers(0, 60, 60),
        size=rng.integers(1, on.largest_job + 1, 60),
        estimate=rng.integers(60, 100, 60),
    )
    plain = fs.simulate(log, on, scheduler=scheduler)
    late = fs.Reservation([0], 1e6, 2e6)
    result = fs.simulate(log, on, scheduler=scheduler, reservations=late)
    for column in ("start", "finish", "allocated"):
        assert result.jobs[column].tolist() == plain.jobs[column].tolist()


def test_jobs_that_overrun_are_killed_or_waited_for() -> None:
    log = fs.Workload(submit=[0, 0], runtime=[100, 10], size=[2, 2], estimate=[50, 10])
    wait, kill = (fs.Reservation("all", 60, 90, overrun=overrun) for overrun in ("wait", "kill"))
    for engine in ("core", "reference"):
        waited = fs.simulate(log, fs.Cluster(4), reservations=wait, engine=engine)
        assert waited.jobs["finish"].tolist() == [100, 10]
        assert waited.ledger["reserved"] == 2 * 30
        killed = fs.simulate(log, fs.Cluster(4), reservations=kill, engine=engine)
        assert killed.jobs["finish"].tolist() == [60, 10]
        assert killed.ledger["reserved"] == 0
        assert killed.ledger["lost"] == 2 * 60
        assert killed.jobs["state"][0] == fs.JobState.KILLED


def test_nodes_of_users_are_theirs_first() -> None:
    log = fs.Workload(submit=[0, 0, 0], runtime=[10, 10, 10], size=[2, 2, 2], user=[1, 7, 1])
    room = fs.Reservation([2, 3], 0, 1000, users=7)
    for engine in ("core", "reference"):
        result = fs.simulate(log, fs.Cluster(4), reservations=room, record=True, engine=engine)
        assert result.jobs["start"].tolist() == [0, 0, 10]
        assert result.allocations["nodes"].tolist() == [0, 1, 2, 3, 0, 1]


def test_a_job_that_no_gap_holds_is_a_deadlock_by_name() -> None:
    log = fs.Workload(submit=[0], runtime=[200], size=[4])
    weekly = fs.Reservation("all", 10, 20, every=100)
    for engine in ("core", "reference"):
        with pytest.raises(fs.DecisionError, match="deadlock: 1 jobs wait"):
            fs.simulate(log, fs.Cluster(4), reservations=weekly, engine=engine)


def test_what_would_be_wrong_is_refused() -> None:
    log = fs.Workload(submit=[0], runtime=[7200], size=[4], estimate=[7200])
    window = fs.Reservation("all", "1h", "3h", users=1)
    with pytest.raises(fs.InputError, match="is for users, and the log has no users"):
        fs.simulate(log, fs.Cluster(4), reservations=window)
