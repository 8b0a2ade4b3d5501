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
