"""Runs of one long training job, and of jobs that meet outages at the reported rates."""

import math
from typing import NamedTuple

import numpy as np

from faultsim.data.domains import Domains
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Cluster, Pod
from faultsim.policies import MaxAvailability, Periodic, Requeue
from faultsim.reproduce.pods.queues import DAY, HOUR
from faultsim.results.expected_ettr import expected_ettr
from faultsim.simulation.run import Run
from faultsim.synthetic import domain_failures, exponential_failures

MINUTE = 60.0
#: GPUs of a node.
GPUS = 8
#: Failures per 1,000 node-days on Meta's two clusters, as reported.
RATES = (6.5, 2.34)
#: GPUs -> hours between failures at 6.5, as reported; the last one is measured, the others are extrapolated.
MTTF = {16_384: 1.8, 131_072: 0.23, 1024: 7.9}
#: Of the formula: GPUs, time between checkpoints, cost of one, restart.  The period and the costs are ours.
ETTR_GPUS = (1024, 4096, 16_384)
INTERVAL, COST, RESTART = HOUR, MINUTE, 5 * MINUTE
#: Llama 3, as reported: interruptions in so many seconds on so many GPUs, and the effective share of the time.
INTERRUPTIONS, SPAN, LLAMA_GPUS, EFFECTIVE = 419, 54 * DAY, 16_384, 0.90
LLAMA_INTERVALS = tuple(minutes * MINUTE for minutes in (10, 20, 40, 60))
#: Periods around the best one, as multiples of it, and what they are tried with: seconds between failures of the job.
FACTORS = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
MEANS = {"1.8 h": 24 * HOUR * 1000 / RATES[0] / (16_384 // GPUS), "3.1 h": SPAN / INTERRUPTIONS}
SAVING, REPAIRING = 2 * MINUTE, 10 * MINUTE
#: Google's failures a day of one machine, cable, switch, as reported; how many cables and switches there are is counted
#: from what is published of TPU v4: 96 optical cables to each cube, 48 switches that all cubes share.
DAILY = {"host": 0.0008, "cable": 0.00005, "switch": 0.0004}
CABLES, SWITCHES = 96, 48
#: Down times: ours; they do not matter to which jobs meet an outage.
MTTR = {"host": "4h", "cable": "4h", "switch": "1h"}
JOB = DAY


class Training(NamedTuple):
    """One long job: nodes, seconds between failures of it, work between checkpoints, cost of one, restart."""

    nodes: int
    mean: float
    interval: float
    cost: float = 0.0
    restart: float = 0.0

    def run(self, failures: int, rng: np.random.Generator) -> Run:
        """The job, as long as it takes for so many failures to be expected while it works.

        Eight nodes are spare, and nodes are down for a hundredth of the time between two failures, so that the job
        never waits for one.
        """
        more = 8
        every = self.mean * self.nodes  # of a node
        span = 10.0 * failures * self.mean
        trace = exponential_failures(self.nodes + more, span, every, downtime=self.mean / 100.0, any_rate=True, rng=rng)
        log = Workload(submit=[0.0], runtime=[failures * self.mean], size=[self.nodes])
        return Run(
            log,
            Cluster(self.nodes + more),
            failures=trace,
            recovery=Requeue(restart_cost=self.restart),
            checkpointing=Periodic(self.interval, self.cost),
        )

    def formula(self, rule: str = "first-order") -> float:
        """What a formula says of its effective training time ratio."""
        return expected_ettr(
            self.nodes,
            self.mean * self.nodes,
            self.interval,
            cost=self.cost,
            restart_cost=self.restart,
            rule=rule,
            any_rate=True,
        )


def of_meta(gpus: int, rate: float) -> Training:
    """A job on so many GPUs at failures per 1,000 node-days."""
    nodes = gpus // GPUS
    return Training(nodes, 1000 * DAY / rate / nodes, INTERVAL, COST, RESTART)


def for_mttf(gpus: int) -> Training:
    """A job to count failures with: checkpoints are free and frequent."""
    nodes = gpus // GPUS
    mean = 1000 * DAY / RATES[0] / nodes
    return Training(nodes, mean, mean / 10.0)


def of_llama(interval: float) -> Training:
    """Llama 3's job with our interval between checkpoints, which cost nothing, and our restart."""
    return Training(LLAMA_GPUS // GPUS, SPAN / INTERRUPTIONS, interval, 0.0, RESTART)


def best_period(mean: float) -> float:
    """The period, work and checkpoint, that maximizes the availability."""
    return float(MaxAvailability(SAVING, mean, REPAIRING, any_rate=True).work_between([1])[0]) + SAVING


def of_period(mean: float, factor: float) -> Training:
    """A job of 256 nodes whose period is a multiple of the best one."""
    return Training(256, mean, factor * best_period(mean) - SAVING, SAVING, REPAIRING)


def availability(mean: float, period: float) -> float:
    """The availability that the best period maximizes ([saxena2024])."""
    return (1.0 - SAVING / period) / (1.0 + (REPAIRING + period / 2.0) / mean)


def parts_of(pod: Pod, cables: bool) -> Domains:
    """What fails of a pod: hosts, switches that are routed around, and cables that take their cube, or none."""
    found = [Domains.hosts(pod), Domains.blocks(pod, pod.nodes, copies=SWITCHES, kind="switch", effect="none")]
    if cables:
        found.append(Domains.blocks(pod, pod.hosts, copies=CABLES, kind="cable"))
    return Domains.join(found)


def hit_by_law(cubes: int, cables: bool) -> float:
    """The share of jobs of so many cubes and a day that meet an outage, at the reported rates.

    Examples
    --------
    >>> round(hit_by_law(1, False), 4), round(hit_by_law(16, True), 4)
    (0.0127, 0.2454)
    """
    pod = Pod.tpu_v4()
    rate = pod.hosts * DAILY["host"] + cables * CABLES * DAILY["cable"]
    return -math.expm1(-cubes * rate * JOB / DAY)


def outages(pod: Pod, cubes: int, cables: bool, days: float, rng: np.random.Generator) -> Run:
    """Jobs of so many cubes that need a day, always wanted, at the reported rates.

    Failures go on for twice as long as jobs come, since lost work and repairs push the last ones on.
    """
    parts = parts_of(pod, cables)
    rates = {kind: DAILY[kind] for kind in parts.kinds}
    mttr = {kind: MTTR[kind] for kind in parts.kinds}
    failures: FailureTrace = domain_failures(parts, 2 * days * DAY, per_day=rates, downtime=mttr, rng=rng).map_domains(
        parts
    )
    slices = pod.n_cubes // cubes
    n = int(days) * slices
    log = Workload(np.repeat(np.arange(int(days)) * JOB, slices), np.full(n, JOB), np.full(n, cubes * pod.hosts))
    return Run(log, pod, failures=failures)
