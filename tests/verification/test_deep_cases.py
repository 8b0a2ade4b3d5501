"""The compiled engine equals the reference on deep queues, with thresholds at default and least (deep_cases.py)."""

import deep_cases
import numpy as np
import pytest

#: Machine -> runs of one test; ten tests of each machine take about a minute together.
RUNS = {"cluster": 50, "torus": 45, "pod": 20}


@pytest.mark.parametrize(
    "seed", [each if each < 4 else pytest.param(each, marks=pytest.mark.slow) for each in range(10)]
)
@pytest.mark.parametrize("kind", deep_cases.KINDS)
def test_both_engines_agree(kind, seed):
    for number in range(RUNS[kind]):
        run = deep_cases.draw(np.random.default_rng([seed, number]), kind, most_jobs=60)
        assert deep_cases.difference(run) == "", f"seed {seed}, run {number}: {deep_cases.named(run)}"


@pytest.mark.parametrize("kind", deep_cases.KINDS)
def test_the_cases_are_deep(kind):
    """Most runs have more waiting jobs than the core compares at once; failures, kills and backfilling happen."""
    waiting, killed, backfilled, schedulers = [], 0, 0, set()
    for number in range(40):
        run = deep_cases.draw(np.random.default_rng([99, number]), kind, most_jobs=60)
        result = run.simulate()
        submit, decided = result.jobs["submit"], result.jobs["start"] - run.start_delay
        waiting.append(max(np.sum((submit <= t) & (decided > t)) for t in np.unique(submit)))
        killed += bool(result.jobs["restarts"].any())
        backfilled += bool(result.jobs["backfilled"].any())
        schedulers.add(run.scheduler.name)
    assert np.mean(np.array(waiting) > 32) > 0.25
    assert killed > 8
    assert backfilled > 12
    assert len(schedulers) == (5 if kind == "cluster" else 4)
