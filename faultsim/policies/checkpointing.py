"""Checkpointing: when a job saves its progress (model.md#checkpoints)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks, rates, renames
from faultsim.arrays import Floats, Values
from faultsim.data.failures import FailureTrace
from faultsim.data.lowered import Lowered
from faultsim.data.workload import Workload
from faultsim.data.world import NO_REQUESTS, PredictionRows, RequestRows
from faultsim.errors import OptionError
from faultsim.policies.base import Check, JobCount, OwnPolicy, Policy, Seconds, SeenJobs, reads_runtimes
from faultsim.policies.given_columns import given_numbers
from faultsim.policies.interval_reports import MOST, bucket_numbers, refuse_short
from faultsim.policies.judged import AnyRate, Judged
from faultsim.policies.predictors import Buckets, bucket_length, is_hours, warn_of_hours
from faultsim.policies.words import VictimsWord

__all__ = [
    "AllJobs",
    "BeforeFailure",
    "BigJobs",
    "Checkpointing",
    "Daly",
    "LongJobs",
    "MaxAvailability",
    "NoCheckpoint",
    "Periodic",
    "PredictedWindows",
    "RiskBased",
    "Victims",
    "Young",
]


class Checkpointing(OwnPolicy):
    """Base of checkpointing policies; subclass it to write your own in Python.

    Override `intervals`, which is called once, before the run begins, or `wants`, which is called whenever a job has
    worked for another `interval` seconds; set `cost`, the seconds that a checkpoint takes.

    Examples
    --------
    >>> import faultsim as fs
    >>> class LargeJobsOften(fs.Checkpointing):
    ...     cost = 30.0
    ...     def intervals(self, jobs):
    ...         return 7200.0 / jobs.size
    >>> log = fs.Workload(submit=[0], runtime=[5000], size=[4])
    >>> fs.simulate(log, fs.Cluster(4), checkpointing=LargeJobsOften()).jobs["checkpoint_time"]
    array([60.])
    >>> class WhereItHurts(fs.Checkpointing):
    ...     interval, cost = 600.0, 30.0
    ...     def wants(self, decision):
    ...         running = decision.running
    ...         row = running.index.tolist().index(decision.job)
    ...         return running.size[row] * (running.progress[row] - running.saved[row]) >= 3600
    >>> fs.simulate(log, fs.Cluster(4), checkpointing=WhereItHurts()).jobs["checkpoint_time"]
    array([120.])
    """

    kind: ClassVar[str] = "checkpointing"
    name: ClassVar[str] = "python"
    #: Whether its checkpoints are known in advance, so that the scheduler takes them into account.
    planned: ClassVar[bool] = False
    #: Whether it asks jobs to save while they run (model.md#requested).
    requests: ClassVar[bool] = False

    def work_between(self, size: Values) -> Floats | None:
        """Seconds of work between two checkpoints, or requests, for a job of each size; None if none are fixed."""
        if not self.is_asked():
            return None
        return np.full(len(size), _seconds(f"{type(self).__name__}.interval", getattr(self, "interval", None)))

    def planned_requests(self, trace: FailureTrace | None, foreseen: PredictionRows | None) -> RequestRows:
        """Requests that are planned before the run, by its failures, or by what a predictor foresees of them."""
        return NO_REQUESTS

    @property
    def plans_in_python(self) -> bool:
        """Whether it was written in Python and plans checkpoints before the run."""
        return self.is_written() and not self.is_asked()

    def all_intervals(self, jobs: Workload, estimate: Floats) -> Floats | None:
        """Seconds of work between two checkpoints, or requests, of each job; None without a fixed interval."""
        return self._own_intervals(jobs, estimate) if self.plans_in_python else self.work_between(jobs.size)

    def planned_intervals(self, jobs: Workload, estimate: Floats) -> Floats | None:
        """The same of one whose checkpoints are planned; None for others, whose intervals are between requests."""
        return self.all_intervals(jobs, estimate) if self.planned or self.plans_in_python else None

    def _own_intervals(self, jobs: Workload, estimate: Floats) -> Floats:
        """What it plans in Python, checked: one interval per job."""
        name = type(self).__name__
        _seconds(f"{name}.cost", getattr(self, "cost", None), low=0.0)
        seen = {each: column for each, column in jobs.columns.items() if each != "runtime" or reads_runtimes(self)}
        seen["estimate"] = estimate.view()
        seen["estimate"].flags.writeable = False  # the engine goes by these numbers
        planned = given_numbers(f"{name}.intervals", "it", self.intervals(SeenJobs(**seen)), finite=False, timed=True)
        if planned.shape != (len(jobs),) or not (planned > 0).all():
            raise OptionError(f"{name}.intervals must return {len(jobs)} numbers above 0, got {checks.shown(planned)}")
        return planned

    def intervals(self, jobs: Any) -> ArrayLike:
        """Seconds of work between two planned checkpoints of each job (model.md#planned).

        Parameters
        ----------
        jobs : object with arrays ``id``, ``submit``, ``estimate``, ``size``, ``user``
            The jobs of the run; further columns of the log are there by their names. Estimates are expected run times
            in seconds, after ``estimates=``.

        Returns
        -------
        array of shape (len(jobs),)
            Above 0; ``inf`` for a job that takes none.
        """
        raise OptionError(f"{type(self).__name__} must define intervals(self, jobs), or wants(self, decision)")

    def wants(self, decision: Any) -> bool:
        """Whether the job ``decision.job``, which could, saves its progress now (model.md#requested).

        It is asked after each `interval` seconds of work since its last checkpoint or start, as with `RiskBased`;
        ``decision.asked`` says how many of them that were.

        Parameters
        ----------
        decision : Decision
            Of kind ``"checkpoint"``; it is over when this returns.
        """
        raise OptionError(f"{type(self).__name__} must define wants(self, decision)")

    @classmethod
    def is_asked(cls) -> bool:
        """Whether it was written in Python and answers requests."""
        return cls.is_written() and cls.wants is not Checkpointing.wants

    def _plain(self) -> Lowered:
        if not self.is_written():
            return super()._plain()
        if self.is_asked() and type(self).intervals is not Checkpointing.intervals:
            raise OptionError(
                f"{type(self).__name__} defines intervals and wants, of which only one is called: define intervals for "
                f"checkpoints that are planned before the run, or wants for requests while it runs"
            )
        if not self.is_asked():
            return super()._plain() | {"cost": _seconds(f"{type(self).__name__}.cost", getattr(self, "cost", 0.0))}
        name = type(self).__name__
        cost = _seconds(f"{name}.cost", getattr(self, "cost", None), low=0.0)
        interval = _seconds(f"{name}.interval", getattr(self, "interval", None), above=0.0)
        return super()._plain() | {"name": "asked", "cost": cost, "interval": interval}


class Victims(Policy):
    """Base of the rules for which jobs `PredictedWindows` asks for a checkpoint."""

    kind: ClassVar[str] = "victims"


_seconds = partial(checks.number, unit="seconds")
Interval = Annotated[Seconds, Check(_seconds, "interval of checkpoints", above=0.0)]
Cost = Annotated[Seconds, Check(_seconds, "cost of a checkpoint", low=0.0)]
CostAboveZero = Annotated[Seconds, Check(_seconds, "cost of a checkpoint", above=0.0)]
Mtbf = Annotated[Seconds, Check(_seconds, "mtbf, the mean time between failures of one node,", above=0.0, finite=False)]


@dataclass(frozen=True)
class NoCheckpoint(Checkpointing):
    """Takes no checkpoint.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.NoCheckpoint().lower()
    {'name': 'none'}
    """

    name: ClassVar[str] = "none"


@dataclass(frozen=True, repr=False)
class _AtIntervals(Judged, Checkpointing):
    """Checkpoints, or requests for one, after equal amounts of work."""

    interval: Interval
    cost: Cost
    any_rate: AnyRate = field(default=False, kw_only=True)

    def _judge(self, values: Mapping[str, tuple[str, object, float]]) -> None:
        rates.check_saving(type(self).__name__, values["cost"], values["interval"], self.any_rate)

    def work_between(self, size: Values) -> Floats:
        """The interval, for every size."""
        return np.full(np.shape(size), self.interval)


@dataclass(frozen=True, repr=False)
class Periodic(_AtIntervals):
    """A checkpoint after each `interval` of work.

    The interval counts work since the last safe point: the start, a checkpoint, or the point that a failure rolled the
    job back to.  A checkpoint is skipped when the remaining work is `cost` or less.

    Parameters
    ----------
    interval : float
        Seconds of work, above 0.
    cost : float
        Seconds that a checkpoint takes, during which no work is done.
    any_rate : bool, default False
        Accept a `cost` of more than ten times the `interval`, which otherwise is taken for a mistake in units.

    References
    ----------
    [zhang2004] section 5.1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Periodic(interval=2 * 3600, cost=300)
    Periodic(interval=7200.0, cost=300.0)
    """

    name: ClassVar[str] = "periodic"
    planned: ClassVar[bool] = True

    if TYPE_CHECKING:

        def __init__(self, interval: checks.Duration, cost: checks.Duration, *, any_rate: bool = False) -> None: ...


@dataclass(frozen=True, repr=False)
class _ByRate(Judged, Checkpointing):
    """Planned checkpoints whose interval follows from the failure rate of a job's nodes."""

    planned: ClassVar[bool] = True
    cost: CostAboveZero
    mtbf: Mtbf
    any_rate: AnyRate = field(default=False, kw_only=True)

    def _judge(self, values: Mapping[str, tuple[str, object, float]]) -> None:
        what, mtbf = type(self).__name__, values["mtbf"]
        rates.mean_time(what, mtbf[1], self.any_rate, endless=True)
        rates.check_checkpoint(what, values["cost"], mtbf, self.any_rate)
        if "downtime" in values:
            rates.check_repair(what, values["downtime"], mtbf, self.any_rate)
        if rates.per_day(self.mtbf) > rates.MOST_PER_DAY:
            # It was given with its unit, which a copy made from the seconds does not have.
            object.__setattr__(self, "any_rate", True)


@dataclass(frozen=True, repr=False)
class Young(_ByRate):
    """A checkpoint after each sqrt(2 * cost * mtbf / size) seconds of work.

    Parameters
    ----------
    cost : float
        Seconds that a checkpoint takes, above 0.
    mtbf : float
        Mean time between failures of one node, in seconds; with infinity there are no checkpoints.
    any_rate : bool, default False
        Accept what otherwise is taken for a mistake in units: a node that fails more than once a day (once an hour if
        `mtbf` was given with its unit), a checkpoint that takes longer than `mtbf`.

    References
    ----------
    [young1974]; used by [li2009] section 5.1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Young(cost=30, mtbf=56 * 86400).work_between([64])
    array([2129.78872...])
    """

    name: ClassVar[str] = "young"

    if TYPE_CHECKING:

        def __init__(self, cost: checks.Duration, mtbf: checks.Duration, *, any_rate: bool = False) -> None: ...

    def work_between(self, size: ArrayLike) -> Floats:
        """sqrt(2 C M / size)."""
        interval: Floats = np.sqrt(((2.0 * self.cost) * self.mtbf) / np.asarray(size, dtype=np.float64))
        return interval


@dataclass(frozen=True, repr=False)
class Daly(_ByRate):
    """Daly's higher-order interval, for checkpoints that are not short relative to the time between failures.

    With m = mtbf / size and C = cost < 2 m the work between checkpoints is
    sqrt(2 C m) (1 + sqrt(C / (2 m)) / 3 + C / (2 m) / 9) - C, and m otherwise.

    Parameters
    ----------
    cost : float
        Seconds that a checkpoint takes, above 0.
    mtbf : float
        Mean time between failures of one node, in seconds; with infinity there are no checkpoints.
    any_rate : bool, default False
        Accept what otherwise is taken for a mistake in units: a node that fails more than once a day (once an hour if
        `mtbf` was given with its unit), a checkpoint that takes longer than `mtbf`.

    References
    ----------
    [daly2006] equation 37.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Daly(cost=30, mtbf=56 * 86400).work_between([64])
    array([2109.83567...])
    """

    name: ClassVar[str] = "daly"

    if TYPE_CHECKING:

        def __init__(self, cost: checks.Duration, mtbf: checks.Duration, *, any_rate: bool = False) -> None: ...

    def work_between(self, size: ArrayLike) -> Floats:
        """The interval, by the same operations as in the engines."""
        cost, m = self.cost, self.mtbf / np.asarray(size, dtype=np.float64)
        part = cost / (2.0 * m)
        higher = np.sqrt((2.0 * cost) * m) * ((1.0 + np.sqrt(part) / 3.0) + part / 9.0) - cost
        interval: Floats = np.where(cost < 2.0 * m, higher, m)
        return interval


@renames.parameters
@dataclass(frozen=True, repr=False)
class MaxAvailability(_ByRate):
    """The interval at which the largest share of time is useful, repairs included.

    With m = mtbf / size, C = cost and R = downtime a checkpoint ends every T = C + sqrt(2 (m + R) C + C**2) seconds, so
    that T - C seconds of work are between two of them.  This T maximizes the availability
    (1 - C / T) / (1 + (R + T / 2) / m): of each period a share C / T goes into its checkpoint, and each m seconds a
    failure costs the repair and, on average, half a period.

    Parameters
    ----------
    cost : float
        Seconds that a checkpoint takes, above 0.
    mtbf : float
        Mean time between failures of one node, in seconds; with infinity there are no checkpoints.
    downtime : float
        Seconds from a failure until the job works again: down time and restart.
    any_rate : bool, default False
        Accept what otherwise is taken for a mistake in units: a node that fails more than once a day (once an hour if
        `mtbf` was given with its unit), a checkpoint or a repair that takes longer than `mtbf`.

    References
    ----------
    [saxena2024].

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.MaxAvailability(cost=30, mtbf=56 * 86400, downtime=600).work_between([64])
    array([2138.43400...])
    """

    name: ClassVar[str] = "max_availability"
    downtime: Annotated[Seconds, Check(_seconds, "downtime, from a failure until the job works again,", low=0.0)]

    if TYPE_CHECKING:

        def __init__(
            self, cost: checks.Duration, mtbf: checks.Duration, downtime: checks.Duration, *, any_rate: bool = False
        ) -> None: ...

    def work_between(self, size: ArrayLike) -> Floats:
        """sqrt(2 (m + R) C + C**2)."""
        cost, m = self.cost, self.mtbf / np.asarray(size, dtype=np.float64)
        interval: Floats = np.sqrt(((2.0 * (m + self.downtime)) * cost) + cost * cost)
        return interval


@dataclass(frozen=True)
class BeforeFailure(Checkpointing):
    """A checkpoint right before each predicted failure, for the job that then works on the node.

    It begins `cost` seconds before the predicted time.  Without a predictor every failure is foreseen.

    Parameters
    ----------
    cost : float
        Seconds that a checkpoint takes.

    References
    ----------
    [zhang2004] section 5.2.1.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.BeforeFailure(cost=300)
    BeforeFailure(cost=300.0)
    """

    name: ClassVar[str] = "before_failure"
    requests: ClassVar[bool] = True
    plans_ahead: ClassVar[str] = "requests"
    cost: Cost

    if TYPE_CHECKING:

        def __init__(self, cost: checks.Duration) -> None: ...

    def planned_requests(self, trace: FailureTrace | None, foreseen: PredictionRows | None) -> RequestRows:
        """One in time before each failure, those that are foreseen if there is a predictor."""
        if foreseen is not None:
            return RequestRows(_in_time(foreseen.begin, self.cost), foreseen.node)
        return NO_REQUESTS if trace is None else RequestRows(_in_time(trace.time, self.cost), trace.node)


def _in_time(time: Floats, cost: float) -> Floats:
    """The latest begins of checkpoints that end by `time`: ``time - cost``, unless rounding makes that too late."""
    begin = time - cost
    while (late := begin + cost > time).any():
        begin[late] = np.nextafter(begin[late], -np.inf)
    return begin


@dataclass(frozen=True)
class AllJobs(Victims):
    """Every job that works.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.AllJobs().lower()
    {'name': 'all'}
    """

    name: ClassVar[str] = "all"


@dataclass(frozen=True)
class LongJobs(Victims):
    """Jobs whose last start was at least `seconds` ago.

    Parameters
    ----------
    seconds : float, default 300
        Least time since the start.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.LongJobs()
    LongJobs(seconds=300.0)
    """

    name: ClassVar[str] = "long"
    seconds: Annotated[Seconds, Check(_seconds, "least time of a long job", low=0.0)] = 300.0

    if TYPE_CHECKING:

        def __init__(self, seconds: checks.Duration = 300.0) -> None: ...


@renames.parameters
@dataclass(frozen=True)
class BigJobs(Victims):
    """The running jobs with the largest requested sizes; those of them that can, save. Ties go to the earlier job.

    Parameters
    ----------
    count : int, default 1
        How many.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.BigJobs(2).lower()
    {'name': 'big', 'count': 2}
    """

    name: ClassVar[str] = "big"
    count: Annotated[JobCount, Check(checks.whole, "count of BigJobs", low=1)] = 1


_VICTIMS: dict[str, type[Victims]] = {cls.name: cls for cls in (AllJobs, LongJobs, BigJobs)}


def _bucket(value: Buckets | float | str) -> Buckets:
    if isinstance(value, Buckets):
        return value
    if is_hours(value):
        warn_of_hours(f"PredictedWindows({value})", f"PredictedWindows('{value}h')", 6)
        value = 3600.0 * float(value)
    return Buckets(length=bucket_length(value))


def _victims(value: object) -> Victims:
    if isinstance(value, Victims) and value.name in _VICTIMS:
        return value
    if isinstance(value, str):
        return _VICTIMS[checks.choice("victims", value, _VICTIMS)]()
    if isinstance(value, type) and issubclass(value, Victims):
        raise OptionError(f"victims must be an instance: write victims={value.__name__}(), not {value.__name__}")
    raise OptionError(f"victims must be AllJobs(), LongJobs(...) or BigJobs(...), got {checks.shown(value)}")


@dataclass(frozen=True, repr=False)
class PredictedWindows(Judged, Checkpointing):
    """Checkpoints when a failure is near: in hours in which any node fails, at their start and every `interval`.

    Parameters
    ----------
    bucket : Buckets or float
        How far ahead failures of some node are known: `Buckets`, or their length, which is what that takes.
    victims : Victims or str, default AllJobs()
        Which jobs are asked: `AllJobs`, `LongJobs` or `BigJobs`, or ``"all"``, ``"long"``, ``"big"``.  Only jobs that
        work, have unsaved progress and more than `cost` left take a checkpoint.
    interval : float, default 7200
        Seconds between two requests in a bucket.  The paper does not give it.
    cost : float, default 300
        Seconds that a checkpoint takes.
    any_rate : bool, default False
        Accept a `cost` of more than ten times the `interval`, which otherwise is taken for a mistake in units.

    References
    ----------
    [zhang2004] section 5.2.2.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.PredictedWindows("4h", victims="long").bucket
    Buckets(length=14400.0)
    """

    name: ClassVar[str] = "predicted_windows"
    requests: ClassVar[bool] = True
    plans_ahead: ClassVar[str] = "requests"
    bucket: Annotated[Buckets, Check(_bucket)]
    victims: Annotated[Victims, Check(_victims)] = AllJobs()
    interval: Interval = 7200.0
    cost: Cost = 300.0
    any_rate: AnyRate = field(default=False, kw_only=True)

    def _judge(self, values: Mapping[str, tuple[str, object, float]]) -> None:
        rates.check_saving(type(self).__name__, values["cost"], values["interval"], self.any_rate)

    if TYPE_CHECKING:

        def __init__(
            self,
            bucket: Buckets | checks.Duration,
            victims: Victims | VictimsWord = ...,
            interval: checks.Duration = 7200.0,
            cost: checks.Duration = 300.0,
            *,
            any_rate: bool = False,
        ) -> None: ...

    def planned_requests(self, trace: FailureTrace | None, foreseen: PredictionRows | None) -> RequestRows:
        """At the start of each bucket with a failure, and every `interval` in it, to victims among all jobs."""
        if trace is None:
            return NO_REQUESTS
        length = self.bucket.length
        refuse_short("a bucket", length, trace.span)
        hot = np.unique(bucket_numbers(trace.time, length)).astype(np.float64)
        each = math.ceil(length / self.interval) + 1  # one too many, since the quotient may round; filtered below
        if each * len(hot) > MOST:
            raise OptionError(
                f"an interval of {self.interval:g} s makes {each * len(hot):,} requests in {len(hot):,} buckets of "
                f"{length:g} s; at most {MOST:,} are allowed"
            )
        start, end = (hot * length)[:, None], ((hot + 1.0) * length)[:, None]
        time = start + np.arange(each) * self.interval
        inside: Floats = time[time < end]
        return RequestRows(inside, np.full(len(inside), -1, np.int32))

    @classmethod
    def from_parts(cls, options: Lowered, arrays: Mapping[str, Values] | None) -> Self:
        """From a lowered form, also of the version that counted hours."""
        given = options["bucket"]
        parts = {"hours": given} if isinstance(given, int | float) else {"length": given["length"]}
        return cls(**{**options, "bucket": Buckets.from_parts(parts, None)})


@dataclass(frozen=True, repr=False)
class RiskBased(_AtIntervals):
    """Asked after each `interval` of work, a job takes the checkpoint only if the risk justifies it.

    It is taken if p * d * interval >= cost, where p is the predicted probability that a node of the job fails before
    the next checkpoint is written, and d the number of intervals since the last one.

    Parameters
    ----------
    interval : float
        Seconds of work between two requests, above 0.
    cost : float
        Seconds that a checkpoint takes.
    any_rate : bool, default False
        Accept a `cost` of more than ten times the `interval`, which otherwise is taken for a mistake in units.

    References
    ----------
    [oliner2006] (risk-based cooperative checkpointing).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.RiskBased(interval=3600, cost=300)
    RiskBased(interval=3600.0, cost=300.0)
    """

    name: ClassVar[str] = "risk_based"
    requests: ClassVar[bool] = True

    if TYPE_CHECKING:

        def __init__(self, interval: checks.Duration, cost: checks.Duration, *, any_rate: bool = False) -> None: ...
