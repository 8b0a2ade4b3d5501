"""Placements on a cluster that are written in Python."""

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from helpers.engines import runs_agree
from helpers.refusals import refusals
from helpers.results import assert_equal, random_log
from helpers.runs import runs

LOG = random_log(60, 8)


class Own(fs.Placement):
    """The nodes that a function names."""

    def __init__(self, choose=None):
        self.say = choose or (lambda job, free, state: free[: job.size])

    def choose_nodes(self, job, free, state):
        return self.say(job, free, state)


@given(runs(torus=False, record=True))
def test_the_lowest_numbers_chosen_in_python_are_first_fit(run):
    run = run.with_options(placement=fs.FirstFit(), migration=None)
    assert_equal(run.with_options(placement=Own()).simulate(), run.simulate())


@given(runs(torus=False, record=True, max_jobs=8))
def test_both_engines_ask_for_the_same(run):
    seen = []

    def other_nodes(job, free, state):
        seen.append((job.index, job.size, free.tolist(), state.now, state.nodes))
        return free[::-1][: job.size] if job.index % 2 else free[-job.size :]

    run = run.with_options(placement=Own(other_nodes), migration=None)
    runs_agree(run)
    half = len(seen) // 2
    assert seen[:half] == seen[half:]


def test_without_failures_and_records_too():
    expected = fs.simulate(LOG, fs.Cluster(8))
    assert_equal(fs.simulate(LOG, fs.Cluster(8), placement=Own()), expected)
    sim = fs.Simulation(LOG, fs.Cluster(8), placement=Own())
    sim.run(until=500)
    fork = sim.copy()
    for one in (sim, fork):
        one.run()
        assert_equal(one.result(), expected)


test_nodes_that_cannot_be = refusals(
    fs.OptionError,
    lambda choose: fs.simulate(LOG, fs.Cluster(8), placement=Own(choose)),
    (lambda job, free, state: free[: job.size - 1], r"Own\.choose_nodes must return \d different nodes, got"),
    (lambda job, free, state: [free[0]] * (job.size + 1), "must return"),
    (lambda job, free, state: None, "different nodes, got None"),
    (lambda job, free, state: free[: job.size] + 0.5, "different nodes, got"),
    (lambda job, free, state: np.arange(job.size) + 8, "returned node 8, which is not among the free ones"),
)


@pytest.mark.parametrize(
    ("machine", "how"), [(fs.Cluster(8), "choose_nodes"), (fs.Torus(2, 2, 2), "choose")], ids=["cluster", "torus"]
)
def test_a_rule_must_say_how(machine, how):
    with pytest.raises(fs.OptionError, match=rf"Bare must define {how}\(self, job, "):
        fs.simulate(LOG, machine, placement=type("Bare", (fs.Placement,), {})())
