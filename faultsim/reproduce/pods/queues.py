"""Runs in which slices of one size are always wanted, so that a slice runs whenever one is up.

Then the number of running slices follows the law of the healthy cubes exactly, at every instant: if a cube fails, its
job is killed and the first of the queue starts at the same instant wherever a slice is left; if a job ends, the next
starts on its slice.  How long jobs are does not matter.  With static wiring the largest slice is the wanted one: else
the head of the queue could get a larger block where none of its size is left.
"""

from typing import NamedTuple

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Pod
from faultsim.policies import Fcfs, FirstFit
from faultsim.simulation.run import Run
from faultsim.synthetic import renewal_failures
from faultsim.synthetic.renewal import Repairs, Uptimes

HOUR, DAY = 3600.0, 86_400.0
#: Mean time to repair a host.
REPAIR = 4 * HOUR
#: Run time of a job; a job that is killed begins again.
RUNTIME = 4 * HOUR


class Distributions(NamedTuple):
    """Of the times up and down of hosts, and after how many mean up times it is forgotten that they begin as new."""

    uptimes: Uptimes
    repairs: Repairs
    forgotten: float


#: Of the beginning, besides; exponential times forget it as fast as that.
REPAIRS = 20.0
USUAL = Distributions("exponential", "exponential", 0.0)
OTHERS = {
    "exponential": USUAL,
    "bathtub, constant repairs": Distributions("bathtub_per_gap", "constant", 50.0),
}


def pod_of(wiring: str, cubes: int, extents: tuple[int, int, int] = (4, 4, 4)) -> Pod:
    """A pod whose largest slice has so many cubes."""
    return Pod(extents, wiring="ocs" if wiring == "switched" else "static", largest=cubes)


def host_failures(hosts: int, a: float, repairs: float, kinds: Distributions, rng: np.random.Generator) -> FailureTrace:
    """Hosts of availability a, independent of each other, for so many mean repair times of the long run."""
    up = REPAIR * a / (1.0 - a)
    begin = kinds.forgotten * up + REPAIRS * REPAIR
    span = begin + repairs * REPAIR
    whole = renewal_failures(
        hosts, span, up, REPAIR, uptimes=kinds.uptimes, repairs=kinds.repairs, any_rate=True, rng=rng
    )
    return whole.window(begin, span, under_way=True)


def always_wanted(pod: Pod, cubes: int, needed: int, since: float, until: float) -> Workload:
    """Jobs of one size that never run out before `until`: in every run time as many arrive as could run."""
    slices = max(pod.n_cubes // cubes, 1)
    waves = int(np.ceil(until / RUNTIME)) + 3
    n = waves * slices
    window = {"needed": float(needed), "since": since, "until": until}
    return Workload(
        submit=np.repeat(np.maximum(np.arange(waves) - 2, 0) * RUNTIME, slices),
        runtime=np.full(n, RUNTIME),
        size=np.full(n, cubes * pod.hosts),
        estimate=np.full(n, RUNTIME),
        columns={name: np.full(n, value) for name, value in window.items()},
    )


def full_queue(pod: Pod, cubes: int, failures: FailureTrace, needed: int, since: float) -> Run:
    """The run, measured from `since` to the end of the trace."""
    log = always_wanted(pod, cubes, needed, since, failures.span)
    return Run(log, pod, scheduler=Fcfs(), placement=FirstFit(), failures=failures, record=True)


#: Sizes of the mixed jobs in chips, equally often.
MIXED = tuple(4 * 2**k for k in range(10))
#: Mean run time of the mixed jobs, exponential.
MIXED_RUNTIME = 4 * HOUR


def mixed(machine: Pod, jobs: int, rng: np.random.Generator) -> Run:
    """Jobs of 4 to 2,048 chips, all there from the beginning, first come first served, without failures.

    They are measured while half of what has to be done is done, between the first tenth and six tenths.
    """
    chips = rng.choice(np.array(MIXED), jobs)
    runtime = rng.exponential(MIXED_RUNTIME, jobs)
    whole = float(chips @ runtime) / machine.chips  # as though no chip were ever idle: the queue lasts longer
    window = {"needed": 0.0, "since": 0.1 * whole, "until": 0.6 * whole}
    log = Workload(
        submit=np.zeros(jobs),
        runtime=runtime,
        size=chips,
        estimate=runtime,
        columns={name: np.full(jobs, value) for name, value in window.items()},
    )
    return Run(machine.jobs(log, chips="size"), machine, scheduler=Fcfs(), placement=FirstFit(), record=True)
