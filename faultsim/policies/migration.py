"""Migration: moving running jobs to better places (model.md#migration)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias, get_args

from faultsim import checks
from faultsim.policies.base import Check, FailureCount, Policy, Seconds, Share

__all__ = ["Defragment", "LeastFailuresMigration", "Migration"]


When: TypeAlias = Literal["waiting", "always"]
Cost = Annotated[Seconds, Check(checks.number, "cost of a migration", low=0.0, unit="seconds")]


class Migration(Policy):
    """Base of migration policies."""

    kind: ClassVar[str] = "migration"


@dataclass(frozen=True)
class Defragment(Migration):
    """Re-place all running jobs on an empty torus if that makes the largest free box grow.

    Attempted after FCFS stops, at most once per pass, if enough nodes are free (`min_free`) but scattered
    (`max_concentration`). The placement rule re-places jobs, largest first; then FCFS continues.

    Parameters
    ----------
    min_free : float, default 0.1
        Attempt only if at least this fraction of the machine is free.
    max_concentration : float, default 0.7
        Attempt only if the largest free box holds at most this fraction of the free nodes.
    cost : float, default 0
        Seconds that each job whose box changes pauses.
    when : {"waiting", "always"}, default "waiting"
        Attempt only while jobs wait, or also with an empty queue (Krevat's Figure 6).
    keep_promise : bool, default False
        Reject an arrangement that would delay the head's reservation.

    References
    ----------
    [krevat2002] section 2, scheduler 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Defragment(cost=30).cost
    30.0
    """

    name: ClassVar[str] = "defragment"
    min_free: Annotated[Share, Check(checks.number, "min_free", low=0.0, high=1.0)] = 0.1
    max_concentration: Annotated[Share, Check(checks.number, "max_concentration", low=0.0, high=1.0)] = 0.7
    cost: Cost = 0.0
    when: Annotated[When, Check(checks.choice, "value of when", known=get_args(When))] = "waiting"
    keep_promise: Annotated[bool, Check(checks.flag, "keep_promise")] = False

    if TYPE_CHECKING:

        def __init__(
            self,
            min_free: float = 0.1,
            max_concentration: float = 0.7,
            cost: checks.Duration = 0.0,
            when: When = "waiting",
            keep_promise: bool = False,
        ) -> None: ...


@dataclass(frozen=True)
class LeastFailuresMigration(Migration):
    """When a job ends, jobs that started after it move to freed nodes that failed less often.  Cluster only.

    In order of their last start, each exchanges its worst node for the best idle one while their numbers of failures so
    far differ by more than `threshold`.

    Parameters
    ----------
    threshold : float, default 1
        Difference in failures that justifies a move. Not given in the paper.
    cost : float, default 300
        Seconds that a moved job spends on checkpoint and restart; their end is a safe point.

    References
    ----------
    [zhang2004] section 5.2.3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.LeastFailuresMigration(threshold=2)
    LeastFailuresMigration(threshold=2.0, cost=300.0)
    """

    name: ClassVar[str] = "least_failures"
    threshold: Annotated[FailureCount, Check(checks.number, "threshold", low=0.0, unit="failures")] = 1.0
    cost: Cost = 300.0

    if TYPE_CHECKING:

        def __init__(self, threshold: float = 1.0, cost: checks.Duration = 300.0) -> None: ...
