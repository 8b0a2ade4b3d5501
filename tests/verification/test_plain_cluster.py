"""The compiled engine equals the third program for clusters (plain_cluster.c), with thresholds at default and least.

Queues are deep and instants few, so that jobs compete: every random case that showed a wrong conservative plan was of
this kind.
"""

import re
from typing import Any

import numpy as np
import plain_cluster
import pytest

from helpers.thresholds import at, least

pytestmark = pytest.mark.skipif(plain_cluster.compiler() is None, reason="no C compiler builds the third program")


def agree(seed: int, runs: int, **limits: Any) -> None:
    for run in range(runs):
        case = plain_cluster.draw(np.random.default_rng([seed, run]), **limits)
        assert plain_cluster.difference(case) == "", f"seed {seed}, run {run}"


@pytest.mark.parametrize("seed", range(8))
def test_small_cases_with_every_shortcut(seed):
    with least():
        agree(seed, 400, most_jobs=120)


@pytest.mark.parametrize("seed", range(8, 14))
def test_small_cases(seed):
    agree(seed, 300, most_jobs=120)


@pytest.mark.parametrize("seed", [20, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (21, 22, 23))])
def test_deep_queues(seed):
    agree(seed, 40, most_jobs=600, least_jobs=150)
    with least():
        agree(seed + 100, 40, most_jobs=600, least_jobs=150)


@pytest.mark.parametrize("seed", range(50, 56))
def test_failures_in_start_delays_and_holds(seed):
    """Seven such cases once differed from an independent program: a job with nothing left to do that a failure hits
    at the instant of its repair (model.md#hold).
    """
    agree(seed, 200, most_jobs=30, delayed=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60, 64))
def test_many_failures_in_start_delays_and_holds(seed):
    agree(seed, 5000, most_jobs=40, delayed=True)


@pytest.mark.parametrize("run", range(60))
def test_the_reference_agrees_on_start_delays_and_holds(run):
    case = plain_cluster.draw(np.random.default_rng([31, run]), most_jobs=20, delayed=True)
    assert plain_cluster.difference(case, engine="reference") == ""


def test_such_failures_are_drawn():
    """Of the cases with Hold: kills in start delays, several in a hold, and with nothing left to do at a repair."""
    in_delay = again = nothing_left = 0
    for run in range(300):
        case = plain_cluster.draw(np.random.default_rng([50, run]), most_jobs=30, delayed=True)
        if case.recovery != "hold":
            continue
        when, where, down = case.failures
        result = case.simulated()
        if "stuck" in result:
            continue
        in_delay += bool(np.any((result["restarts"] > 0) & np.isin(result["start"], when)))
        repairs = when + down
        again += bool(np.any((when[:, None] < when) & (when < repairs[:, None]) & (where[:, None] == where)))
        ends = np.isin(result["finish"], when) & np.isin(result["finish"], repairs)
        nothing_left += bool(np.any(ends & (result["restarts"] > 0) & (case.runtime == 0)))
    assert in_delay > 20
    assert again > 40
    assert nothing_left > 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 44))
def test_thousands_of_jobs(seed):
    agree(seed, 3, most_jobs=3000, least_jobs=1500)
    with least():
        agree(seed + 100, 3, most_jobs=3000, least_jobs=1500)


@pytest.mark.parametrize("run", range(40))
def test_the_reference_agrees_with_the_third_program(run):
    case = plain_cluster.draw(np.random.default_rng([30, run]), most_jobs=30)
    assert plain_cluster.difference(case, engine="reference") == ""


@pytest.mark.parametrize("name", ["cons_deadlock", "cons_later", "cons_zero_length"])
@pytest.mark.parametrize("values", [{}, {"horizon_steps": 1}])
def test_cases_that_were_wrong(data_dir, name, values):
    path = data_dir / "cases" / "conservative" / f"{name}.py"
    if not path.is_file():
        pytest.skip(f"no file {path}")
    text = path.read_text()
    jobs = np.array(eval(re.search(r"^J=(\[.*?\])", text, re.M).group(1)), float)  # a list of numbers
    nodes = int(re.search(r"Cluster\((\d+)\)", text).group(1))
    size, runtime, estimate = jobs.T
    case = plain_cluster.Case(nodes, np.zeros(len(size)), runtime, estimate, size.astype(int))
    with at(**values):
        assert plain_cluster.difference(case) == ""
