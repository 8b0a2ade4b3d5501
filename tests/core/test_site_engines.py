"""Both engines agree on sites whose nodes jobs share: random runs with failures, checkpoints and all placements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from helpers.conditions import with_conditions
from helpers.engines import assert_same
from helpers.site_runs import both, drawn_log, drawn_run, drawn_site
from helpers.thresholds import at, least


@pytest.mark.parametrize("part", range(8))
def test_both_engines_agree(part):
    rng = np.random.default_rng([44, part])
    for _ in range(15):
        run = drawn_run(rng, int(rng.integers(2, 40)))
        assert_same(*both(run))


@pytest.mark.parametrize("part", range(4))
def test_a_shadow_that_is_kept_is_the_first(part):
    """Long queues behind one head, of jobs that leave early, in time or late, with releases in chunks of two."""
    rng = np.random.default_rng([447, part])
    for _ in range(12):
        site = drawn_site(rng)
        log = drawn_log(rng, site, 90)
        log = log._derived(submit=np.sort(rng.integers(0, 90, 90)).astype(float))
        order = ["arrival", "shortest"][rng.integers(2)]
        delay = float(rng.integers(0, 3))
        run = fs.Run(log, site, scheduler=fs.EasyBackfill(order), start_delay=delay, oversized="drop", record=True)
        with least() if rng.random() < 0.5 else at(releases_room=2):
            assert_same(*both(run))


def test_a_simulation_of_a_site_can_be_copied_and_goes_on():
    run = drawn_run(np.random.default_rng(5), 30)
    whole = run.simulate()
    sim = fs.Simulation(run.log, run.machine, **{name: getattr(run, name) for name in fs.Run.__dataclass_fields__
                                                if name not in ("log", "machine", "_")})  # fmt: skip
    for _ in range(12):
        sim.step()
    other = sim.copy()
    for each in (other, sim):
        each.run()
        assert each.result().jobs["finish"].tolist() == whole.jobs["finish"].tolist()


@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "backfill:depth=2", "conservative"])
def test_more_nodes_become_free_at_once_than_are_stored(scheduler):
    """Gangs of up to 90 nodes: beyond the 64 nodes that the core stores between two looks at a refused request."""
    rng = np.random.default_rng(6)
    n = 40
    nodes = rng.choice([1, 2, 30, 70, 90], n)
    runtime = rng.integers(1, 30, n)
    log = fs.Workload(
        np.sort(rng.integers(0, 200, n)), runtime, [1] * n, estimate=runtime + rng.integers(0, 9, n),
        columns={"cores": nodes * rng.integers(1, 3, n), "nodes": nodes},
    )  # fmt: skip
    failures = fs.FailureTrace(np.arange(20, 200, 12), np.arange(15) * 6, [5] * 15, span=10**4)
    assert_same(*both(fs.Run(log, "site:n=100x2c", scheduler=scheduler, failures=failures, record=True)))


@given(st.integers(0, 2**32), st.data())
def test_both_engines_agree_on_jobs_with_conditions(seed, data):
    rng = np.random.default_rng(seed)
    run = drawn_run(rng, int(rng.integers(2, 14)))
    options = {"recovery": fs.Requeue()} if isinstance(run.recovery, fs.Hold) else {}
    assert_same(*both(run.with_options(log=data.draw(with_conditions(run.log)), **options)))
