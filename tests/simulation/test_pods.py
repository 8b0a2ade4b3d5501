"""Pods as users meet them: what runs, what is refused, and what a run on them counts."""

import math

import numpy as np
import pytest

import faultsim as fs
from faultsim.policies import parse_policy
from helpers.command import run as command

POD = fs.Pod((1, 2, 2), (2, 2, 2), 4)


class Mine(fs.Placement):
    """A rule of one's own."""

    def choose_nodes(self, job, free, state):
        return free[: job.size]


def log_of(rows, **columns):
    """Rows (submit, runtime, hosts)."""
    return fs.Workload(*map(list, zip(*rows, strict=True)), columns=columns)


def random_log(rng, sizes, n=200, gap=20):
    runtime = rng.integers(1, 100, n)
    return fs.Workload(
        np.cumsum(rng.integers(0, gap, n)), runtime, rng.choice(sizes, n), estimate=runtime + rng.integers(0, 50, n)
    )


# -- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"placement": "mfp"}, "MaxFreePartition places boxes, and pod:1x2x2,.* has none: use placement=FirstFit"),
        ({"placement": "most_cubic"}, "MostCubic places boxes"),
        ({"placement": fs.FirstFit("bases")}, "box_order='bases' is not supported on pod:.*, which has no boxes"),
        ({"placement": "lff"}, r"chooses single nodes, and on pod:.* jobs take slices: use placement=FirstFit\(\)"),
        ({"migration": "defragment"}, "Defragment is not supported on pod:.*, where slices do not move"),
        ({"migration": "lfm"}, "jobs keep slices: use migration=None, or use a Cluster"),
        ({"placement": Mine()}, r"Mine chooses nodes or boxes, and on pod:.* jobs take slices: use placement=FirstFit"),
        ({"engine": "reference", "machine": fs.Pod()}, "takes at most 12 cubes, not 64: use engine='core'"),
        ({"log": log_of([(0, 1, 4)], shape=["2x2x4"])}, r"job 1 \(row 0\) asks for 4 hosts, and its shape 2x2x4 has 8"),
        ({"log": log_of([(0, 1, 1)], shape=["2x2x4"])}, r"job 1 \(row 0\) asks for 1 host, and its shape"),
        ({"log": log_of([(0, 1, 4)], shape=["2x2x3"])}, r"job 1 \(row 0\): the shape 2x2x3 of a slice is not allowed"),
        ({"log": log_of([(0, 1, 4)], shape=[3])}, "the column 'shape' of jobs on a pod is text, such as '4x4x8'"),
        (
            {"log": log_of([(0, 1, 17)])},
            r"1 of 1 jobs is larger than the largest slice of pod:.* \(16 hosts\): id 1 \(17 hosts\)",
        ),
        ({"failures": fs.FailureTrace([1], [16])}, r"failures are of nodes outside pod:.* \(0 to 15\)"),
    ],
)
def test_what_a_pod_refuses(options, message):
    given = {"log": log_of([(0, 1, 4)]), "machine": POD, **options}
    with pytest.raises(fs.FaultsimError, match=message) as caught:
        fs.simulate(given.pop("log"), given.pop("machine"), **given)
    assert "\n" not in str(caught.value)


def cubes_of(held, row, hosts=16):
    """The cubes of a job's first stay, as coordinates in a pod of 4x4x4."""
    nodes = held["nodes"][held["node_offsets"][row] : held["node_offsets"][row + 1]]
    return sorted({divmod(int(node) // hosts, 16)[:1] + divmod(int(node) // hosts % 16, 4) for node in nodes})


def test_jobs_get_the_shapes_that_they_ask_for_turned_if_they_must():
    """Cubes of 4x4x4 chips. 4x4x16 lies along z, as the pod is as long everywhere; a cube of each column along z is
    down, so that it is turned: first along x, whose base is then (0, 0, 1).
    """
    pod = fs.Pod.tpu_v4("static")
    jobs = pod.jobs(log_of([(1, 10, 1)] * 3), shape=["4x4x16", "4x4x16", "4x16x16"])
    held = fs.simulate(jobs, pod, record=True).allocations
    assert cubes_of(held, 0) == [(0, 0, z) for z in range(4)]
    assert cubes_of(held, 1) == [(0, 1, z) for z in range(4)]
    assert cubes_of(held, 2) == [(1, y, z) for y in range(4) for z in range(4)]
    down = fs.FailureTrace([0] * 16, [column * 64 for column in range(16)], [9e4] * 16)
    result = fs.simulate(jobs, pod, failures=down, record=True)
    held = result.allocations
    assert cubes_of(held, 0) == [(x, 0, 1) for x in range(4)]
    assert cubes_of(held, 1) == [(x, 0, 2) for x in range(4)]
    assert cubes_of(held, 2) == [(x, y, 3) for x in range(4) for y in range(4)]
    assert result.jobs["allocated"].tolist() == [64, 64, 256]
    assert not any("shape" in text for text in result.warnings)


def test_a_shape_is_never_a_larger_one():
    """All cubes but a block of 4x8x8 are down, which 4x4x12 does not fit into; who asks for three cubes gets it."""
    pod = fs.Pod.tpu_v4("static")
    gone = [cube * 16 for cube in range(64) if cube not in (58, 59, 62, 63)]
    down = fs.FailureTrace([0] * 60, gone, [90] * 60)
    jobs = pod.jobs(log_of([(1, 10, 1)]), shape=["4x4x12"])
    assert fs.simulate(jobs, pod, failures=down).jobs["start"].tolist() == [90]
    result = fs.simulate(log_of([(1, 10, 48)]), pod, failures=down)
    assert (result.jobs["start"].tolist(), result.jobs["allocated"].tolist()) == ([1], [64])


def test_without_alignment_shapes_are_the_boxes_of_a_torus():
    """On 2x2x2 cubes a size has one shape, so that who asks for it gets what `Torus` gives, place by place."""
    rng = np.random.default_rng(5)
    pod, torus = fs.Pod((2, 2, 2), (2, 2, 2), 1, "static", aligned=False), fs.Torus(2, 2, 2)
    shapes = {each.hosts: str(each) for each in pod.slices}
    assert sorted(shapes) == [1, 2, 4, 8]
    log = random_log(rng, [1, 2, 4, 8], gap=30)
    for scheduler in ("fcfs", "easy", "conservative", fs.Backfill(3)):
        plain = fs.simulate(log, torus, scheduler=scheduler, placement="first_fit", record=True)
        asked = pod.jobs(log, shape=[shapes[size] for size in log.size.tolist()])
        found = fs.simulate(asked, pod, scheduler=scheduler, record=True)
        assert found.jobs["start"].tolist() == plain.jobs["start"].tolist()
        boxes = zip(*(plain.allocations[axis].tolist() for axis in "xyzabc"), strict=True)
        for row, box in enumerate(boxes):
            held = found.allocations
            nodes = held["nodes"][held["node_offsets"][row] : held["node_offsets"][row + 1]].tolist()
            (x, y, z), (a, b, c) = box[:3], box[3:]
            axes = [[(at + i) % 2 for i in range(n)] for at, n in ((x, a), (y, b), (z, c))]
            assert nodes == sorted(4 * i + 2 * j + k for i in axes[0] for j in axes[1] for k in axes[2])


def test_shapes_of_jobs_that_are_submitted_later():
    pod = fs.Pod((1, 2, 2), wiring="static")
    first = pod.jobs(log_of([(0, 10, 1)]), shape=["4x4x8"])
    live = fs.Simulation(first, pod, live=4)
    live.submit(pod.jobs(log_of([(1, 10, 1), (1, 10, 1)]), shape=["4x4x8", "4x8x8"]))
    with pytest.raises(fs.InputError, match="the shape 4x4x12 of a slice is not allowed"):
        live.submit(log_of([(2, 10, 48)], shape=["4x4x12"]))
    twin = live.copy()
    for each in (live, twin):
        each.advance()
        assert each.result().jobs["start"].tolist() == [0, 1, 11]


def test_jobs_larger_than_the_largest_slice_are_dropped_on_request():
    pod = fs.Pod((1, 1, 4), (2, 2, 2), 4, largest=3)
    result = fs.simulate(log_of([(0, 1, 13), (0, 1, 12), (0, 1, 5)]), pod, oversized="drop")
    assert result.jobs["allocated"].tolist() == [12, 8]
    assert result.settings["machine"]["largest"] == 3


# -- what a run says


def test_places_are_nodes():
    """Cubes 0 to 3 of four hosts: half of cube 0, cubes 1 and 2, and the rest of cube 0."""
    log = log_of([(0, 50, 2), (1, 50, 8), (2, 50, 2), (3, 50, 4)])
    result = fs.simulate(log, POD, record=True, failures=fs.FailureTrace([10], [6], [100]))
    held = result.allocations
    nodes = [held["nodes"][a:b].tolist() for a, b in zip(held["node_offsets"], held["node_offsets"][1:], strict=False)]
    # Host 6 is of cube 1: its job waits until cube 0 and cube 2 or 3 are free again.
    assert nodes == [[0, 1], list(range(4, 12)), [2, 3], list(range(12, 16)), [*range(4), *range(8, 12)]]
    assert result.jobs["start"].tolist() == [0, 52, 2, 3]
    assert math.isnan(result.metrics["mean_dispersal"])
    with pytest.raises(fs.OptionError, match=r"dispersal: the nodes of pod:.* have no coordinates$"):
        _ = result.dispersal


def test_a_result_is_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(3)
    log = fs.Pod.tpu_v5p().jobs(random_log(rng, [4, 64, 512, 1024]), chips="size")
    result = fs.simulate(log, fs.Pod.tpu_v5p(), record=True)
    result.save(tmp_path / "pod.npz")
    loaded = fs.load_result(tmp_path / "pod.npz")
    assert loaded.machine == fs.Pod.tpu_v5p()
    assert loaded.metrics["mean_wait"] == result.metrics["mean_wait"]
    assert fs.rerun(loaded).jobs["start"].tolist() == result.jobs["start"].tolist()


def test_a_sweep_takes_pods():
    log = random_log(np.random.default_rng(5), [1, 2, 4, 8])
    table = fs.Sweep({"log": log}, {"machine": [POD, fs.Pod((1, 2, 2), (2, 2, 2), 4, "static")]}).run()
    text = "pod:1x2x2,cube=2x2x2,hosts=4"
    assert list(table["machine"]) == [text, f"{text},wiring=static"]


def test_a_sweep_file_takes_a_pod(tmp_path):
    (tmp_path / "pods.toml").write_text(
        'name = "pods"\n[base]\nlog = { synthetic = "sdsc_like", jobs = 50 }\n[grid]\n'
        'machine = ["pod:tpu-v4", "pod:2x2x4"]\n'
    )
    sweep = fs.read_sweep(tmp_path / "pods.toml")
    assert list(sweep.run()["machine"]) == ["pod:4x4x4", "pod:2x2x4"]


def test_the_command_line_takes_a_pod(capsys):
    status, out, _ = command(capsys, "run", "--machine", "pod:tpu-v4,wiring=static")
    assert status == 0
    assert "pod:4x4x4,wiring=static (1,024 nodes): easy, first_fit" in out
    status, _, err = command(capsys, "run", "--machine", "pod:tpu-v4", "--placement", "mfp")
    assert status == 2
    assert "--placement first-fit, or use a torus" in err


# -- what it is like


@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "conservative", "easy:order=shortest", "backfill:depth=3"])
@pytest.mark.parametrize("hosts", [1, 16])
def test_without_alignment_a_pod_is_a_torus_of_cubes(scheduler, hosts):
    rng = np.random.default_rng(hosts)
    cubes = random_log(rng, np.arange(1, 13))
    failures = fs.synthetic.exponential_failures(12, 2000, "4000s", downtime=100, count=None, rng=rng)
    policy = parse_policy("scheduler", scheduler)
    torus = fs.simulate(
        cubes, fs.Torus(2, 2, 3), scheduler=policy, placement="first_fit", failures=failures, record=True
    )
    edge = {1: 1, 16: 4}[hosts]
    pod = fs.Pod((2, 2, 3), (edge,) * 3, hosts, "static", aligned=False)
    if hasattr(policy, "max_growth"):  # in nodes
        policy = parse_policy("scheduler", f"{scheduler}{',' if ':' in scheduler else ':'}max_growth={hosts}")
    more = fs.FailureTrace(failures.time, failures.node * hosts + hosts // 2, failures.downtime, span=failures.span)
    found = fs.simulate(
        cubes.with_size_factor(hosts), pod, scheduler=policy, failures=more, recovery="requeue", record=True
    )
    for name in torus.jobs:
        mine, theirs = found.jobs[name], torus.jobs[name]
        if name in ("size", "allocated"):
            mine = mine // hosts
        if name == "lost_work":
            mine = mine / hosts
        assert mine.tobytes() == theirs.astype(mine.dtype).tobytes(), name
    assert found.counters["failures_hit"] == torus.counters["failures_hit"] > 0


def started_beside(pod, chips, cube):
    """How many slices of so many chips start at once while a host of a cube is down."""
    log = fs.Workload([0] * 200, [100] * 200, [1] * 200)
    down = fs.FailureTrace([0], [cube * 16 + 3], [1000])
    return int((fs.simulate(pod.jobs(log, chips=[chips] * 200), pod, failures=down).jobs["start"] == 0).sum())


@pytest.mark.parametrize("cube", [0, 21, 63])
@pytest.mark.parametrize(
    ("chips", "left"),
    [(4, 200), (32, 127), (64, 63), (128, 31), (256, 15), (512, 7), (1024, 3), (2048, 1), (4096, 0)],
)
def test_one_failed_cube_takes_a_slice_away_wherever_it_is(cube, chips, left):
    """By hand: 64 cubes, of which 63 are whole, make 63 // k slices of k cubes, and the blocks of powers of two fill a
    pod of 4x4x4.  Inside a cube the other half of it stays.
    """
    assert started_beside(fs.Pod.tpu_v4(), chips, cube) == left
    assert started_beside(fs.Pod.tpu_v4("static"), chips, cube) == left


@pytest.mark.parametrize(
    ("chips", "corner", "middle", "last", "switched"),
    [
        (192, 15, 15, 16, 21),  # 1x1x3: 16 blocks, none with a cube of the fourth layer
        (768, 3, 3, 4, 5),  # 2x2x3: four
        (1536, 1, 1, 2, 2),  # 2x3x4: two
        (3072, 0, 0, 1, 1),  # 3x4x4: one
    ],
)
def test_other_blocks_do_not_fill_the_pod(chips, corner, middle, last, switched):
    """By hand, for the cubes (0, 0, 0), (1, 1, 1) and (3, 3, 3)."""
    for cube, left in ((0, corner), (21, middle), (63, last)):
        assert started_beside(fs.Pod.tpu_v4("static"), chips, cube) == left
        assert started_beside(fs.Pod.tpu_v4(), chips, cube) == switched
