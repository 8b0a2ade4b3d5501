"""What happens to a job that a failure kills (model.md#kill)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from faultsim import checks
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.policies.base import Check, NodeCount, OwnPolicy, Seconds

__all__ = ["Hold", "HotSpares", "Recovery", "Requeue"]


class Recovery(OwnPolicy):
    """Base of recovery policies; subclass it to write your own in Python.

    Override `react`, which is called at each failure that hits a running job, under any scheduler.  `restart_cost` (s)
    and `place` may be set, too, and mean what they mean for `Requeue`.

    Examples
    --------
    A job stays where the repair does not take long:

    >>> import faultsim as fs
    >>> class Patient(fs.Recovery):
    ...     restart_cost = 10.0
    ...     def react(self, decision):
    ...         if decision.until - decision.now <= 60:
    ...             decision.hold(decision.job)
    >>> log = fs.Workload(submit=[0], runtime=[1000], size=[1])
    >>> failures = fs.FailureTrace([500], [0], [60], span=2000)
    >>> fs.simulate(log, fs.Cluster(2), failures=failures, recovery=Patient()).jobs["finish"]
    array([1570.])
    """

    kind: ClassVar[str] = "recovery"
    name: ClassVar[str] = "python"
    #: Whether jobs are started otherwise than without it, so that it counts where nothing fails, too.
    from_start: ClassVar[bool] = False
    restart_cost: Seconds = 0.0
    place: str = "arrival"

    def react(self, decision: Any) -> None:
        """Say what becomes of the job ``decision.job``, which is about to be killed: requeue, hold or kill it.

        Without an act it is requeued.

        Parameters
        ----------
        decision : Decision
            Of kind ``"failure"``; it is over when this returns.
        """
        raise OptionError(f"{type(self).__name__} must define react(self, decision)")

    def _plain(self) -> Lowered:
        if type(self) is Recovery or (self.is_written() and type(self).react is Recovery.react):
            self.react(None)
        if not self.is_written():
            return super()._plain()
        name = type(self).__name__
        place = checks.choice(f"place of {name}", self.place, ("arrival", "tail"))
        cost = checks.number(f"{name}.restart_cost", self.restart_cost, low=0.0, unit="seconds")
        return {**super()._plain(), "place": place, "restart_cost": cost}


Place: TypeAlias = Literal["arrival", "tail"]
RestartCost = Annotated[Seconds, Check(checks.number, "restart_cost", low=0.0, unit="seconds")]


@dataclass(frozen=True)
class Requeue(Recovery):
    """The job is requeued; those of its nodes that are up are free at once.

    Work since its last safe point (start or checkpoint) is lost.

    Parameters
    ----------
    place : {"arrival", "tail"}, default "arrival"
        Where it waits: in its old place, by submit time, so that it can become the head, or behind all jobs that wait
        now. The papers do not say.
    restart_cost : float, default 0
        Seconds that each start after a kill takes before work continues.

    References
    ----------
    [oliner2004] section 6; [zhang2004] section 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Requeue(restart_cost=30)
    Requeue(place='arrival', restart_cost=30.0)
    """

    name: ClassVar[str] = "requeue"
    place: Annotated[Place, Check(checks.choice, "place of a requeued job", known=get_args(Place))] = "arrival"
    restart_cost: RestartCost = 0.0

    if TYPE_CHECKING:

        def __init__(
            self,
            place: Place = "arrival",
            restart_cost: checks.Duration = 0.0,
        ) -> None: ...


@dataclass(frozen=True)
class Hold(Recovery):
    """The job stays on its nodes until the failed one is repaired, and continues from its last safe point.

    Further failures on its nodes make it wait longer, but do not kill it again.

    Parameters
    ----------
    restart_cost : float, default 0
        Seconds between the repair and the work.

    References
    ----------
    [li2009] section 5 (the simulator resumes the job on the repaired node).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Hold(restart_cost=30).lower()
    {'name': 'hold', 'restart_cost': 30.0}
    """

    name: ClassVar[str] = "hold"
    restart_cost: RestartCost = 0.0

    if TYPE_CHECKING:

        def __init__(self, restart_cost: checks.Duration = 0.0) -> None: ...


#: As many as any machine has nodes.
MOST_SPARES = 2**31 - 1


@dataclass(frozen=True)
class HotSpares(Recovery):
    """Jobs have spare nodes from the start, and go on in place with one of them when a node fails.

    The job rolls back to its last safe point and takes `restart_cost` to go on; the node that failed leaves it for
    good.  With no spare node left it is killed and requeued.  On a pod with optical switches spares are cubes, which
    slices of whole cubes have.  `moves` counts the exchanges, and the ledger account ``growth`` has the time of spare
    nodes.

    Parameters
    ----------
    count : int, default 1
        Spare nodes of each job, or for each `per` of its nodes; on a pod, cubes.
    per : int, default 0
        Nodes of a job, on a pod cubes, for which there are so many spares; 0 for all of them, however many.
    restart_cost : float, default 0
        Seconds from a failure until the work goes on, and that each start after a kill takes.
    place : {"arrival", "tail"}, default "arrival"
        Where a job waits that was killed, as with `Requeue`.

    References
    ----------
    model.md#hot-spares.

    Examples
    --------
    The node of three that fails at 50 s costs 50 s of work and a restart of 10 s, and no wait:

    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[100], size=[2])
    >>> failures = fs.FailureTrace([50], [0], [600], span=1000)
    >>> result = fs.simulate(log, fs.Cluster(3), failures=failures, recovery=fs.HotSpares(1, restart_cost=10))
    >>> result.jobs["finish"], result.jobs["moves"], result.jobs["restarts"]
    (array([160.]), array([1], dtype=int32), array([0], dtype=int32))
    """

    name: ClassVar[str] = "hot_spares"
    from_start: ClassVar[bool] = True
    count: Annotated[NodeCount, Check(checks.whole, "count of hot spares", low=0, high=MOST_SPARES)] = 1
    per: Annotated[NodeCount, Check(checks.whole, "per", low=0, high=MOST_SPARES)] = 0
    restart_cost: RestartCost = 0.0
    place: Annotated[Place, Check(checks.choice, "place of a requeued job", known=get_args(Place))] = "arrival"

    if TYPE_CHECKING:

        def __init__(
            self,
            count: int = 1,
            per: int = 0,
            restart_cost: checks.Duration = 0.0,
            place: Place = "arrival",
        ) -> None: ...
