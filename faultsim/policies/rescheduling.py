"""Moving running jobs away from predicted failures (model.md#rescheduling)."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from faultsim import checks, renames
from faultsim.data.lowered import Lowered
from faultsim.data.world import PredictionRows, TickRows
from faultsim.errors import OptionError
from faultsim.policies.base import Check, NodeCount, OwnPolicy, Policy, Seconds
from faultsim.policies.interval_reports import ticks
from faultsim.policies.words import StrategyWord

__all__ = [
    "FailureSlowdown",
    "Fars",
    "JobFailureRate",
    "NodeStealing",
    "Rescheduling",
    "ServiceUnitLoss",
    "Static",
    "Strategy",
]


class Strategy(Policy):
    """Base of the strategies of `Fars`: the value of moving a job."""

    kind: ClassVar[str] = "strategy"


@dataclass(frozen=True)
class ServiceUnitLoss(Strategy):
    """SUL-D: move the jobs that would lose most node-seconds.

    The gain of moving a job is its failure probability times its size times the work that a failure in the middle of
    the interval would lose, minus the overhead of the move.

    References
    ----------
    [li2009] equation 2.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fars(300, fs.ServiceUnitLoss()).strategy
    ServiceUnitLoss()
    """

    name: ClassVar[str] = "service_unit_loss"


@dataclass(frozen=True)
class JobFailureRate(Strategy):
    """JFR-D: move as many of the jobs as possible.

    The gain of moving a job is its failure probability.

    References
    ----------
    [li2009] equation 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fars(300, fs.JobFailureRate()).strategy.name
    'job_failure_rate'
    """

    name: ClassVar[str] = "job_failure_rate"


@dataclass(frozen=True)
class FailureSlowdown(Strategy):
    """FSD-D: move the jobs that a failure would slow down most.

    The gain of moving a job is its failure probability times the delay caused by a failure in the middle of the
    interval (work lost, waiting in the queue, restart) minus the overhead of the move, relative to its estimate (at
    least 10 s).

    References
    ----------
    [li2009] equation 4.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fars(300, fs.FailureSlowdown(), queue_cost="mean").queue_cost
    'mean'
    """

    name: ClassVar[str] = "failure_slowdown"


@dataclass(frozen=True)
class NodeStealing(Strategy):
    """When no node is spare, stop the running job that loses least and take its nodes.  Cluster and checkpoints only.

    Gains are those of `ServiceUnitLoss`.  A suspicious job for which there are too few spare nodes takes those of a
    smaller job that is not suspicious, has enough nodes and loses less than the gain; that job is requeued and resumes
    from its last checkpoint.

    References
    ----------
    [du2024]. They steal after a failure; here it happens before a predicted one.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fars(300, fs.NodeStealing()).strategy
    NodeStealing()
    """

    name: ClassVar[str] = "node_stealing"


@renames.parameters
@dataclass(frozen=True)
class Static(Policy):
    """A pool of spare nodes that the scheduler leaves alone.

    Parameters
    ----------
    nodes : int
        How many: 0 or more, fewer than the machine has.

    References
    ----------
    [li2009] section 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fars(300, fs.JobFailureRate(), spares=fs.Static(16)).spares
    Static(nodes=16)
    """

    kind: ClassVar[str] = "spares"
    name: ClassVar[str] = "static"
    nodes: Annotated[NodeCount, Check(checks.whole, "nodes of Static", low=0)]


_seconds = partial(checks.number, unit="seconds")
Suspicious: TypeAlias = Literal["last", "ignore"]
QueueCost: TypeAlias = Literal["last", "mean"]
Residual: TypeAlias = Literal["printed", "difference"]


#: Word -> class, as the registry has them.
_STRATEGIES: dict[str, type[Strategy]] = {
    word: cls
    for cls, short in ((ServiceUnitLoss, "sul"), (JobFailureRate, "jfr"), (FailureSlowdown, "fsd"), (NodeStealing, ""))
    for word in ((cls.name, short, f"{short}_d") if short else (cls.name,))
}


def _strategy(value: object) -> Strategy:
    if isinstance(value, Strategy):
        return value
    if isinstance(value, str):
        return _STRATEGIES[checks.choice("strategy", value.strip().lower().replace("-", "_"), _STRATEGIES)]()
    if isinstance(value, type) and issubclass(value, Strategy):
        raise OptionError(f"strategy must be an instance: write {value.__name__}(), not its class")
    raise OptionError(
        f"strategy must be ServiceUnitLoss(), JobFailureRate(), FailureSlowdown() or NodeStealing(), "
        f"got {checks.shown(value)}"
    )


def _spares(value: object) -> str | Static:
    if isinstance(value, Static) or (isinstance(value, str) and value == "dynamic"):
        return value
    hint = f"; write Static({value})" if isinstance(value, int) else ""
    raise OptionError(f'spares must be "dynamic" or Static(nodes), got {checks.shown(value)}{hint}')


class Rescheduling(OwnPolicy):
    """Base of rescheduling policies; subclass it to write your own in Python.

    Override `tick`, and set `interval`, the seconds between two ticks, which are at its whole multiples.

    Examples
    --------
    >>> import faultsim as fs
    >>> class Away(fs.Rescheduling):
    ...     interval = 300.0
    ...     def tick(self, decision):
    ...         doomed = set(decision.foreseen(self.interval)["node"].tolist())
    ...         for job, nodes in zip(decision.running, decision.running.where):
    ...             if doomed & set(nodes.tolist()) and not decision.occupancy[1]:
    ...                 decision.move(job, nodes=[1])
    >>> log = fs.Workload(submit=[0], runtime=[1000], size=[1])
    >>> failures = fs.FailureTrace([500], [0], [60], span=2000)
    >>> moved = fs.simulate(log, fs.Cluster(2), rescheduling=Away(), failures=failures, predictor=fs.Perfect())
    >>> moved.metrics["failed_jobs"], moved.jobs["finish"]
    (0, array([1060.]))
    """

    kind: ClassVar[str] = "rescheduling"
    name: ClassVar[str] = "python"

    def planned_ticks(self, foreseen: PredictionRows) -> TickRows | None:
        """The ticks that are planned before the run, by what is foreseen; None if there are none."""
        return None

    def tick(self, decision: Any) -> None:
        """Move, requeue, save or kill running jobs; a pass follows if there was an act.

        Parameters
        ----------
        decision : Decision
            Of kind ``"tick"``; it is over when this returns.
        """
        raise OptionError(f"{type(self).__name__} must define tick(self, decision)")

    def _plain(self) -> Lowered:
        if type(self) is Rescheduling or (self.is_written() and type(self).tick is Rescheduling.tick):
            self.tick(None)
        if not self.is_written():
            return super()._plain()
        interval = getattr(self, "interval", None)
        return {**super()._plain(), "interval": _seconds(f"{type(self).__name__}.interval", interval, above=0.0)}


@dataclass(frozen=True)
class Fars(Rescheduling):
    """At regular ticks, move running jobs from nodes that are predicted to fail to spare ones.

    If there are too few spare nodes, a 0-1 knapsack over the strategy's gains chooses which jobs move. On a torus a job
    moves as a whole, into a box that the placement rule picks.

    Parameters
    ----------
    interval : float
        Seconds between two ticks; also how far a tick looks ahead.
    strategy : ServiceUnitLoss, JobFailureRate, FailureSlowdown or NodeStealing
        The value of moving a job; or a word for it, such as ``"sul"``.
    spares : "dynamic" or Static, default "dynamic"
        Which free nodes jobs may move to: those that the scheduler has not promised to any job, or a pool that it
        leaves alone.
    checkpoint_cost, restart_cost : float, default 30
        Seconds per move: a checkpoint, whose end is a safe point, then a restart.
    live : bool, default False
        Moves are live migrations: they cost only `restart_cost` and are not safe points.
    suspicious : {"last", "ignore"}, default "last"
        Whether starting jobs get nodes that are predicted to fail only when no others are left.
    queue_cost : {"last", "mean"}, default "last"
        How `FailureSlowdown` estimates the wait of a killed job: the last wait observed, or the mean of all.
    residual : {"printed", "difference"}, default "printed"
        The gain by which one more job gets the leftover spare nodes, though too few for it: based on the failure
        probability of the nodes that it keeps, as printed in the paper, or on how much the move reduces that
        probability.

    References
    ----------
    [li2009]; model.md#rescheduling.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[1000], size=[1])
    >>> failures = fs.FailureTrace([500], [0], [60], span=2000)
    >>> options = dict(failures=failures, predictor=fs.IntervalPredictor(1, 1, 300))
    >>> fs.simulate(log, fs.Cluster(2), **options).metrics["failed_jobs"]
    1
    >>> moved = fs.simulate(log, fs.Cluster(2), rescheduling=fs.Fars(300, fs.ServiceUnitLoss()), **options)
    >>> moved.metrics["failed_jobs"], moved.metrics["moves"], moved.jobs["finish"]
    (0, 1, array([1060.]))
    """

    name: ClassVar[str] = "fars"
    plans_ahead: ClassVar[str] = "ticks"
    interval: Annotated[Seconds, Check(_seconds, "interval of Fars", above=0.0)]
    strategy: Annotated[Strategy, Check(_strategy)]
    spares: Annotated[Literal["dynamic"] | Static, Check(_spares)] = "dynamic"
    checkpoint_cost: Annotated[Seconds, Check(_seconds, "checkpoint_cost", low=0.0)] = 30.0
    restart_cost: Annotated[Seconds, Check(_seconds, "restart_cost", low=0.0)] = 30.0
    live: Annotated[bool, Check(checks.flag, "live")] = False
    suspicious: Annotated[Suspicious, Check(checks.choice, "value of suspicious", known=get_args(Suspicious))] = "last"
    queue_cost: Annotated[QueueCost, Check(checks.choice, "value of queue_cost", known=get_args(QueueCost))] = "last"
    residual: Annotated[Residual, Check(checks.choice, "value of residual", known=get_args(Residual))] = "printed"

    if TYPE_CHECKING:

        def __init__(
            self,
            interval: checks.Duration,
            strategy: Strategy | StrategyWord,
            spares: Literal["dynamic"] | Static = "dynamic",
            checkpoint_cost: checks.Duration = 30.0,
            restart_cost: checks.Duration = 30.0,
            live: bool = False,
            suspicious: Suspicious = "last",
            queue_cost: QueueCost = "last",
            residual: Residual = "printed",
        ) -> None: ...

    def planned_ticks(self, foreseen: PredictionRows) -> TickRows | None:
        """Those at which nodes become suspicious, or cease to be."""
        coming = ticks(foreseen, self.interval)
        return coming if len(coming.node) else None
