"""Figures: what they draw, that nothing global is touched, and what happens without matplotlib."""

import sys

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import MissingExtraError, OptionError
from faultsim.plot import (
    plot_capacity,
    plot_curves,
    plot_gantt,
    plot_job_sizes,
    plot_queue,
    plot_utilization,
    require_matplotlib,
    save,
)
from faultsim.plot.held_runs import box_runs, list_runs
from faultsim.plot.timeline import MAX_STEPS, _steps, _thinned
from helpers.looks import crosses
from helpers.refusals import refused
from helpers.results import nodes_of, random_log


@pytest.fixture(scope="module")
def torus_run():
    return fs.simulate(random_log(60, 16), fs.Torus(4, 4, 2), record=True)


@pytest.fixture(scope="module")
def cluster_run():
    return fs.simulate(random_log(60, 16), fs.Cluster(20), record=True, start_delay=2.0)


def expanded(runs, n):
    row, first, count = runs
    nodes = [[] for _ in range(n)]
    for r, f, c in zip(row, first, count, strict=True):
        nodes[r].extend(range(f, f + c))
    return [sorted(part) for part in nodes]


def area(ax):
    """Of the first line, by its share of the width: minutes or hours do not matter."""
    x, y = ax.lines[0].get_data()
    return float((y[:-1] * np.diff(x)).sum() / (x[-1] - x[0]))


def painted(bars):
    """The area of all shapes of collections."""
    corners = [(path.vertices.min(axis=0), path.vertices.max(axis=0)) for bar in bars for path in bar.get_paths()]
    return sum((x1 - x0) * (y1 - y0) for (x0, y0), (x1, y1) in corners)


def test_boxes_become_runs_of_their_nodes():
    rng = np.random.default_rng(5)
    shape, n = (3, 4, 5), 300
    held = {name: rng.integers(0, m, n) for name, m in zip("xyz", shape, strict=True)}
    held |= {name: rng.integers(1, m + 1, n) for name, m in zip("abc", shape, strict=True)}
    runs = box_runs(held, shape)
    assert expanded(runs, n) == [nodes.tolist() for nodes in nodes_of(held, shape)]
    row, first, count = runs
    apart = (row[1:] != row[:-1]) | (first[1:] > first[:-1] + count[:-1])
    assert apart.all()  # joined as far as can be


def test_node_lists_become_runs():
    held = {"node_offsets": np.array([0, 3, 3, 5]), "nodes": np.array([1, 2, 7, 0, 1])}
    row, first, count = list_runs(held)
    assert (row.tolist(), first.tolist(), count.tolist()) == ([0, 0, 2], [1, 7, 0], [2, 1, 2])


@pytest.mark.parametrize("which", ["torus_run", "cluster_run"])
def test_gantt_covers_the_node_seconds_held(which, request):
    result = request.getfixturevalue(which)
    ax = plot_gantt(result)
    (bars,) = ax.collections
    assert bars.get_rasterized()
    unit = {"minutes": 60.0, "seconds": 1.0, "hours": 3600.0}[ax.get_xlabel().split("(")[1][:-1]]
    jobs = result.jobs
    held = (jobs["allocated"] * (jobs["finish"] - jobs["start"] + result.settings["start_delay"])).sum()
    assert painted([bars]) * unit == pytest.approx(held, rel=1e-9)
    assert ax.get_ylim() == (0, result.machine.nodes)


def test_gantt_needs_a_recorded_run():
    refused(OptionError, "record=True", plot_gantt, fs.simulate(random_log(60, 16), fs.Cluster(20)))


def test_steps_integrate_to_the_work(cluster_run):
    jobs = cluster_run.jobs
    at, value = _steps(jobs["start"], jobs["finish"], jobs["size"].astype(float))
    assert (value[:-1] * np.diff(at)).sum() == pytest.approx((jobs["size"] * jobs["runtime"]).sum())
    assert value[-1] == pytest.approx(0)
    assert value.min() >= -1e-9
    assert value.max() <= 20


def test_thinned_steps_keep_the_integral():
    rng = np.random.default_rng(1)
    at = np.sort(rng.random(3 * MAX_STEPS))
    value = rng.random(len(at))
    x, y = _thinned(at, value, 1.0)
    assert len(x) < len(at)
    edges = np.append(x, 1.0)
    whole = (value * np.diff(np.append(at, 1.0))).sum()
    assert (y * np.diff(edges)).sum() == pytest.approx(whole)


def test_timelines_name_their_axes(cluster_run):
    ax = plot_utilization(cluster_run)
    assert "%" in ax.get_ylabel()
    assert "since the first submit" in ax.get_xlabel()
    assert "mean" in ax.get_legend().get_texts()[0].get_text()
    assert "waiting" in plot_queue(cluster_run).get_ylabel()


def test_the_timelines_areas_are_the_metrics_also_with_a_start_delay():
    log = fs.Workload(submit=[0, 1, 4], runtime=[10, 5, 3], size=[2, 2, 1])
    result = fs.simulate(log, fs.Cluster(3), start_delay=2.0)

    ax = plot_utilization(result)
    assert area(ax) == pytest.approx(100.0 * result.metrics["utilization"])
    assert f"{area(ax):.1f}" in ax.get_legend().get_texts()[0].get_text()
    decisions = result.jobs["start"] - 2.0
    asked = (log.size * (decisions - log.submit)).sum() / result.metrics["makespan"]
    assert area(plot_queue(result)) == pytest.approx(asked)


@pytest.fixture(scope="module", params=["requeue", "hold"])
def failing_run(request):
    recovery = {"requeue": fs.Requeue("tail", 5), "hold": fs.Hold(5)}[request.param]
    trace = fs.FailureTrace(np.arange(5, 3000, 60), np.arange(50) * 7 % 32, [0, 40] * 25, span=3000)
    options = {"failures": trace, "recovery": recovery, "start_delay": 2.0}
    return fs.Run(random_log(60, 16), fs.Torus(4, 4, 2), record=True, migration=fs.Defragment(cost=3), **options)


def test_the_timelines_areas_are_the_metrics_also_with_failures(failing_run):
    result = failing_run.simulate()
    assert result.metrics["failures_hit"] > 5

    assert area(plot_utilization(result)) == pytest.approx(100.0 * result.metrics["utilization"])
    ledger, total = result.ledger, result.metrics["makespan"]
    # All that waits, more than what is free too: at least what is idle despite demand, and each wait by the columns.
    waited = (result.jobs["size"] * (result.jobs["first_start"] - 2.0 - result.jobs["submit"])).sum()
    again = result.jobs["failure_wait"] - 2.0 * result.jobs["restarts"]
    if result.settings["recovery"]["name"] == "requeue":
        waited += (result.jobs["size"] * again).sum()
        assert area(plot_queue(result)) * total == pytest.approx(waited)
    assert area(plot_queue(result)) * total >= ledger["idle_demand"]
    bare = failing_run.with_options(record=False).simulate()
    for draw in (plot_utilization, plot_queue):
        refused(OptionError, "simulate with record=True to draw it", draw, bare)


def test_gantt_marks_failures(failing_run):
    result = failing_run.simulate()
    ax = plot_gantt(result, rows="nodes")
    marks = {name: len(where) for name, where in crosses(ax).items()}
    hit = result.metrics["failures_hit"]
    assert marks == {"failure": result.metrics["failures"] - hit, "failure that kills a job": hit}
    down, *bars = (drawn for drawn in ax.collections if not drawn.get_label().startswith("failure"))
    assert len(down.get_paths()) == 25
    hatched = [bar for bar in bars if bar.get_hatch()]
    assert bool(hatched) == (result.settings["recovery"]["name"] == "requeue")
    (left, right), nodes = ax.get_xlim(), result.machine.nodes
    bars = [bar for bar in bars if not bar.get_hatch()]
    assert painted(bars) / (right - left) / nodes == pytest.approx(result.metrics["utilization"])


def test_functions_draw_on_the_axes_they_are_given(torus_run):
    from matplotlib.figure import Figure

    panels = Figure().subplots(2, 3).ravel()
    assert plot_gantt(torus_run, ax=panels[0]) is panels[0]
    assert plot_queue(torus_run, ax=panels[1]) is panels[1]
    assert plot_utilization(torus_run, ax=panels[2]) is panels[2]
    assert plot_curves({"a": ([1, 2], [3, 4])}, ax=panels[3], log=True) is panels[3]
    assert plot_capacity({"a": (0.5, 0.3, 0.2)}, ax=panels[4]) is panels[4]
    assert plot_job_sizes(random_log(60, 16), ax=panels[5], nodes=16, by="work") is panels[5]


def test_job_sizes_are_those_of_the_log():
    log = random_log(60, 16)
    (steps,) = plot_job_sizes(log, nodes=16).patches
    assert steps.get_data().values.tolist() == np.bincount(log.size, minlength=17)[1:].tolist()
    (steps,) = plot_job_sizes(log, nodes=16, by="work").patches
    assert steps.get_data().values.sum() == pytest.approx(log.work.sum() / 1e6)


def test_capacity_bars_stack_to_the_whole():
    ax = plot_capacity({"x": (0.6, 0.1, 0.3), "y": (0.7, 0.1, 0.2)})
    tops = [bar.get_y() + bar.get_height() for bar in ax.patches[-2:]]
    assert tops == pytest.approx([100, 100])


@pytest.mark.parametrize("end", [".png", ".svg", ".pdf"])
def test_saved_figures_are_the_same_bytes_each_time(tmp_path, end, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    curves = {"a": ([1, 2], [3, 4])}
    for name in ("one", "two"):
        save(plot_curves(curves), tmp_path / (name + end))
    one, two = (tmp_path / (name + end) for name in ("one", "two"))
    assert one.stat().st_size > 1000
    if end != ".svg":  # matplotlib salts the ids inside an SVG
        assert one.read_bytes() == two.read_bytes()


def test_save_refuses_an_unknown_kind_of_picture(tmp_path):
    refused(OptionError, r"x\.gif2.*\.png", save, plot_curves({"a": ([1], [1])}), tmp_path / "x.gif2")


def test_pyplot_is_never_imported(torus_run, tmp_path):
    had = "matplotlib.pyplot" in sys.modules
    save(plot_gantt(torus_run), tmp_path / "g.png")
    assert ("matplotlib.pyplot" in sys.modules) == had


def test_without_matplotlib_the_extra_is_named(torus_run, monkeypatch):
    monkeypatch.setattr("faultsim.plot.base.find_spec", lambda name: None)
    for call in (require_matplotlib, lambda: plot_gantt(torus_run), lambda: plot_curves({"a": ([1], [1])})):
        refused(MissingExtraError, r'pip install "faultsim\[plot\]"', call)
