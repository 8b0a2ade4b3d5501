"""Pictures of sites: resources over time with the stranded part, and waits by group."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.plot import plot_gantt, plot_resources, plot_utilization, plot_waits_by
from faultsim.results.site_use import cores_down, over_time
from helpers.site_runs import drawn_run, with_parts

SITE = "site:a=2x4cx2v100"


def log():
    rng = np.random.default_rng(3)
    n = 60
    columns = {"cores": rng.choice([1, 2, 4], n), "nodes": [1] * n, "gpus": rng.choice([0, 1], n)}
    return fs.Workload(np.sort(rng.uniform(0, 9000, n)), rng.exponential(500, n) + 1, [1] * n, columns=columns)


PARTS = fs.FailureTrace([2000.0, 5000.0, 5500.0], [0, 1, 1], 1500.0, part=["gpus:1", "cores:3", ""])


@pytest.mark.parametrize("recovery", [fs.Requeue(), fs.Hold()])
@pytest.mark.parametrize("failures", [None, fs.FailureTrace(time=[2000.0, 5000.0], node=[0, 1], downtime=900.0), PARTS])
def test_means_over_time_are_those_of_the_run(failures, recovery):
    run = fs.simulate(log(), SITE, failures=failures, recovery=recovery, record=True)
    bounds, found = over_time(run, 37)
    assert (bounds[0], bounds[-1], len(bounds)) == (*run.span, 38)
    assert list(found) == ["cores", "gpus"]
    whole = dict(
        zip(run.resources["resource"].tolist(), run.resources["down"] / run.resources["capacity"], strict=True)
    )
    for name, (held, stranded, down) in found.items():
        assert held.mean() == pytest.approx(run.utilization[name])
        assert stranded.mean() == pytest.approx(run.stranded[name])
        assert down.mean() == pytest.approx(whole[name])
        assert (held + stranded + down).max() <= 1 + 1e-9
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


def test_picture_shows_what_is_down():
    """Half of the GPUs of one node of two for 1,500 s, then both of the other, of which jobs held none."""
    run = fs.simulate(log(), SITE, failures=PARTS, recovery="requeue", record=True)
    said = [text.get_text() for text in plot_resources(run, "gpus").get_legend().get_texts()]
    table = run.resources
    assert table["resource"][1] == "gpus"
    assert said[2] == f"down, mean {100 * table['down'][1] / table['capacity'][1]:.1f} %"
    assert table["down"][1] >= 1500.0


def test_maps_show_parts_that_are_down():
    """As high as their share of the node, in the row of the node."""
    run = fs.simulate(log(), SITE, failures=PARTS, recovery="requeue", record=True)
    ax = plot_gantt(run)
    assert "part of a node down" in [text.get_text() for text in ax.get_legend().get_texts()]
    dotted = next(each for each in ax.collections if each.get_hatch() and set(each.get_hatch()) == {"."})
    corners = dotted.get_paths()[0].vertices.reshape(-1, 5, 2)
    high = corners[:, 2, 1] - corners[:, 0, 1]
    assert high.tolist() == [0.5, 0.75]
    assert corners[:, 2, 1].tolist() == [1.0, 2.0]
    assert "part of a node down" not in [
        text.get_text() for text in plot_gantt(run, rows="allocation").get_legend().texts
    ]


@pytest.mark.parametrize("seed", range(4))
def test_cores_that_are_down_are_those_of_the_ledger(seed):
    rng = np.random.default_rng([8, seed])
    done = 0
    while done < 15:
        run = with_parts(rng, drawn_run(rng, int(rng.integers(2, 40))))
        if run is None:
            continue
        found = run.simulate()
        try:
            begin, end, cores = cores_down(found)
        except OptionError:
            continue
        assert ((end - begin) * cores).sum() == pytest.approx(found.ledger["down"], abs=1e-6)
        done += 1


def test_utilization_shows_cores_that_are_down():
    run = fs.simulate(log(), SITE, failures=PARTS, recovery="requeue", record=True)
    assert "cores down" in [text.get_text() for text in plot_utilization(run).get_legend().get_texts()]


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
