"""Migration: moving running jobs so that waiting ones fit (MODEL.md section 8)."""

from dataclasses import dataclass
from typing import ClassVar

from faultsim import checks
from faultsim.policies.base import Policy

__all__ = ["Defragment", "Migration"]


class Migration(Policy):
    """Base of migration policies."""

    kind: ClassVar[str] = "migration"


@dataclass(frozen=True)
class Defragment(Migration):
    """Re-place all running jobs on an empty torus when that makes the largest free box grow.

    After FCFS stops, at most once a pass, if enough is free (`min_free`) and it is scattered (`max_concentration`).
    Jobs are re-placed largest first by the placement rule; then FCFS goes on.

    Parameters
    ----------
    min_free : float, default 0.1
        Attempt only if at least this fraction of the machine is free.
    max_concentration : float, default 0.7
        Attempt only if the largest free box holds at most this fraction of the free nodes.
    cost : float, default 0
        Seconds that each job whose box changes stands still.
    when : {"waiting", "always"}, default "waiting"
        Attempt only while jobs wait, or also with an empty queue (Krevat's Figure 6).
    keep_promise : bool, default False
        Refuse an arrangement that would make the head's reservation later.

    References
    ----------
    Krevat et al., JSSPP 2002, section 2, scheduler 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Defragment(cost=30).cost
    30.0
    """

    name: ClassVar[str] = "defragment"
    min_free: float = 0.1
    max_concentration: float = 0.7
    cost: float = 0.0
    when: str = "waiting"
    keep_promise: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "min_free", checks.number("min_free", self.min_free, low=0.0, high=1.0))
        put(self, "max_concentration", checks.number("max_concentration", self.max_concentration, low=0.0, high=1.0))
        put(self, "cost", checks.number("cost of a migration", self.cost, low=0.0, unit="seconds"))
        checks.choice("value of when", self.when, ("waiting", "always"))
        put(self, "keep_promise", checks.flag("keep_promise", self.keep_promise))
