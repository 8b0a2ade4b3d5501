"""Both engines on small pods, job by job."""

import random

import pytest
from hypothesis import given

from faultsim import Pod
from helpers.by_hand import CONSERVATIVE, EASY, FCFS, HOLD, REQUEUE, TAIL, config, table
from helpers.engine_inputs import simulate
from helpers.engines import assert_same, compiled, runs_agree
from helpers.runs import pods, runs

PODS = [
    Pod((1, 2, 2), (2, 2, 2), 4),
    Pod((1, 1, 5), (2, 2, 2), 2),
    Pod((1, 1, 4), (2, 2, 2), 8, largest=3),
    Pod((2, 2, 2), (2, 2, 2), 4, "static"),
    Pod((1, 2, 4), (4, 4, 4), 16, "static"),
    Pod((2, 2, 3), (2, 2, 2), 2, "static", aligned=False),
]
HELD_BACK = [
    Pod((1, 2, 2), (2, 2, 2), 4, spares=1),
    Pod((1, 1, 6), (2, 2, 2), 2, spares=2),
    Pod((1, 1, 7), (2, 2, 2), 4, largest=2, spares=3),
    Pod((2, 2, 2), (2, 2, 2), 4, "static", spares=2),
    Pod((2, 2, 3), (2, 2, 2), 2, "static", aligned=False, spares=1),
]


def name_of(pod):
    aligned, spares = "" if pod.aligned else "-any", f"-{pod.spares}" if pod.spares else ""
    return f"{'x'.join(map(str, pod.cubes))}-{pod.hosts}-{pod.wiring}{aligned}{spares}"


NAMES = [name_of(pod) for pod in PODS]
BACKFILL = {
    "name": "backfill",
    "order": {"name": "arrival"},
    "depth": 3,
    "reservation": "any",
    "max_growth": 1,
    "repairs": "known",
}


def drawn(rng, pod, n):
    """Jobs that often wait, with estimates that are often right."""
    sizes = sorted({each.hosts for each in pod.slices})
    rows, now = [], 0
    for _ in range(n):
        now += rng.choice([0, 0, 1, 2, 5])
        runtime = rng.randrange(1, 12)
        estimate = runtime if rng.random() < 0.4 else runtime + rng.randrange(8)
        rows.append(
            (now, runtime, rng.choice(sizes) if rng.random() < 0.8 else rng.randrange(1, sizes[-1] + 1), estimate)
        )
    return table(rows, "submit", "runtime", "size", "estimate")


def failures(rng, pod, n):
    rows = sorted((rng.randrange(60), rng.randrange(pod.nodes), rng.choice([0, 1, 3, 10])) for _ in range(n))
    return {"failures": table([(t, node, down) for t, node, down in rows], "time", "node", "downtime")}


def compare(pod, scheduler, columns, world=None, **options):
    settings = config(pod.lower(), scheduler, **options)
    slow = simulate(settings, **columns, world=world)
    del settings["verify"]
    assert_same(compiled(settings, columns, world), slow)
    return slow


@pytest.mark.parametrize("pod", PODS, ids=NAMES)
@pytest.mark.parametrize(
    "scheduler",
    [
        FCFS,
        EASY,
        {**EASY, "reservation": "fixed"},
        {**EASY, "max_growth": 0, "repairs": "unknown"},
        CONSERVATIVE,
        {**CONSERVATIVE, "repairs": "unknown"},
        BACKFILL,
        {**BACKFILL, "reservation": "fixed"},
    ],
    ids=["fcfs", "easy", "easy-fixed", "easy-0", "conservative", "conservative-unknown", "backfill", "backfill-fixed"],
)
def test_both_engines_do_the_same(pod, scheduler):
    rng = random.Random(f"{pod} {scheduler}")
    for case in range(12):
        columns = drawn(rng, pod, 30)
        if case % 3 == 0:
            compare(pod, scheduler, columns)
        else:
            recovery = rng.choice([REQUEUE, TAIL, HOLD])
            compare(pod, scheduler, columns, failures(rng, pod, rng.randrange(1, 12)), recovery=recovery)


@pytest.mark.parametrize("pod", HELD_BACK, ids=map(name_of, HELD_BACK))
@pytest.mark.parametrize(
    "scheduler",
    [FCFS, EASY, {**EASY, "max_growth": 0, "repairs": "unknown"}],
    ids=["fcfs", "easy", "easy-0"],
)
def test_both_engines_hold_back_the_same(pod, scheduler):
    rng = random.Random(f"{pod} {scheduler}")
    for _ in range(40):
        recovery = rng.choice([REQUEUE, TAIL, HOLD])
        compare(pod, scheduler, drawn(rng, pod, 30), failures(rng, pod, rng.randrange(16)), recovery=recovery)


@given(runs(on=pods()))
def test_runs_agree(run):
    """Every policy that a pod has, with failures, predictors, checkpoints and moves from predicted failures."""
    runs_agree(run)


def test_backfilling_spares_the_cubes_of_the_head():
    """A cube and a half are free, and the head will have three cubes at 10: a job of a cube until 23 would delay it,
    one of half a cube does not, in the cube that is broken up already.
    """
    pod = Pod((1, 1, 4), (2, 2, 2), 2)
    columns = table(
        [(0, 10, 3, 10), (1, 20, 1, 20), (2, 5, 6, 5), (3, 20, 2, 20), (3, 20, 1, 20)],
        "submit", "runtime", "size", "estimate",
    )  # fmt: skip
    result = compare(pod, EASY, columns)
    assert result["start"].tolist() == [0, 1, 10, 15, 3]
