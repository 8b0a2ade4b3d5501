"""The public logs on sites of one class, with one partition: their jobs take whole nodes, as on a cluster.

Logs without the column `cores` are compared byte for byte.  Where all cores of the nodes are stated, sizes and accounts
are in cores, so the ledger is that of the cluster times the cores of a node: 4, with which no sum is rounded in another
way.  Each such run is made without `record`, where the cores are counted if there are no failures
(`faultsim.simulation.whole_nodes`), and node by node.
"""

import csv
import gzip

import numpy as np
import pytest
from digest_logs import BLUEGENE, HOUR, LOGS, data, stretched, workload

import faultsim as fs
from faultsim import vocabulary

WEEK = "ub-hpc"
NAMES = [*LOGS, WEEK]
SCHEDULERS = ("fcfs", "easy", "backfill:depth=10", "conservative", "preemptive:order=shortest")
#: Without reservations of nodes.
COUNTING = ("fcfs", "easy", "backfill:depth=1", "preemptive:order=shortest")
CORES = 4
#: Jobs of each log, of which quick tests run a window: from the middle of the log, where the machine is in use.
WINDOW = 150
#: Jobs of a log that slow tests run, from the first on: all, but where a run would take more than about a minute.
MOST = {
    ("CEA-Curie-2011-2.1-cln", "conservative"): 20_000,
    (WEEK, "conservative"): 5_000,
}
#: The same where every node is followed: on large machines, and where each head looks for jobs to stop.
MOST_BY_NODE = {"CEA-Curie-2011-2.1-cln": 3_000, "mira_walltime": 3_000}
MOST_STOPPED = 3_000


@pytest.fixture(autouse=True)
def _with_logs(data_dir):
    """Skips where there are no logs."""


def log_of(name):
    """The jobs of a log, and the nodes of its machine."""
    if name != WEEK:
        return workload(name), LOGS[name].nodes
    with gzip.open(data() / "slurm" / "ub-hpc" / "week.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    submit, runtime, size = ([float(row[key]) for row in rows] for key in ("submit", "runtime", "nodes"))
    limit = [vocabulary.duration(row["limit"]) for row in rows]
    return fs.Workload(submit, runtime, np.array(size, np.int32), estimate=limit), 217


def cut(log, nodes, most=None, window=None):
    """The first jobs, or a window, of those that fit the machine; size, times and users alone."""
    columns = {key: getattr(log, key) for key in ("submit", "runtime", "size", "estimate", "id", "user")}
    log = fs.Workload(**columns)
    log = log.drop(log.size > nodes, "too large") if (log.size > nodes).any() else log
    if window is not None:
        return log[len(log) // 2 : len(log) // 2 + window]
    return log if most is None else log.head(most)


def options_of(log, nodes, failing):
    return {"failures": stretched(BLUEGENE, log, nodes, 2 * HOUR), "recovery": "requeue"} if failing else {}


def assert_equal_runs(mine, theirs):
    for table in ("jobs", "events", "allocations"):
        one, other = getattr(mine, table), getattr(theirs, table)
        assert list(one) == list(other)
        for name in other:
            assert np.asarray(one[name]).tobytes() == np.asarray(other[name]).tobytes(), name
    assert dict(mine.ledger) == dict(theirs.ledger)
    assert dict(mine.metrics) == dict(theirs.metrics)


def compare_whole(log, nodes, scheduler, failing):
    """Without the column `cores`."""
    site = fs.Site(fs.NodeClass("n", nodes, cores=CORES), fs.Partition("all", "n", default=True))
    given = {"scheduler": scheduler, "record": True, **options_of(log, nodes, failing)}
    assert_equal_runs(fs.simulate(log, site, **given), fs.simulate(log, fs.Cluster(nodes), **given))


SAME = ("start", "finish", "first_start", "restarts", "backfilled", "failure_wait")


def compare_cores(log, nodes, scheduler, failing):
    """With all cores of nodes stated: counted, and node by node."""
    site = fs.Site(fs.NodeClass("n", nodes, cores=CORES), fs.Partition("all", "n", default=True))
    filled = log.with_columns(cores=log.size * CORES, nodes=log.size)
    given = {"scheduler": scheduler, **options_of(log, nodes, failing)}
    theirs = fs.simulate(log, fs.Cluster(nodes), record=True, **given)
    for record in (False, True):
        mine = fs.simulate(filled, site, placement="first_fit", record=record, **given)
        for name in SAME:
            assert mine.jobs[name].tobytes() == theirs.jobs[name].tobytes(), name
        for name in ("size", "allocated", "lost_work"):
            assert np.array_equal(mine.jobs[name], theirs.jobs[name] * CORES), name
        assert {account: CORES * amount for account, amount in theirs.ledger.items()} == dict(mine.ledger)
        if not record:
            continue
        for name in ("time", "kind", "job", "node"):
            assert mine.events[name].tobytes() == theirs.events[name].tobytes(), name
        for name in ("begin", "end", "nodes"):
            assert mine.allocations[name].tobytes() == theirs.allocations[name].tobytes(), name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("failing", [False, True], ids=["sound", "failing"])
def test_a_window_of_whole_nodes_is_that_of_a_cluster(name, failing):
    log, nodes = log_of(name)
    log = cut(log, nodes, window=WINDOW)
    for scheduler in SCHEDULERS:
        compare_whole(log, nodes, scheduler, failing)


@pytest.mark.parametrize("failing", [False, True], ids=["sound", "failing"])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in MOST_BY_NODE])
def test_a_window_of_all_cores_is_that_of_a_cluster(name, failing):
    log, nodes = log_of(name)
    log = cut(log, nodes, window=WINDOW)
    for scheduler in COUNTING:
        compare_cores(log, nodes, scheduler, failing)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("failing", [False, True], ids=["sound", "failing"])
def test_whole_nodes_of_a_log_are_those_of_a_cluster(name, scheduler, failing):
    log, nodes = log_of(name)
    compare_whole(cut(log, nodes, MOST.get((name, scheduler))), nodes, scheduler, failing)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheduler", COUNTING)
@pytest.mark.parametrize("failing", [False, True], ids=["sound", "failing"])
def test_all_cores_of_a_log_are_those_of_a_cluster(name, scheduler, failing):
    log, nodes = log_of(name)
    most = MOST_STOPPED if scheduler.startswith("preemptive") else MOST_BY_NODE.get(name)
    compare_cores(cut(log, nodes, most), nodes, scheduler, failing)
