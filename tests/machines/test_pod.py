"""Pods of cubes: what is allowed, what is refused and what is said then."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

import faultsim as fs
from faultsim import Pod
from faultsim.machines import machine_from_lowered, parse_machine
from faultsim.machines.slices import SLICE_RULES, inside, surface

# The table of the page 'TPU v5p': shape, chips, hosts, cubes.
PUBLISHED = [
    ("2x2x1", 4, 1, 0),
    ("2x2x2", 8, 2, 0),
    ("2x4x4", 32, 8, 0),
    ("4x4x4", 64, 16, 1),
    ("4x4x8", 128, 32, 2),
    ("4x8x8", 256, 64, 4),
    ("8x8x8", 512, 128, 8),
    ("8x8x16", 1024, 256, 16),
    ("8x16x16", 2048, 512, 32),
    ("16x16x16", 4096, 1024, 64),
    ("16x16x24", 6144, 1536, 96),
]
PRESETS = [Pod.tpu_v4, Pod.tpu_v5p, Pod.tpu7x]


@pytest.mark.parametrize(("shape", "chips", "hosts", "cubes"), PUBLISHED)
@pytest.mark.parametrize("wiring", ["ocs", "static"])
def test_published_shapes_are_allowed_and_the_default_of_their_chips(shape, chips, hosts, cubes, wiring):
    pod = Pod.tpu_v5p(wiring)
    found = pod.slice_of(shape=shape)
    assert (str(found), found.chips, found.hosts, found.cubes) == (shape, chips, hosts, cubes)
    assert pod.slice_of(chips=chips) == found


def test_slices_inside_a_cube_are_those_of_dynamic_slicing():
    assert [(str(each), each.hosts) for each in inside(4, 16)] == [
        ("2x4x4", 8),
        ("2x2x4", 4),
        ("2x2x2", 2),
        ("2x2x1", 1),
    ]


@pytest.mark.parametrize(
    ("edge", "hosts", "sizes"), [(1, 1, []), (2, 8, [4, 2, 1]), (3, 27, []), (2, 1, []), (6, 12, [6, 3])]
)
def test_other_cubes_are_halved_while_they_can_be(edge, hosts, sizes):
    found = inside(edge, hosts)
    assert [each.hosts for each in found] == sizes
    for each in found:
        assert math.prod(each.shape) == each.chips == each.hosts * edge**3 // hosts


@pytest.mark.parametrize(
    ("preset", "cubes", "chips"), [(Pod.tpu_v4, 64, 4096), (Pod.tpu_v5p, 140, 8960), (Pod.tpu7x, 144, 9216)]
)
def test_presets(preset, cubes, chips):
    pod = preset()
    assert (pod.n_cubes, pod.chips, pod.nodes, pod.chips_per_host) == (cubes, chips, cubes * 16, 4)
    assert pod.wiring == "ocs"
    assert preset("static", aligned=False).aligned is False
    # The extents are the most cubic ones.
    boxes = itertools.product(range(1, cubes + 1), repeat=2)
    factors = [(a, b, cubes // (a * b)) for a, b in boxes if cubes % (a * b) == 0]
    assert surface(pod.cubes) == min(map(surface, factors))


@pytest.mark.parametrize("preset", PRESETS)
def test_slices_of_cubes_by_trying_all_shapes(preset):
    """With switches any shape up to the largest; with static wiring those of which some rotation fits."""
    pod = preset()
    most = pod.largest or pod.n_cubes
    ascending = [s for s in itertools.combinations_with_replacement(range(1, most + 1), 2) if math.prod(s) <= most]
    triples = {(a, b, c) for a, b in ascending for c in range(b, most // (a * b) + 1)}
    assert {tuple(4 * n for n in s) for s in triples} == {each.shape for each in pod.slices if each.cubes}
    static = preset("static")
    fitting = {
        s
        for s in triples
        if any(all(a <= n for a, n in zip(t, pod.cubes, strict=True)) for t in itertools.permutations(s))
    }
    assert {tuple(4 * n for n in s) for s in fitting} == {each.shape for each in static.slices if each.cubes}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("wiring", ["ocs", "static"])
def test_the_default_shape_has_the_least_surface(preset, wiring):
    pod = preset(wiring)
    for chips in {each.chips for each in pod.slices}:
        least = min(surface(each.shape) for each in pod.slices if each.chips == chips)
        assert surface(pod.slice_of(chips=chips).shape) == least


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pod(cubes=(4, 4)), r"cubes: a pod has three extents, such as \(4, 4, 8\) or '4x4x8', got \(4, 4\)"),
        (lambda: Pod(cubes="4x4"), "cubes: a pod has three extents"),
        (lambda: Pod(cubes=(4, 0, 4)), "an extent of a pod must be .*1"),
        (lambda: Pod(cube=(2, 4, 4)), "cube: a cube has the same extent along all axes, got 2x4x4"),
        (lambda: Pod(hosts=3), "hosts: the 64 chips of a cube cannot be shared evenly by 3 hosts"),
        (lambda: Pod(hosts=0), "hosts of a cube"),
        (lambda: Pod(wiring="optical"), "unknown wiring 'optical'; known: 'ocs', 'static'"),
        (lambda: Pod(aligned=False), "aligned=False is for static wiring"),
        (lambda: Pod(cubes=(2000, 2000, 2000)), "a pod may have at most .* hosts"),
        (lambda: Pod(largest=65), "cubes of the largest slice"),
        (lambda: Pod().slice_of(), "a slice is given by chips= or by shape=, one of the two"),
        (lambda: Pod().slice_of(chips=4, shape="2x2x1"), "one of the two"),
        (lambda: Pod().slice_of(shape="4x4"), "must be three extents, such as '4x4x8', got '4x4'"),
        (lambda: Pod().slice_of(shape="4x4xb"), "must be three whole numbers, got '4x4xb'"),
        (lambda: Pod().slice_of(shape=(4, 4, 0)), "an extent of the shape of a slice"),
        (lambda: Pod().slice_of(shape="8x4x4"), "the shape 8x4x4 of a slice is written 4x4x8"),
        (lambda: Pod().slice_of(shape="1x2x2"), "the shape 1x2x2 of a slice is written 2x2x1"),
        (
            lambda: Pod().slice_of(shape="4x4x6"),
            r"the shape 4x4x6 of a slice is not allowed; the nearest that are: 4x4x4 \(64 chips\) and "
            r"4x4x8 \(128 chips\)$",
        ),
        (lambda: Pod().slice_of(shape="8x8x17"), r"are: 8x8x16 \(1024 chips\) and 8x8x20 \(1280 chips\)$"),
        (lambda: Pod().slice_of(shape="1x1x1"), r"nearest that are: 2x2x1 \(4 chips\)$"),
        (lambda: Pod().slice_of(shape="16x16x20"), r"nearest that are: 16x16x16 \(4096 chips\)$"),
        (lambda: Pod.tpu_v4("static").slice_of(shape="4x4x20"), r"4x4x16 \(256 chips\) and 4x8x16 \(512 chips\)$"),
        (
            lambda: Pod().slice_of(chips=66),
            r"no slice has 66 chips, which is no multiple of 4, the chips of the smallest slice; the nearest that are "
            r"allowed have 64 \(4x4x4\) and 128 \(4x4x8\)$",
        ),
        (lambda: Pod.tpu_v5p().slice_of(chips=8960), r"no slice has 8960 chips; .* have 6144 \(16x16x24\)$"),
        (lambda: Pod().slice_of(chips=0), "chips of a slice"),
        (lambda: Pod().slice_of(chips=1), "no slice has 1 chip, which"),
        (lambda: Pod().slice_of(chips=10**5000), "chips of a slice must be .*, got one of 16,610 bits"),
        (lambda: Pod((10**5000, 1, 1)), "an extent of a pod must be .*, got one of 16,610 bits"),
        (lambda: Pod(cube=(2**14,) * 3, hosts=1), "an extent of a cube must be at most 128, got 16384"),
        (lambda: Pod(cubes=np.array([4.0, 4.0, 4.0])), "an extent of a pod must be a whole number, got 4.0"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(fs.OptionError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_pod_is_a_value():
    pod = Pod(cubes=[2, 2, 4], wiring="static", aligned=False)
    assert pod == Pod((2, 2, 4), (4, 4, 4), 16, "static", aligned=False)
    assert hash(pod) == hash(dataclasses.replace(pod))
    lowered = pod.lower()
    assert lowered.pop("name") == pod.name == "pod"
    assert Pod(**lowered) == machine_from_lowered(pod.lower()) == pod


def test_every_rule_has_a_source():
    assert all(rule.rule and rule.source for rule in SLICE_RULES)


# -- as text


@pytest.mark.parametrize(
    ("text", "pod"),
    [
        ("pod:4x4x4", Pod()),
        ("POD:2x2x4,wiring=static", Pod((2, 2, 4), wiring="static")),
        ("pod:2x2x2,cube=2x2x2,hosts=4,wiring=static,aligned=false,largest=4",
         Pod((2, 2, 2), (2, 2, 2), 4, "static", aligned=False, largest=4)),
    ],
)  # fmt: skip
def test_a_pod_as_text_and_back(text, pod):
    assert parse_machine(text) == pod
    assert str(pod) == text.lower()


@pytest.mark.parametrize(("name", "preset"), [("tpu-v4", Pod.tpu_v4), ("tpu_v5p", Pod.tpu_v5p), ("tpu7x", Pod.tpu7x)])
def test_presets_as_text(name, preset):
    assert parse_machine(f"pod:{name}") == preset() == parse_machine(str(preset()))
    assert parse_machine(f"pod:{name},wiring=static,aligned=false") == preset("static", aligned=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pod:tpu-v5", r"unknown pod .* \(did you mean 'tpu-v5p'\?\); write .*; presets: tpu-v4, tpu-v5p, tpu7x"),
        ("pod:", "unknown pod 'pod:'"),
        ("pod:4x4", "machine 'pod:4x4': '4x4' must be three whole numbers: write 'pod:4x4x4'"),
        ("pod:4x4xa", "'4x4xa' must be three whole numbers"),
        ("pod:4x4x4,static", r"'static' is no option of a pod.*; it has cube, hosts, wiring, aligned, largest"),
        ("pod:4x4x4,wirings=static", r"'wirings=static' is no option of a pod \(did you mean 'wiring'\?\)"),
        ("pod:4x4x4,hosts=many", "hosts must be a whole number, got 'many'"),
        ("pod:4x4x4,wiring=copper", "wiring must be 'ocs' or 'static'|unknown wiring"),
        ("pod:4x4x4,aligned=0", "machine 'pod:4x4x4,aligned=0': aligned must be true or false, got '0'"),
        ("pod:4x4x4,wiring=static,wiring=ocs", "machine 'pod:4x4x4,wiring=static,wiring=ocs': wiring is given twice"),
        ("tpu-v5", r"unknown machine 'tpu-v5' \(did you mean 'tpu-v5p'\?\)"),
        ("tpu-v5e", r"a tpu-v5e has no cubes; it is a 'torus:16x16x1' of chips"),
        ("128", r"unknown machine '128' \(did you mean 'cluster:128'\?\)"),
        ("pod:tpu-v4,hosts=8", "tpu-v4 has its own hosts"),
        ("pods:4x4x4", r"unknown machine 'pods:4x4x4' \(did you mean 'pod'\?\)"),
    ],
)  # fmt: skip
def test_what_is_no_text_of_a_pod(text, message):
    with pytest.raises(fs.OptionError, match=message) as caught:
        parse_machine(text)
    assert "\n" not in str(caught.value)


# -- jobs


def log_of(*sizes, **columns):
    return fs.Workload([0] * len(sizes), [9] * len(sizes), sizes, columns=columns)


def test_jobs_by_chips():
    log = log_of(4, 1024, 64, 6144)
    jobs = Pod.tpu_v5p().jobs(log, chips="size")
    assert jobs.size.tolist() == [1, 256, 16, 1536]
    assert jobs.further == ()
    assert Pod.tpu_v5p().jobs(log_of(4, shape=["4x4x4"]), chips="size").further == ()
    assert Pod.tpu_v5p().jobs(log_of(1, 1, 1, 1), chips=[4, 1024, 64, 6144]).size.tolist() == jobs.size.tolist()
    assert Pod.tpu_v5p().jobs(log_of(1, 1, tpus=[4, 64]), chips="tpus").size.tolist() == [1, 16]


def test_jobs_by_shape():
    pod = Pod.tpu_v4()
    jobs = pod.jobs(log_of(1, 1, shape=["4x4x16", "2x4x4"]), shape="shape")
    assert (jobs.size.tolist(), jobs.columns["shape"].tolist()) == ([64, 8], ["4x4x16", "2x4x4"])
    assert pod.jobs(log_of(1, 1), shape=[(4, 4, 16), (2, 4, 4)]) == jobs
    assert fs.simulate(jobs, pod).jobs["shape"].tolist() == ["4x4x16", "2x4x4"]
    assert pod.jobs(log_of(1, 1), shape=np.array([[4, 4, 16], [2, 4, 4]])) == jobs
    assert pod.jobs(log_of(1, 1), shape=["4x4x16", (2, 4, 4)]) == jobs
    assert pod.jobs(log_of(1, 1), shape=np.array(["4x4x16", "2x4x4"])) == jobs
    assert pod.slice_of(shape=np.array([4, 4, 8])) == pod.slice_of(shape="4x4x8")
    assert Pod(cubes=np.array([4, 4, 4])) == Pod()


def test_chips_are_rounded_up_if_asked():
    jobs = Pod.tpu_v4().jobs(log_of(1, 3, 5, 65, 4096), chips="size", round_up=True)
    assert jobs.size.tolist() == [1, 1, 2, 32, 1024]
    with pytest.raises(fs.InputError, match=r"job 1 \(row 0\): no slice has 4097 chips"):
        Pod.tpu_v4().jobs(log_of(4097), chips="size", round_up=True)


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda pod: pod.jobs(log_of(4, 100), chips="size"),
         r"job 2 \(row 1\): no slice has 100 chips; the nearest that are allowed have 64 \(4x4x4\) and 128 \(4x4x8\)"),
        (lambda pod: pod.jobs(log_of(4, 6), chips="size"),
         r"job 2 \(row 1\): no slice has 6 chips, which is no multiple of 4, the chips of the smallest slice; the "
         r"nearest that are allowed have 4 \(2x2x1\) and 8 \(2x2x2\)"),
        (lambda pod: pod.jobs(log_of(1), shape=["4x4x6"]),
         r"job 1 \(row 0\): the shape 4x4x6 of a slice is not allowed; the nearest that are: 4x4x4 \(64 chips\) and "
         r"4x4x8 \(128 chips\)"),
        (lambda pod: pod.jobs(log_of(1), shape=["large"]), r"job 1 \(row 0\): the shape of a slice must be three"),
        (lambda pod: pod.jobs(log_of(1), chips=[4, 4]), "chips= needs a value per job, 1 of them, got shape \\(2,\\)"),
        (lambda pod: pod.jobs(log_of(1), chips="cores"), "chips='cores' is no column of the log; it has: size"),
        (lambda pod: pod.jobs(log_of(1)), "give chips= or shape=, one of the two"),
        (lambda pod: pod.jobs(log_of(4), chips="size", shape=["2x2x1"]), "give chips= or shape=, one of the two"),
        (lambda pod: pod.jobs(log_of(4), shape=["2x2x1"], round_up=True), "round_up=True is for chips="),
        (lambda pod: pod.jobs([4], chips="size"), "the log must be a Workload"),
        (lambda pod: pod.jobs(log_of(1, 1), shape=[None, "4x4x4"]), r"job 1 \(row 0\): .* three extents, .* got None"),
        (lambda pod: pod.jobs(log_of(1, 1), shape=[(4, 4, 8), "4x4x"]), r"job 2 \(row 1\): .*, got '4x4x'"),
        (lambda pod: pod.jobs(log_of(1, 1), shape=[(4, 4, 8), ""]), r"job 2 \(row 1\): the shape .* got ''"),
        (lambda pod: pod.jobs(log_of(1, 1), shape=["4x4x6", "1x1x1"]), r"job 1 \(row 0\): the shape 4x4x6"),
        (lambda pod: pod.jobs(log_of(1, 1), chips=[None, 4]), r"job 1 \(row 0\): .* whole number, got None"),
        (lambda pod: pod.jobs(log_of(1, 1), chips=[64.0, 4.0]), r"job 1 \(row 0\): .* whole number, got 64.0"),
        (lambda pod: pod.jobs(log_of(1, 1), chips=[[4], [4, 8]]), "chips= needs a value per job, 2 of them, got"),
        (lambda pod: pod.jobs(log_of(1), chips=[10**5000]), r"job 1 \(row 0\): .* at most .*, got one of 16,610 bits"),
    ],
)  # fmt: skip
def test_what_no_job_of_a_pod_asks_for(take, message):
    with pytest.raises(fs.InputError, match=message) as caught:
        take(Pod.tpu_v4())
    assert "\n" not in str(caught.value)
