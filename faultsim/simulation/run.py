"""`Run`: everything that a simulation takes, checked once, before anything runs."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.data.conditions import has_conditions
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.machines import Machine, as_machine
from faultsim.machines.reservation import as_reservations
from faultsim.policies import (
    Policy,
    Requeue,
    Strategy,
    known_policies,
    parse_policy,
)
from faultsim.policies.registry import KINDS, MACHINES, row_of
from faultsim.results.caveats import is_heard, tell
from faultsim.results.result import Result
from faultsim.simulation.absences import check_absences
from faultsim.simulation.compatibility import check_combination, check_parts, check_slowdowns, refusable
from faultsim.simulation.eligibility import check_conditions
from faultsim.simulation.execution import Execution
from faultsim.simulation.jobs import expected_runtimes, fitting_log
from faultsim.simulation.options import Changes, EngineName, Options, RunOptions
from faultsim.simulation.progress import Progress, reporting
from faultsim.simulation.tiers import in_tiers

_ESTIMATES = ("requested", "actual")


@dataclass(frozen=True)
class Run(RunOptions):
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

    if TYPE_CHECKING:  # what it takes, where the fields are what it holds

        def __init__(self, log: Workload, machine: Machine | str, **options: Unpack[Options]) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.log, Workload):
            given = checks.shown(self.log, "Workload")
            raise InputError(f"the log must be a Workload (read_swf reads one from a file), got {given}")
        put(self, "machine", as_machine(self.machine))
        put(self, "log", self.machine.prepared(self.log))
        if (scheduler := _checked_policy("scheduler", self.scheduler)) is not self.scheduler:
            put(self, "scheduler", scheduler)
        if self.machine.has_tiers:
            put(self, "scheduler", in_tiers(self.scheduler))
        self._check_optional()
        if self.placement is None:
            put(self, "placement", _DEFAULT_PLACEMENT[self.kind])
        elif (placement := _checked_policy("placement", self.placement)) is not self.placement:
            put(self, "placement", placement)
        if self.failures is not None and not isinstance(self.failures, FailureTrace):
            given = checks.shown(self.failures, "FailureTrace")
            raise InputError(f"failures must be a FailureTrace, got {given}")
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
        put(self, "reservations", as_reservations(self.reservations))
        check_combination(self, policies)
        check_slowdowns(self)
        check_parts(self)
        if has_conditions(self.log._columns):
            check_conditions(self)
        self.scheduler.check_columns(self.log._known_columns)
        self.machine.check_log(self.log)
        check_absences(self)

    def _check_optional(self) -> None:
        """Policies that a run need not have; with one that moves jobs of whole nodes, sizes count nodes."""
        for kind in _OPTIONAL:
            given = getattr(self, kind)
            if given is None:
                continue
            if (policy := _checked_policy(kind, given)) is not given:
                object.__setattr__(self, kind, policy)
            row = row_of(type(policy)) if isinstance(policy, Policy) else None
            if kind in _MOVING and row is not None and self.kind not in row.machines and "cluster" in row.machines:
                log = self.machine.in_whole_nodes(self.log, f"{kind}={policy!r}")
                if log is not self.log:
                    object.__setattr__(self, "log", log)

    def simulate(self, *, progress: bool | Progress = False, engine: EngineName = "core") -> Result:
        """Run it to the end.

        Raises
        ------
        InputError
            If jobs are larger than the machine.
        """
        execution = Execution(self, engine, to_the_end=True)
        if progress is False:
            execution.go_on()
        else:
            with reporting(progress, "jobs") as report:
                execution.go_on(report=report)
        result = execution.result()
        if is_heard():
            tell([result])
        return result

    def with_options(self, **changes: Unpack[Changes]) -> "Run":
        """A copy with other options, checked again.

        Examples
        --------
        >>> import faultsim as fs
        >>> run = fs.Run(fs.Workload(submit=[0], runtime=[10], size=[1]), fs.Cluster(2))
        >>> run.with_options(scheduler=fs.Fcfs()).scheduler.name
        'fcfs'
        """
        given: dict[str, Any] = {**changes}  # as given, where a field is as held
        return replace(self, **given)

    def fitting_log(self) -> Workload:
        """The log without jobs larger than the machine, or `InputError` if they are not to be dropped.

        Nodes reserved by `Static` are not available to jobs.
        """
        return fitting_log(self)

    def expected_runtimes(self, log: Workload) -> Floats:
        """What the scheduler uses: the requested time (run time if missing), the run time, or a multiple of it."""
        return expected_runtimes(self, log)


checks.show_types(Run.__init__)

#: Kinds of policies that may be omitted.
_OPTIONAL = tuple(kind for kind, row in KINDS.items() if row.option and kind not in ("scheduler", "placement"))
#: Kinds of policies that may move jobs of whole nodes, or give them more.
_MOVING = ("migration", "recovery", "rescheduling")
_DEFAULT_PLACEMENT = {name: row.placement() for name, row in MACHINES.items()}


def _checked_policy(kind: str, value: object) -> object:
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
    if isinstance(value, type) or callable(value):
        raise OptionError(
            f"{kind} must be one of {known}, or an object of your own subclass of fs.{base.__name__}, got "
            f"{checks.shown_function(value)}"
        )
    hint = f"; write Fars(300, {value!r})" if kind == "rescheduling" and isinstance(value, Strategy) else ""
    raise OptionError(f"{kind} must be one of {known}, got {checks.shown(value)}{hint}")
