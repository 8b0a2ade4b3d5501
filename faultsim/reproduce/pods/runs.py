"""The runs of the study, part by part, and their numbers by replicate."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np

from faultsim.arrays import Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Pod
from faultsim.reproduce.bluegene.inputs import Jobs
from faultsim.reproduce.bluegene.runs import lost_work
from faultsim.reproduce.pods import laws, measures, queues, titan, training
from faultsim.reproduce.pods.inputs import EXTENTS, SERVERS, Record, placed
from faultsim.simulation.run import Run
from faultsim.sweep.jackknife import Estimate, half_width
from faultsim.sweep.run_list import Columns, RunList


class Key(NamedTuple):
    """One setting; its replicates are one entry of the evidence."""

    part: str
    machine: str
    cubes: int
    level: float
    how: str = ""


#: Column -> what of a run.
COLUMNS: Columns = {
    "slices": measures.slices,
    "promised": measures.promised,
    "kept": measures.kept,
    "exceeded": measures.exceeded,
    "hosts_busy": measures.hosts_busy,
    "ettr": "ettr",
    "kill_rate": "kills_per_1000_node_days",
    "hit": "job_failure_rate",
    "slowdown": "mean_bounded_slowdown",
    "lost_work": lost_work,
    "events": "events",
}
#: Wanted cubes of the planning table that are tried.
WANTED = (16, 48)
#: Cubes of the slices of StepFun's pod: one, and blocks of it.
REPLAYED = (1, 2, 4, 5)
#: From when on the record is counted, which begins with all servers up.
SINCE = 30 * queues.DAY
#: Machines of the mixed jobs, and those of one cube and more that meet outages.
MACHINES: Mapping[str, Callable[[], Pod]] = {
    "switched": lambda: Pod.tpu_v4("ocs"),
    "static": lambda: Pod.tpu_v4("static"),
    "static, any box": lambda: Pod.tpu_v4("static", aligned=False),
}
OUTAGE_CUBES = (1, 4, 16)
OUTAGE_KINDS = ("hosts", "hosts and cables")


def replayed() -> Iterator[tuple[str, int]]:
    """Wiring and cubes of the slices that a record is replayed with: of one cube the wiring does not matter."""
    return ((wiring, cubes) for wiring in laws.WIRINGS for cubes in REPLAYED if cubes > 1 or wiring == "switched")


@dataclass(frozen=True)
class Plan:
    """What to run: replicates, and how long.

    Parameters
    ----------
    replicates, replays : int
        Of drawn failures; of records.
    repairs : float
        Length of the runs that are held against theory, in mean repair times.
    levels : sequence of float
        Availabilities of hosts, with those of the table among them.
    kills : int
        Failures that a training job meets.
    jobs : int
        Of mixed sizes.
    days : float
        Of the runs with outages.
    quarter : float
        Days of Titan's record in a run.
    """

    replicates: int = 20
    replays: int = 10
    repairs: float = 2500.0
    levels: Sequence[float] = (0.985, 0.99, 0.995, 0.9975, 0.999)
    kills: int = 400
    jobs: int = 8000
    days: float = 120.0
    quarter: float = 90.0

    def __post_init__(self) -> None:
        if not set(laws.LEVELS) <= set(self.levels):
            raise ValueError("a plan needs the availabilities 0.99, 0.995 and 0.999")

    def settings(self) -> dict[Key, dict[str, range]]:
        """Every setting with its replicates."""
        found = dict.fromkeys(self._drawn(), self.replicates)
        found |= {Key("record", wiring, cubes, 0.0): self.replays for wiring, cubes in replayed()}
        found |= dict.fromkeys((Key("titan", "torus", 0, 0.0, policy) for policy in titan.POLICIES), self.replays)
        return {key: {"replicate": range(count)} for key, count in found.items()}

    def _drawn(self) -> Iterator[Key]:
        for wiring in laws.WIRINGS:
            for cubes in laws.TABLE:
                yield from (Key("table", wiring, cubes, a, "exponential") for a in self.levels)
            yield Key("table", wiring, 4, 0.99, "bathtub, constant repairs")
        yield from (Key("healthy", "switched", 1, laws.reported_availability(), how) for how in queues.OTHERS)
        for wanted in WANTED:
            for a in laws.LEVELS:
                yield from (Key("spares", "switched", wanted, a, how) for how in ("enough", "one less"))
        yield from (Key("mixed", name, 0, 0.0) for name in MACHINES)
        yield from (Key("outages", "switched", cubes, 0.0, how) for cubes in OUTAGE_CUBES for how in OUTAGE_KINDS)
        yield from (Key("mttf", "cluster", 0, float(gpus)) for gpus in training.MTTF)
        yield from (Key("ettr", "cluster", gpus, rate) for gpus in training.ETTR_GPUS for rate in training.RATES)
        yield from (Key("llama", "cluster", 0, interval) for interval in training.LLAMA_INTERVALS)
        yield from (Key("period", "cluster", 0, factor, mean) for mean in training.MEANS for factor in training.FACTORS)


def plan(quick: bool, replicates: int | None = None) -> Plan:
    """The full plan, or the quick one: four replicates that are shorter, and no availabilities beside the table's."""
    if quick:
        return Plan(replicates or 4, min(replicates or 4, 10), 150.0, laws.LEVELS, 50, 1500, 30.0, 10.0)
    return Plan(replicates or 20, min(replicates or 10, 10))


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at: `runs` maps a setting to its columns, each an array over the replicates."""

    records: Mapping[str, Record]
    jobs: Jobs
    runs: Mapping[Key, Mapping[str, Floats]]
    what: Plan
    quick: bool = False

    def of(
        self,
        column: str,
        part: str,
        machine: str,
        cubes: int = 0,
        level: float = 0.0,
        how: str = "",
        *,
        confidence: float = 0.95,
        scale: float = 1.0,
    ) -> Estimate:
        """The mean of a column of one setting, with its interval."""
        values = scale * self.values(column, part, machine, cubes, level, how)
        return Estimate(float(values.mean()), float(half_width(values, (1.0 + confidence) / 2.0)))

    def values(self, column: str, part: str, machine: str, cubes: int = 0, level: float = 0.0, how: str = "") -> Floats:
        """Column of one setting, over the replicates."""
        return self.runs[Key(part, machine, cubes, level, how)][column]

    @property
    def server_availability(self) -> float:
        """The share of the time for which a server of StepFun's record was up."""
        return float(self.records["stepfun"].trace.summary(SERVERS)["availability"])


def run_list(records: Mapping[str, Record], jobs: Jobs, what: Plan, seed: int) -> RunList[Key]:
    """The runs of a plan.

    Settings that differ in wiring or size only meet the same failures, and so do all periods of one training job.
    """
    up = float(records["stepfun"].trace.summary(SERVERS)["availability"])

    def drawn(replicate: int, *names: object) -> np.random.Generator:
        return np.random.default_rng([seed, replicate, crc32(repr(names).encode())])

    @lru_cache(maxsize=8)
    def hosts(count: int, a: float, how: str, replicate: int) -> FailureTrace:
        kinds = queues.OTHERS[how]
        return queues.host_failures(count, a, what.repairs, kinds, drawn(replicate, "hosts", count, a, how))

    @lru_cache(maxsize=16)
    def servers(replicate: int) -> FailureTrace:
        return placed(records["stepfun"], replicate, seed=seed)

    def table(k: Key, r: int) -> Run:
        needed = laws.promised_slices(k.cubes, k.level, k.machine)
        failures = hosts(laws.CUBES * laws.HOSTS, k.level, k.how, r)
        return queues.full_queue(queues.pod_of(k.machine, k.cubes), k.cubes, failures, needed, 0.0)

    def healthy(k: Key, r: int) -> Run:
        pod = queues.pod_of("switched", 1, Pod.tpu7x().cubes)
        return queues.full_queue(pod, 1, hosts(pod.nodes, k.level, k.how, r), laws.HEALTHY, 0.0)

    def spares(k: Key, r: int) -> Run:
        count = k.cubes + laws.spares(k.cubes, k.level) - (k.how != "enough")
        pod = queues.pod_of("switched", 1, (1, 1, count))
        failures = hosts(pod.nodes, k.level, "exponential", r)
        return queues.full_queue(pod, 1, failures, k.cubes, 0.0)

    def record(k: Key, r: int) -> Run:
        needed = laws.promised_slices(k.cubes, up, k.machine, EXTENTS)
        return queues.full_queue(queues.pod_of(k.machine, k.cubes, EXTENTS), k.cubes, servers(r), needed, SINCE)

    def mixed(k: Key, r: int) -> Run:
        return queues.mixed(MACHINES[k.machine](), what.jobs, drawn(r, "mixed"))

    def outages(k: Key, r: int) -> Run:
        cables = k.how != OUTAGE_KINDS[0]
        return training.outages(Pod.tpu_v4(), k.cubes, cables, what.days, drawn(r, "outages", k.how))

    def trained(k: Key, r: int) -> Run:
        job = {
            "mttf": lambda: training.for_mttf(int(k.level)),
            "ettr": lambda: training.of_meta(k.cubes, k.level),
            "llama": lambda: training.of_llama(k.level),
            "period": lambda: training.of_period(training.MEANS[k.how], k.level),
        }[k.part]()
        same = (k.part, k.how) if k.part in ("llama", "period") else k
        return job.run(what.kills, drawn(r, *same))

    def replayed_titan(k: Key, r: int) -> Run:
        share = r / what.replays
        failures = titan.of_replicate(records["titan"].trace, share, what.quarter)
        return titan.run(titan_jobs(share), failures, k.how)

    @lru_cache(maxsize=4)
    def titan_jobs(share: float) -> Workload:
        return titan.jobs_of(jobs, share, what.quarter)

    parts = {
        "titan": replayed_titan,
        "table": table,
        "healthy": healthy,
        "spares": spares,
        "record": record,
        "mixed": mixed,
        "outages": outages,
    }

    def made(k: Key, r: int) -> Run:
        return parts.get(k.part, trained)(k, r)

    return RunList(
        "pods", what.settings(), made, COLUMNS, order=lambda k, r: (-k.level if k.part == "table" else 1.0, r, k.part)
    )
