"""What jobs asked Slurm for, and their runs."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Run:
    """One run of a job; a requeued job has several.

    Parameters
    ----------
    submit, eligible, start, end : float
        Seconds since 1970 on the controller's clock, NaN if unknown.
    state : str
        As accounted.
    """

    submit: float
    eligible: float
    start: float
    end: float
    state: str


@dataclass
class JobRequest:
    """What a job asked for.

    Parameters
    ----------
    job : int
        Its own id; of an element of an array, that of the element's record.
    user, account, qos : str
        As accounted.
    partitions : tuple of str
        All that the job named, in its order.
    nodes : int
        Least number of nodes.
    cpus : float
        CPUs asked for in all.
    tres : dict of str to float
        Amounts asked for, memory in MiB.
    limit : float
        Time limit in minutes; infinite without one.
    nice : float
        Nice value.
    exclusive : bool
        Whether it asks for whole nodes.
    special : tuple of str
        What delays it: "array", "dependency", "begin", "hold".
    options : dict of str to str
        Options of its submit line, by their long names.
    runs : list of Run
        By submit time.
    """

    job: int
    user: str
    account: str
    qos: str
    partitions: tuple[str, ...]
    nodes: int
    cpus: float
    tres: dict[str, float]
    limit: float
    nice: float = 0.0
    exclusive: bool = False
    special: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
