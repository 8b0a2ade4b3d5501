"""Orders that are powers of the wait go by slopes, which find the first job without sorting: the same schedules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.policies.expressions import program
from helpers.results import assert_equal

#: Expressions in their degree: how `wait` enters them.
POWERS = {
    "-wait": 1,
    "-wait / (log2(max(size, 2)) * max(estimate, 1))": 1,
    "-(wait / max(estimate, 1)) ** 3 * size": 3,
    "-sqrt(wait * size) / estimate": 0.5,
    "estimate * size / wait": -1,
    "-abs(-wait) ** 2 / (estimate + 1)": 2,
    "-wait * wait / size * wait": 3,
    "size ** 30 / (wait ** 0.5 * estimate) ** 2": -1,
    "-(wait / where(size > 2, estimate + 1, 3)) ** 1.5": 1.5,
}
OTHERS = [
    "-wait - estimate", "-wait * now", "-wait ** size", "-log(wait)", "-((wait ** 2) ** 0.5) ** 2", "-wait * restarts",
    "-wait ** 0.1", "-max(wait, 1)", "-wait ** 9", "size < wait", "estimate",
]  # fmt: skip
#: Powers of which some jobs are none, or whose parts leave the range of a double.
ODD = ["-wait * (size - 2)", "-wait / (estimate - 1)", "-wait * 1e200 / 1e200 / estimate", "-(wait * 0)", "wait / size"]


@pytest.mark.parametrize("key", POWERS)
def test_the_degree_of_a_power(key):
    assert program(key).degree == POWERS[key]


@pytest.mark.parametrize("key", OTHERS)
def test_no_power_that_slopes_could_serve(key):
    degree = program(key).degree
    assert degree is None or not 0.5 <= abs(degree) <= 3


SCHEDULERS = [fs.EasyBackfill, fs.Fcfs, fs.ConservativeBackfill, lambda order: fs.Backfill(2, order=order)]
MACHINES = [fs.Cluster(8), fs.Cluster(8), fs.Torus(2, 2, 2)]


def jobs(rng):
    n, span = int(rng.integers(1, 60)), rng.choice([1, 3, 30, 1000])
    return fs.Workload(
        submit=np.sort(rng.integers(0, span, n) * rng.choice([1.0, 0.1, 1 / 3])),
        runtime=rng.integers(0, 8, n) * rng.choice([1, 7, 0.1]),
        size=rng.integers(1, 9, n),
        estimate=rng.choice([1, 2, 4, 8, 16, 0.5, 1 / 3], n) * rng.choice([1, 7]),
    )


@given(st.integers(0, 2**32), st.sampled_from([*POWERS, *ODD]), st.sampled_from(SCHEDULERS), st.sampled_from(MACHINES))
def test_slopes_and_keys_start_the_same_jobs(seed, key, scheduler, machine):
    """The other key is the same number, but no power of `wait` to read: it is what queues are sorted by."""
    rng = np.random.default_rng(seed)
    log, found = jobs(rng), []
    failures = fs.FailureTrace(np.sort(rng.uniform(0, log.submit[-1] + 9, 5)), rng.integers(0, 8, 5), 3.0)
    recovery = fs.Requeue(place=rng.choice(["tail", "arrival"]))
    for one in (key, f"({key}) + 0 * now"):
        try:
            run = fs.Run(log, machine, scheduler=scheduler(order=fs.Key(one)))
            found.append(run.with_options(failures=failures, recovery=recovery).simulate())
        except fs.FaultsimError as error:
            found.append(str(error).replace(" + 0 * now", ""))
    if isinstance(found[0], str):
        assert isinstance(found[1], str)
    else:
        assert_equal(*found)


@pytest.mark.parametrize(("scheduler", "machine"), [(SCHEDULERS[3], MACHINES[0]), (SCHEDULERS[1], MACHINES[2])])
def test_ties_that_products_with_slopes_miss_by_a_rounding(scheduler, machine):
    """At 200 all have waited as long as they ask for: w / e is 1, but w * (1 / e) is not always.  The first goes."""
    for seed in range(20):
        wait = np.sort(np.random.default_rng(seed).integers(1, 200, 6))[::-1].astype(float)
        runtime = np.append(200, wait)
        log = fs.Workload(submit=np.append(0, 200 - wait), runtime=runtime, size=[8] * 7, estimate=runtime)
        keys = ("-wait / estimate", "-wait / estimate + 0 * now")
        one, other = (fs.simulate(log, machine, scheduler=scheduler(order=fs.Key(key))) for key in keys)
        assert one.jobs["start"][1] == 200
        assert_equal(one, other)


def looked(log, order):
    sim = fs.Simulation(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order=order))
    sim.run()
    return sim._execution.engine.work["looked"]


@pytest.mark.parametrize("order", ["wfp3", "unicef", fs.Key("-sqrt(wait / estimate)")])
def test_a_pass_looks_at_the_queue_a_few_times_and_not_by_sorting(order):
    """A pass over an unsorted queue looks at it about twice, and once more for each job that it starts."""
    for n in (250, 1000, 4000):
        log = fs.synthetic.lublin(n, rng=1, nodes=128)
        log = fs.Workload(**{**log.columns, "submit": np.arange(n, dtype=float)})
        assert 0 < looked(log, order) <= 0.6 * n * n
