"""Figures of one run beyond the plain ones: painted Gantt charts, failures, the torus in space, the ledger."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import MissingExtraError, OptionError
from faultsim.plot import (
    animate_occupancy,
    gantt,
    held_runs,
    occupancy,
    plot_gantt,
    plot_ledger,
    plot_occupancy,
    plot_queue,
    plot_utilization,
)
from faultsim.plot.base import new_figure
from faultsim.plot.occupancy import NOBODY, busiest
from faultsim.plot.raster import Raster
from helpers.refusals import refused
from helpers.results import nodes_of, random_log

TRACE = fs.FailureTrace(np.arange(5, 3000, 60), np.arange(50) * 7 % 32, [0, 40] * 25, span=3000)


@pytest.fixture(scope="module")
def torus_run():
    return fs.simulate(random_log(80, 8), fs.Torus(4, 4, 2), record=True, failures=TRACE)


@pytest.fixture(scope="module")
def cluster_run():
    return fs.simulate(random_log(80, 8), fs.Cluster(20), record=True)


edges = st.floats(-1.0, 9.0, allow_nan=False)


@given(st.lists(st.tuples(edges, edges, edges, edges, st.integers(0, 1)), max_size=8))
def test_a_raster_covers_what_the_rectangles_do(shapes):
    height, width = 5, 7
    raster = Raster(2, height, width)
    columns = np.array(shapes, dtype=float).reshape(-1, 5).T
    left, right = np.minimum(columns[0], columns[1]), np.maximum(columns[0], columns[1])
    low, high = np.minimum(columns[2], columns[3]), np.maximum(columns[2], columns[3])
    raster.add(left, right, low, high, columns[4].astype(np.int64))
    expected = np.zeros((2, height, width))
    for x0, x1, y0, y1, kind in zip(left, right, low, high, columns[4].astype(int), strict=True):
        for y in range(height):
            for x in range(width):
                across, up = min(x1, x + 1) - max(x0, x), min(y1, y + 1) - max(y0, y)
                expected[kind, y, x] += max(across, 0.0) * max(up, 0.0)
    for kind in range(2):
        np.testing.assert_allclose(raster.coverage(kind), expected[kind], atol=1e-9)


def test_a_pixel_has_the_colour_that_covers_most_of_it():
    raster = Raster(2, 1, 2)
    ends = np.array([0.75, 1.0]), np.array([0.0, 0.0]), np.array([1.0, 1.0])
    raster.add(np.array([0.0, 0.75]), *ends, np.array([0, 1]))
    picture = raster.picture(["#FF0000", "#0000FF"], [1.0, 0.5])
    assert picture[0, 0].tolist() == [255, 0, 0, round(255 * 0.875)]
    assert picture[0, 1].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("which", ["torus_run", "cluster_run"])
@pytest.mark.parametrize(("rows", "block"), [("nodes", 1), ("nodes", 64), ("nodes", 1 << 21), ("allocation", 1 << 21)])
def test_a_painted_gantt_holds_the_same_node_seconds(which, rows, block, request, monkeypatch):
    result = request.getfixturevalue(which)
    monkeypatch.setattr(gantt, "SHAPES_UP_TO", 10)
    monkeypatch.setattr(held_runs, "BLOCK", block)
    monkeypatch.setattr(gantt, "PALE", 1.0)
    ax = plot_gantt(result, rows=rows)
    (image,) = ax.images
    pixels = np.asarray(image.get_array())
    assert pixels.shape == (result.machine.nodes, gantt.PIXELS[1], 4)
    assert pixels[..., 3].mean() / 255 == pytest.approx(result.metrics["utilization"], abs=0.002)
    assert image.get_extent() == [0.0, ax.get_xlim()[1], 0.0, result.machine.nodes]


def test_a_painted_gantt_takes_memory_by_its_pixels():
    rng = np.random.default_rng(1)
    nodes = 20_000
    # Every second node is taken for good, so that no job has two nodes side by side: 20,000 of size 1 that come first.
    log = fs.Workload(
        submit=np.concatenate([np.zeros(nodes), np.arange(1, 301)]),
        runtime=np.concatenate([np.where(np.arange(nodes) % 2, 1e6, 0.5), rng.integers(1, 50, 300)]),
        size=np.concatenate([np.ones(nodes, int), rng.integers(5000, 10_001, 300)]),
    )
    result = fs.simulate(log, fs.Cluster(nodes), record=True)
    stays = len(result.allocations["nodes"])
    assert stays > 2_000_000  # each a rectangle of its own: half a gigabyte as shapes
    plot_gantt(result)  # what is imported on the way does not count
    tracemalloc.start()
    try:
        plot_gantt(result)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 400e6


def test_stays_that_a_failure_ended_are_painted_pale(torus_run, monkeypatch):
    monkeypatch.setattr(gantt, "SHAPES_UP_TO", 10)
    (image,) = plot_gantt(torus_run).images
    opacities = np.asarray(image.get_array())[..., 3]
    assert torus_run.metrics["failures_hit"] > 5
    assert (opacities == round(255 * gantt.PALE)).sum() > 50


def test_timelines_mark_every_failure(torus_run):
    for draw in (plot_utilization, plot_queue):
        ax = draw(torus_run)
        marks = {line.get_label(): len(line.get_xdata()) for line in ax.lines if "failure" in str(line.get_label())}
        hit = torus_run.metrics["failures_hit"]
        assert marks == {"failure": torus_run.metrics["failures"] - hit, "failure that kills a job": hit}
        assert "failure" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_failures_of_a_run_that_was_not_recorded_are_marked_without_saying_what_they_killed():
    # One early failure of a node that nobody holds.
    trace = fs.FailureTrace([1.0], [19], [0.0], span=1e6)
    log = fs.Workload(submit=[0, 5], runtime=[50, 20], size=[2, 3])
    ax = plot_utilization(fs.simulate(log, fs.Cluster(20), failures=trace))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[1:] == ["failure"]


def test_occupancy_is_what_the_allocations_say(torus_run):
    held = torus_run.allocations
    nodes = nodes_of(held, torus_run.machine.shape)
    for at in np.linspace(*torus_run.span, 23):
        state = occupancy(torus_run, float(at) - torus_run.span[0])
        now = (held["begin"] <= at) & (at < held["end"])
        assert (state >= 0).sum() == (held["a"] * held["b"] * held["c"])[now].sum()
        for row in np.flatnonzero(now):
            assert (state.reshape(-1)[nodes[row]] == held["job"][row]).all()
        down = (TRACE.time <= at) & (at < TRACE.time + TRACE.downtime)
        free_and_down = set(TRACE.node[down].tolist()) - set(np.flatnonzero(state.reshape(-1) >= 0).tolist())
        assert set(np.flatnonzero(state.reshape(-1) == -2).tolist()) == free_and_down


def test_busiest_is_when_most_nodes_are_held(torus_run):
    held = torus_run.allocations
    at = busiest(torus_run)
    most = max((occupancy(torus_run, float(t) - torus_run.span[0]) >= 0).sum() for t in np.unique(held["begin"]))
    assert (occupancy(torus_run, at) >= 0).sum() == most


def test_the_torus_in_space_draws_each_node_once_near_ones_last(torus_run):
    at = busiest(torus_run)
    ax = plot_occupancy(torus_run, at, view="space")
    (cubes,) = ax.collections
    faces = cubes.get_paths()
    assert len(faces) == 3 * torus_run.machine.nodes
    held = (occupancy(torus_run, at) >= 0).sum()
    assert f"on {held} of 32 nodes" in ax.get_title()
    # The last node drawn is the nearest: largest x + y + z, hence x = 3, y = 3, z = 1.
    centre = faces[-3].vertices[:4].mean(axis=0)
    assert centre[0] == pytest.approx(0.0)
    state = occupancy(torus_run, at)
    assert (state[3, 3, 1] == NOBODY) == (np.ptp(faces[-3].vertices[:, 0]) < 0.5)


def test_an_animation_has_its_frames(torus_run, tmp_path):
    from PIL import Image

    for name in ("torus.gif", "again.gif"):
        animate_occupancy(torus_run, tmp_path / name, frames=4)
    with Image.open(tmp_path / "torus.gif") as picture:
        assert picture.n_frames == 4
        assert picture.info["loop"] == 0
    assert (tmp_path / "torus.gif").read_bytes() == (tmp_path / "again.gif").read_bytes()
    refused(OptionError, r"\.gif, \.webp", animate_occupancy, torus_run, tmp_path / "torus.mp4")
    refused(OptionError, "frames", animate_occupancy, torus_run, tmp_path / "torus.gif", frames=0)


def test_a_frame_of_an_animation_shows_its_whole_title(torus_run):
    figure = new_figure(4.8, 4.6)
    ax = plot_occupancy(torus_run, ax=figure.add_subplot())
    figure.draw_without_rendering()
    place = ax.title.get_window_extent()
    assert 0 < place.x0 < place.x1 < figure.bbox.x1


@pytest.mark.parametrize("draw", [plot_gantt, plot_utilization, plot_queue])
def test_a_legend_covers_nothing_that_is_drawn(torus_run, draw):
    ax = draw(torus_run)
    ax.figure.draw_without_rendering()
    place = ax.get_legend().get_window_extent()
    assert 0 < place.y0 < place.y1 < ax.xaxis.label.get_window_extent().y0 < ax.bbox.y0


def test_the_legend_of_a_gantt_chart_names_what_failures_do(torus_run, monkeypatch):
    for limit in (gantt.SHAPES_UP_TO, 0):
        monkeypatch.setattr(gantt, "SHAPES_UP_TO", limit)
        words = [text.get_text() for text in plot_gantt(torus_run).get_legend().get_texts()]
        assert words == ["failure", "failure that kills a job", "node down", "ended by a failure"]


def test_the_legend_has_no_failures_that_are_not_drawn():
    log, machine = fs.Workload(submit=[0], runtime=[10], size=[1]), fs.Cluster(2)
    idle = fs.simulate(log, machine, failures=fs.FailureTrace([5.0], [1], span=100.0), record=True)
    assert [text.get_text() for text in plot_gantt(idle).get_legend().get_texts()] == ["failure"]
    late = fs.simulate(log, machine, failures=fs.FailureTrace([50.0], [0], span=100.0), record=True)
    assert plot_gantt(late).get_legend() is None


def test_only_a_recorded_torus_is_drawn_in_space(cluster_run):
    refused(OptionError, "use plot_gantt", plot_occupancy, cluster_run)
    refused(OptionError, "record=True", plot_occupancy, fs.simulate(random_log(80, 8), fs.Torus(4, 4, 2)))


def test_ledger_bars_add_up_to_the_capacity(torus_run, cluster_run):
    ax = plot_ledger({"torus": torus_run, "cluster": cluster_run, "by hand": {"useful": 3.0, "down": 1.0}})
    ends = {}
    for bar in ax.patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        ends[row] = max(ends.get(row, 0.0), bar.get_x() + bar.get_width())
    assert ends == {row: pytest.approx(100.0) for row in range(3)}
    shown = {text.get_text() for text in ax.get_legend().get_texts()}
    words = {"idle_demand": "idle despite demand", "idle_no_demand": "idle without demand"}
    assert shown == {
        words.get(account, account.replace("_", " "))
        for account in torus_run.ledger
        if torus_run.ledger[account] or cluster_run.ledger[account]
    } | {"down"}
    assert [text.get_text() for text in ax.get_yticklabels()] == ["torus", "cluster", "by hand"]


def test_a_ledger_chart_says_what_is_wrong():
    refused(OptionError, "at least one", plot_ledger, {})
    refused(OptionError, r"unknown account 'usefull'.*useful", plot_ledger, {"a": {"usefull": 1.0}})


def test_without_matplotlib_the_extra_is_named(torus_run, tmp_path, monkeypatch):
    monkeypatch.setattr("faultsim.plot.base.find_spec", lambda name: None)
    for call in (
        lambda: plot_occupancy(torus_run),
        lambda: plot_ledger(torus_run),
        lambda: animate_occupancy(torus_run, tmp_path / "a.gif"),
    ):
        refused(MissingExtraError, r'pip install "faultsim\[plot\]"', call)
