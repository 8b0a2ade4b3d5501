"""Real logs decided from outside: the built-in schedulers' bytes, job by job."""

import pytest
from verification.digest_logs import LOGS as MACHINES

import faultsim as fs
from helpers.deciders import assert_same, decider_of, inside, outside
from helpers.engines import LOGS, head_of

SCHEDULERS = [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill]
QUICK = ["SDSC-SP2-1998-4.2-cln", "KTH-SP2-1996-2.1-cln"]
#: In the logs of NASA hardly anybody waits, so they are also run with half the time between arrivals.
DENSE = ", twice as dense"
NAMES = [*LOGS, *(name + DENSE for name in LOGS if "nasa" in name.lower())]

on_each_log = pytest.mark.parametrize("name", NAMES)


def first(data_dir, name, n):
    log = head_of(data_dir, name.removesuffix(DENSE), n)
    return log.with_gap_factor(0.5) if name.endswith(DENSE) else log


def on_cluster(data_dir, name, n, kind):
    machine = fs.Cluster(LOGS[name.removesuffix(DENSE)])
    return fs.Run(first(data_dir, name, n), machine, scheduler=kind(), record=True)


def on_torus(data_dir, name, n, shape=None):
    """A run with about as many failures as a tenth of its jobs; a node of the torus is `unit` of those of the log."""
    machine = fs.Torus(*(shape or MACHINES[name.removesuffix(DENSE)].torus))
    log, unit = first(data_dir, name, n), -(-LOGS[name.removesuffix(DENSE)] // machine.nodes)
    columns = {key: getattr(log, key) for key in ("submit", "runtime", "estimate")}
    log = fs.Workload(size=-(-log.size // unit), **columns)
    begin, end = float(log.submit[0]), float(log.submit[-1])
    trace = fs.synthetic.exponential_failures(machine.nodes, end - begin, 1.0, count=n // 10, downtime=3600.0, rng=1)
    failures = fs.FailureTrace(trace.time + begin, trace.node, trace.downtime, coin=trace.coin)
    return fs.Run(log, machine, failures=failures, record=True)


def check(run, engine="core", verify=False):
    expected = run.simulate(engine=engine)
    assert_same(outside(run, decider_of(run), engine, verify), expected)
    assert_same(inside(run, decider_of(run), engine, verify), expected)
    return expected


@pytest.mark.parametrize("kind", SCHEDULERS)
@pytest.mark.parametrize("name", QUICK)
def test_the_beginning_of_a_log_on_a_cluster(kind, name, data_dir):
    check(on_cluster(data_dir, name, 1000, kind), verify=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCHEDULERS)
@on_each_log
def test_the_head_of_a_log_on_a_cluster(kind, name, data_dir):
    check(on_cluster(data_dir, name, 5000, kind), verify=True)


@pytest.mark.slow
@on_each_log
def test_easy_on_a_torus_with_failures(name, data_dir):
    result = check(on_torus(data_dir, name, 5000), verify=True)
    assert result.counters["failures_hit"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCHEDULERS)
@on_each_log
def test_the_reference_engine_on_a_cluster(kind, name, data_dir):
    """Without a look at all 93,312 nodes of Curie after each act, which takes minutes here."""
    check(on_cluster(data_dir, name, 300, kind), "reference", verify="Curie" not in name)


@pytest.mark.slow
@on_each_log
def test_the_reference_engine_on_a_torus_with_failures(name, data_dir):
    """The torus of Curie is a smaller one, since this engine lists all boxes."""
    check(on_torus(data_dir, name, 200, shape=(6, 6, 6) if "Curie" in name else None), "reference", verify=True)


@pytest.mark.slow
def test_the_whole_of_a_log(data_dir):
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    check(fs.Run(log, fs.Cluster(128), record=True), verify=False)
