"""The queue of a site whose partitions have tiers (model.md#site-tiers)."""

from dataclasses import replace

from faultsim.errors import NotAvailableError
from faultsim.machines.site_jobs import TIER
from faultsim.policies import ArrivalOrder, External, Key, Scheduler, Slurm
from faultsim.policies.queueing import Backfill, ConservativeBackfill, EasyBackfill, Fcfs

_BY_TIER = Key(f"-{TIER}")


def in_tiers(scheduler: Scheduler) -> Scheduler:
    """A scheduler with the jobs of larger tiers first; Slurm's has tiers of its own.

    Raises
    ------
    NotAvailableError
        If its order is neither that of arrival nor an expression with the tier.

    Examples
    --------
    >>> import faultsim as fs
    >>> in_tiers(fs.EasyBackfill()).order
    Key(text='-tier')
    """
    order = scheduler.order
    if isinstance(scheduler, Slurm) or (isinstance(order, Key) and TIER in order.further):
        return scheduler
    if isinstance(order, ArrivalOrder) and isinstance(
        scheduler, (Fcfs, EasyBackfill, Backfill, ConservativeBackfill, External)
    ):
        return replace(scheduler, order=_BY_TIER)
    raise NotAvailableError(
        f"{scheduler!r} does not know the tiers of partitions, which go before its order: name them in an expression, "
        f"such as order='estimate - 1e9 * {TIER}', or leave tier= out"
    )
