"""Pictures of sites: resources over time with the stranded part, and waits by group."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.plot import plot_resources, plot_waits_by
from faultsim.results.site_use import over_time

SITE = "site:a=2x4cx2v100"


def log():
    rng = np.random.default_rng(3)
    n = 60
    columns = {"cores": rng.choice([1, 2, 4], n), "nodes": [1] * n, "gpus": rng.choice([0, 1], n)}
    return fs.Workload(np.sort(rng.uniform(0, 9000, n)), rng.exponential(500, n) + 1, [1] * n, columns=columns)


@pytest.mark.parametrize("failures", [None, fs.FailureTrace(time=[2000.0, 5000.0], node=[0, 1], downtime=900.0)])
def test_means_over_time_are_those_of_the_run(failures):
    run = fs.simulate(log(), SITE, failures=failures, record=True)
    bounds, found = over_time(run, 37)
    assert (bounds[0], bounds[-1], len(bounds)) == (*run.span, 38)
    assert list(found) == ["cores", "gpus"]
    for name, (held, stranded) in found.items():
        assert held.mean() == pytest.approx(run.utilization[name])
        assert stranded.mean() == pytest.approx(run.stranded[name])
        assert (held + stranded).max() <= 1 + 1e-9
    assert found["gpus"][1].max() > 0


def test_picture_shows_held_and_stranded():
    run = fs.simulate(log(), SITE, record=True)
    ax = plot_resources(run, "gpus", title="x")
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == [
        f"held, mean {100 * run.utilization['gpus']:.1f} %", f"stranded, mean {100 * run.stranded['gpus']:.1f} %"
    ]  # fmt: skip
    with pytest.raises(OptionError, match="the site has no memory; it has cores, gpus"):
        plot_resources(run, "memory")
    with pytest.raises(OptionError, match="unknown resource 'gpu'"):
        plot_resources(run, "gpu")


def test_waits_by_group_are_those_of_the_table():
    jobs = log().with_columns(account=np.array(["x", "y", "z"])[np.arange(60) % 3])
    runs = {each: fs.simulate(jobs, SITE, scheduler=each) for each in ("fcfs", "easy")}
    ax = plot_waits_by(runs, "account")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["x", "y", "z"]
    dots = [line.get_xdata() for line in ax.lines]
    for run, found in zip(runs.values(), dots, strict=True):
        assert found == pytest.approx(np.maximum(run.by("account", ["mean_wait"])["mean_wait"], 1.0))


def test_of_many_groups_the_largest_are_shown():
    jobs = fs.Workload([0] * 31, [1] * 31, [1] * 31, user=[*range(30), 29])
    ax = plot_waits_by(fs.simulate(jobs, fs.Cluster(2)), "user")
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert len(shown) == 20
    assert shown[-1] == "29"
    assert ax.get_title() == "the 20 of 30 groups with the most jobs"
