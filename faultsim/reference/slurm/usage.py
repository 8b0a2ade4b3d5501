"""Usage that decays, and its charge to associations (model.md#slurm-usage)."""

from collections.abc import Mapping

from faultsim.reference.slurm.accounts import Accounts, Association


def decay_rate(half_life: float) -> float:
    """The factor of one second: not 2 to the power of -1/half_life; 1 without decay.

    Parameters
    ----------
    half_life : float
        ``PriorityDecayHalfLife`` in seconds; 0: usage does not decay.

    Examples
    --------
    >>> decay_rate(1200.0)
    0.9994225
    """
    return max(0.0, 1.0 - 0.693 / half_life) if half_life > 0 else 1.0


def decay(accounts: Accounts, rate: float, seconds: float) -> None:
    """Reduce the usage of all associations, as each calculation period begins with."""
    factor = rate**seconds
    for each in accounts.root.all():
        each.usage *= factor


def unpaid(now: float, start: float, last_period: float) -> float:
    """Seconds of a job between its last charge and `now`."""
    return max(0.0, now - max(last_period, start))


def charge(rate: float, seconds: float, billing: float, usage_factor: float = 1.0) -> float:
    """Usage of a job over some seconds: all of it decays as if it were that old.

    Examples
    --------
    >>> round(charge(decay_rate(1200.0), 9.0, 8.0), 6)
    71.626643
    """
    return float(seconds * rate**seconds * billing * usage_factor)


def add(association: Association, usage: float) -> None:
    """Add usage to an association and all its ancestors."""
    for each in association.path():
        each.usage += usage


def billing(amounts: Mapping[str, float], weights: Mapping[str, float], *, largest: bool = False) -> float:
    """What an allocation counts per second: its CPUs, or the weighted sum of its resources.

    Parameters
    ----------
    amounts : mapping of str to float
        By resource: ``cpu``, ``mem`` in MiB, ``node``, ``gres/gpu``.
    weights : mapping of str to float
        ``TRESBillingWeights`` of the partition, by resource, memory per MiB; empty if it has none.
    largest : bool
        ``PriorityFlags=MAX_TRES``: the largest of CPUs, memory, nodes and GPUs instead of their sum.

    Examples
    --------
    >>> billing({"cpu": 8.0, "gres/gpu": 2.0}, {"cpu": 1.0, "gres/gpu": 4.0})
    16.0
    """
    if not weights:
        return amounts.get("cpu", 0.0)
    weighed = [amounts.get(name, 0.0) * weight for name, weight in weights.items()]
    return max(weighed) if largest else sum(weighed)


class RunSeconds:
    """What running jobs may still use of each resource: the account of ``GrpTRESRunMins`` of a QOS or an association.

    Examples
    --------
    >>> account = RunSeconds()
    >>> account.start(7, {"cpu": 8.0}, limit=10.0)
    >>> account.elapse(7, 60.0)
    >>> account.left("cpu"), account.minutes("cpu")
    (4320.0, 72)
    >>> account.end(7)
    >>> account.left("cpu")
    0.0
    """

    def __init__(self) -> None:
        self._left: dict[str, float] = {}
        self._jobs: dict[int, tuple[dict[str, float], float]] = {}

    def start(self, job: int, amounts: Mapping[str, float], limit: float) -> None:
        """Add a job with its whole time limit in minutes."""
        self._jobs[job] = dict(amounts), 60.0 * limit
        for name, amount in amounts.items():
            self._left[name] = self._left.get(name, 0.0) + amount * 60.0 * limit

    def elapse(self, job: int, seconds: float) -> None:
        """Take off what has elapsed since the last period, at most what is left of the job."""
        amounts, rest = self._jobs.get(job, ({}, 0.0))
        taken = min(seconds, rest)
        for name, amount in amounts.items():
            self._left[name] = max(0.0, self._left[name] - amount * taken)
        if job in self._jobs:
            self._jobs[job] = amounts, rest - taken

    def end(self, job: int) -> None:
        """Take off the rest."""
        self.elapse(job, float("inf"))
        self._jobs.pop(job, None)

    def left(self, name: str) -> float:
        """Amount times seconds."""
        return self._left.get(name, 0.0)

    def minutes(self, name: str) -> int:
        """As limits count it: rounded down."""
        return int(self.left(name) // 60)

    def correct(self, name: str, left: float) -> None:
        """Set what is left: of a state that is recorded."""
        self._left[name] = left
