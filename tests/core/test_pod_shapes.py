"""Jobs that ask for shapes on pods with static wiring: both engines, and all boxes by brute force."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings

import faultsim as fs
from faultsim._core.pod.machine_face import PodMachine
from faultsim.machines.pod import shape_ranks
from faultsim.reference.pod.slices import Shaped, Slices
from helpers.by_hand import CONSERVATIVE, EASY, FCFS, HOLD, REQUEUE, TAIL, config, table
from helpers.engine_inputs import simulate
from helpers.engines import assert_same, compiled, runs_agree
from helpers.runs import runs, shaped_pods

PODS = [
    fs.Pod((1, 2, 4), (4, 4, 4), 16, "static"),
    fs.Pod((2, 2, 2), (2, 2, 2), 4, "static"),
    fs.Pod((3, 2, 2), (2, 2, 2), 2, "static", largest=8),
    fs.Pod((2, 4, 2), (2, 2, 2), 1, "static"),
    fs.Pod((3, 1, 4), (2, 2, 2), 2, "static"),
    fs.Pod((2, 2, 3), (2, 2, 2), 2, "static", aligned=False),
    fs.Pod((1, 4, 3), (2, 2, 2), 4, "static", aligned=False),
    fs.Pod((2, 2, 4), (2, 2, 2), 2, "static", aligned=False, largest=12),
]
HELD_BACK = [
    fs.Pod((3, 2, 2), (2, 2, 2), 4, "static", spares=2),
    fs.Pod((1, 4, 3), (2, 2, 2), 2, "static", aligned=False, spares=1),
]
LARGE = [fs.Pod.tpu_v4("static"), fs.Pod.tpu_v5p("static"), fs.Pod.tpu_v4("static", aligned=False)]
BACKFILL = {
    "name": "backfill", "order": {"name": "arrival"}, "depth": 3, "reservation": "any", "max_growth": 1,
    "repairs": "known",
}  # fmt: skip
SCHEDULERS = {
    "fcfs": FCFS,
    "easy": EASY,
    "easy-fixed": {**EASY, "reservation": "fixed"},
    "easy-8": {**EASY, "max_growth": 8, "repairs": "unknown"},
    "conservative": CONSERVATIVE,
    "conservative-8": {**CONSERVATIVE, "max_growth": 8, "repairs": "unknown"},
    "backfill": BACKFILL,
    "backfill-fixed": {**BACKFILL, "reservation": "fixed", "depth": 2},
    "backfill-all": {**BACKFILL, "depth": "unlimited", "max_growth": 4},
    "largest": {**EASY, "order": {"name": "largest"}},
}


def name_of(pod):
    return f"{pod}".replace("pod:", "").replace("wiring=static", "").replace(",", "-")


def twin(pod):
    inside = [each.hosts for each in pod.slices if each.cubes == 0]
    return Slices(pod.cubes, pod.hosts, inside, pod.wiring, pod.aligned, pod.largest or 0, pod.spares)


def boxes_by_hand(pod, shape):
    """Sets of cubes, a bit each, of all boxes of a shape in cubes, in the words of the model: every base and every
    order of the extents is tried.
    """
    axes = sorted(range(3), key=lambda axis: (pod.cubes[axis], axis))
    straight = [0, 0, 0]
    for axis, extent in zip(axes, sorted(shape), strict=True):
        straight[axis] = extent
    orders = sorted(set(itertools.permutations(shape)), reverse=True)
    if pod.aligned:
        orders = [tuple(straight), *(order for order in orders if order != tuple(straight))]
    found = []
    for order in orders:
        for base in itertools.product(*map(range, pod.cubes)):
            if any(extent > axis for extent, axis in zip(order, pod.cubes, strict=True)):
                continue
            if pod.aligned:
                is_one = all(b % e == 0 and b + e <= n for b, e, n in zip(base, order, pod.cubes, strict=True))
            else:
                is_one = all(b == 0 or e < n for b, e, n in zip(base, order, pod.cubes, strict=True))
            if is_one:
                cells = np.zeros(pod.cubes, bool)
                cells[np.ix_(*[(b + np.arange(e)) % n for b, e, n in zip(base, order, pod.cubes, strict=True)])] = True
                found.append(sum(1 << int(cube) for cube in np.flatnonzero(cells)))
    return found


def asks(pod):
    """Slice, rank of its shape, and the shape in cubes, of all slices of whole cubes."""
    rows = {}
    for each in pod.slices:
        if each.cubes:
            rows.setdefault(each.hosts, []).append(each)
    edge = pod.cube[0]
    return [
        (each, rank, tuple(extent // edge for extent in each.shape))
        for listed in rows.values()
        for rank, each in enumerate(listed, 1)
    ]


def of_cubes(places):
    return [sum(1 << cube for cube in place[0]) for place in places]


@pytest.mark.parametrize("pod", [*PODS, *HELD_BACK, *LARGE[:2]], ids=name_of)
def test_all_boxes_of_all_orientations_by_brute_force(pod):
    """On an empty pod, in both engines."""
    slices, machine = twin(pod), PodMachine(pod.lower(), 0, True)
    chosen = asks(pod) if pod.n_cubes < 50 else random.Random(1).sample(asks(pod), 12)
    for each, rank, shape in chosen:
        expected = boxes_by_hand(pod, shape)
        assert len(set(expected)) == len(expected) > 0
        assert of_cubes(slices.free_of_size(0, Shaped(each.hosts, shape))) == expected
        ask = machine.with_rank(each.hosts, rank)
        chosen_first, listed = machine.ask(0, ask)
        assert of_cubes(listed) == expected
        assert chosen_first == listed[0]


@pytest.mark.parametrize("pod", [*PODS, *HELD_BACK], ids=name_of)
def test_questions_about_shapes(pod):
    """What is free, chosen and left, in random states, with and without a shape on either side."""
    rng = random.Random(f"{pod}")
    slices, machine, shapes = twin(pod), PodMachine(pod.lower(), 0, True), asks(pod)

    def some():
        share = 0.7 * rng.random() ** 2
        busy = sum(slices.cube_mask(cube) for cube in range(pod.n_cubes) if rng.random() < share)
        return busy | sum({1 << rng.randrange(pod.nodes) for _ in range(rng.randrange(3))})

    def asked():
        if rng.random() < 0.7:
            each, rank, shape = rng.choice(shapes)
            return Shaped(each.hosts, shape), machine.with_rank(each.hosts, rank)
        size = rng.choice(slices.sizes)
        return size, size

    found = 0
    for _ in range(150):
        busy, forbidden, later = some(), some(), some()
        if pod.spares:  # what is free is in use later only by who has started since
            later &= busy
        (size, ask), (need, need_asked) = asked(), asked()
        free = slices.free_of_size(busy, size)
        assert machine.free_for(busy, ask)[:2] == (bool(free), slices.fits(busy, size))
        assert machine.ask(busy, ask) == (free[0] if free else None, free)
        clear = [place for place in free if not place.mask & forbidden]
        good = [place for place in clear if slices.fits(later | place.mask, need)]
        assert machine.ask(busy, ask, forbidden, later, need_asked) == (good[0] if good else None, good)
        found += bool(good)
        if size >= pod.hosts and need >= pod.hosts and not pod.spares:
            cubes = [sum(1 << c for c in range(pod.n_cubes) if slices.cube_mask(c) & mask) for mask in (busy, later)]
            limit = rng.choice([int(size), int(size) + 2 * pod.hosts, pod.nodes])
            sizes = [size] if isinstance(size, Shaped) else [q for q in slices.sizes if size <= q <= limit]
            every = [place for q in sizes for place in slices.free_of_size(busy, q)]
            assert machine.beside(cubes[0], ask, limit) == bool(every)
            left = any(slices.fits(later | place.mask, need) for place in every)
            assert machine.beside(cubes[0], ask, limit, cubes[1], need_asked) == left
    assert found > 20


def drawn(rng, pod, n, shaped):
    """Jobs that often wait; so many of those of whole cubes ask for shapes.  Columns, and ranks."""
    slices, by_shape = sorted({each.hosts for each in pod.slices}), asks(pod)
    rows, ranks, now = [], [], 0
    for _ in range(n):
        now += rng.choice([0, 0, 1, 2, 5])
        runtime = rng.randrange(1, 12)
        estimate = runtime if rng.random() < 0.4 else runtime + rng.randrange(8)
        size, rank = rng.choice(slices), 0
        if rng.random() < shaped:
            each, rank, _ = rng.choice(by_shape)
            size = each.hosts
        rows.append((now, runtime, size, estimate))
        ranks.append(rank)
    return table(rows, "submit", "runtime", "size", "estimate"), np.array(ranks, np.int32)


def failures(rng, pod, n):
    rows = sorted((rng.randrange(60), rng.randrange(pod.nodes), rng.choice([0, 1, 3, 10])) for _ in range(n))
    return {"failures": table(rows, "time", "node", "downtime")}


def compare(pod, scheduler, columns, ranks, world=None, **options):
    chosen = config(pod.lower(), scheduler, **options)
    world = {**(world or {}), "shape_rank": ranks}
    slow = simulate(chosen, **columns, world=world)
    del chosen["verify"]
    assert_same(compiled(chosen, columns, world), slow)
    return slow


def compare_many(pod, scheduler, times, shaped=0.7):
    rng = random.Random(f"{pod} {scheduler}")
    for case in range(times):
        columns, ranks = drawn(rng, pod, 25, rng.choice([shaped, 1.0]))
        if case % 3 == 0:
            compare(pod, scheduler, columns, ranks)
        else:
            recovery = rng.choice([REQUEUE, TAIL, HOLD])
            compare(pod, scheduler, columns, ranks, failures(rng, pod, rng.randrange(1, 12)), recovery=recovery)


@pytest.mark.parametrize("pod", PODS, ids=name_of)
@pytest.mark.parametrize("scheduler", SCHEDULERS.values(), ids=SCHEDULERS)
def test_both_engines_do_the_same_with_shapes(pod, scheduler):
    compare_many(pod, scheduler, 2)


@pytest.mark.slow
@pytest.mark.parametrize("pod", PODS, ids=name_of)
@pytest.mark.parametrize("scheduler", SCHEDULERS.values(), ids=SCHEDULERS)
def test_both_engines_do_the_same_with_shapes_in_thousands_of_runs(pod, scheduler):
    compare_many(pod, scheduler, 60)


@pytest.mark.parametrize("pod", HELD_BACK, ids=name_of)
@pytest.mark.parametrize("name", ["fcfs", "easy", "easy-8"])
def test_both_engines_hold_cubes_back_beside_shapes(pod, name):
    compare_many(pod, SCHEDULERS[name], 8)


@settings(max_examples=40)
@given(runs(on=shaped_pods(), shaped=True))
def test_runs_with_shapes_agree(run):
    """Every policy that a pod has, with failures, predictors, checkpoints and moves from predicted failures."""
    runs_agree(run)


def test_ranks_are_those_of_the_most_cubic_first():
    pod = fs.Pod.tpu_v4("static")
    ranks = {}
    for each in pod.slices:
        log = fs.Workload([0], [1], [each.hosts], columns={"shape": [str(each).upper()]})
        ranks.setdefault(each.hosts, []).append(int(shape_ranks(pod, log)[0]))
    for hosts, found in ranks.items():
        assert found == ([0] if hosts < 16 else list(range(1, len(found) + 1)))
    assert max(map(max, ranks.values())) == 2  # 16 cubes: 8x8x16 and 4x16x16
    assert math.prod(pod.slice_of(shape="4x16x16").shape) == 1024
