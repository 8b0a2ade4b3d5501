"""What many running jobs cost: counted, so that a slip back fails."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.simulation.execution import Execution

JOBS = 40_000


def log(nodes, estimates):
    """As many jobs on any number of nodes, at a load of 0.8."""
    draw = np.random.default_rng(5)
    size = draw.integers(1, 20, JOBS)
    runtime = draw.lognormal(7, 1.5, JOBS) + 1
    span = (size * runtime).sum() / (0.8 * nodes)
    return fs.Workload(
        submit=np.sort(draw.random(JOBS)) * span,
        runtime=runtime,
        size=size,
        estimate=runtime * draw.integers(1, estimates, JOBS, endpoint=True),
    )


@pytest.mark.parametrize("nodes", [16_384, 65_536, 524_288])
@pytest.mark.parametrize("estimates", [1, 4])
def test_a_start_or_end_moves_few_of_the_running_jobs(nodes, estimates):
    one = Execution(fs.Run(log(nodes, estimates), fs.Cluster(nodes)))
    one.go_on()
    one.engine.verify()
    # In a sorted array, half of the running jobs would stand in the way: hundreds to ten thousand.
    assert 0 < one.engine.work["moved"] < 2 * JOBS * 160
