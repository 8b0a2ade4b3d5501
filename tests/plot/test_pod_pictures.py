"""Pictures of pods: what each square is, where it is, and in which colour."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.plot import animate_occupancy, new_figure, occupancy, plot_occupancy
from faultsim.plot.cubes import beside, layout, rows_of
from faultsim.plot.instant import fills_at
from faultsim.plot.occupancy import BROKEN, busiest
from faultsim.plot.theme import use_theme
from faultsim.plot.touching import FILLS, STRONG, job_colours, neighbours
from helpers.refusals import refused

PODS = [
    fs.Pod((2, 2, 3), (2, 2, 2), 8),
    fs.Pod((2, 3, 2), (4, 4, 4), 16, "static"),
    fs.Pod((1, 2, 5), (2, 2, 2), 4, "static", aligned=False),
    fs.Pod((1, 1, 7), (3, 3, 3), 27, spares=2),
]


def run_on(pod):
    rng = np.random.default_rng(8)
    sizes = [each.hosts for each in pod.slices if each.cubes < 5]
    log = fs.Workload(np.sort(rng.integers(0, 900, 80)), rng.integers(20, 200, 80), rng.choice(sizes, 80))
    failures = fs.synthetic.exponential_failures(pod.nodes, 2000, 9000, downtime=80.0, rng=9, any_rate=True)
    return fs.simulate(log, pod, failures=failures, record=True)


@pytest.fixture(scope="module", params=PODS, ids=str)
def run(request):
    return run_on(request.param)


def moments(result, n=15):
    return np.linspace(*result.span, n)[1:-1].tolist()


def test_occupancy_is_what_the_allocations_say(run):
    held, trace, pod = run.allocations, run.failures, run.machine
    broken = 0
    for at in moments(run):
        expected = np.full(pod.nodes, -1)
        expected[trace.node[(trace.time <= at) & (at < trace.time + trace.downtime)]] = BROKEN
        for row in np.flatnonzero((held["begin"] <= at) & (at < held["end"])):
            expected[held["nodes"][held["node_offsets"][row] : held["node_offsets"][row + 1]]] = held["job"][row]
        state = occupancy(run, at - run.span[0])
        assert state.shape == (pod.n_cubes, pod.hosts)
        np.testing.assert_array_equal(state.ravel(), expected)
        broken += (state == BROKEN).any()
    assert broken > 0
    most = max((occupancy(run, float(at) - run.span[0]) >= 0).sum() for at in np.unique(held["begin"]))
    assert (occupancy(run, busiest(run)) >= 0).sum() == most


def test_whole_cubes_are_one_square_and_others_have_one_for_each_host(run):
    for at in moments(run, 6):
        ax = plot_occupancy(run, at - run.span[0])
        squares, rims = ax.collections
        state = occupancy(run, at - run.span[0])
        colours = fills_at(state, neighbours(run), job_colours(run)).of_job
        whole = (state == state[:, :1]).all(axis=1) & (state[:, 0] != BROKEN)
        drawn = [*state[whole, 0].tolist(), *state[~whole].ravel().tolist()]
        assert len(squares.get_paths()) == len(drawn)
        assert len(rims.get_paths()) == (state == BROKEN).any(axis=1).sum()
        found = ["#" + "".join(f"{round(255 * part):02X}" for part in colour[:3]) for colour in squares.get_facecolor()]
        for job, fill in zip(drawn, found, strict=True):
            assert job < 0 or FILLS[colours[job]] == fill
        hosts = f"{(state >= 0).sum():,} of {state.size:,} hosts"
        assert hosts in ax.get_title()


def test_squares_do_not_cover_each_other(run):
    squares = plot_occupancy(run, moments(run)[4] - run.span[0]).collections[0].get_paths()
    boxes = np.array([[*path.vertices.min(axis=0), *path.vertices.max(axis=0)] for path in squares])
    left, low, right, top = (boxes[:, i][:, None] for i in range(4))
    across, up = np.minimum(right, right.T) - np.maximum(left, left.T), np.minimum(top, top.T) - np.maximum(low, low.T)
    meet = (across > 1e-9) & (up > 1e-9)
    assert (meet == np.eye(len(boxes), dtype=bool)).all()


def test_jobs_in_cubes_next_to_each_other_have_different_colours(run):
    """By the places in the picture: cubes that are whole and one to the right of, or below, each other."""
    place, colours = layout(run.machine), job_colours(run)
    across, down = (np.abs(np.subtract.outer(axis, axis)) for axis in (place.column, place.row))
    near = across + down == 1
    pairs = 0
    for at in moments(run, 40):
        state = occupancy(run, at - run.span[0])
        whole = (state == state[:, :1]).all(axis=1) & (state[:, 0] >= 0)
        for a, b in np.argwhere(near & whole[:, None] & whole[None, :]):
            one, other = state[a, 0], state[b, 0]
            pairs += one != other
            assert one == other or colours[one] != colours[other]
    assert pairs > 0
    assert colours.max() < len(STRONG)


def test_where_cubes_are_drawn():
    """Switched ones as text is read; wired ones layer by layer, x to the right and y up."""
    place = layout(fs.Pod.tpu_v4())
    assert (place.column[:10].tolist(), place.row[:10].tolist()) == ([0, 1, 2, 3, 4, 5, 6, 7, 0, 1], [0] * 8 + [1] * 2)
    assert [text for _, _, text in place.words] == ["cube 0", "8", "16", "24", "32", "40", "48", "56"]
    pod = fs.Pod((2, 3, 2), wiring="static")
    place = layout(pod)
    number = {(x, y, z): (x * 3 + y) * 2 + z for x in range(2) for y in range(3) for z in range(2)}
    for (x, y, z), cube in number.items():
        assert (place.column[cube], place.row[cube]) == (x + z * 2.7, 2 - y)
    assert [text for _, _, text in place.words] == ["z = 0", "z = 1"]
    right, below = beside(pod)[2:]
    host = np.array([number[0, 1, 0] * 16 + 5, number[1, 1, 0] * 16 + 5, number[0, 0, 1] * 16 + 5])
    assert right(host).tolist() == [number[1, 1, 0] * 16 + 5, pod.nodes, number[1, 0, 1] * 16 + 5]
    assert below(host).tolist() == [number[0, 0, 0] * 16 + 5, number[1, 0, 0] * 16 + 5, pod.nodes]
    for n in range(1, 200):
        rows, columns = rows_of(n)
        assert rows <= columns <= 2.5 * n**0.5 + 3
        assert n <= rows * columns < n + columns


def test_an_animation_has_its_frames(tmp_path):
    from PIL import Image

    result = run_on(PODS[0])
    animate_occupancy(result, tmp_path / "pod.gif", frames=3, theme="dark")
    with Image.open(tmp_path / "pod.gif") as picture:
        assert picture.n_frames == 3


def test_what_a_picture_says_and_refuses():
    log = fs.Workload([0, 0], [10, 10], [4, 1])
    down = fs.FailureTrace([0], [5], [90], span=99)
    result = fs.simulate(log, fs.Pod((1, 1, 3), (2, 2, 2), 4), failures=down, record=True)
    with use_theme("dark"):
        ax = plot_occupancy(result, 5.0, ax=new_figure(6, 4).add_subplot())
    assert ax.get_title() == "5 s after the first submit\n2 jobs on 5 of 12 hosts, 1 down in 1 cube"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["job 1, 1 cube", "job 2, 1 host", "host free", "host down", "cube with a host that is down"]
    refused(OptionError, "view='space' draws the nodes of a torus; the cubes", plot_occupancy, result, view="space")
    on_cluster = fs.simulate(log, fs.Cluster(8), record=True)
    refused(OptionError, "jobs on cluster:8 have no boxes; draw a run on a Torus or a Pod", plot_occupancy, on_cluster)
    unrecorded = fs.simulate(log, fs.Pod((1, 1, 3), (2, 2, 2), 4))
    refused(OptionError, "record=True", plot_occupancy, unrecorded)
