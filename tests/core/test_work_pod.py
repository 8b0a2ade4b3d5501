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
