"""Schedulers: which waiting job starts next (model.md#queue)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.policies.base import Check, NodeCount, OwnPolicy, Seconds
from faultsim.policies.expressions import COLUMNS, program
from faultsim.policies.key import ORDER_COLUMNS, Key, named_key
from faultsim.policies.orders import ArrivalOrder, LargestFirst, QueueOrder, ShortestFirst, Unicef, Wfp3
from faultsim.policies.words import OrderWord

__all__ = [
    "ORDERS",
    "Backfill",
    "ConservativeBackfill",
    "EasyBackfill",
    "External",
    "Fcfs",
    "Preemptive",
    "Scheduler",
]


_ARRIVAL = ArrivalOrder()
_REPAIRS = ("known", "unknown")
_PRIORITY = Key("-priority")
_BUILT_IN = (ArrivalOrder, ShortestFirst, LargestFirst, Wfp3, Unicef)

DecisionKind: TypeAlias = Literal["schedule", "failure", "checkpoint", "tick"]
#: Kinds of decisions that `External` leaves to the caller.
DECISIONS = ("schedule", "failure", "checkpoint", "tick")
#: Names that ``order=`` takes, and their classes.
ORDERS: dict[str, type[QueueOrder]] = {cls.name: cls for cls in _BUILT_IN}


def checked_order(value: object) -> QueueOrder:
    """``order=``: a `QueueOrder`, a built-in's name, or None for arrival."""
    if value is None:
        return _ARRIVAL
    if isinstance(value, QueueOrder):
        if type(value).keys is QueueOrder.keys:
            raise OptionError(f"{type(value).__name__} must define keys(self, queue, now)")
        return value
    if isinstance(value, str):
        return _named(value)
    if isinstance(value, type) and issubclass(value, QueueOrder):
        raise OptionError(f"order must be an instance: write order={value.__name__}(), not order={value.__name__}")
    raise OptionError(f"order must be one of {', '.join(map(repr, ORDERS))} or a QueueOrder, got {value!r}")


def _named(text: str) -> QueueOrder:
    """The order of a name, or the expression that it is if it can be no name."""
    name = text.strip().lower()
    if name in ORDERS:
        return ORDERS[name]()
    if key := named_key(text):
        return key
    if re.fullmatch(r"[\w\s]*", text):
        try:
            checks.choice("queue order", text, dict.fromkeys([*ORDERS, *Key.presets, *ORDER_COLUMNS]))
        except OptionError as error:
            if not name.isidentifier() or name in COLUMNS:
                raise
            raise OptionError(f"{error}; another column of the log is fs.Key({text.strip()!r})") from None
    return Key(text)


class Scheduler(OwnPolicy):
    """Base of schedulers; subclass it to write your own in Python.

    Override `schedule`.  It is called once in each scheduling pass, inside the engine, with the global interpreter lock
    held.  `order` may be set, too: the queue is then in that order; and `repairs`, which means what it means for
    `EasyBackfill`.

    Examples
    --------
    Whatever fits starts, in order of arrival:

    >>> import faultsim as fs
    >>> class Greedy(fs.Scheduler):
    ...     def schedule(self, decision):
    ...         for job in decision.queue:
    ...             if decision.fits(job):
    ...                 decision.start(job)
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> fs.simulate(log, fs.Cluster(4), scheduler=Greedy()).jobs["start"]
    array([ 0., 10.,  2.])
    """

    kind: ClassVar[str] = "scheduler"
    name: ClassVar[str] = "python"
    #: Whether one pass may take long on a machine of any kind.
    is_slow: ClassVar[bool] = False
    order: QueueOrder = ArrivalOrder()

    def check_columns(self, columns: Mapping[str, Values]) -> None:
        """Raise `OptionError` if a log with these columns has not what the order asks for."""
        checked_order(self.order).check_columns(columns)

    def schedule(self, decision: Any) -> None:
        """Start the jobs that are to start now.

        Parameters
        ----------
        decision : Decision
            What there is to see and to do; it is over when this returns.
        """
        raise OptionError(f"{type(self).__name__} must define schedule(self, decision)")

    def _plain(self) -> Lowered:
        """With its order and what it knows of repairs, for one written in Python."""
        if not self.is_written():
            return super()._plain()
        repairs = checks.choice(f"repairs of {type(self).__name__}", getattr(self, "repairs", "known"), _REPAIRS)
        return {**super()._plain(), "order": checked_order(self.order).lower(), "repairs": repairs}


def _depth(value: object) -> int | str:
    if value is None or value == "unlimited":
        return "unlimited"
    if isinstance(value, str):
        raise OptionError(f"depth must be a number of jobs or 'unlimited', got {value!r}")
    return checks.whole("depth", value, low=1, unit="jobs")


Order = Annotated[QueueOrder, Check(checked_order)]
Reservation = Annotated[Literal["any", "fixed"], Check(checks.choice, "reservation", known=("any", "fixed"))]


def _kinds(value: object) -> tuple[str, ...]:
    """``at=`` of `External`, in the order of `DECISIONS`."""
    given = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else None
    if given is None:
        raise OptionError(
            f"at must list kinds of decisions, of {', '.join(map(repr, DECISIONS))}, got {checks.shown(value)}"
        )
    for kind in given:
        checks.choice("kind of decision", kind, DECISIONS)
    if "schedule" not in given:
        raise OptionError(
            f"at={value!r} leaves the passes to nobody: add 'schedule', or give a scheduler, and a Recovery, "
            f"Checkpointing or Rescheduling of your own that answers"
        )
    return tuple(kind for kind in DECISIONS if kind in given)


def _tick(value: object) -> float | None:
    return None if value is None else checks.number("tick", value, above=0.0, unit="seconds")


Growth = Annotated[NodeCount, Check(checks.whole, "max_growth", low=0, unit="nodes")]
Repairs = Annotated[Literal["known", "unknown"], Check(checks.choice, "value of repairs", known=("known", "unknown"))]


@dataclass(frozen=True)
class Fcfs(Scheduler):
    """The head of the queue first; stop at the first job that cannot start.

    On a torus the head takes its size, rounded up to one that has a box, or else the smallest larger size that has a
    free box.

    Parameters
    ----------
    order : QueueOrder or str, optional
        Order of the queue: ``"arrival"`` (default), ``"shortest"``, ``"largest"``, ``"wfp3"``, ``"unicef"``, a preset
        of `Key` such as ``"f1"``, an expression such as ``"estimate * size"``, or an instance of your own subclass of
        `QueueOrder`.

    References
    ----------
    [krevat2002] section 2, scheduler 1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fcfs()
    Fcfs(order=ArrivalOrder())
    """

    name: ClassVar[str] = "fcfs"
    order: Order = _ARRIVAL

    if TYPE_CHECKING:

        def __init__(
            self,
            order: QueueOrder | OrderWord | None = None,
        ) -> None: ...


@dataclass(frozen=True)
class EasyBackfill(Scheduler):
    """FCFS, then one reservation for the head; later jobs may start if they do not delay it.

    Parameters
    ----------
    order : QueueOrder or str, optional
        As for `Fcfs`.
    reservation : {"any", "fixed"}, default "any"
        On a torus, reserve *some* box for the head at its reserved time, or one particular box. A cluster has no boxes
        and supports only ``"any"``.
    max_growth : int, default 1
        On a torus a backfilled job may take up to this many nodes more than its rounded size (Krevat's I).
    repairs : {"known", "unknown"}, default "known"
        Whether reservations know when a down node comes back; with ``"unknown"`` they assume that it never does.

    References
    ----------
    [mualem2001]; [krevat2002] section 2, scheduler 2.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.EasyBackfill(order="shortest").order
    ShortestFirst()
    """

    name: ClassVar[str] = "easy"
    order: Order = _ARRIVAL
    reservation: Reservation = "any"
    max_growth: Growth = 1
    repairs: Repairs = "known"

    if TYPE_CHECKING:

        def __init__(
            self,
            order: QueueOrder | OrderWord | None = None,
            reservation: Literal["any", "fixed"] = "any",
            max_growth: int = 1,
            repairs: Literal["known", "unknown"] = "known",
        ) -> None: ...


@dataclass(frozen=True)
class Backfill(Scheduler):
    """FCFS, then reservations for the first `depth` waiting jobs; later jobs may start if they keep all of these.

    The reservations are recomputed in every pass.  With ``depth=1`` this is `EasyBackfill`; with ``depth="unlimited"``
    every waiting job has one, as with `ConservativeBackfill`, which keeps its reservations from pass to pass.

    Parameters
    ----------
    depth : int or {"unlimited"}
        How many jobs have a reservation, at least 1; None also means ``"unlimited"``.
    order : QueueOrder or str, optional
        As for `Fcfs`.
    reservation : {"any", "fixed"}, default "any"
        As for `EasyBackfill`, for the head; the others have fixed boxes.
    max_growth : int, default 1
        As for `EasyBackfill`; also of the boxes that are reserved, but for the head.
    repairs : {"known", "unknown"}, default "known"
        As for `EasyBackfill`.

    References
    ----------
    model.md#backfill; the reservation depth of production schedulers.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Backfill(10).depth
    10
    """

    name: ClassVar[str] = "backfill"
    depth: Annotated[int | str | None, Check(_depth)]
    order: Order = _ARRIVAL
    reservation: Reservation = "any"
    max_growth: Growth = 1
    repairs: Repairs = "known"

    if TYPE_CHECKING:

        def __init__(
            self,
            depth: int | Literal["unlimited"] | None,
            order: QueueOrder | OrderWord | None = None,
            reservation: Literal["any", "fixed"] = "any",
            max_growth: int = 1,
            repairs: Literal["known", "unknown"] = "known",
        ) -> None: ...


@dataclass(frozen=True)
class ConservativeBackfill(Scheduler):
    """Every waiting job has a reservation, and a job may start early only if it delays none of them.

    Parameters
    ----------
    order : QueueOrder or str, optional
        As for `Fcfs`.
    max_growth : int, default 1
        As for `EasyBackfill`.
    repairs : {"known", "unknown"}, default "known"
        As for `EasyBackfill`.

    References
    ----------
    [mualem2001].

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.ConservativeBackfill().max_growth
    1
    """

    name: ClassVar[str] = "conservative"
    is_slow: ClassVar[bool] = True
    order: Order = _ARRIVAL
    max_growth: Growth = 1
    repairs: Repairs = "known"

    if TYPE_CHECKING:

        def __init__(
            self,
            order: QueueOrder | OrderWord | None = None,
            max_growth: int = 1,
            repairs: Literal["known", "unknown"] = "known",
        ) -> None: ...


def _ranking(value: object) -> QueueOrder:
    """``order=`` of `Preemptive`: one whose keys rank the jobs before the run."""
    order = checked_order(value)
    if isinstance(order, ShortestFirst | LargestFirst) or (isinstance(order, Key) and program(order.text).static):
        return order
    raise OptionError(
        f"order of Preemptive must rank jobs once and for all, which {order!r} does not: give an expression without "
        f"now, wait and restarts, such as '-priority', 'shortest' or 'largest'"
    )


@dataclass(frozen=True)
class Preemptive(Scheduler):
    """The head of the queue stops running jobs of a lower rank if it needs their nodes; on a cluster.

    A job that is stopped loses what its checkpoints have not saved, and is requeued as by a failure that kills it; see
    model.md#preemptive for who is stopped.

    Parameters
    ----------
    order : QueueOrder or str, default "-priority"
        What ranks the jobs, the smallest first, waiting and running ones alike: an expression of columns of the log
        without ``now``, ``wait`` and ``restarts``, ``"shortest"`` or ``"largest"``.  By default those with a larger
        number in the column ``priority`` of the log come first.
    backfill : bool, default True
        Whether later jobs are backfilled as by `EasyBackfill`; else as `Fcfs`.
    repairs : {"known", "unknown"}, default "known"
        As for `EasyBackfill`.

    Raises
    ------
    OptionError
        An order that changes with time, or of arrival, by which nobody would ever be stopped; when a run is made, a
        log without the column.

    References
    ----------
    model.md#preemptive.

    Examples
    --------
    The second job stops the first, which starts again from its beginning:

    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 60], runtime=[100, 50], size=[3, 2]).with_columns(priority=[0, 5])
    >>> result = fs.simulate(log, fs.Cluster(4), scheduler=fs.Preemptive())
    >>> result.jobs["start"], result.jobs["restarts"], result.jobs["lost_work"]
    (array([110.,  60.]), array([1, 0], dtype=int32), array([180.,   0.]))
    """

    name: ClassVar[str] = "preemptive"
    order: Annotated[QueueOrder, Check(_ranking)] = _PRIORITY
    backfill: Annotated[bool, Check(checks.flag, "backfill")] = True
    repairs: Repairs = "known"

    if TYPE_CHECKING:

        def __init__(
            self, order: QueueOrder | OrderWord | None = ..., backfill: bool = True, repairs: str = "known"
        ) -> None: ...

    def check_columns(self, columns: Mapping[str, Values]) -> None:
        """Raise `OptionError` if a log with these columns has not what the order asks for."""
        if self.order == _PRIORITY and "priority" not in columns:
            raise OptionError(
                "Preemptive ranks jobs by a column 'priority', which the log has not: give it one, by "
                "log.with_columns(priority=...), or another order, such as order='shortest'"
            )
        super().check_columns(columns)


@dataclass(frozen=True)
class External(Scheduler):
    """No scheduler: the caller decides, by `Simulation.advance` (model.md#decisions).

    Parameters
    ----------
    order : QueueOrder or str, optional
        As for `Fcfs`: the order in which `Decision.queue` is given.
    repairs : {"known", "unknown"}, default "known"
        As for `EasyBackfill`: whether shadow times count on the repair of nodes that are down.
    at : sequence of str, default ("schedule",)
        The kinds of decisions: ``"schedule"``, every pass; ``"failure"``, every failure that hits a running job;
        ``"checkpoint"``, every request of `checkpointing` that a job could grant; ``"tick"``, every `tick` seconds.
    tick : float, optional
        Seconds between two ticks, which are at its whole multiples.
    oracle_runtimes : bool, default False
        Whether `Decision.queue` and `Decision.running` have a column ``runtime`` (s), the true run times, which no
        scheduler has: for upper bounds only (model.md#oracle).

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[2])
    >>> sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External())
    >>> sim.advance()
    <Decision: schedule at 0 s, 1 waiting, 0 running, 4 free>

    The job stays on its nodes until the one that failed is repaired:

    >>> failures = fs.FailureTrace([5], [0], [20], span=100)
    >>> sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(at=("schedule", "failure")), failures=failures)
    >>> sim.advance().start(0)
    >>> d = sim.advance()
    >>> d.kind, d.job, d.node, d.until
    ('failure', 0, 0, 25.0)
    >>> d.hold(0)
    >>> while sim.advance() is not None:
    ...     pass
    >>> sim.result().jobs["finish"]
    array([35.])
    """

    name: ClassVar[str] = "external"
    order: Order = _ARRIVAL
    repairs: Repairs = "known"
    at: Annotated[tuple[str, ...], Check(_kinds)] = ("schedule",)
    tick: Annotated[Seconds | None, Check(_tick)] = None
    oracle_runtimes: Annotated[bool, Check(checks.flag, "oracle_runtimes of External")] = False

    if TYPE_CHECKING:

        def __init__(
            self,
            order: QueueOrder | OrderWord | None = None,
            repairs: Literal["known", "unknown"] = "known",
            at: Sequence[DecisionKind] | DecisionKind = ("schedule",),
            tick: checks.Duration | None = None,
            oracle_runtimes: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.tick is None) == ("tick" in self.at):
            wanted = "tick=, the seconds between two" if self.tick is None else 'at= with "tick", or no tick='
            raise OptionError(f"External with at={self.at!r} and tick={self.tick!r}: give {wanted}")
