"""The kinds of tasks: runs of jobs and runs of workflows.

The engine of sweeps is one; a kind says what it does not know of a task: which axes there are, what inputs are, and how
a run is checked, hashed, begun and turned into a row.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from faultsim import checks
from faultsim.arrays import Indices
from faultsim.data.failures import FailureTrace
from faultsim.data.further import TAKEN
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.machines import Machine, as_machine
from faultsim.policies import Key
from faultsim.results.metrics import METRICS
from faultsim.results.part import Part
from faultsim.results.result import Result
from faultsim.results.workflow_result import WorkflowResult
from faultsim.simulation.execution import Execution
from faultsim.simulation.run import Run
from faultsim.simulation.workflow_run import WorkflowRun
from faultsim.simulation.workflows import WorkflowExecution
from faultsim.sweep.axes import JOBS, WORKFLOWS, Axes
from faultsim.sweep.grid import with_machines
from faultsim.sweep.input_sources import DrawnLog
from faultsim.sweep.row_schema import COLUMNS, WORKFLOW_COLUMNS, numbers, row_of, without_ends
from faultsim.sweep.task_hash import Texts, name_of, task_id, workflow_task_id

#: Placeholders for inputs that are not drawn yet.
_ANY_LOG = Workload(submit=[0.0], runtime=[1.0], size=[1])
_ANY_WORKFLOW = (Workflow([1.0]),)
_NO_FAILURES = FailureTrace([], [], span=1.0)


Out = TypeVar("Out", covariant=True)


@runtime_checkable
class Digested(Protocol):
    """An input that has a digest of its content."""

    def digest(self) -> str: ...


class Begun(Protocol[Out]):
    """A run that has begun."""

    def go_on(self, *, stop: Callable[[], bool] | None = None) -> None: ...
    def result(self) -> Out: ...


R = TypeVar("R")
E = TypeVar("E")
T = TypeVar("T")


class Kind(Generic[R, E, T]):
    """A kind of tasks: of runs `R`, which are begun as `E` and have a result `T`.

    Attributes
    ----------
    name : str
        As a store has it.
    axes : Axes
    columns : tuple of str
        The numbers of a row.
    """

    name: ClassVar[str]
    axes: ClassVar[Axes]
    columns: ClassVar[tuple[str, ...]]

    def __reduce__(self) -> tuple[object, ...]:
        return kind_called, (self.name,)

    # -- what is given

    def options_of(self, base: object) -> dict[str, object] | None:
        """The options of a run that is the base of a sweep; None for anything else."""
        return None

    def base_options(self, base: object) -> Mapping[str, object]:
        """The options of all runs, of the base of a sweep, in which machines that are text are machines."""
        options = self.options_of(base)
        if options is None and not isinstance(base, Mapping):
            given = checks.shown(base)
            raise OptionError(f"the base of a sweep must be a Run or a mapping of its keywords, got {given}")
        made: Mapping[str, object] = with_machines(base if options is None else options)
        return made

    def check_given(self, given: Mapping[str, object]) -> None:
        """Check values that are needed, or could be rejected, before a run is made."""
        for name, change in self.axes.changes.items():
            if given.get(name) is not None:
                change.check(given[name])

    def options(self, given: Mapping[str, object]) -> dict[str, object]:
        """The keywords of the run, with the policy parameters set by axes; inputs as given."""
        options = {name: given[name] for name in self.axes.options if name in given}
        self.axes.set_parameters(options, {name: value for name, value in given.items() if "." in name})
        return options

    def check(self, given: Mapping[str, object]) -> None:
        """Reject incompatible options, before anything is drawn or run."""
        options = self.options(given)
        self._fill_in(options)
        if options.get("failures") is None:
            for name, change in self.axes.changes.items():
                if change.of == "failures" and given.get(name) is not None:
                    raise OptionError(f"axis {name}: there are no failures to change; give failures in the base")
        self.make(options)

    def _fill_in(self, options: dict[str, object]) -> None:
        """Put placeholders in place of factories."""
        if callable(options.get("failures")):
            options["failures"] = _NO_FAILURES

    def nodes(self, given: Mapping[str, object], value: object) -> int:
        """What sizes of jobs count in all, on what a cell runs on; 0 if that is still to be checked.

        `value` is the input that is changed, as it was `prepared`.
        """
        raise NotImplementedError

    def prepared(self, given: Mapping[str, object], value: object) -> object:
        """An input as the machine of the cell counts it."""
        return value

    # -- inputs

    def taken(self, what: str, value: object, source: object) -> object:
        """An input as it goes on: as given, or what the factory `source` returned."""
        if what == "failures" and callable(source) and not isinstance(value, FailureTrace):
            shown = checks.shown(value, "FailureTrace")
            raise InputError(f"the factory of failures must return a FailureTrace, got {shown}")
        return value

    def digest(self, value: object) -> str:
        """The content of an input, but for None."""
        if not isinstance(value, Digested):
            raise InputError(f"an input of runs must have a digest, got {checks.shown(value)}")
        return value.digest()

    # -- runs

    def make(self, options: Mapping[str, Any]) -> R:
        """The run."""
        raise NotImplementedError

    def task_id(
        self,
        run: R,
        work: str,
        failures: str | None,
        cut: tuple[float, float],
        texts: Texts,
        own: Mapping[str, object],
    ) -> str:
        """Its content hash, with the digests of what runs and of its failures."""
        raise NotImplementedError

    def begin(self, run: R) -> E:
        """The run, ready for ``go_on`` and ``result``."""
        raise NotImplementedError

    # -- rows

    def row(self, execution: E, cut: tuple[float, float]) -> list[float]:
        """The numbers of a run that is over, one for each of `columns`."""
        raise NotImplementedError

    def numbers(self, result: T, cut: tuple[float, float]) -> list[float]:
        """The same of its result."""
        raise NotImplementedError

    def row_beside(self, execution: E, result: T, cut: tuple[float, float]) -> list[float]:
        """The same of a run whose result is needed as well."""
        return self.numbers(result, cut)

    def check_metric(self, metric: str) -> None:
        """Reject a metric of one's own that is given by name, if there is none."""
        raise NotImplementedError

    def metric(self, name: str, result: T, cut: tuple[float, float]) -> float:
        """The metric of this name."""
        raise NotImplementedError


class _Jobs(Kind[Run, Execution | Begun[Result], Result]):
    """Runs of job logs: of `simulate`."""

    name = "jobs"
    axes = JOBS
    columns = COLUMNS

    def options_of(self, base: object) -> dict[str, object] | None:
        if not isinstance(base, Run):
            return None
        options = {name: getattr(base, name) for name in JOBS.options}
        if options["placement"] == Run(base.log, base.machine).placement:
            del options["placement"]  # the machine's default, which another machine on an axis brings too
        return options

    def check_given(self, given: Mapping[str, object]) -> None:
        if "machine" in given:
            as_machine(given["machine"])
        super().check_given(given)

    def _fill_in(self, options: dict[str, object]) -> None:
        super()._fill_in(options)
        log = options.get("log")
        options["log"] = _any_log(log, options.get("scheduler")) if callable(log) else log

    def nodes(self, given: Mapping[str, object], value: object) -> int:
        machine = given.get("machine")
        if isinstance(machine, Machine) and isinstance(value, Workload):
            return machine.capacity_for(value.columns)
        return getattr(machine, "nodes", 0)

    def prepared(self, given: Mapping[str, object], value: object) -> object:
        machine = given.get("machine")
        return machine.prepared(value) if isinstance(machine, Machine) and isinstance(value, Workload) else value

    def taken(self, what: str, value: object, source: object) -> object:
        if what == "log" and callable(source) and not isinstance(value, Workload):
            shown = checks.shown(value, "Workload")
            raise InputError(f"the factory of log must return a Workload, got {shown}")
        return super().taken(what, value, source)

    def make(self, options: Mapping[str, Any]) -> Run:
        return Run(**options)

    def task_id(
        self,
        run: Run,
        work: str,
        failures: str | None,
        cut: tuple[float, float],
        texts: Texts,
        own: Mapping[str, object],
    ) -> str:
        return task_id(run, work, failures, cut, texts, own)

    def begin(self, run: Run) -> Execution | Begun[Result]:
        begin = getattr(run, "begin", None)  # a run whose decisions are made in Python has its own way
        return Execution(run, to_the_end=True) if begin is None else begin()

    def row(self, execution: Execution | Begun[Result], cut: tuple[float, float]) -> list[float]:
        if isinstance(execution, Execution):
            return row_of(*execution.output(), cut)
        return self.numbers(execution.result(), cut)

    def numbers(self, result: Result, cut: tuple[float, float]) -> list[float]:
        return numbers(result, cut)

    def row_beside(self, execution: Execution | Begun[Result], result: Result, cut: tuple[float, float]) -> list[float]:
        # Of the result it would take all columns that a table of jobs has.
        return self.row(execution, cut) if isinstance(execution, Execution) else self.numbers(result, cut)

    def check_metric(self, metric: str) -> None:
        checks.choice("metric", metric, METRICS)
        if METRICS[metric].recorded:
            raise OptionError(f"metrics: {metric} needs record=True, and sweeps record nothing")

    def metric(self, name: str, result: Result, cut: tuple[float, float]) -> float:
        if not METRICS[name].per_job or cut == (0.0, 0.0):
            return float(result.metrics[name])
        counted = slice(*without_ends(len(result), *cut))
        rows: slice | Indices = counted
        if not result.all_ran:
            rows = np.arange(len(result))[counted][result.ended[counted]]
        return float(METRICS[name].function(Part(result, rows)))


class _Workflows(Kind[WorkflowRun, WorkflowExecution, WorkflowResult]):
    """Runs of workflows: of `simulate_workflows`."""

    name = "workflows"
    axes = WORKFLOWS
    columns = WORKFLOW_COLUMNS

    def check_given(self, given: Mapping[str, object]) -> None:
        if given.get("arrivals") is not None and given.get("every") is not None:
            raise OptionError("axis every: arrivals say when workflows arrive; leave out one of the two")
        super().check_given(given)

    def _fill_in(self, options: dict[str, object]) -> None:
        super()._fill_in(options)
        if callable(options.get("workflows")):
            options["workflows"] = _ANY_WORKFLOW
            options.pop("arrivals", None)  # nobody knows how many there will be

    def nodes(self, given: Mapping[str, object], value: object) -> int:
        return getattr(given.get("resources"), "nodes", 0)

    def taken(self, what: str, value: object, source: object) -> object:
        if what != "workflows":
            return super().taken(what, value, source)
        flows = (value,) if isinstance(value, Workflow) else value
        if isinstance(flows, list | tuple) and flows and all(isinstance(flow, Workflow) for flow in flows):
            return tuple(flows)
        raise InputError(
            f"{'the factory of workflows must return' if callable(source) else 'workflows must be'} a Workflow or a "
            f"list of them, got {checks.shown(value)}"
        )

    def digest(self, value: object) -> str:
        return name_of([flow.digest() for flow in value]) if isinstance(value, tuple) else super().digest(value)

    def make(self, options: Mapping[str, Any]) -> WorkflowRun:
        return WorkflowRun(**options)

    def task_id(
        self,
        run: WorkflowRun,
        work: str,
        failures: str | None,
        cut: tuple[float, float],
        texts: Texts,
        own: Mapping[str, object],
    ) -> str:
        return workflow_task_id(run, work, failures, own)

    def begin(self, run: WorkflowRun) -> WorkflowExecution:
        return WorkflowExecution(run)

    def row(self, execution: WorkflowExecution, cut: tuple[float, float]) -> list[float]:
        return self.numbers(execution.result(), cut)

    def numbers(self, result: WorkflowResult, cut: tuple[float, float]) -> list[float]:
        return [float(value) for value in result.metrics.values()]

    def check_metric(self, metric: str) -> None:
        raise OptionError(
            f"metrics: {checks.shown(metric)} names no further metric of workflows, whose table has them all; give "
            f"functions of a WorkflowResult by name"
        )


#: A kind, where the same code serves all.
AnyKind: TypeAlias = Kind[Any, Any, Any]
JOB_RUNS, WORKFLOW_RUNS = _Jobs(), _Workflows()
_KINDS: dict[str, AnyKind] = {kind.name: kind for kind in (JOB_RUNS, WORKFLOW_RUNS)}


def kind_called(name: str) -> AnyKind:
    """The kind of a sweep in a store.

    Examples
    --------
    >>> kind_called("workflows").columns[:2]
    ('n_workflows', 'n_jobs')
    """
    return _KINDS[name]


def kind_of(axes: Axes) -> AnyKind:
    """The kind with these axes.

    Examples
    --------
    >>> kind_of(JOBS).name
    'jobs'
    """
    return next(kind for kind in _KINDS.values() if kind.axes is axes)


def called(factory: Callable[..., object], rng: object, extra: Mapping[str, object]) -> object:
    """What a factory returns, which gets of `extra` what it has parameters for.

    Examples
    --------
    >>> called(lambda rng, replicate: (rng, replicate), 1, {"replicate": 2, "machine": 3})
    (1, 2)
    """
    wanted = inspect.signature(factory).parameters
    return factory(rng, **{name: value for name, value in extra.items() if name in wanted and value is not None})


def _any_log(drawn: object, scheduler: object) -> Workload:
    """The placeholder, with the columns that a key names: a factory written in Python may give them."""
    order = getattr(scheduler, "order", None)
    if isinstance(drawn, DrawnLog) or not isinstance(order, Key):
        return _ANY_LOG
    return _ANY_LOG.with_columns(**{name: [0.0] for name in order.further if name not in TAKEN})
