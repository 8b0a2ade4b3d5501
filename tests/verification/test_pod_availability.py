"""How many slices of a pod run in the long run: the simulation against the binomial law of its healthy cubes."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.reference.pod.promises import mean, slices_of_size
from faultsim.reference.pod.slices import Slices

REPAIR, WARMUP, SPAN, RUNTIME, REPLICATES = 1.0, 20.0, 420.0, 5.0, 8
#: Two-sided Student quantile of 7 degrees of freedom: one interval of 1,000 misses.
T_7 = 5.408


def running(pod, chips, a, rng):
    """At 2,000 instants of one run in which a slice is always wanted, how many slices are held."""
    mtbf = REPAIR * a / (1.0 - a)
    failures = fs.synthetic.renewal_failures(pod.nodes, SPAN, mtbf, REPAIR, rng=rng, any_rate=True)
    slices = 2 * pod.chips // chips
    n = int(slices * SPAN / RUNTIME) + slices
    jobs = pod.jobs(fs.Workload(np.zeros(n), np.full(n, RUNTIME), np.full(n, chips)), chips="size")
    result = fs.simulate(jobs, pod, scheduler="fcfs", failures=failures, record=True)
    held = result.allocations
    at = np.linspace(WARMUP, SPAN, 2000)
    begun = np.searchsorted(np.sort(held["begin"]), at, "right")
    return begun - np.searchsorted(np.sort(held["end"]), at, "right")


@pytest.mark.parametrize("wiring", ["ocs", "static"])
@pytest.mark.parametrize(("chips", "a"), [(64, 0.99), (256, 0.99), (1024, 0.999), (32, 0.98)])
def test_slices_in_the_long_run(wiring, chips, a):
    """Mean number of slices, and the share of the time with at least so many, where this share is nearest to 0.6.

    Times up and down are exponential, jobs fail and come again, and slices are wanted all the time: then a slice is
    held whenever one is up.  The shares are inside 99.9 % intervals of eight runs, which must also be narrow.
    """
    pod = fs.Pod.tpu_v4(wiring)
    twin = Slices(pod.cubes, pod.hosts, [1, 2, 4, 8], wiring)
    hosts = pod.slice_of(chips=chips).hosts
    blocks = len(twin.free_of_size(0, hosts)) if wiring == "static" and hosts >= pod.hosts else None
    law = slices_of_size(pod.n_cubes, hosts, a, pod.hosts, blocks)
    tails = np.cumsum(law[::-1])[::-1]
    least = int(np.argmin(np.abs(tails - 0.6)))
    runs = [running(pod, chips, a, np.random.default_rng([chips, seed])) for seed in range(REPLICATES)]
    for measured, exact, narrow in (
        ([run.mean() for run in runs], mean(law), 0.05 * mean(law)),
        ([(run >= least).mean() for run in runs], tails[least], 0.1),
    ):
        half = T_7 * np.std(measured, ddof=1) / np.sqrt(REPLICATES)
        assert abs(np.mean(measured) - exact) <= half <= narrow, (np.mean(measured), exact, half)
