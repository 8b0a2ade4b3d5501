"""Slices for which there is no formula: all states, states that are drawn, those of a trace, and the search in them."""

import math

import numpy as np
import pytest

import faultsim as fs
from faultsim.planning import chances, packing, states
from faultsim.planning.packing import Packing
from faultsim.planning.states import bound
from faultsim.planning.wanted import wanted_slices
from helpers.small_pods import chance_by_all_states, fit, in_cubes, twin


@pytest.mark.parametrize("shapes", ["2x2x6=1,2x4x4=1", "2x2x6=1,2x2x4=1,2x2x2=1", "2x4x6=1,2x2x4=1"])
def test_shapes_that_are_not_nested_by_all_states_of_the_hosts(shapes):
    pod = fs.Pod((1, 2, 6), (2, 2, 2), 1, "static")
    for a in (0.8, 0.97):
        found = fs.plan(pod, shapes, availability=a).spares.row(-1)
        assert found["method"] == "counted"
        assert found["chance"] == pytest.approx(chance_by_all_states(pod, wanted_slices(pod, shapes)[0], a), abs=1e-12)
        assert 0.0 < found["chance"] < 1.0
        assert math.isnan(found["low"])


def test_drawn_states_hold_the_counted_chance(monkeypatch):
    pod, shapes = fs.Pod((1, 2, 6), (2, 2, 2), 1, "static"), "2x2x6=1,2x4x4=1"
    exact = fs.plan(pod, shapes, availability=0.97).spares.row(-1)["chance"]
    monkeypatch.setattr(states, "MOST_CUBES", 0)
    found = fs.plan(pod, shapes, availability=0.97, rng=1).spares
    row = found.row(-1)
    assert row["method"] == "drawn"
    assert row["low"] < exact < row["high"] < row["low"] + 0.02
    assert any("10,000 states" in note for note in found.notes)
    assert fs.plan(pod, shapes, availability=0.97, rng=1).spares.row(-1) == pytest.approx(row, nan_ok=True)


def test_drawn_states_with_slices_inside_cubes():
    pod, shapes = fs.Pod((1, 2, 3), (2, 2, 2), 2, "static"), "2x2x6=1,2x2x4=1,2x2x1=1"
    found = fs.plan(pod, shapes, availability=0.9, rng=2).spares.row(-1)
    exact = chance_by_all_states(pod, wanted_slices(pod, shapes)[0], 0.9)
    assert found["method"] == "drawn"
    assert found["low"] < exact < found["high"]


@pytest.mark.parametrize("wiring", ["ocs", "static"])
def test_nested_slices_that_are_too_many_to_count_are_drawn(monkeypatch, wiring):
    pod, shapes = fs.Pod((2, 2, 2), (2, 2, 2), 2, wiring), "2x2x1=4,2x2x2=2,2x4x4=1"
    counted = fs.plan(pod, shapes, availability=0.9, probabilities=(0.5, 0.9)).spares.row(-1)
    monkeypatch.setattr(chances, "MOST_CELLS", 0)
    drawn = fs.plan(pod, shapes, availability=0.9, probabilities=(0.5, 0.9), rng=5).spares.row(-1)
    assert (counted["method"], drawn["method"]) == ("counted", "drawn")
    assert drawn["low"] < counted["chance"] < drawn["high"]
    for name in ("spare_50", "spare_90"):
        assert drawn[name] == counted[name] if wiring == "ocs" else math.isnan(drawn[name])


def test_a_trace_of_shapes_that_are_not_nested():
    rng = np.random.default_rng(5)
    pod, shapes = fs.Pod((1, 2, 4), (2, 2, 2), 2, "static"), "2x2x6=1,2x2x4=1,2x2x1=1"
    trace = fs.FailureTrace(rng.integers(0, 500, 40), rng.integers(0, 16, 40), rng.integers(0, 25, 40), span=500)
    wanted, slices = wanted_slices(pod, shapes)[0], twin(pod)
    asked = sorted(((each.slice.hosts, in_cubes(pod, each.slice)) for each in wanted), reverse=True)
    up = 0
    for second in range(500):
        is_down = (trace.time <= second) & (second < trace.time + trace.downtime)
        up += fit(slices, sum(1 << int(node) for node in set(trace.node[is_down])), asked)
    found = fs.plan(pod, shapes, failures=trace, any_rate=True).spares
    row = found.row(-2)
    assert (row["failures"], row["method"]) == ("trace", "trace")
    assert row["chance"] == pytest.approx(up / 500)
    assert 0 < up < 500


def test_the_search_is_the_plain_one():
    """In 300 states of a pod of 18 cubes."""
    pod = fs.Pod((2, 3, 3), (2, 2, 2), 1, "static")
    wanted = wanted_slices(pod, "2x2x6=2,2x4x4=1")[0]
    search, slices = Packing(pod, wanted), twin(pod)
    asked = [(each.slice.hosts, in_cubes(pod, each.slice)) for each in wanted for _ in range(each.number)]
    rng, seen = np.random.default_rng(1), set()
    for _ in range(300):
        down = sum(1 << int(cube) for cube in np.flatnonzero(rng.random(18) < 0.3))
        expected = fit(slices, down, asked)
        assert search.fits(((1 << 18) - 1) ^ down) is expected
        seen.add(expected)
    assert seen == {True, False}


def test_a_search_that_gives_up_is_an_interval(monkeypatch):
    monkeypatch.setattr(packing, "_MOST_TRIED", 1)
    pod = fs.Pod((1, 2, 6), (2, 2, 2), 1, "static")
    found = fs.plan(pod, "2x2x6=1,2x4x4=1", availability=0.9).spares.row(-1)
    monkeypatch.undo()
    exact = fs.plan(pod, "2x2x6=1,2x4x4=1", availability=0.9).spares.row(-1)["chance"]
    assert found["low"] <= exact <= found["high"]
    assert found["low"] < found["high"]


def test_more_than_fit_beside_each_other():
    with pytest.raises(fs.OptionError, match=r"4 of 4x4x16 and 7 of 8x8x8 need more than .*at most 6 of 8x8x8 fit"):
        fs.plan("pod:tpu-v4,wiring=static", "4x4x16=4,8x8x8=7", availability=0.99)


def test_exact_bounds_of_a_share():
    """The bounds are where the binomial tails are 2.5 %."""
    low, high = bound(30, 100)
    assert chances.at_least(100, 30, low) == pytest.approx(0.025)
    assert 1 - chances.at_least(100, 31, high) == pytest.approx(0.025)
    assert bound(100, 100)[1] == 1.0
    assert bound(0, 100)[0] == 0.0


# -- spare cubes that the pod holds back itself


def test_a_pod_that_holds_cubes_back():
    pod = fs.Pod.tpu_v4(spares=3)
    found = fs.plan(pod, "4x4x4=61", availability=0.999).promises[0]
    assert found["most"] == 61
    assert [found[f"slices_{p}"] for p in (90, 97, 99)] == [61, 61, 60]
    assert fs.plan(pod, 64, failures=fs.FailureTrace([], [], span=10)).promises["most"].tolist() == [61, 61]
    with pytest.raises(fs.OptionError, match="has, 61 cubes beside its 3 spares: at most 61 of 4x4x4 fit"):
        fs.plan(pod, "4x4x4=62", availability=0.999)
    with pytest.raises(fs.OptionError, match="what pod:4x4x4,spares=3 can promise of slices inside cubes"):
        fs.plan(pod, "2x2x1", availability=0.999)


def test_what_can_be_promised_of_too_many():
    notes = fs.plan("pod:tpu-v4,wiring=static", "8x8x16=3,4x4x4=10", availability=0.999).spares.notes
    assert notes[0] == ("3 of 8x8x16 with 90 %: 5 blocks are needed, 4 are there; at most 2 of 8x8x16 can be promised")
    assert notes[1].endswith("with 90 %: at most 2 of 8x8x16 can be promised beside the others")
