"""Predictors and checkpoint rules written in Python: columns that they give before a run begins."""

import numpy as np
import pytest

import faultsim as fs
from helpers.engines import runs_agree
from helpers.refusals import refusals
from helpers.results import assert_equal, random_log

LOG = random_log(150, 8, horizon=3000)
FAILURES = fs.FailureTrace(
    np.sort(np.random.default_rng(5).uniform(0, 4000, 40)), np.random.default_rng(6).integers(0, 16, 40), 60
)


class Told(fs.Predictor):
    """What a function says."""

    def __init__(self, say):
        self.say = say

    def predict(self, trace, machine, rng):
        return self.say(trace, machine, rng)


class Every(fs.Checkpointing):
    """What a function plans."""

    def __init__(self, cost, plan):
        self.cost, self.plan = cost, plan

    def intervals(self, jobs):
        return self.plan(jobs)


def run(**options):
    return fs.Run(LOG, fs.Cluster(16), failures=FAILURES, **options)


SAME = [
    (fs.Perfect(), lambda trace, machine, rng: {"time": trace.time, "node": trace.node}),
    (fs.Confidence(0.4), lambda trace, machine, rng: {"time": trace.time, "node": trace.node, "p": 0.4}),
    (fs.Blind(), lambda trace, machine, rng: {"time": [], "node": []}),
    (
        fs.IntervalPredictor.from_pairs([3, 3, 9], [1, 2, 4], interval=100.0, precision=0.7),
        lambda trace, machine, rng: {
            "begin": [900, 300, 300], "end": [1000, 400, 400], "node": [4, 2, 1], "p": 0.7
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("built_in", "say"), SAME, ids=lambda part: getattr(part, "name", ""))
def test_an_own_predictor_is_as_good_as_a_built_in_one(built_in, say):
    options = {"placement": fs.SafestFirst()}
    expected = run(predictor=built_in, **options).simulate()
    mine = run(predictor=Told(say), **options)
    assert_equal(mine.simulate(), expected)
    runs_agree(mine)


def test_what_an_own_predictor_draws_depends_on_the_seed_alone():
    def some(trace, machine, rng):
        seen = rng.random(len(trace)) < 0.5
        return {"time": trace.time[seen], "node": trace.node[seen]}

    first = run(predictor=Told(some), placement=fs.SafestFirst(), seed=1).simulate()
    assert_equal(run(predictor=Told(some), placement=fs.SafestFirst(), seed=1).simulate(), first)
    other = run(predictor=Told(some), placement=fs.SafestFirst(), seed=2).simulate()
    assert any((other.jobs[name] != first.jobs[name]).any() for name in first.jobs)


@pytest.mark.parametrize(
    ("built_in", "plan"),
    [
        (fs.Periodic(50, 4), lambda jobs: np.full(len(jobs), 50.0)),
        (fs.Young(cost=4, mtbf=40000, any_rate=True), lambda jobs: np.sqrt(((2.0 * 4.0) * 40000) / jobs.size)),
        (fs.NoCheckpoint(), lambda jobs: np.full(len(jobs), np.inf)),
    ],
    ids=["periodic", "young", "none"],
)
def test_an_own_checkpoint_rule_is_as_good_as_a_built_in_one(built_in, plan):
    expected = run(checkpointing=built_in).simulate()
    mine = run(checkpointing=Every(4.0, plan))
    assert_equal(mine.simulate(), expected)
    runs_agree(mine)


def test_a_loaded_result_asks_for_the_policies_again(tmp_path):
    predictor, rule = Told(SAME[0][1]), Every(4.0, lambda jobs: 400.0 / jobs.size)
    result = run(predictor=predictor, checkpointing=rule, placement=fs.SafestFirst()).simulate()
    result.save(tmp_path / "mine.npz")
    loaded = fs.load_result(tmp_path / "mine.npz")
    with pytest.raises(fs.OptionError, match=r"a predictor written in Python \(.*Told"):
        fs.rerun(loaded)
    assert_equal(fs.rerun(loaded, predictor=predictor, checkpointing=rule), result)


test_predictions_that_cannot_be = refusals(
    fs.OptionError,
    lambda say: run(predictor=Told(say), placement=fs.SafestFirst()).simulate(),
    (lambda *_: None, r"Told\.predict must return a mapping .* got None"),
    (lambda *_: {"node": [1]}, "must return node, and begin and end or time, and p; got node"),
    (lambda *_: {"node": [1], "time": [1], "when": [2]}, "got node, time, when"),
    (lambda *_: {"node": [1], "time": [1, 2]}, "must have one length, got 2, 2, 1"),
    (lambda *_: {"node": [16], "time": [1]}, "nodes must be whole numbers from 0 to 15"),
    (lambda *_: {"node": [0.5], "time": [1]}, "nodes must be whole numbers from 0 to 15"),
    (lambda *_: {"node": [1], "time": [np.nan]}, "begin must be one row of numbers, finite ones, without NaN"),
    (lambda *_: {"node": ["a"], "time": [1]}, "node must be numbers"),
    (lambda *_: {"node": [1], "begin": [5], "end": [4]}, "from 5 s to 4 s ends before it begins"),
    (lambda *_: {"node": [1], "time": [1], "p": 2}, r"p of Told\.predict must be"),
)

test_plans_that_cannot_be = refusals(
    fs.OptionError,
    lambda cost, plan: run(checkpointing=Every(cost, plan)).simulate(),
    (4.0, lambda jobs: 5.0, r"Every\.intervals: it must be one row of numbers|must return 150 numbers"),
    (4.0, lambda jobs: np.zeros(len(jobs)), "must return 150 numbers above 0"),
    (4.0, lambda jobs: [1.0], "must return 150 numbers above 0"),
    (4.0, lambda jobs: None, "must be"),
    (-1.0, lambda jobs: np.ones(len(jobs)), r"Every\.cost must be"),
    (4.0, lambda jobs: np.full(len(jobs), 1e-9), "at least 1e-06 s are needed"),
)

test_methods_that_are_missing = refusals(
    fs.OptionError,
    lambda kind, base: run(**{kind: type("Bare", (base,), {"cost": 1.0})()}).simulate(),
    ("predictor", fs.Predictor, r"Bare must define predict\(self, trace, machine, rng\)"),
    ("checkpointing", fs.Checkpointing, r"Bare must define intervals\(self, jobs\)"),
)
