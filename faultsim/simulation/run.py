"""`Run`: everything that a simulation takes, checked once, before anything runs."""

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.machines import Machine, parse_machine
from faultsim.machines.kinds import ANY
from faultsim.policies import (
    Checkpointing,
    EasyBackfill,
    Fars,
    IntervalPredictor,
    Migration,
    NodeStealing,
    Placement,
    Policy,
    PredictionTrace,
    Predictor,
    Recovery,
    Requeue,
    Rescheduling,
    Scheduler,
    Strategy,
    known_policies,
    parse_policy,
)
from faultsim.policies.adapters import checkpoint_intervals
from faultsim.policies.base import REMEMBERED
from faultsim.policies.interval_reports import MOST
from faultsim.policies.registry import KINDS, MACHINES, row_of
from faultsim.policies.words import (
    CheckpointingWord,
    MigrationWord,
    PlacementWord,
    PredictorWord,
    RecoveryWord,
    ReschedulingWord,
    SchedulerWord,
)
from faultsim.results.caveats import is_heard, tell
from faultsim.results.result import Result
from faultsim.simulation.compatibility import check_combination, most_nodes, nodes_needed, refusable, spare_nodes
from faultsim.simulation.engine_inputs import EXACT
from faultsim.simulation.execution import Execution
from faultsim.simulation.options import EngineName, Estimates
from faultsim.simulation.progress import Progress, reporting
from faultsim.simulation.slowness import check_slowdowns

DEFAULT_SCHEDULER = EasyBackfill()

_ESTIMATES = ("requested", "actual")
#: Most checkpoints that a job may plan: more suggest a mistake in units, and would not be counted exactly.
MOST_CHECKPOINTS = 1e9
#: Least seconds of work between two checkpoints.
LEAST_INTERVAL = 1e-6


@dataclass(frozen=True)
class Run:
    """Everything that `simulate` takes, checked and frozen: for `simulate_many`, sweeps and step-by-step use.

    The parameters are those of `simulate` without ``progress`` and ``engine``; policies that were given as words are
    objects here.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> run = fs.Run(log, fs.Cluster(2), scheduler=fs.Fcfs())
    >>> run.simulate().jobs["wait"]
    array([0., 9.])
    """

    log: Workload
    machine: Machine
    _: KW_ONLY
    scheduler: Scheduler = DEFAULT_SCHEDULER
    placement: Placement | None = None
    migration: Migration | None = None
    failures: FailureTrace | None = None
    recovery: Recovery | None = None
    predictor: Predictor | None = None
    checkpointing: Checkpointing | None = None
    rescheduling: Rescheduling | None = None
    estimates: Estimates = "requested"
    overrun: Literal["extend", "kill"] = "extend"
    start_delay: float = 0.0
    seed: int = 0
    record: bool = False
    oversized: Literal["error", "drop"] = "error"

    if TYPE_CHECKING:  # what it takes, where the fields are what it holds

        def __init__(
            self,
            log: Workload,
            machine: Machine,
            *,
            scheduler: Scheduler | SchedulerWord = ...,
            placement: Placement | PlacementWord | None = None,
            migration: Migration | MigrationWord | None = None,
            failures: FailureTrace | None = None,
            recovery: Recovery | RecoveryWord | None = None,
            predictor: Predictor | PredictorWord | None = None,
            checkpointing: Checkpointing | CheckpointingWord | None = None,
            rescheduling: Rescheduling | ReschedulingWord | None = None,
            estimates: Estimates = "requested",
            overrun: Literal["extend", "kill"] = "extend",
            start_delay: checks.Duration = 0.0,
            seed: int = 0,
            record: bool = False,
            oversized: Literal["error", "drop"] = "error",
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.log, Workload):
            given = checks.shown(self.log, "Workload")
            raise InputError(f"the log must be a Workload (read_swf reads one from a file), got {given}")
        put(self, "machine", _machine(self.machine))
        if (scheduler := _checked_policy("scheduler", self.scheduler)) is not self.scheduler:
            put(self, "scheduler", scheduler)
        if self.placement is None:
            put(self, "placement", _DEFAULT_PLACEMENT[self.machine.name])
        elif (placement := _checked_policy("placement", self.placement)) is not self.placement:
            put(self, "placement", placement)
        if self.failures is not None and not isinstance(self.failures, FailureTrace):
            given = checks.shown(self.failures, "FailureTrace")
            raise InputError(f"failures must be a FailureTrace, got {given}")
        for kind in _OPTIONAL:
            given = getattr(self, kind)
            if given is not None and (policy := _checked_policy(kind, given)) is not given:
                put(self, kind, policy)
        policies = refusable(self)
        if self.recovery is None and (self.failures is not None or any("recovery" in row.needs for _, row in policies)):
            put(self, "recovery", Requeue())
        if not isinstance(self.estimates, str) or self.estimates not in _ESTIMATES:
            if isinstance(self.estimates, str):
                hint = checks.did_you_mean(self.estimates, _ESTIMATES)
                raise OptionError(
                    f"unknown estimates {self.estimates!r}{hint}; known: 'requested', 'actual', "
                    f"or a factor of the run time such as 2.0"
                )
            put(self, "estimates", checks.number("estimates, as a factor of the run time,", self.estimates, above=0.0))
        checks.choice("overrun", self.overrun, ("extend", "kill"))
        put(self, "start_delay", checks.number("start_delay", self.start_delay, low=0.0, unit="seconds"))
        put(self, "seed", checks.whole("seed", self.seed, low=0))
        put(self, "record", checks.flag("record", self.record))
        checks.choice("oversized", self.oversized, ("error", "drop"))
        check_combination(self, policies)
        check_slowdowns(self)
        self.scheduler.check_columns(self.log._known_columns)
        self.machine.check_log(self.log)

    def simulate(self, *, progress: bool | Progress = False, engine: EngineName = "core") -> Result:
        """Run it to the end.

        Raises
        ------
        InputError
            If jobs are larger than the machine.
        """
        execution = Execution(self, engine)
        if progress is False:
            execution.go_on()
        else:
            with reporting(progress, "jobs") as report:
                execution.go_on(report=report)
        result = execution.result()
        if is_heard():
            tell([result])
        return result

    def with_options(self, **changes: Any) -> "Run":
        """A copy with other options, checked again.

        Examples
        --------
        >>> import faultsim as fs
        >>> run = fs.Run(fs.Workload(submit=[0], runtime=[10], size=[1]), fs.Cluster(2))
        >>> run.with_options(scheduler=fs.Fcfs()).scheduler.name
        'fcfs'
        """
        return replace(self, **changes)

    @property
    def has_python(self) -> bool:
        """Whether a policy written in Python is involved."""
        given: tuple[Any, ...] = (
            self.scheduler, self.scheduler.order, self.placement, self.recovery, self.rescheduling,
        )  # fmt: skip
        asked = self.checkpointing is not None and self.checkpointing.is_asked()
        return asked or _are_written(*map(type, given))

    def lower(self) -> dict[str, Any]:
        """All options in their plain form, as provenance keeps them."""
        return {
            "machine": self.machine.lower(),
            "scheduler": self.scheduler.lower(),
            "placement": _placement(self).lower(),
            "migration": self.migration and self.migration.lower(),
            "failures": None if self.failures is None else {"count": len(self.failures), "span": self.failures.span},
            "recovery": self.recovery and self.recovery.lower(),
            "predictor": self.predictor and self.predictor.lower(),
            "checkpointing": self.checkpointing and self.checkpointing.lower(),
            "rescheduling": self.rescheduling and self.rescheduling.lower(),
            "estimates": self.estimates,
            "overrun": self.overrun,
            "start_delay": self.start_delay,
            "seed": self.seed,
            "record": self.record,
            "oversized": self.oversized,
        }

    def fitting_log(self) -> Workload:
        """The log without jobs larger than the machine, or `InputError` if they are not to be dropped.

        Nodes reserved by `Static` are not available to jobs.
        """
        log, nodes = self.log, most_nodes(self)
        needed = nodes_needed(self, log.size)
        if (log._sum_and_most("size")[1] if needed is log.size else needed.max()) <= nodes:
            return log
        spare, larger = spare_nodes(self), needed > nodes
        reason = f"larger than the {self.machine.largest_place}" + (" without its spare nodes" if spare else "")
        less = f"{self.machine.nodes:,} - {spare:,} = " if spare else ""
        unit = self.machine.node_unit
        of = "" if reason.endswith("machine") or spare else f" of {self.machine}"
        what = f"{reason}{of} ({less}{nodes:,} {unit})"
        if needed is not log.size:
            what = f"with {self.recovery!r} {what}"
        remedy = "take a larger machine" + (" or fewer spare nodes," if spare or needed is not log.size else "")
        if self.oversized == "drop":
            if larger.all():
                raise InputError(f"all {len(log):,} jobs are {what}: {remedy.rstrip(',')}")
            return log.drop(larger, reason)
        count = int(larger.sum())
        asked = (each[larger][:5].tolist() for each in (log.id, log.size, needed))
        first = ", ".join(
            f"{job} ({size:,} {unit}{f', {held:,} with spares' if held != size else ''})"
            for job, size, held in zip(*asked, strict=True)
        )
        raise InputError(
            f"{count:,} of {len(log):,} jobs are {what}: id {first}"
            f'{", ..." if count > 5 else ""}; {remedy} or pass oversized="drop"'
        )

    def expected_runtimes(self, log: Workload) -> NDArray[np.float64]:
        """What the scheduler uses: the requested time (run time if missing), the run time, or a multiple of it."""
        if self.estimates == "requested":
            estimate, total, most = log.requested, *log._sum_and_most("requested")
        else:
            estimate, total, most = log.runtime, *log._sum_and_most("runtime")
        if not isinstance(self.estimates, str):
            factor = float(self.estimates)
            with np.errstate(over="ignore"):  # infinite ones are rejected below
                estimate, total, most = estimate * factor, total * factor, most * factor
        self._refuse_endless(log, total, most, self._refuse_many_checkpoints(log, estimate))
        return estimate

    def _refuse_many_checkpoints(self, log: Workload, estimate: NDArray[np.float64]) -> float:
        """Reject intervals that are far too short for the run times; return the seconds of planned checkpoints."""
        policy = self.checkpointing
        between = None if policy is None else checkpoint_intervals(policy, log, estimate)
        if policy is None or between is None:
            return 0.0
        if between.min() < LEAST_INTERVAL:
            row = int(np.argmin(between))
            raise OptionError(
                f"{policy!r} gives job {log.id[row]} ({log.size[row]} nodes) {between[row]:.3g} s of work between two "
                f"checkpoints; at least {LEAST_INTERVAL:g} s are needed"
            )
        count = np.maximum(log.runtime, estimate) / between
        if count.max() > MOST_CHECKPOINTS:
            row = int(np.argmax(count))
            raise OptionError(
                f"{policy!r} gives job {log.id[row]} ({log.runtime[row]:g} s, estimate {estimate[row]:g} s) about "
                f"{count[row]:.2g} checkpoints, more than {MOST_CHECKPOINTS:g}: use a longer interval"
            )
        return float(count.sum()) * _cost(policy) if policy.planned else 0.0

    def _refuse_endless(self, log: Workload, expected: float, longest: float, planned_time: float) -> None:
        """Reject times that add up, as node-seconds, to more than a double holds: they cannot be seconds."""
        # Plain floats become infinite silently, and this is done once per run, however short.
        pauses = self.start_delay + _cost(self.migration) + _cost(self.checkpointing)
        moving = self.rescheduling if isinstance(self.rescheduling, Fars) else None
        last = _last_prediction(self.predictor)
        runtimes, runtime = log._sum_and_most("runtime")
        seconds = float(log.submit[-1]) + runtimes + expected + len(log) * pauses + planned_time
        # A kill costs a job at most what it had done, plus the cost of starting again.
        again = runtime + longest + pauses + planned_time + _cost(self.recovery, "restart_cost")
        if self.failures is not None and len(self.failures):
            downtime = self.failures.downtime
            longest_down = float(np.max(downtime, initial=0.0, where=np.isfinite(downtime)))  # infinite: for good
            seconds += self.failures.span + len(self.failures) * (again + longest_down)
        if moving is not None:
            kill = again if isinstance(moving.strategy, NodeStealing) else 0.0
            # Each move is of a job that holds a predicted node.
            seconds += MOST * (moving.checkpoint_cost + moving.restart_cost + kill)
            seconds += last + 2.0 * moving.interval
        between = getattr(self.scheduler, "tick", None)
        if self.rescheduling is not None and self.rescheduling.is_written():
            between = self.rescheduling.lower()["interval"]
        if between is not None and seconds / between > EXACT:
            raise OptionError(f"ticks every {between:g} s are too many for a run that may last {seconds:g} s")
        if math.isfinite(seconds * self.machine.nodes):
            if max(seconds, again) > checks.LATEST:
                self._refuse_beyond_the_clock(moving)
            return
        moves = (
            ""
            if moving is None
            else (
                f", moves of {moving.checkpoint_cost + moving.restart_cost:g} s, ticks every {moving.interval:g} s, "
                f"predictions up to {last:g} s"
            )
        )
        raise InputError(
            f"the times of this run add up to more than a float64 holds: submit up to {log.submit[-1]:g} s, run times "
            f"up to {runtime:g} s, estimates up to {longest:g} s, start_delay {self.start_delay:g} "
            f"s{moves}"
        )

    def _refuse_beyond_the_clock(self, moving: Fars | None) -> None:
        """Reject delays and costs that are longer than the clock; log and failures are checked when they are made."""
        lasting = {
            "start_delay": self.start_delay,
            "the cost of the migration": _cost(self.migration),
            "the cost of a checkpoint": _cost(self.checkpointing),
            "restart_cost": _cost(self.recovery, "restart_cost"),
            "checkpoint_cost of a move": moving.checkpoint_cost if moving else 0.0,
            "restart_cost of a move": moving.restart_cost if moving else 0.0,
        }
        for what, length in lasting.items():
            if length > checks.LATEST:
                raise InputError(f"{what}: {length:g} s {checks.beyond_the_clock(length)}")


@lru_cache(REMEMBERED)
def _are_written(*classes: Any) -> bool:
    """Whether one of these classes of policies was written in Python; asked once per set, as most runs are short."""
    return any(issubclass(cls, Policy) and cls.is_written() for cls in classes)


def _cost(policy: Policy | None, name: str = "cost") -> float:
    """In seconds, of one written in Python, too."""
    if policy is None:
        return 0.0
    return checks.number(f"{type(policy).__name__}.{name}", getattr(policy, name, 0.0), unit="seconds")


def _last_prediction(predictor: Predictor | None) -> float:
    """When the last of a predictor's own predictions ends, in seconds; 0 for predictors that use the failures."""
    if isinstance(predictor, PredictionTrace) and len(predictor.time):
        return float(predictor.time[-1])
    if isinstance(predictor, IntervalPredictor) and predictor.index is not None and len(predictor.index):
        return (float(predictor.index[-1]) + 1.0) * predictor.interval
    return 0.0


#: Kinds of policies that may be omitted.
_OPTIONAL = tuple(kind for kind, row in KINDS.items() if row.option and kind not in ("scheduler", "placement"))
_DEFAULT_PLACEMENT = {name: row.placement() for name, row in MACHINES.items()}


def _placement(run: Run) -> Placement:
    assert run.placement is not None  # __post_init__ put the machine's default
    return run.placement


def _machine(value: object) -> Machine:
    if isinstance(value, Machine):
        return value
    if isinstance(value, str):
        raise OptionError(f"the machine must be {ANY}, got {value!r}; write {parse_machine(value)!r}")
    raise OptionError(f"the machine must be {ANY}, got {value!r:.60}")


def _checked_policy(kind: str, value: Any) -> Any:
    """The policy, which may be given as on the command line: ``"easy:order=shortest"``."""
    rows, base = known_policies(kind), KINDS[kind].base
    if isinstance(value, base) and row_of(type(value)) is not None:
        return value
    if isinstance(value, str):
        is_none = value.strip().lower() == "none" and kind in ("migration", "rescheduling")
        return None if is_none else parse_policy(kind, value)
    known = ", ".join(row.cls.__name__ for row in rows.values())
    if isinstance(value, type) and issubclass(value, base):
        example = next((row.example for row in rows.values() if row.cls is value), "")
        made = repr(parse_policy(kind, example)) if example else f"{value.__name__}()"
        raise OptionError(f"{kind} must be an instance: write {kind}={made}, not {kind}={value.__name__}")
    hint = f"; write Fars(300, {value!r})" if kind == "rescheduling" and isinstance(value, Strategy) else ""
    raise OptionError(f"{kind} must be one of {known}, got {value!r:.60}{hint}")
