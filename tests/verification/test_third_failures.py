"""faultsim against a third program, written from the model page alone, on random small cases with failures.

`third_failures.py` is slow and plain. The cases: all times whole seconds in a narrow range, so that jobs end,
checkpoints complete, nodes fail and come back and jobs arrive at the same instant all the time.
"""

import random
from collections import Counter

import numpy as np
import pytest
import third_failures
import third_pods
import third_preemption

import faultsim as fs
from helpers.results import nodes_of

SHAPES = [(2, 2, 2), (2, 2, 3), (3, 2, 2), (1, 2, 4), (2, 3, 3)]
PODS = [
    fs.Pod((1, 1, 3), (2, 2, 2), 2), fs.Pod((1, 1, 2), (2, 2, 2), 8), fs.Pod((1, 2, 2), (2, 2, 2), 4, largest=3),
    fs.Pod((1, 1, 4), (3, 3, 3), 3), fs.Pod((1, 2, 2), (2, 2, 2), 4, "static"),
    fs.Pod((2, 3, 1), (2, 2, 2), 2, "static"), fs.Pod((1, 2, 3), (2, 2, 2), 2, "static", aligned=False, largest=4),
]  # fmt: skip
PROGRAMS = {
    "cluster": third_failures.Third,
    "torus": third_failures.Third,
    "pod": third_pods.OnPod,
    "preemption": third_preemption.Stopping,
}
PLACEMENTS = {
    "first": fs.FirstFit,
    "mfp": fs.MaxFreePartition,
    "tie": fs.TieBreaking,
    "balancing": fs.Balancing,
    "least": fs.LeastFailuresFirst,
    "safest": fs.SafestFirst,
}
PREDICTORS = {"confidence": fs.Confidence, "accuracy": fs.Accuracy, "perfect": lambda _: fs.Perfect()}
VICTIMS = {"all": lambda _: fs.AllJobs(), "long": fs.LongJobs, "big": fs.BigJobs}


def draw_checkpoints(rng, top):
    """Name, a length, cost, and what else the policy has."""
    cost = float(rng.choice([0, 1, 2, 3]))
    match rng.choice(["none", "periodic", "young", "before", "windows"]):
        case "none":
            return ("none", 0, 0.0)
        case "periodic":
            return ("periodic", max(cost, float(rng.randint(1, top))), cost)
        case "young":  # lengths of work that no sum of whole seconds meets, lest rounding decide
            return ("young", rng.choice([2.3, 5.7, 8.3, 31.9, 50.3]), max(cost, 1.0))
        case "before":
            return ("before", 0, cost)
    bucket = rng.choice([9, 18, 36])
    victims = rng.choice([("all", 0), ("long", float(rng.randint(0, top))), ("big", rng.randint(1, 3))])
    return ("windows", float(bucket), cost, float(rng.randint(1, bucket + 2)), victims)


def draw(rng, kind):
    on_torus, pod = kind == "torus", rng.choice(PODS) if kind == "pod" else None
    shape = rng.choice(SHAPES) if on_torus else None
    nodes = shape[0] * shape[1] * shape[2] if on_torus else rng.choice([1, 2, 3, 4, 5, 8])
    nodes, most = (pod.nodes, pod.most_hosts) if pod else (nodes, nodes)
    top = rng.choice([3, 8, 30])  # the scale of times: a small one makes everything meet
    exact = rng.random() < 0.5
    jobs = []
    for _ in range(rng.randint(1, rng.choice([3, 8, 16]))):
        runtime = rng.randint(0, 2 * top)
        estimate = runtime if exact or rng.random() < 0.5 else max(0, runtime + rng.randint(-top, top))
        size = rng.randint(1, most if rng.random() < 0.5 else max(1, most // 2))
        jobs.append((float(rng.randint(0, 3 * top)), float(runtime), float(estimate), size))
    horizon, longest = top * rng.choice([4, 10, 20]), rng.choice([0, 2, top, 3 * top])
    failures = []
    for _ in range(rng.randint(0, rng.choice([6, 15, 40]))):
        downtime = rng.randint(0, longest) if rng.random() < 0.8 else 0
        coin = rng.choice([0.1, 0.3, 0.5, 0.7, 0.9])
        failures.append((float(rng.randint(0, horizon)), rng.randrange(nodes), float(downtime), coin))
    placement = rng.choice(["first", "mfp", "balancing", "tie"] if on_torus else ["first", "least", "safest"])
    placement = "first" if pod else placement
    checkpoint = draw_checkpoints(rng, top)
    predictor = ("none", None)
    if placement in ("balancing", "tie", "safest") or (checkpoint[0] == "before" and rng.random() < 0.3):
        predictor = rng.choice([("confidence", 0.5), ("confidence", 0.1), ("accuracy", 0.4), ("perfect", None)])
    return {
        "shape": shape,
        "nodes": nodes,
        "pod": pod
        and {
            "cubes": pod.cubes,
            "edge": pod.cube[0],
            "hosts": pod.hosts,
            "wiring": pod.wiring,
            "aligned": pod.aligned,
            "largest": pod.largest,
        },
        "wrap": rng.random() < 0.7,
        "jobs": sorted(jobs, key=lambda job: job[0]),
        "failures": sorted(failures, key=lambda row: row[0]),
        "scheduler": rng.choice(["fcfs", "easy", "easy"]),
        "repairs": rng.choice(["known", "known", "unknown"]),
        "max_growth": rng.choice([0, 1, 1, 2]),
        "overrun": rng.choice(["extend", "extend", "kill"]),
        "delay": float(rng.choice([0, 0, 0, 1, 2])),
        "recovery": rng.choice(["requeue", "hold"]),
        "place": rng.choice(["arrival", "tail"]),
        "restart_cost": float(rng.choice([0, 0, 1, 3])),
        "placement": placement,
        "rule": rng.choice(["prod", "max"]),
        "predictor": predictor,
        "checkpoint": checkpoint,
        "migration": (rng.choice([0, 1, 1, 2]), float(rng.choice([0, 1, 3])))
        if not (on_torus or pod) and rng.random() < 0.4
        else None,
        "ranks": [float(rng.choice([0, 1, 1, 5])) for _ in jobs] if kind == "preemption" else None,
    }


def checkpointing(name, length, cost, interval=0.0, victims=None):
    match name:
        case "none":
            return fs.NoCheckpoint()
        case "periodic":
            return fs.Periodic(length, cost)
        case "young":
            return fs.Young(cost=cost, mtbf=length, any_rate=True)
        case "before":
            return fs.BeforeFailure(cost)
    return fs.PredictedWindows(
        fs.Buckets(length=3600.0 * (length / 3600)), VICTIMS[victims[0]](victims[1]), interval, cost
    )


def machine_of(case):
    if case["pod"]:
        given = dict(case["pod"])
        return fs.Pod(given.pop("cubes"), (given.pop("edge"),) * 3, **given)
    return fs.Torus(*case["shape"], wrap=case["wrap"]) if case["shape"] else fs.Cluster(case["nodes"])


def by_engine(case):
    submit, runtime, estimate, size = zip(*case["jobs"], strict=True)
    machine, (predictor, a) = machine_of(case), case["predictor"]
    growth = {"max_growth": case["max_growth"]} if machine.name != "cluster" else {}
    easy, ranks = case["scheduler"] == "easy", case["ranks"]
    scheduler = fs.EasyBackfill(repairs=case["repairs"], **growth) if easy else fs.Fcfs()
    rule = {"rule": case["rule"]} if case["placement"] == "balancing" else {}
    hold, moves = case["recovery"] == "hold", case["migration"]
    time, node, downtime, coin = np.array(case["failures"], float).reshape(-1, 4).T
    log = fs.Workload(submit=submit, runtime=runtime, estimate=estimate, size=size)
    return fs.simulate(
        log if ranks is None else log.with_columns(rank=ranks),
        machine,
        scheduler=scheduler if ranks is None else fs.Preemptive("rank + 0", easy, case["repairs"]),
        placement=PLACEMENTS[case["placement"]](**rule),
        migration=fs.LeastFailuresMigration(threshold=moves[0], cost=moves[1]) if moves else None,
        failures=fs.FailureTrace(time, node, downtime, coin=coin),
        recovery=fs.Hold(case["restart_cost"]) if hold else fs.Requeue(case["place"], case["restart_cost"]),
        predictor=PREDICTORS[predictor](a) if predictor != "none" else None,
        checkpointing=checkpointing(*case["checkpoint"]),
        estimates="requested",
        overrun=case["overrun"],
        start_delay=case["delay"],
        record=True,
    )


def differences(case, result, done):
    """Names of what is not the same, to a millionth of a second."""
    renamed = {"lost_work": "lost"}
    names = ("first_start", "start", "finish", "restarts", "lost_work", "checkpoint_time", "moves", "backfilled")
    for name in names:
        expected = np.array([getattr(job, renamed.get(name, name)) for job in done.jobs], float)
        if not np.allclose(result.jobs[name], expected, rtol=0, atol=1e-6):
            yield name
    expected = sorted((job, nodes, begin, end) for job, begin, end, nodes in done.stretches)
    held = result.allocations
    rows = zip(*(held[name].tolist() for name in ("job", "begin", "end")), nodes_of(held, case["shape"]), strict=True)
    got = sorted((job, tuple(nodes.tolist()), begin, end) for job, begin, end, nodes in rows)
    if [row[:2] for row in got] != [row[:2] for row in expected]:
        yield "nodes"
    elif not np.allclose([row[2:] for row in got], [row[2:] for row in expected], rtol=0, atol=1e-6):
        yield "stretches"
    for account, seconds in done.ledger.items():
        if abs(result.ledger[account] - seconds) > 1e-5:
            yield account


def assert_same(kind, cases, seed):
    rng, seen = random.Random(seed), Counter()
    for number in range(cases):
        case = draw(rng, kind)
        done = PROGRAMS[kind](case).run()
        differ = list(differences(case, by_engine(case), done))
        assert not differ, f"case {number}, {differ}: {case}"
        for account in ("lost", "checkpoint", "restart", "migration", "held_for_repair", "down"):
            seen[account] += done.ledger[account] > 0
        seen["stops"] += getattr(done, "stops", 0) > 0
        seen["backfilled"] += any(job.backfilled for job in done.jobs)
    # A draw in which nothing of interest happens would show nothing.
    for what in ("lost", "checkpoint", "restart", "held_for_repair", "down", "backfilled"):
        assert seen[what] > 0.04 * cases, (what, seen)
    assert kind in ("torus", "pod") or seen["migration"] > 0.02 * cases, seen
    assert kind != "preemption" or seen["stops"] > 0.1 * cases, seen


@pytest.mark.parametrize(("kind", "cases"), [("cluster", 300), ("torus", 150), ("pod", 150), ("preemption", 200)])
def test_random_cases(kind, cases):
    assert_same(kind, cases, seed=f"failures {kind}")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "cases"), [("cluster", 6000), ("torus", 3000), ("pod", 3000), ("preemption", 6000)])
def test_many_random_cases(kind, cases):
    assert_same(kind, cases, seed=f"many failures {kind}")
