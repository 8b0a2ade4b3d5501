"""Odd values at public names: an error of faultsim or a result, never a raw error of Python from below."""

import itertools
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from helpers.refusals import refused

sys.path.insert(0, str(Path(__file__).parents[1] / "verification"))

import odd_values

LOG = fs.Workload([0, 1, 2], [10, 10, 5], [2, 4, 2])
#: Calls that take the longest with what is odd about them, such as pictures.
CALLS = 350


def test_a_sample_of_odd_calls_gives_no_raw_error(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    from helpers import odd_calls

    calls, odd = odd_calls.harvest(), odd_calls.odd_values()
    assert len(calls) > 300
    quick = {name: each for name, each in calls.items() if not name.startswith(("plot.", "report.", "Sweep."))}
    draw, found = random.Random(1), []
    for changed in itertools.islice(odd_calls.at_random(quick, list(odd), draw), CALLS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                odd_calls.act(changed, odd)
            except Exception as error:
                own = any(word.startswith(odd_calls.CALLED) for word in changed.odd.values())
                if (kind := odd_values.raw(error, changed.call.name)) and not own:
                    found.append(f"{changed}: {kind} at {odd_values.place_of(error)}: {error}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fs.read_swf(None), "the name of a file must be text or a path, got None"),
        (lambda: fs.Reservation(np.ma.masked, 0, 1), "nodes of a reservation must be numbers"),
        (lambda: fs.advise_shapes(5e-324, "torus:4x4x4"), "advise_shapes: log must be a Workload, got 5e-324"),
        (lambda: fs.IntervalPredictor(0.5, 0.5, 10, index=float("nan")), "pairs .* are given to from_pairs"),
        (lambda: fs.NodeClass("a", 1, cores=1, gpus=np.array([])), "gpus of the node class 'a' must be such as"),
        (lambda: fs.SweepTable({"a": np.array(5)}, axes=()), "a column of a SweepTable is one-dimensional"),
        (lambda: fs.Sweep(fs.Run(LOG, fs.Cluster(4)), {}).run(executor=np.array([1, 2])), "executor must be "),
        (lambda: LOG.write_csv(5), "the name of a file must be text or a path, got 5"),
        (lambda: fs.load_result({}), "the name of a file must be text or a path, got {}"),
        (lambda: fs.krevat_span(LOG, np.array([1, 2])), r"krevat_span: which must be .*, got array\(\[1, 2\]\)"),
        (lambda: fs.parse_policy(["x"], "easy"), r"parse_policy: kind must be text, got \['x'\]"),
        (lambda: fs.FailureTrace([1], [2]).with_count(10**30), "count of with_count.. must be at least 0 and at most"),
        (lambda: fs.synthetic.bench_dags(10**30, rng=1), "n must be at least 1 and at most 1000000"),
        (lambda: fs.synthetic.exponential(10**12, rng=1, mean_gap=1, mean_runtime=1, sizes=[1]), "jobs must be"),
        (lambda: fs.synthetic.ExponentialTimes(5).sample(-1, 1), "n must be at least 0"),
        (lambda: fs.Reason(5), "cause must be one of faultsim.Cause, got 5"),
        (lambda: fs.Slowdown((None,)), r"speed of Slowdown must be .*, got \(None,\)"),
        (lambda: LOG[[[1, 2], [3]]], r"rows of a workload: expected a list or an array, got \[\[1, 2\], \[3\]\]"),
        (lambda: fs.Workload([1], [1], [1], dropped={"x": None}), r"dropped\['x'\] must be a whole number, got None"),
        (lambda: fs.EventQueue(iter([5])), r"events must be \(time, kind, payload\), got <list_iterator"),
    ],
)
def test_kinds_of_odd_values(call, message):
    refused(fs.FaultsimError, message, call)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda d: d.start(None), "rows, sizes and counts must be whole numbers, got None"),
        (lambda d: d.start("x"), "rows, sizes and counts must be whole numbers, got 'x'"),
        (lambda d: d.wake("x"), "at must be a number in seconds, got 'x'"),
        (lambda d: d.wake(None), "at must be a number in seconds, got None"),
        (lambda d: d.foreseen([1]), r"window must be a number in seconds, got \[1\]"),
        (lambda d: d.expected_end(0, "x"), "at must be a number in seconds, got 'x'"),
        (lambda d: d.may_backfill(0, max_growth=1.5), "rows, sizes and counts must be whole numbers, got 1.5"),
        (lambda d: d.move(0, nodes=[1], live="no"), "live must be True or False, got 'no'"),
        (lambda d: d.move(0, nodes=[1], checkpoint_cost=1j), "checkpoint_cost must be a number in seconds, got 1j"),
        (lambda d: d.wake(np.timedelta64("NaT")), "at is missing"),
    ],
)
def test_decisions_name_what_is_odd(act, message):
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External())
    decision = sim.advance()
    before = repr(decision)
    refused(fs.DecisionError, message, act, decision)
    assert repr(decision) == before


def test_an_error_of_the_callers_own_code_comes_out_as_it_is():
    class Rule(fs.Scheduler):
        def schedule(self, decision):
            return {}["x"]

    with pytest.raises(KeyError, match="'x'"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=Rule())


@pytest.mark.parametrize("value", ["no", 0, None, np.array([True])])
def test_flags_are_true_or_false(value):
    refused(fs.OptionError, "merge must be True or False", fs.read_lanl, "-", merge=value)
