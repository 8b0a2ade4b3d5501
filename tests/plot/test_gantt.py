"""Gantt charts: colours of jobs that touch, rows as they are allocated, classes of jobs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.data.event_kinds import EventKind
from faultsim.errors import OptionError
from faultsim.plot import gantt, plot_gantt, plot_occupancy
from faultsim.plot.instant import fills_at
from faultsim.plot.lanes import lanes
from faultsim.plot.occupancy import busiest, occupancy
from faultsim.plot.shades import BYS, classes
from faultsim.plot.theme import THEMES
from faultsim.plot.touching import FILLS, coloured, job_colours, neighbours
from helpers.looks import crosses
from helpers.refusals import refused
from helpers.results import random_log

TRACE = fs.FailureTrace(np.arange(5, 3000, 60), np.arange(50) * 7 % 32, [0, 40] * 25, span=3000)


@pytest.fixture(scope="module", params=["requeue", "hold"])
def torus_run(request):
    recovery = {"requeue": fs.Requeue("tail", 5), "hold": fs.Hold(5)}[request.param]
    return fs.simulate(random_log(80, 8), fs.Torus(4, 4, 2), record=True, failures=TRACE, recovery=recovery)


@pytest.fixture(scope="module")
def cluster_run():
    return fs.simulate(random_log(80, 8), fs.Cluster(20), record=True)


def rectangles(ax):
    """Corners and colour of all bars: left, right, low, high, colour."""
    found = []
    for bars in ax.collections:
        colours = bars.get_facecolor()
        if bars.get_hatch() or bars.get_label() in crosses(ax):  # over those that have a colour; failures
            continue
        for i, path in enumerate(bars.get_paths()):
            (left, low), (right, high) = path.vertices.min(axis=0), path.vertices.max(axis=0)
            found.append((left, right, low, high, tuple(colours[i % len(colours)][:3])))
    return found


DOWN = tuple(int(THEMES["light"].down[i : i + 2], 16) / 255 for i in (1, 3, 5))


def overlap(a, b, c, d):
    return min(b, d) - max(a, c)


def check_bars(result, ax):
    """No bar covers another, and those that touch have different colours unless they may be of one job."""
    bars = [bar for bar in rectangles(ax) if bar[4] != DOWN]
    origin, finish = result.span
    scale = ax.get_xlim()[1] / (finish - origin)
    held = result.allocations
    sides = np.column_stack([held["begin"] - origin, held["end"] - origin]) * scale
    jobs = [set(held["job"][np.abs(sides - bar[:2]).max(axis=1) < 1e-9].tolist()) for bar in bars]
    touched = 0
    for i, (left, right, low, high, colour) in enumerate(bars):
        for k, (left_, right_, low_, high_, colour_) in enumerate(bars[:i]):
            across, up = overlap(left, right, left_, right_), overlap(low, high, low_, high_)
            assert not (across > 1e-9 and up > 1e-9), "bars cover one another"
            if (across > -1e-9 and up > 1e-9) or (across > 1e-9 and up > -1e-9):
                assert colour != colour_ or jobs[i] & jobs[k]
                touched += colour != colour_
    assert touched > 100


def test_bars_that_touch_differ_where_rows_are_allocated(torus_run):
    check_bars(torus_run, plot_gantt(torus_run))


def test_bars_that_touch_differ_where_rows_are_nodes(cluster_run):
    check_bars(cluster_run, plot_gantt(cluster_run))


def test_neighbours_on_a_torus_differ_at_every_instant(torus_run):
    colours, seen = job_colours(torus_run), 0
    for at in np.linspace(*torus_run.span, 40):
        state = occupancy(torus_run, float(at) - torus_run.span[0])
        for axis in range(3):
            other = np.roll(state, -1, axis)
            apart = (state >= 0) & (other >= 0) & (state != other)
            assert (colours[state[apart]] != colours[other[apart]]).all()
            seen += int(apart.sum())
    assert seen > 100


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=120))
def test_a_pair_has_two_colours(pairs):
    pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found = coloured(pairs, 31)
    apart = pairs[:, 0] != pairs[:, 1]
    degree = np.bincount(pairs.ravel(), minlength=31)
    assert degree.max(initial=0) >= len(FILLS) or (found[pairs[apart, 0]] != found[pairs[apart, 1]]).all()
    assert ((found >= 0) & (found < len(FILLS))).all()


stays = st.tuples(st.integers(0, 20), st.integers(0, 9), st.integers(1, 5))


@given(st.lists(stays, max_size=25))
def test_rows_are_given_once(drawn):
    begin, length, size = np.array(drawn, dtype=float).reshape(-1, 3).T
    end, size = begin + length, size.astype(np.int64)
    row, first, count = lanes(begin, end, size, 125)
    assert (np.bincount(row, weights=count, minlength=len(begin)) == np.where(length > 0, size, 0)).all()
    for moment in np.unique(begin):
        taken = [k for r, f, c in zip(row, first, count, strict=True) if begin[r] <= moment < end[r]
                 for k in range(f, f + c)]  # fmt: skip
        assert len(taken) == len(set(taken))


def test_rows_as_allocated_hold_the_node_seconds_of_jobs_and_of_nodes_that_are_down(torus_run):
    ax = plot_gantt(torus_run)
    bars = [bar for bar in rectangles(ax) if bar[4] != DOWN]
    assert bars != rectangles(ax)
    width = ax.get_xlim()[1]
    area = sum((right - left) * (high - low) for left, right, low, high, _ in bars)
    assert area / width / 32 == pytest.approx(torus_run.metrics["utilization"])
    assert ax.get_ylim() == (0, 32)


def test_crosses_are_on_the_job_that_was_hit(torus_run):
    ax = plot_gantt(torus_run)
    events = torus_run.events
    hits = (events["kind"] == EventKind.FAILURE) & (events["job"] >= 0)
    kills = crosses(ax)["failure that kills a job"]
    assert len(kills) == hits.sum() > 5
    ended = [
        corners for bars in ax.collections if bars.get_hatch() for path in bars.get_paths()
        for corners in path.vertices.reshape(-1, 5, 2)
    ]  # fmt: skip
    for x, y in kills:
        inside = [
            corners for corners in ended
            if abs(corners[:, 0].max() - x) < 1e-9 and corners[:, 1].min() <= y <= corners[:, 1].max()
        ]  # fmt: skip
        assert bool(inside) == (torus_run.settings["recovery"]["name"] == "requeue")


@pytest.mark.parametrize("by", BYS[1:])
def test_classes_are_named_in_the_legend(by):
    rng = np.random.default_rng(2)
    log = random_log(200, 32)
    log = fs.Workload(submit=log.submit, runtime=60 * log.runtime, size=log.size, user=rng.integers(-1, 12, 200))
    result = fs.simulate(log, fs.Torus(4, 4, 2), record=True, failures=TRACE)
    kind, colours, words = classes(result, by)
    assert len(colours) == len(words) == len(set(colours)) == kind.max() + 1 >= 2
    assert set(kind.tolist()) == set(range(len(words)))
    ax = plot_gantt(result, by=by)
    assert [text.get_text() for text in ax.get_legend().get_texts()][: len(words)] == words
    if by == "restarts":
        assert ((kind == 0) == (result.jobs["restarts"] == 0)).all()
    if by == "user":
        assert words[-1] == f"{len(np.unique(result.users)) - 8} other users"


def test_sizes_beyond_eight_powers_share_classes():
    log = fs.Workload(submit=np.zeros(11), runtime=np.ones(11), size=2 ** np.arange(11))
    kind, _, words = classes(fs.simulate(log, fs.Cluster(2048)), "size")
    assert words[0] == "1 to 2 nodes"
    assert words[-1] == "513 to 2,048 nodes"
    assert (np.diff(kind) >= 0).all()


def test_jobs_too_small_to_see_are_coloured_in_turn(cluster_run, monkeypatch):
    monkeypatch.setattr("faultsim.plot.touching.CHOSEN_UP_TO", 5)
    assert job_colours(cluster_run)[:12].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]


def test_a_run_of_no_jobs_is_an_empty_chart():
    result = fs.simulate(fs.Workload(submit=[0.0], runtime=[0.0], size=[1]), fs.Torus(2, 2, 2), record=True)
    for draw in (plot_gantt, lambda run: plot_gantt(run, rows="nodes"), plot_occupancy):
        draw(result).figure.draw_without_rendering()


def test_slices_show_every_node(torus_run):
    at = busiest(torus_run)
    ax = plot_occupancy(torus_run, at)
    squares = ax.collections[0]
    state = occupancy(torus_run, at)
    colours, named = fills_at(state, neighbours(torus_run), job_colours(torus_run))
    assert len(set(colours[named].tolist())) == len(named)
    assert len(squares.get_paths()) == 32
    found = ["#" + "".join(f"{round(255 * part):02X}" for part in colour[:3]) for colour in squares.get_facecolor()]
    for job, fill in zip(state.ravel().tolist(), found, strict=True):
        assert job < 0 or FILLS[colours[job]] == fill
    centres = {tuple(path.vertices[:4].mean(axis=0).round(3)) for path in squares.get_paths()}
    assert len(centres) == 32
    assert {"z = 0", "z = 1"} <= {text.get_text() for text in ax.texts}


def test_what_is_wrong_is_said(torus_run):
    refused(OptionError, r"unknown by 'users' \(did you mean 'user'", plot_gantt, torus_run, by="users")
    refused(OptionError, "unknown rows 'boxes'", plot_gantt, torus_run, rows="boxes")
    refused(OptionError, "unknown view 'layers'", plot_occupancy, torus_run, view="layers")
    refused(OptionError, "unknown theme 'drak'", plot_gantt, torus_run, theme="drak")


def test_a_chart_of_many_bars_is_painted_in_the_same_colours(torus_run, monkeypatch):
    shapes = {bar[4] for bar in rectangles(plot_gantt(torus_run))}
    monkeypatch.setattr(gantt, "SHAPES_UP_TO", 10)
    (image,) = plot_gantt(torus_run).images
    pixels = np.asarray(image.get_array()).reshape(-1, 4)
    seen = {tuple((pixel[:3] / 255).tolist()) for pixel in np.unique(pixels[pixels[:, 3] > 0], axis=0)}
    assert seen <= shapes


def test_reservations_are_hatched_behind_the_jobs():
    log = fs.Workload(submit=[0, 0], runtime=[10, 40], size=[1, 1])
    daily = fs.Reservation("2-3", 5, 9, every=20, name="maintenance")
    whole = fs.Reservation("all", 60, 70)
    result = fs.simulate(log, fs.Cluster(4), reservations=[daily, whole], record=True)
    ax = plot_gantt(result)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["reserved"]
    (area,) = [each for each in ax.collections if each.get_hatch()]
    assert area.get_zorder() < min(each.get_zorder() for each in ax.collections if each is not area)
    points = area.get_paths()[0].vertices.reshape(-1, 5, 2)
    seconds = result.span[1] / ax.get_xlim()[1]  # of a unit of the axis
    assert (points[:, 0, 0] * seconds).round(6).tolist() == [5, 25]
    assert (points[:, 2] * [seconds, 1]).round(6).tolist() == [[9, 4], [29, 4]]
    assert not plot_gantt(result, rows="allocation").get_legend()
