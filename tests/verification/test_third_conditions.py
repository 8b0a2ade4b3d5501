"""A third program agrees about jobs as people submit them, under each scheduler of a cluster; closed forms."""

import numpy as np
import pytest
from verification import third_conditions

import faultsim as fs


def test_a_third_program_agrees():
    found = third_conditions.main(["--runs", "300", "--seed", "11", "--reference"])
    assert set(found) == {"ended", "timed out", "killed", "withdrawn", "unmet"}
    assert min(found.values()) > 20


@pytest.mark.slow
def test_a_third_program_agrees_on_many_cases():
    third_conditions.main(["--runs", "20000"])


def test_a_chain_of_jobs_takes_the_sum_of_its_times():
    """Jobs that wait for each other run one after another, however large the machine."""
    n, think = 40, 7.0
    runtime = np.arange(1.0, n + 1)
    after = ["", *(f"afterok:{i}+{think:g}" for i in range(1, n))]
    log = fs.Workload(np.zeros(n), runtime, np.ones(n, int), columns={"after": after})
    result = fs.simulate(log, fs.Cluster(100))
    start = np.cumsum(runtime) - runtime + think * np.arange(n)
    np.testing.assert_array_equal(result.jobs["start"], start)
    np.testing.assert_array_equal(result.jobs["eligible"], start)
    assert result.metrics["mean_wait"] == 0
    assert result.metrics["makespan"] == runtime.sum() + think * (n - 1)


def closed_loop(users: int, rounds: int, runtime: float, think: float) -> fs.Workload:
    """Each user submits a job, waits for its end, thinks, and submits the next: fields 17 and 18 of SWF."""
    n = users * rounds
    preceding = np.where(np.arange(n) < users, -1, np.arange(n) - users + 1)
    return fs.Workload(
        np.zeros(n), np.full(n, runtime), np.ones(n, int), user=np.arange(n) % users,
        columns={"preceding_job": preceding, "think_time": np.full(n, think)},
    )  # fmt: skip


@pytest.mark.parametrize("runtime", [100.0, 50.0, 25.0])
def test_the_arrival_rate_of_a_closed_loop_follows_the_speed_of_the_machine(runtime):
    """With M nodes and N users the rate is N / (Z + S) while nobody waits, and M / S where the machine is full."""
    users, rounds, think = 12, 50, 60.0
    log = closed_loop(users, rounds, runtime, think)
    roomy = fs.simulate(log, fs.Cluster(users)).jobs
    np.testing.assert_array_equal(np.unique(roomy["eligible"]), np.arange(rounds) * (runtime + think))
    full = fs.simulate(log, fs.Cluster(2)).jobs
    later = full["eligible"][10 * users :]
    rate = (len(later) - 1) / (later.max() - later.min())
    assert rate == pytest.approx(min(users / (think + runtime), 2 / runtime), rel=0.02)
