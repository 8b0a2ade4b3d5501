"""The first of a queue is looked for by floats: they must bound scores of any size that the clock allows."""

import numpy as np
import pytest

import faultsim as fs

SCALES = (1e-12, 1e-6, 1e-3, 1.0, 1e4, 1e8)


@pytest.mark.parametrize("order", ["wfp3", "unicef"])
@pytest.mark.parametrize("spread", SCALES)
@pytest.mark.parametrize("length", SCALES)
def test_the_reference_starts_the_same_jobs(order, spread, length):
    rng = np.random.default_rng([SCALES.index(spread), SCALES.index(length)])
    jobs = 48
    runtime = length * rng.choice([0.3, 1.0, 2.0, 2.0, 7.0], jobs) * (1.0 + 1e-7 * rng.integers(0, 3, jobs))
    log = fs.Workload(
        submit=np.sort(spread * rng.choice([0.0, 1.0, 1.0 + 1e-9, 3.0], jobs)),
        runtime=runtime,
        estimate=runtime * rng.choice([1.0, 1.0, 4.0], jobs),
        size=rng.choice([1, 1, 2, 3, 5, 8], jobs),
    )
    run = fs.Run(log, fs.Cluster(8), scheduler=fs.EasyBackfill(order=order))
    mine, plain = run.simulate(), run.simulate(engine="reference")
    np.testing.assert_array_equal(mine.jobs["start"], plain.jobs["start"])
    assert mine.counters["passes"] == plain.counters["passes"]
