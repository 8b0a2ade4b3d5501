"""The third program for sites agrees with the engine, on starts, ends and nodes of every stay."""

import numpy as np
import pytest
from verification.plain_site import SCHEDULERS, differences, draw

import faultsim as fs


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_the_third_program_agrees(scheduler, engine):
    cases = [draw(np.random.default_rng([2, SCHEDULERS.index(scheduler), run]), scheduler) for run in range(60)]
    found = {at: said for at, case in enumerate(cases) if (said := differences(case, engine))}
    assert found == {}
    assert any(case.failures for case in cases)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_the_third_program_agrees_where_parts_of_nodes_fail(scheduler, engine):
    cases = [draw(np.random.default_rng([3, SCHEDULERS.index(scheduler), run]), scheduler, True) for run in range(60)]
    found = {at: said for at, case in enumerate(cases) if (said := differences(case, engine))}
    assert found == {}
    assert sum(row[3] is not None for case in cases for row in case.failures) > 20


# -- whole nodes of one class are a cluster, whatever the policies


def whole(seed=0, n=60):
    rng = np.random.default_rng(seed)
    runtime = rng.integers(1, 60, n)
    return fs.Workload(
        np.sort(rng.integers(0, 300, n)), runtime, rng.integers(1, 9, n), estimate=runtime + rng.integers(0, 30, n)
    )


POLICIES = [
    {"scheduler": "fcfs"},
    {"scheduler": "easy:order=shortest"},
    {"scheduler": "backfill:depth=3"},
    {"scheduler": "conservative"},
    {"scheduler": "preemptive:order=shortest", "recovery": "requeue"},
    {"scheduler": "easy", "placement": "least_failures_first"},
    {"scheduler": "easy", "migration": "least_failures"},
    {"scheduler": "easy", "recovery": "hot_spares:1,restart_cost=2"},
]


@pytest.mark.parametrize("options", POLICIES, ids=lambda options: ",".join(options.values()))
def test_whole_nodes_of_one_class_are_a_cluster(options):
    failures = fs.FailureTrace([20, 40, 41, 90], [1, 3, 3, 0], [5, 0, 30, 10], span=10**4)
    given = {**options, "failures": failures, "record": True}
    site = fs.Site([fs.NodeClass("node", 12, cores=32, memory="187G")])
    log = whole().head(40).drop(whole().head(40).size > 7, "large")
    mine, theirs = fs.simulate(log, site, **given), fs.simulate(log, fs.Cluster(12), **given)
    for table in ("jobs", "events", "allocations"):
        one, other = getattr(mine, table), getattr(theirs, table)
        for name in other:
            assert np.asarray(one[name]).tobytes() == np.asarray(other[name]).tobytes(), name
    assert dict(mine.ledger) == dict(theirs.ledger)
    assert dict(mine.metrics) == dict(theirs.metrics)
    assert mine.machine == site


def as_shared(log, cores):
    """The same jobs with all cores of their nodes."""
    return log.with_columns(cores=log.size * cores, nodes=log.size)


@pytest.mark.parametrize(
    "scheduler", ["fcfs", "easy", "easy:order=shortest", "backfill:depth=1", "preemptive:order=shortest"]
)
@pytest.mark.parametrize("cores", [1, 4])
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_jobs_that_fill_nodes_start_when_they_do_on_a_cluster(scheduler, cores, engine):
    """Where the number of free nodes decides, jobs that share nodes have the schedule of whole nodes."""
    log, failures = whole(3), fs.FailureTrace([20, 40, 41, 90], [1, 3, 3, 0], [5, 0, 30, 10], span=10**4)
    given = {"scheduler": scheduler, "failures": failures, "record": True, "recovery": "requeue"}
    site = fs.Site([fs.NodeClass("node", 12, cores=cores)])
    mine = fs.Run(as_shared(log, cores), site, placement="first_fit", **given).simulate(engine=engine)
    theirs = fs.simulate(log, fs.Cluster(12), **given)
    for name in ("start", "finish", "first_start", "restarts", "backfilled", "failure_wait"):
        assert mine.jobs[name].tobytes() == theirs.jobs[name].tobytes(), name
    for name in ("time", "kind", "job", "node"):
        assert mine.events[name].tobytes() == theirs.events[name].tobytes(), name
    for name in ("begin", "end", "nodes"):
        assert mine.allocations[name].tobytes() == theirs.allocations[name].tobytes(), name
    for account, amount in theirs.ledger.items():
        assert mine.ledger[account] == cores * amount, account


MOVERS = [
    {"recovery": "hot_spares:1,restart_cost=2"},
    {"recovery": "hot_spares:1,per=2", "scheduler": "backfill:depth=2"},
    {"migration": "least_failures:cost=3"},
    {"migration": "least_failures", "scheduler": "conservative", "placement": "least_failures_first"},
    {
        "rescheduling": fs.Fars(20, fs.ServiceUnitLoss(), checkpoint_cost=1, restart_cost=1),
        "predictor": fs.IntervalPredictor(0.8, 0.8, 20),
        "checkpointing": fs.Periodic(10, 1),
    },
    {
        "rescheduling": fs.Fars(20, fs.NodeStealing()),
        "predictor": fs.IntervalPredictor(0.8, 0.8, 20),
        "checkpointing": fs.Periodic(10, 1),
    },
]


@pytest.mark.parametrize("options", MOVERS, ids=str)
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_what_moves_whole_nodes_runs_as_on_a_cluster_where_jobs_fill_nodes(options, engine):
    rng = np.random.default_rng(11)
    log = whole(5)
    failures = fs.FailureTrace(np.sort(rng.integers(0, 500, 30)), rng.integers(0, 12, 30), [5] * 30, span=10**4)
    given = {**options, "failures": failures, "record": True}
    site = fs.Site([fs.NodeClass("node", 12, cores=4, memory="8G", gpus={"a": 2})])
    n = len(log)
    shared = as_shared(log, 4)
    exclusive = log.with_columns(cores=log.size, nodes=log.size, exclusive=np.ones(n, bool), gpus=[1] * n)
    any_number = log.with_columns(cores=log.size * 4)
    theirs = fs.Run(log, fs.Cluster(12), **given).simulate(engine=engine)
    assert theirs.jobs["moves"].sum() + theirs.jobs["restarts"].sum() > 0
    for each in (shared, exclusive, any_number):
        mine = fs.Run(each, site, **given).simulate(engine=engine)
        for table in ("jobs", "events", "allocations"):
            one, other = getattr(mine, table), getattr(theirs, table)
            for name in other:
                assert np.asarray(one[name]).tobytes() == np.asarray(other[name]).tobytes(), name
        assert dict(mine.ledger) == dict(theirs.ledger)


@pytest.mark.parametrize(
    ("columns", "site", "said"),
    [
        ({"cores": [4, 8, 3], "nodes": [1, 2, 1]}, "site:n=3x4c", "job 3 takes 3 cores on each node of 4"),
        ({"cores": [4, 8, 6]}, "site:n=3x4c", "job 3 takes 6 cores of any number of nodes of 4"),
        ({"cores": [4, 8, 4], "memory": [0, 0, 300], "memory_per": ["core"] * 3}, "site:n=3x4c1000M", "job 3 takes"),
        ({"cores": [4, 8, 4], "gpus": [0, 0, 1]}, "site:n=3x4c", "job 3 fits none: it asks for 1 GPUs on a node"),
        ({"cores": [4, 8, 4]}, "site:a=3x4c,b=1x4c", "the site has a, b"),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {"recovery": "hot_spares:1"},
        {"migration": "least_failures"},
        {"rescheduling": fs.Fars(20, fs.ServiceUnitLoss())},
    ],
)
def test_what_moves_whole_nodes_refuses_jobs_that_share_them(columns, site, said, options):
    log = fs.Workload([0] * 3, [9] * 3, [1] * 3, columns=columns)
    trace = fs.FailureTrace([5], [0], span=100)
    with pytest.raises(fs.InputError, match="moves jobs of whole nodes") as error:
        fs.Run(log, site, failures=trace, **options)
    assert said in str(error.value)
