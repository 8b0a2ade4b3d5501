"""What planning on a pod looks at: counted, so that a slip back to looking through masks of hosts fails."""

import numpy as np
import pytest

import faultsim as fs


def work(scheduler, wiring, days=60):
    """Of two months of a pod whose small jobs are many and whose large ones wait, at a load of 0.8."""
    pod, rng, n = fs.Pod.tpu_v5p(wiring), np.random.default_rng(140), 60 * days
    share = 0.5 ** np.arange(10)
    chips = 2 ** rng.choice(np.arange(2, 12), n, p=share / share.sum())
    runtime = rng.exponential(1.0, n)
    runtime *= 0.8 * pod.chips * days * 86_400 / (runtime * chips).sum()
    submit = np.sort(rng.uniform(0, days * 86_400, n))
    log = fs.Workload(submit, runtime, chips, estimate=runtime * rng.uniform(1, 3, n))
    trace = fs.synthetic.exponential_failures(pod.nodes, days * 86_400, 1250 * 86_400, downtime=14_400, rng=17)
    simulation = fs.Simulation(pod.jobs(log, chips="size"), pod, scheduler=scheduler, failures=trace)
    simulation.run()
    return n, simulation._execution.engine.work


@pytest.mark.parametrize(("wiring", "most"), [("ocs", 5_000), ("static", 18_000)])
def test_backfilling_asks_for_cubes_before_it_looks_for_hosts(wiring, most):
    n, done = work("backfill:depth=10", wiring)
    assert 0 < done["searched"] < most * n


@pytest.mark.parametrize(("wiring", "most"), [("ocs", 600), ("static", 700)])
def test_conservative_plans_pass_over_what_has_no_slice(wiring, most):
    n, done = work("conservative", wiring)
    assert 0 < done["steps"] < most * n


@pytest.mark.parametrize(("further", "asked"), [(8, 1), (7, 1), (5, 2), (2, 2)])
def test_a_shadow_time_is_found_by_halving_what_may_be_enough(further, asked):
    """One cube is free, eight jobs of a cube end one after the other, and the head asks for some cubes further.

    Fewer ends than those are not asked about.  Of eight only the last is left, of seven one of two, of five two of
    four, and of two two of seven.
    """
    pod, ends = fs.Pod((1, 3, 3), (2, 2, 2), 4), [10.0 + i for i in range(8)]
    log = fs.Workload([0] * 8 + [1, 2], [*ends, 5, 99], [4] * 8 + [4 + 4 * further, 4])
    simulation = fs.Simulation(log, pod, scheduler="easy")
    simulation.run(until=5)
    assert simulation._execution.engine.work["probes"] == asked
    simulation.run()
    assert simulation.result().jobs["start"][8] == ends[further - 1]
