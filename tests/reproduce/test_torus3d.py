"""Slurm's listed shapes against Krevat's rule: claims on made-up numbers, windows, failures, and what runs keep."""

from types import SimpleNamespace

import numpy as np
import pytest

import faultsim as fs
from faultsim.reproduce.claims import Verdict
from faultsim.reproduce.torus3d import CLAIMS
from faultsim.reproduce.torus3d.inputs import Jobs, failures, window
from faultsim.reproduce.torus3d.runs import (
    COLUMNS,
    KREVAT,
    REVERSED,
    Evidence,
    Key,
    Plan,
    placement,
    refused,
    saturation,
    slowdown_large,
    waits_beside_free,
)

RULES = {claim.id: claim for claim in CLAIMS}
NOISE = np.array([-0.01, 0.01, 0.0, 0.005, -0.005])


def made(**columns):
    what = Plan(replicates=5, machines=("4x4x8", "8x8x8"))
    functions = dict.fromkeys(COLUMNS, lambda k: 1.0) | columns
    runs = {k: {name: f(k) * (1 + NOISE / 100) for name, f in functions.items()} for k in what.settings()}
    return Evidence({name: SimpleNamespace(label=name) for name in what.logs}, runs, what)


def verdicts(evidence):
    return {label: rule.judge(evidence).verdict for label, rule in RULES.items()}


def points(key):
    """The saturation that the hypotheses would have."""
    found = {"powers": 0.4, REVERSED: 0.55, KREVAT: 0.9}.get(key.shapes, 0.6)
    found += 0.05 * (key.extra == "migration") + 0.05 * (key.score == "mfp") + 0.02 * (key.score == "next-size")
    found += 0.05 * (key.extra == "larger")
    return found - 0.02 * (key.score == "first" and key.shapes == "one per size")


def test_claims_follow_the_numbers():
    def slow(key):
        return (3.0 if key.shapes == "powers" and key.unlisted != "segments" else 1.0) * (
            1 + (key.shapes == "powers") * (key.failures != "none") + (key.failures != "none")
        )

    def stopped(key):
        return {"tie-breaking": 0.8, "balancing": 0.5}.get(key.score, 1.0)

    found = verdicts(made(saturation=points, slowdown=slow, kills=stopped))
    assert found == dict.fromkeys(RULES, Verdict.HOLDS)
    # Where nothing matters: rotations are no better, the order matters as little as the score, nothing is slower.
    same = verdicts(made())
    assert same["V3"] is same["V7"] is same["V14"] is Verdict.HOLDS
    assert {same[label] for label in ("V2", "V4", "V5", "V6", "V9", "V12")} == {Verdict.FAILS}
    assert same["V10"] is same["V11"] is same["V13"] is Verdict.PARTLY  # no slower, and no gain


def test_windows_scale_sizes_and_arrivals():
    log = fs.Workload(submit=np.arange(40.0) * 10, runtime=[64] * 40, size=[1, 3, 64, 128] * 10)
    jobs = Jobs("sdsc", log, True, "")
    part = window(jobs, 0.5, 8, 512, 0.8)
    assert part.size.tolist() == [4, 12, 256, 512] * 2
    assert part.work.sum() / (512 * part.submit[-1]) == pytest.approx(0.8)
    assert not window(jobs, 0.99, 8, 64, 0.0).submit.any()
    assert window(jobs, 0.0, 4, 64, 0.8).size.tolist() == [1, 2, 32, 64]


def test_failures_have_the_same_number_single_or_in_bursts():
    span = 50 * 86_400.0
    assert failures("none", 128, span, 0, 0) is None
    single, burst = (failures(f"{kind} 24 h", 128, span, 0, 0) for kind in ("single", "burst"))
    assert len(single) == len(burst) == 128
    assert len(np.unique(burst.time)) < 64 < len(np.unique(single.time))
    assert set(single.downtime) == {86_400.0}


def test_what_is_kept_of_a_run():
    # Three nodes of four until 10 s, then all four: the second job waits beside one free node, and asks for four.
    log = fs.Workload(submit=[0, 0, 0], runtime=[10, 10, 10], size=[3, 4, 1])
    result = fs.simulate(log, fs.Torus(1, 1, 4), scheduler="fcfs", placement="mfp")
    assert saturation(result) == pytest.approx((30 + 40) / 80)
    assert waits_beside_free(result) == 0.0
    assert slowdown_large(result) == pytest.approx(np.sqrt(1 * 2))
    sizes = fs.Workload([0, 0, 0], [1, 1, 1], [3, 3, 2])
    few = fs.simulate(sizes, fs.Torus(1, 1, 4), placement=fs.SlurmTorus("1x1x2"), oversized="drop")
    assert refused(few) == pytest.approx(2 / 3)
    # Boxes of 2 at even places: with one node of each taken, the third job waits beside two free nodes.
    listed = fs.SlurmTorus("1x1x1/1x1x2+1x1x2")
    held = fs.simulate(fs.Workload([0, 1, 2], [10, 10, 10], [1, 1, 2]), fs.Torus(1, 1, 4), placement=listed)
    assert waits_beside_free(held) == pytest.approx(1.0)


def test_every_list_can_be_placed():
    for key in Plan(machines=("4x4x8",), logs=("sdsc",)).settings():
        if key.machine == "4x4x8":
            given = {"placement": placement(key._replace(extra="")), "predictor": fs.Blind()}
            machine = fs.Torus(8, 4, 4) if key.extra == "two tori" else fs.Torus(4, 4, 8)
            given["placement"] = placement(key._replace(extra=key.extra if key.extra == "two tori" else ""))
            fs.Run(fs.Workload([0], [1], [4]), machine, scheduler=fs.Fcfs(), **given)
    first, last = (placement(Key("sdsc", "4x4x8", 0.8, "easy", name)) for name in ("rotations", REVERSED))
    assert first.shapes.split("+") == last.shapes.split("+")[::-1]
