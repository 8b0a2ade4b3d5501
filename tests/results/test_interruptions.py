"""`Result.mttf(swaps=True)`: what hot spares took over counts as kills do."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError
from helpers.refusals import refused


def test_a_swap_and_a_kill_by_hand():
    """Two nodes at work and one spare: host 0 fails at 10, a swap, and then host 1 at 30, a kill.

    By 30 the job has held nodes for 30 s, and starts again on the two that are left at 130: 0 s of its 100 s are safe.
    """
    log = fs.Workload(submit=[0], runtime=[100], size=[2])
    failures = fs.FailureTrace([10, 30], [0, 1], [100, 100], span=1e4)
    result = fs.simulate(log, fs.Cluster(3), failures=failures, recovery=fs.HotSpares(1))
    plain, both = result.mttf(), result.mttf(swaps=True)
    held = float(result.jobs["finish"][0]) - float(result.jobs["failure_wait"][0])
    assert (plain["kills"].tolist(), both["kills"].tolist(), both["swaps"].tolist()) == ([1], [1], [1])
    assert (plain["mttf"].tolist(), both["mttf"].tolist()) == ([held], [held / 2])
    assert both["per_1000_node_days"][0] == pytest.approx(1000 * 2 / (2 * held / 86400))
    assert "swaps" not in list(plain)
    assert "no kills: what hot spares took over, 1 times" in str(plain)
    assert "mean time between kills and swaps" in str(both)
    assert "took over" not in str(both)


@pytest.mark.parametrize("machine", [fs.Cluster(80), fs.Pod((1, 2, 5), (2, 2, 2), 8)], ids=["cluster", "pod"])
def test_interruptions_come_as_often_as_hosts_at_work_fail(machine):
    """Hosts fail at a constant rate, and those of units at work interrupt; whoever takes the failure over."""
    mtbf, rng = 40_000.0, np.random.default_rng(4)
    log = fs.Workload(np.arange(60) * 3000.0, rng.uniform(2e4, 4e4, 60), rng.choice([16, 24], 60))
    failures = fs.synthetic.exponential_failures(machine.nodes, 6e6, mtbf, downtime=500.0, rng=5, any_rate=True)
    recovery = fs.HotSpares(2, restart_cost=30)
    options = {"failures": failures, "recovery": recovery, "checkpointing": "periodic:10m,5s"}
    result = fs.simulate(log, machine, **options)
    table = result.mttf(np.zeros(len(log)), swaps=True, confidence=0.9999)
    hits = table["kills"][0] + table["swaps"][0]
    assert hits == result.counters["failures_hit"]
    assert min(table["kills"][0], table["swaps"][0]) > 100
    assert table["per_1000_node_days"][0] == pytest.approx(1000 * 86400 / mtbf, rel=4 / hits**0.5)
    by_size = result.mttf(swaps=True, confidence=0.9999)
    for low, high, size in zip(by_size["low"], by_size["high"], (16, 24), strict=True):
        assert low < mtbf / size < high


def test_only_hot_spares_swap():
    log = fs.Workload(submit=[0], runtime=[100], size=[2])
    result = fs.simulate(log, fs.Cluster(3))
    refused(OptionError, "swaps=True counts what hot spares took over, and this run has none", result.mttf, swaps=True)
    refused(OptionError, "swaps must be True or False", result.mttf, swaps=1)
