"""What slurm.conf and sacctmgr say of a site: nodes, partitions, associations and QOS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from faultsim.data.slurm_settings import IgnoredKey

#: A limit: a number, minutes, or amounts of resources by name (memory in MiB).
Limit = int | Mapping[str, int]


@dataclass(frozen=True)
class SlurmNode:
    """A node of slurm.conf.

    Attributes
    ----------
    name : str
        Its name.
    cpus : int
        CPUs.
    memory : int
        RealMemory, in MiB.
    gpus : mapping of str to int
        GPUs by type; "" for those without one.
    weight : int
        Nodes of smaller weight are taken first.
    features : tuple of str
        Its features.
    state : str
        As configured: "UNKNOWN" means up; also "DOWN", "DRAIN", "FUTURE" and others.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.SlurmNode("g1", 32, 256000, {"v100": 4}).gpu_count
    4
    """

    name: str
    cpus: int = 1
    memory: int = 1
    gpus: Mapping[str, int] = field(default_factory=dict)
    weight: int = 1
    features: tuple[str, ...] = ()
    state: str = "UNKNOWN"

    @property
    def is_up(self) -> bool:
        """Whether jobs start on it, by its configured state."""
        return self.state in ("UNKNOWN", "UP", "IDLE", "CLOUD")

    @property
    def gpu_count(self) -> int:
        """GPUs of all types."""
        return sum(self.gpus.values())


@dataclass(frozen=True)
class SlurmPartition:
    """A partition of slurm.conf.

    Attributes
    ----------
    name : str
        Its name.
    nodes : tuple of str
        Names of its nodes, in Slurm's order.
    default : bool
        Whether jobs that name no partition go here.
    state : str
        "UP", "DOWN", "DRAIN" or "INACTIVE".
    max_time, default_time : float or None
        Seconds; None: no limit, and the default is the limit.
    min_nodes : int
        Least nodes of a job.
    max_nodes : int or None
        Most nodes of a job.
    priority_tier, priority_job_factor : int
        Order of partitions; a term of priorities.
    over_subscribe : str
        "NO", "EXCLUSIVE", "YES:4" and so on.
    lln : bool
        Whether the least loaded node is taken.
    preempt_mode : str
        "OFF", "CANCEL", "REQUEUE", "SUSPEND"; that of the cluster if it is not given.
    grace_time : float
        Seconds between the warning of a preempted job and its end.
    allow_qos, deny_qos, allow_accounts, deny_accounts : tuple of str
        Names; () for all, or none.
    qos : str
        QOS of the partition, "" for none.
    def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node : int or None
        MiB.
    max_cpus_per_node : int or None
        Most CPUs of a node that jobs of this partition have.
    billing : tuple of (str, float)
        TRESBillingWeights; memory per MiB.
    over_time_limit : float or None
        Minutes; None: that of the cluster.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.SlurmPartition("gpu", ("g1", "g2"), max_time=3600.0).priority_tier
    1
    """

    name: str
    nodes: tuple[str, ...] = ()
    default: bool = False
    state: str = "UP"
    max_time: float | None = None
    default_time: float | None = None
    min_nodes: int = 0
    max_nodes: int | None = None
    priority_tier: int = 1
    priority_job_factor: int = 1
    over_subscribe: str = "NO"
    lln: bool = False
    preempt_mode: str = "OFF"
    grace_time: float = 0.0
    allow_qos: tuple[str, ...] = ()
    deny_qos: tuple[str, ...] = ()
    allow_accounts: tuple[str, ...] = ()
    deny_accounts: tuple[str, ...] = ()
    qos: str = ""
    def_mem_per_cpu: int | None = None
    def_mem_per_node: int | None = None
    max_mem_per_cpu: int | None = None
    max_mem_per_node: int | None = None
    max_cpus_per_node: int | None = None
    billing: tuple[tuple[str, float], ...] = ()
    over_time_limit: float | None = None


@dataclass(frozen=True)
class SlurmAssociation:
    """An account, or a user in an account.

    Attributes
    ----------
    account : str
        The account.
    user : str
        "" for the account itself.
    parent : str
        The account above; "" for root.  That of a user is its account.
    shares : int or None
        ``fairshare``; None for ``parent``.
    priority : int or None
        Its own; None: that of the nearest account above.
    limits : mapping of str to Limit
        By Slurm's names (GrpTRES, MaxJobs, MaxWall ...): numbers, minutes, or amounts by resource; those that are set.
    qos : tuple of str
        QOS that it may use, its own or those of the accounts above.
    default_qos : str
        "" for none.
    partition : str
        "" for all.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.SlurmAssociation("bio", "u3", "bio", limits={"MaxJobs": 6}).shares
    1
    """

    account: str
    user: str = ""
    parent: str = ""
    shares: int | None = 1
    priority: int | None = None
    limits: Mapping[str, Limit] = field(default_factory=dict)
    qos: tuple[str, ...] = ()
    default_qos: str = ""
    partition: str = ""


@dataclass(frozen=True)
class SlurmQos:
    """A quality of service.

    Attributes
    ----------
    name : str
        Its name.
    priority : int
        A term of priorities, relative to the largest.
    flags : tuple of str
        DenyOnLimit, OverPartQOS and so on.
    limits : mapping of str to Limit
        By Slurm's names (GrpTRES, MaxTRESPerUser, MaxWall ...): numbers, minutes, or amounts by resource.
    preempt : tuple of str
        QOS whose jobs those of this one may preempt.
    preempt_mode : str
        "cluster" for that of the cluster.
    grace_time : float
        Seconds.
    exempt_time : float or None
        Seconds for which its jobs are safe from preemption; None: as in the cluster.
    usage_factor : float
        What usage of its jobs is multiplied by.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.SlurmQos("high", 100).preempt
    ()
    """

    name: str
    priority: int = 0
    flags: tuple[str, ...] = ()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    preempt: tuple[str, ...] = ()
    preempt_mode: str = "cluster"
    grace_time: float = 0.0
    exempt_time: float | None = None
    usage_factor: float = 1.0


@dataclass(frozen=True)
class SlurmRecord:
    """What configuration files say; see `faultsim.SlurmConf`."""

    settings: Mapping[str, Any]
    nodes: tuple[SlurmNode, ...]
    partitions: tuple[SlurmPartition, ...]
    associations: tuple[SlurmAssociation, ...] = ()
    qos: Mapping[str, SlurmQos] = field(default_factory=dict)
    ignored: tuple[IgnoredKey, ...] = ()
    odd: tuple[str, ...] = ()
    version: str = "22.05"
    name: str = "slurm.conf"
    given: tuple[str, ...] = ()
