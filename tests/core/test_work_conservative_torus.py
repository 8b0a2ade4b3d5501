"""How much of its plan conservative backfilling on a torus looks at."""

import numpy as np
import pytest

import faultsim as fs


def work(jobs, failures):
    """What was looked at where nearly a hundred jobs wait on average."""
    log = fs.synthetic.sdsc_like(jobs, rng=5)
    log = fs.Workload(**{**log.columns, "submit": np.asarray(log.submit) / 3})
    trace = None
    if failures:
        trace = fs.synthetic.weibull_failures(128, 3 * float(log.submit[-1]), 0.85, 18_000.0, count=failures, rng=3)
    simulation = fs.Simulation(
        log, fs.Torus.bluegene_l(), scheduler=fs.ConservativeBackfill(), placement=fs.FirstFit(), failures=trace
    )
    simulation.run()
    return simulation._execution.engine.work


@pytest.mark.parametrize("failures", [0, 100])
def test_searches_look_at_few_steps_of_a_long_plan(failures):
    """For each waiting job that a pass looks at; the plan has hundreds of steps, and most jobs need no search."""
    done = work(1000, failures)
    assert 0 < done["steps"] <= 20 * done["looked"]


def test_slices_of_whole_cubes_ask_for_outlines():
    """Where places have whole cubes of a pod, windows are outlines, each of which is one question at most."""
    log = fs.Workload(submit=[0, 1, 2, 3], runtime=[100, 100, 10, 10], size=[64, 128, 64, 64])
    simulation = fs.Simulation(log, fs.Pod(2, 2, 2), scheduler=fs.ConservativeBackfill())
    simulation.run()
    done = simulation._execution.engine.work
    assert 0 < done["probes"] <= done["steps"]
