"""Real logs decided from outside: the built-in schedulers' bytes, job by job."""

import pytest

import faultsim as fs
from helpers.deciders import assert_same, decider_of, inside, outside
from helpers.engines import LOGS, head_of

pytestmark = pytest.mark.slow


def check(run, verify=False):
    expected = run.simulate()
    assert_same(outside(run, decider_of(run), verify=verify), expected)
    assert_same(inside(run, decider_of(run)), expected)


@pytest.mark.parametrize("kind", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
@pytest.mark.parametrize("name", ["NASA-iPSC-1993-3.1-cln", "SDSC-SP2-1998-4.2-cln", "KTH-SP2-1996-2.1-cln"])
def test_the_head_of_a_log_on_a_cluster(kind, name, data_dir):
    check(fs.Run(head_of(data_dir, name, 5000), fs.Cluster(LOGS[name]), scheduler=kind(), record=True))


@pytest.mark.parametrize("name", ["NASA-iPSC-1993-3.1-cln", "SDSC-SP2-1998-4.2-cln"])
def test_easy_on_a_torus_with_failures(name, data_dir):
    log = head_of(data_dir, name, 1000)
    failures = fs.synthetic.exponential_failures(128, float(log.submit[-1]), 5e6, downtime=600.0, rng=1)
    check(fs.Run(log, fs.Torus(4, 4, 8), failures=failures, record=True), verify=True)


def test_the_whole_of_a_log(data_dir):
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    check(fs.Run(log, fs.Cluster(128), record=True))
