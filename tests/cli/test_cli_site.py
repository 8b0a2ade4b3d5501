"""`faultsim site what-if` and `faultsim compare`: paired differences of the same jobs on several sites."""

import json

import numpy as np
import pytest

import faultsim as fs
from faultsim.sweep.what_if import changes, trace_on, with_more
from helpers.command import refused, run

SITE = "site:cpu=1x4c,gpu=1x4cx1v100"
JOBS = "submit,runtime,cores,size,gpus,partition\n0,3600,4,4,0,a\n10,3600,4,4,0,a\n20,60,4,4,1,b\n30,60,4,4,1,b\n"


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    return path


def days(count=6):
    rng = np.random.default_rng(7)
    n = 20 * count
    cores = rng.choice([1, 2, 4], n)
    submit = np.sort(rng.uniform(0, 86400 * count, n))
    return fs.Workload(submit, rng.exponential(20_000, n).round() + 60, cores, columns={"cores": cores})


def test_what_more_of_each_class_would_buy(capsys, jobs):
    status, out, _ = run(capsys, "site", "what-if", SITE, "--jobs", jobs, "--json", "--more", 1)
    assert status == 0
    found = {(each["site"], each["group"]): each for each in json.loads(out)["changes"]}
    assert list(found) == [(site, group) for site in ("now", "+1 cpu", "+1 gpu") for group in ("all", "a", "b")]
    # Now: the second job takes the GPU node until 3,610 s; both GPU jobs wait for it.
    assert found["now", "b"]["wait"] == (3590 + 3640) / 2
    assert found["+1 cpu", "b"]["wait"] == (0 + 50) / 2
    assert found["+1 cpu", "b"]["saved"] == found["now", "b"]["wait"] - 25
    assert found["+1 gpu", "b"]["wait"] == (0 + 50) / 2
    _, table, _ = run(capsys, "site", "what-if", SITE, "--jobs", jobs)
    assert table.splitlines()[0].split()[:2] == ["site", "jobs"]
    assert "+10 gpu" in table


def test_compare_pairs_jobs_that_both_sites_hold(capsys, jobs):
    other = "site:cpu=9x4c"
    _, out, _ = run(capsys, "compare", SITE, other, "--jobs", jobs, "--json")
    found = [each for each in json.loads(out)["changes"] if each["site"] == other]
    assert [(each["group"], each["jobs"], each["saved"]) for each in found] == [("all", 2, 0.0), ("a", 2, 0.0)]


def test_interval_is_over_days_and_of_the_differences():
    log, site = days(), fs.Site([fs.NodeClass("cpu", 2, cores=4)])
    now, more = changes(log, site, with_more(site, 1))
    assert (now.saved, now.low, now.high) == (0.0, 0.0, 0.0)
    assert more.low < more.saved < more.high
    one, two = (fs.simulate(log, each).metrics["mean_wait"] for each in (site, site.with_nodes("cpu", 3)))
    assert more.saved == pytest.approx(one - two)
    assert np.isnan(changes(days(2), site, with_more(site, 1))[1].low)


def test_failures_stay_with_the_nodes_of_their_class():
    site = fs.Site([fs.NodeClass("a", 2, cores=4), fs.NodeClass("b", 1, cores=4)])
    trace = fs.FailureTrace(time=[5.0, 6.0, 7.0], node=[1, 2, 0], downtime=60.0)
    assert trace_on(trace, site, site.with_nodes("a", 10)).node.tolist() == [1, 10, 0]
    assert trace_on(trace, site, site.without("a")).node.tolist() == [0]
    kept = changes(days(), site, with_more(site, 1), trace)
    assert [each.site for each in kept] == ["now", "+1 a", "+1 b"]


def test_what_cannot_be_compared_is_refused(capsys, jobs):
    assert "is no site" in refused(capsys, "compare", "cluster:4", SITE, "--jobs", jobs)
    assert "no such file" in refused(capsys, "site", "what-if", "nowhere.csv", "--jobs", jobs)
    assert "--more" in refused(capsys, "site", "what-if", SITE, "--jobs", jobs, "--more", 0)
