"""The multifactor priority of a waiting job (model.md#slurm-priority)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Priorities are unsigned words of 32 bits.
LARGEST = 2**32 - 1


@dataclass(frozen=True)
class Weights:
    """``PriorityWeight...`` and the other settings of priorities.

    Parameters
    ----------
    age, assoc, fairshare, job_size, partition, qos : float
        Weights.
    tres : mapping of str to float
        ``PriorityWeightTRES``, by resource in lower case.
    max_age : float
        ``PriorityMaxAge``, seconds.
    favor_small : bool
        ``PriorityFavorSmall``.
    flags : frozenset of str
        ``PriorityFlags``, in upper case.
    """

    age: float = 0.0
    assoc: float = 0.0
    fairshare: float = 0.0
    job_size: float = 0.0
    partition: float = 0.0
    qos: float = 0.0
    tres: Mapping[str, float] = field(default_factory=dict)
    max_age: float = 7 * 86400.0
    favor_small: bool = False
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Totals:
    """What a partition has, and its own factor.

    Parameters
    ----------
    tres : mapping of str to float
        Amounts: ``cpu``, ``mem`` in MiB, ``node``, ``gres/gpu``, ``billing``.
    job_factor : int
        ``PriorityJobFactor``.
    """

    tres: Mapping[str, float]
    job_factor: int = 1


@dataclass(frozen=True)
class Request:
    """What the priority of a job depends on, besides its age and its association.

    Parameters
    ----------
    nodes : int
        Least number of nodes.
    cpus : int
        Those of the last node selection that succeeded, before the first one those asked for.
    tres : mapping of str to float
        Amounts asked for.
    limit : float
        Time limit in minutes.
    qos_priority : int
        Priority of its QOS.
    nice : float
        What is subtracted.
    site : float
        A term of the site's own.
    """

    nodes: int
    cpus: float
    tres: Mapping[str, float]
    limit: float
    qos_priority: int = 0
    nice: float = 0.0
    site: float = 0.0


@dataclass(frozen=True)
class Cluster:
    """Totals and largest values over the cluster.

    Parameters
    ----------
    nodes, cpus : int
        Numbers of nodes and of CPUs.
    largest_job_factor : int
        Largest ``PriorityJobFactor`` of all partitions.
    largest_qos : int
        Largest priority of all QOS.
    largest_assoc : int
        Largest priority of all associations.
    """

    nodes: int
    cpus: int
    largest_job_factor: int = 1
    largest_qos: int = 0
    largest_assoc: int = 0


def age_factor(age: float, weights: Weights) -> float:
    """Age over the largest age, at most 1.

    Examples
    --------
    >>> age_factor(300.0, Weights(max_age=1200.0)), age_factor(1e9, Weights())
    (0.25, 1.0)
    """
    if weights.max_age <= 0 or age >= weights.max_age:
        return 1.0 if age > 0 else 0.0
    return max(0.0, age) / weights.max_age


def size_factor(request: Request, cluster: Cluster, weights: Weights) -> float:
    """Size of the job as a share of the cluster, 0 to 1.

    Examples
    --------
    >>> size_factor(Request(2, 32, {}, 60), Cluster(8, 160), Weights())
    0.225
    """
    nodes, cpus = cluster.nodes, cluster.cpus
    if "SMALL_RELATIVE_TO_TIME" in weights.flags:
        size = max(request.nodes * cpus / nodes, request.cpus)
        size = size / max(1.0, request.limit) / cpus
        size = 1.0 - size if weights.favor_small else size
    elif weights.favor_small:
        size = (nodes - request.nodes) / nodes
        if request.cpus:
            size = (size + (cpus - request.cpus) / cpus) / 2
    else:
        size = request.nodes / nodes
        if request.cpus:
            size = (size + request.cpus / cpus) / 2
    return min(1.0, max(0.0, size))


def _normal(value: float, largest: float, raw: bool) -> float:
    return value if raw else value / largest if largest else 0.0


def factors(
    request: Request,
    partition: Totals,
    cluster: Cluster,
    weights: Weights,
    *,
    age: float,
    fair_share: float,
    assoc_priority: int,
) -> dict[str, float]:
    """All factors of a job in a partition, each between 0 and 1 unless a flag says ``NO_NORMAL``.

    Parameters
    ----------
    request : Request
        The job.
    partition : Totals
        The partition.
    cluster : Cluster
        The cluster.
    weights : Weights
        Only flags and the largest age are used.
    age : float
        Seconds since the job may run.
    fair_share : float
        Factor of its association.
    assoc_priority : int
        Priority of its association.
    """
    flags = weights.flags
    found = {
        "Age": age_factor(age, weights),
        "Assoc": _normal(assoc_priority, cluster.largest_assoc, "NO_NORMAL_ASSOC" in flags),
        "Fairshare": fair_share,
        "JobSize": size_factor(request, cluster, weights),
        "Partition": _normal(partition.job_factor, cluster.largest_job_factor, "NO_NORMAL_PART" in flags),
        "QOS": _normal(request.qos_priority, cluster.largest_qos, "NO_NORMAL_QOS" in flags),
    }
    for name in weights.tres:
        amount, total = request.tres.get(name, 0.0), partition.tres.get(name, 0.0)
        found[f"TRES:{name}"] = _normal(amount, total, "NO_NORMAL_TRES" in flags)
    return found


def total(found: Mapping[str, float], weights: Weights, request: Request, *, several: bool = False) -> float:
    """The sum, in double precision and in Slurm's order; at least 1.

    Parameters
    ----------
    found : mapping of str to float
        The factors.
    weights : Weights
        What they are multiplied by.
    request : Request
        The job.
    several : bool
        Whether the job names several partitions: the term of the partition is added last.
    """
    value = found["Age"] * weights.age
    value += found["Assoc"] * weights.assoc
    value += found["Fairshare"] * weights.fairshare
    value += found["JobSize"] * weights.job_size
    if not several:
        value += found["Partition"] * weights.partition
    value += found["QOS"] * weights.qos
    value += sum(found[f"TRES:{name}"] * weight for name, weight in weights.tres.items())
    value += request.site
    value -= request.nice
    if several:
        value += found["Partition"] * weights.partition
    return max(1.0, value)


def priority(found: Mapping[str, float], weights: Weights, request: Request, *, several: bool = False) -> int:
    """The priority: only the sum is rounded, downwards; `several` as of `total`.

    Examples
    --------
    >>> weights = Weights(age=1000, job_size=500, max_age=1200.0)
    >>> request = Request(2, 32, {}, 60)
    >>> found = factors(
    ...     request, Totals({}), Cluster(8, 160), weights, age=300.0, fair_share=0.0, assoc_priority=0
    ... )
    >>> priority(found, weights, request)
    362
    """
    return min(LARGEST, int(total(found, weights, request, several=several)))
