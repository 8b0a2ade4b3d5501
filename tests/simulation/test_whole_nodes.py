"""Sites whose jobs take whole nodes, with the cores counted, and node by node: the same runs."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.simulation.execution import Execution
from helpers.engines import assert_same, listed
from helpers.own_policies import Widest
from helpers.site_runs import PLACEMENTS

SCHEDULERS = (
    "fcfs", "easy", "easy:order=shortest", "easy:order=wfp3", "easy:order=priority - wait", "preemptive:order=shortest",
)  # fmt: skip


def drawn_log(rng, cores, memory, gpus, n):
    """Jobs that fill nodes, some of them by number of nodes and some by number of cores."""
    nodes = rng.choice([1, 1, 2, 3, 7], n)
    any_nodes = rng.random(n) < 0.3
    runtime = rng.integers(0, 40, n) + rng.choice([0.0, 0.125, 1 / 3], n)
    return fs.Workload(
        np.sort(rng.integers(0, 8 * n, n)).astype(float), runtime, nodes * cores,
        estimate=np.maximum(1.0, runtime + rng.choice([-5, 0, 0, 3, 20], n)), user=np.arange(n) % 2,
        columns={
            "cores": nodes * cores, "nodes": np.where(any_nodes, 0, nodes),
            "memory": np.where(any_nodes, rng.integers(0, memory // cores + 1, n), rng.integers(0, memory + 1, n)),
            "memory_per": np.where(any_nodes, "core", "node"), "gpus": rng.integers(0, gpus + 1, n),
            "exclusive": rng.random(n) < 0.2, "priority": rng.integers(0, 4, n),
        },
    )  # fmt: skip


def with_conditions(log, rng):
    n = len(log)
    after = [f"afterany:{log.id[row - 2]}" if row > 1 and rng.random() < 0.3 else "" for row in range(n)]
    cancel = np.where(rng.random(n) < 0.2, log.submit + rng.integers(0, 60, n), -1.0)
    return log.with_columns(after=after, cancel=cancel, begin=np.where(rng.random(n) < 0.2, log.submit + 30, -1.0))


def drawn_run(rng):
    cores, memory, gpus = int(rng.integers(1, 9)), int(rng.integers(8, 20)), int(rng.integers(0, 3))
    site = fs.Site(
        fs.NodeClass("n", 8, cores=cores, memory=f"{memory}M", gpus=gpus),
        [fs.Partition("all", "n", default=True)] if rng.random() < 0.5 else [],
    )
    log = drawn_log(rng, cores, memory, gpus, int(rng.integers(2, 60)))
    if rng.random() < 0.3:
        log = with_conditions(log, rng)
    return fs.Run(
        log, site, scheduler=str(rng.choice(SCHEDULERS)), placement=str(rng.choice(PLACEMENTS[:4])),
        start_delay=float(rng.choice([0, 0, 2])), overrun=str(rng.choice(["extend", "kill"])),
        checkpointing=fs.Periodic(7, 1) if rng.random() < 0.3 else None,
    )  # fmt: skip


@pytest.mark.parametrize("part", range(6))
def test_counted_cores_and_nodes_are_the_same_run(part):
    rng = np.random.default_rng([441, part])
    for _ in range(40):
        run = drawn_run(rng)
        counted, by_node = Execution(run, to_the_end=True), Execution(run)
        assert (counted.engine.site_view, by_node.engine.site_view is None) == (None, False)
        for each in (counted, by_node):
            each.go_on()
            each.engine.verify()
        assert_same(listed(counted.engine.output()), listed(by_node.engine.output()))
        one, other = run.simulate(), by_node.result()
        assert one.metrics == other.metrics
        assert one.ledger == other.ledger
        assert one.machine == run.machine


LOG = fs.Workload([0, 0, 1], [9, 9, 9], [8, 4, 4], columns={"cores": [8, 4, 4], "nodes": [2, 1, 0]})
SITE = "site:n=3x4c8G"
FAILURE = fs.FailureTrace([5], [0], [1], span=100)


def is_counted(log, site, **options):
    return Execution(fs.Run(log, site, **options), to_the_end=True).engine.site_view is None


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({}, {"record": True}),
        ({}, {"failures": FAILURE}),
        ({}, {"scheduler": "backfill:depth=2"}),
        ({}, {"scheduler": "conservative"}),
        ({}, {"reservations": fs.Reservation([0], 3, 4)}),
        ({}, {"scheduler": fs.Fcfs(Widest())}),
        ({"cores": [8, 4, 3]}, {}),
        ({"cores": [8, 3, 4], "exclusive": [0, 1, 0]}, {}),
        ({"cores": [7, 4, 4]}, {}),
        ({"memory": [0, 0, 4096], "memory_per": ["node", "node", "core"]}, {}),
    ],
)  # fmt: skip
def test_what_needs_the_nodes_keeps_them(columns, options):
    assert is_counted(LOG, SITE)
    assert not is_counted(LOG.with_columns(**columns), SITE, **options)


def test_nodes_of_several_classes_are_kept():
    assert not is_counted(LOG, "site:n=3x4c,m=1x4c")
