"""The state from which Slurm's loops decide: nodes and jobs (model.md#slurm)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from faultsim.data.slurm_site import SlurmPartition, SlurmRecord

#: Seconds of a limit that is missing: a year.
ENDLESS = 365 * 86400.0


@dataclass(frozen=True)
class Ask:
    """What a job asks of nodes.

    Parameters
    ----------
    min_nodes, max_nodes : int
        Least and most nodes; 0 is no upper bound.
    tasks, cpus_per_task : int
        Number of tasks, and CPUs of each.
    memory : int
        MiB per node or per CPU, as `per_cpu` says; 0: none is asked for.
    per_cpu : bool
        Whether `memory` is for each CPU.
    gpus : int
        GPUs on each node.
    gpu_type : str
        Empty for any type.
    exclusive : bool
        Whether the job takes whole nodes.
    features : str
        ``a&b``, ``a|b``, a feature, or empty.
    required, excluded : frozenset of int
        Indices of nodes named with ``-w`` and ``-x``.
    """

    min_nodes: int = 1
    max_nodes: int = 0
    tasks: int = 1
    cpus_per_task: int = 1
    memory: int = 0
    per_cpu: bool = False
    gpus: int = 0
    gpu_type: str = ""
    exclusive: bool = False
    features: str = ""
    required: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()

    @property
    def need(self) -> int:
        """CPUs of the whole job."""
        return max(self.tasks * self.cpus_per_task, self.min_nodes)


@dataclass
class Waiting:
    """A job, or the elements of an array that have not started.

    Parameters
    ----------
    job : int
        Its id.
    ask : Ask
        What it asks for.
    user, account, qos : str
        Its association and QOS.
    partitions : tuple of str
        All that it names, in its order.
    limit : float
        Time limit in minutes.
    submit : float
        Seconds; a requeue sets a new one.
    priority : mapping of str to int
        By partition; the empty name is for all others.
    reservation : str
        Empty for none.
    array : int
        Id of the array it is an element of, 0 for none.
    left : int
        Jobs that this record stands for: more than 1 only for an array.
    free : int
        How many of them may start now (``%limit``); -1 is any number.
    amounts : mapping of str to float
        Resources asked for, by name.
    preempting : bool
        Whether other jobs end already to make room for it.
    no_victims : bool
        Whether it may not preempt now, because it did a short time ago.
    """

    job: int
    ask: Ask
    user: str = ""
    account: str = ""
    qos: str = ""
    partitions: tuple[str, ...] = ()
    limit: float = ENDLESS / 60
    submit: float = 0.0
    priority: Mapping[str, int] = field(default_factory=dict)
    reservation: str = ""
    array: int = 0
    left: int = 1
    free: int = -1
    amounts: Mapping[str, float] = field(default_factory=dict)
    preempting: bool = False
    no_victims: bool = False

    def priority_in(self, partition: str) -> int:
        """Priority of its record of a partition."""
        return self.priority.get(partition, self.priority.get("", 0))


@dataclass
class Running:
    """A job that holds nodes.

    Parameters
    ----------
    job : int
        Its id.
    partition : str
        In which it runs.
    start, limit : float
        Seconds; minutes.
    nodes, cpus : list of int
        Indices of nodes, and the CPUs on each.
    memory : list of int
        MiB on each.
    gpus : list of dict of str to int
        GPUs on each, by type.
    exclusive : bool
        Whether no other job may use the nodes.
    user, account, qos, array, reservation
        As of `Waiting`.
    grace_end : float, optional
        When its grace time after preemption ends.
    reserved_until : float
        When its reservation ends; infinite without one.
    """

    job: int
    partition: str
    start: float
    limit: float
    nodes: list[int]
    cpus: list[int]
    memory: list[int]
    gpus: list[dict[str, int]]
    exclusive: bool = False
    user: str = ""
    account: str = ""
    qos: str = ""
    array: int = 0
    reservation: str = ""
    order: int = 0
    grace_end: float | None = None
    reserved_until: float = math.inf

    @property
    def end(self) -> float:
        """When its limit, or its grace time, ends."""
        return self.start + 60.0 * self.limit if self.grace_end is None else self.grace_end

    def amounts(self) -> dict[str, float]:
        """What it holds, by resource."""
        held = {
            "cpu": float(sum(self.cpus)), "mem": float(sum(self.memory)), "node": float(len(self.nodes)),
            "gres/gpu": float(sum(sum(each.values()) for each in self.gpus)),
        }  # fmt: skip
        held["billing"] = held["cpu"]
        return held


@dataclass(frozen=True)
class Reserved:
    """A reservation of whole nodes in [start, end)."""

    name: str
    nodes: frozenset[int]
    start: float
    end: float
    maintenance: bool = False
    all_nodes: bool = False

    def meets(self, start: float, end: float) -> bool:
        """Whether a job of this interval would run into it."""
        return self.start < end and start < self.end


@dataclass(frozen=True)
class Booked:
    """A reservation over time: the first time, and every `every` seconds after it (0: once)."""

    first: Reserved
    every: float = 0.0

    def at(self, now: float) -> Reserved:
        """The occurrence that is not over, in whole seconds; of one that comes once, that one."""
        first, k = self.first, 0
        if self.every > 0.0:
            k = max(0, math.floor((now - first.end) / self.every) - 1)
            while math.ceil(first.end + k * self.every) <= now:
                k += 1
        end = first.end + k * self.every
        return replace(
            first, start=float(math.floor(first.start + k * self.every)),
            end=float(math.ceil(end)) if math.isfinite(end) else end,
        )  # fmt: skip

    def next_edge(self, now: float) -> float:
        """The first begin or end after now."""
        each = self.at(now)
        return each.start if each.start > now else each.end if each.end > now else math.inf


class Room:
    """What is free of each node.

    Parameters
    ----------
    site : SlurmNodes
        The nodes.
    running : iterable of Running
        Jobs that hold some.
    """

    def __init__(self, site: SlurmNodes, running: Iterable[Running] = ()) -> None:
        self.site = site
        self.cores = list(site.cores)
        self.memory = list(site.memory)
        self.gpus = [dict(each) for each in site.gpus]
        self.jobs = [0] * len(self.cores)
        self.exclusive = [0] * len(self.cores)
        self.of_partition: list[dict[str, int]] = [{} for _ in self.cores]
        for each in running:
            self.take(each)

    def copy(self) -> Room:
        """An independent copy."""
        other = Room.__new__(Room)
        other.site = self.site
        other.cores, other.memory = self.cores[:], self.memory[:]
        other.gpus = [dict(each) for each in self.gpus]
        other.jobs, other.exclusive = self.jobs[:], self.exclusive[:]
        other.of_partition = [dict(each) for each in self.of_partition]
        return other

    def take(self, job: Running, sign: int = 1) -> None:
        """Give nodes to a job; with ``sign=-1`` take them back."""
        for at, node in enumerate(job.nodes):
            self.cores[node] -= sign * job.cpus[at]
            self.memory[node] -= sign * job.memory[at]
            for kind, number in job.gpus[at].items():
                self.gpus[node][kind] = self.gpus[node].get(kind, 0) - sign * number
            self.jobs[node] += sign
            self.exclusive[node] += sign * job.exclusive
            held = self.of_partition[node]
            held[job.partition] = held.get(job.partition, 0) + sign * job.cpus[at]

    def give(self, job: Running) -> None:
        """Take back what a job holds."""
        self.take(job, -1)


class SlurmNodes:
    """Nodes, partitions and settings of a site, in the form that decisions need.

    Parameters
    ----------
    conf : SlurmRecord
        The configuration.
    """

    def __init__(self, conf: SlurmRecord) -> None:
        self.conf = conf
        self.names = [node.name for node in conf.nodes]
        self.index = {name: at for at, name in enumerate(self.names)}
        self.cores = [node.cpus for node in conf.nodes]
        self.memory = [node.memory for node in conf.nodes]
        self.gpus = [dict(node.gpus) for node in conf.nodes]
        self.weight = [node.weight for node in conf.nodes]
        self.features = [frozenset(node.features) for node in conf.nodes]
        self.partitions: dict[str, SlurmPartition] = {part.name: part for part in conf.partitions}
        self.nodes_of = {part.name: [self.index[name] for name in part.nodes] for part in conf.partitions}
        for nodes in self.nodes_of.values():
            nodes.sort()
        settings = conf.settings
        words = {word.upper() for word in settings["SelectTypeParameters"]}
        self.manages_memory = any(word.endswith("_MEMORY") or word == "CR_MEMORY" for word in words)
        self.least_loaded = "CR_LLN" in words
        self.pack_serial_at_end = bool(settings["pack_serial_at_end"])
        self.busy_first = bool(settings["bf_busy_nodes"])
        mode = tuple(word.upper() for word in settings["PreemptMode"])
        self.preempts = "none" not in settings["PreemptType"] and bool(mode) and mode != ("OFF",)
        self.by_qos = settings["PreemptType"].endswith("qos")
        self.mode = next((word for word in mode if word not in ("GANG", "WITHIN")), "OFF")

    def features_of(self, wanted: str) -> list[bool]:
        """Which nodes have the features of a constraint."""
        if not wanted:
            return [True] * len(self.names)
        return [_has(each, wanted) for each in self.features]


def _has(have: frozenset[str], wanted: str) -> bool:
    for group in wanted.replace("¦", "|").split("|"):
        names = [name.partition("*")[0].strip("[]() ") for name in group.split("&")]
        if all(name in have for name in names):
            return True
    return False


@dataclass
class State:
    """What a pass of the main loop, or a cycle of the backfill loop, decides from.

    Parameters
    ----------
    site : SlurmNodes
        The configuration.
    keys : list of int
        Sort key of each node, which tests of jobs change (model.md#slurm-nodes).
    up : set of int
        Nodes on which jobs may start.
    cleaning : set of int
        Nodes on which a job's clean-up is not over.
    waiting : list of Waiting
        In the order of their creation.
    running : list of Running
        In the order of their creation.
    reservations : list of Reserved
        Those that exist.
    last_period : float
        Begin of the last calculation period, up to which usage is counted.
    used_minutes : mapping of tuple of (str, str) to mapping of str to float
        Decayed usage of QOS ("QOS", name) and accounts in minutes, for ``GrpTRESMins``.
    """

    site: SlurmNodes
    keys: list[int] = field(default_factory=list)
    up: set[int] = field(default_factory=set)
    cleaning: set[int] = field(default_factory=set)
    waiting: list[Waiting] = field(default_factory=list)
    running: list[Running] = field(default_factory=list)
    reservations: list[Reserved] = field(default_factory=list)
    last_period: float = 0.0
    used_minutes: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.keys:
            self.keys = [weight * 256 + 255 for weight in self.site.weight]
        if not self.up:
            self.up = set(range(len(self.site.names)))

    def reset_keys(self, nodes: Sequence[int]) -> None:
        """Set the keys of some nodes to their weights."""
        for node in nodes:
            self.keys[node] = self.site.weight[node] * 256 + 255
