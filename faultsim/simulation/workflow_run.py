"""`WorkflowRun`: everything that `simulate_workflows` takes, checked once, before anything runs."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, MISSING, asdict, dataclass, fields
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.data.columns import WORKLOAD, as_column, by_name, read_only
from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.errors import InputError, OptionError
from faultsim.machines.resources import Resources
from faultsim.policies import Predictor, RankHybd, SharedOutputs, WorkflowScheduler, known_policies, parse_policy
from faultsim.policies.settings import WorkflowSettings
from faultsim.policies.words import PredictorWord, WorkflowSchedulerWord

_TRANSFERS = ("parallel", "in_turn")
DEFAULT_WORKFLOW_SCHEDULER = RankHybd()


class WorkflowOptions(TypedDict, total=False):
    """The options of a run of workflows as they are given."""

    scheduler: WorkflowScheduler | WorkflowSchedulerWord
    failures: FailureTrace | None
    predictor: Predictor | PredictorWord | None
    transfers: Literal["parallel", "in_turn"]
    outputs: Literal["node"] | SharedOutputs
    arrivals: ArrayLike | None
    seed: int
    record: bool


@dataclass(frozen=True, eq=False)
class WorkflowRun:
    """What `simulate_workflows` takes without ``progress`` and ``engine``, checked and frozen: a task of a sweep.

    Attributes
    ----------
    flows : tuple of Workflow
        What runs.
    arrival : numpy.ndarray of float64, shape (workflows,)
        When each arrives, in seconds.

    Raises
    ------
    InputError, OptionError
        As `simulate_workflows`.

    Examples
    --------
    >>> import faultsim as fs
    >>> run = WorkflowRun(fs.Workflow([4, 4]), fs.Resources(2), scheduler="fifo")
    >>> run.scheduler, run.arrival
    (Fifo(aware=False), array([0.]))
    """

    workflows: Workflow | Sequence[Workflow]
    resources: Resources
    _: KW_ONLY
    scheduler: WorkflowScheduler = DEFAULT_WORKFLOW_SCHEDULER
    failures: FailureTrace | None = None
    predictor: Predictor | None = None
    transfers: str = "parallel"
    outputs: str | SharedOutputs = "node"
    arrivals: ArrayLike | None = None
    seed: int = 0
    record: bool = False

    if TYPE_CHECKING:  # what it takes, where the fields are what it holds
        flows: tuple[Workflow, ...]
        arrival: Floats

        def __init__(
            self,
            workflows: Workflow | Sequence[Workflow],
            resources: Resources,
            **options: Unpack[WorkflowOptions],
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "flows", _workflows(self.workflows, self.resources))
        put(self, "arrival", _arrivals(self.arrivals, self.flows))
        if isinstance(self.scheduler, str):
            put(self, "scheduler", parse_policy("workflow_scheduler", self.scheduler))
        if isinstance(self.predictor, str):
            put(self, "predictor", parse_policy("predictor", self.predictor))
        _check_scheduler(self.scheduler)
        checks.choice("transfers", self.transfers, _TRANSFERS)
        checks.flag("record", self.record)
        _check_outputs(self.outputs)
        _check_combination(self.scheduler, self.failures, self.predictor, self.transfers, self.outputs)
        if self.failures is not None:
            self.failures.refuse_slowdowns("simulate_workflows")
            self.failures.refuse_parts("simulate_workflows")
        _check_nodes(self.failures, self.predictor, self.resources)
        put(self, "seed", checks.whole("seed", self.seed, low=0))

    def engine_settings(self) -> WorkflowSettings:
        """What an engine reads besides tables: scheduler, transfers, seconds of a copy of outputs, record."""
        copying = self.outputs.cost if isinstance(self.outputs, SharedOutputs) else None
        return WorkflowSettings(self.scheduler.lower(), self.transfers, copying, self.record)

    def lower(self) -> dict[str, object]:
        """The options as plain values; not the inputs, which are too large for it."""
        predictor = None if self.predictor is None else self.predictor.lower()
        return {**asdict(self.engine_settings()), "predictor": predictor, "seed": self.seed}


#: The names of the options, in the order of signatures, and their defaults.
WORKFLOW_OPTIONS: dict[str, object] = {
    each.name: each.default for each in fields(WorkflowRun) if each.default is not MISSING
}


def _workflows(given: object, resources: object) -> tuple[Workflow, ...]:
    """The workflows, one or many, each of which fits the resources."""
    flows = (given,) if isinstance(given, Workflow) else given
    if not isinstance(flows, Sequence) or isinstance(flows, str):
        raise OptionError(f"workflows must be a Workflow or a list of them, got {checks.shown(given)}")
    if not flows:
        raise InputError("no workflow: give at least one")
    if not isinstance(resources, Resources):
        hint = f"; write Resources({resources})" if isinstance(resources, int) else ""
        raise OptionError(f"the resources must be Resources, got {checks.shown(resources)}{hint}")
    for row, flow in enumerate(flows):
        if not isinstance(flow, Workflow):
            raise OptionError(f"workflows, row {row}: expected a Workflow, got {checks.shown(flow)}")
        try:
            resources.check(flow)
        except InputError as error:
            raise InputError(f"workflows, row {row}: {error}" if len(flows) > 1 else str(error)) from None
    if sum(map(len, flows)) >= 2**31:
        raise InputError(f"{sum(map(len, flows)):,} jobs in total: at most 2,147,483,647 run at once")
    return tuple(flows)


def _arrivals(given: ArrayLike | None, flows: Sequence[Workflow]) -> Floats:
    if given is None:
        return read_only(np.array([flow.submit for flow in flows]))
    try:
        return as_column(given, by_name(WORKLOAD)["submit"], length=len(flows))
    except InputError as error:
        raise InputError(str(error).replace("submit", "arrivals", 1).replace("rows", "workflows")) from None


def _check_scheduler(scheduler: object) -> None:
    rows = known_policies("workflow_scheduler")
    known = ", ".join(row.cls.__name__ for row in rows.values())
    if isinstance(scheduler, type) and issubclass(scheduler, WorkflowScheduler):
        raise OptionError(f"scheduler must be an instance: write scheduler={scheduler.__name__}()")
    if not isinstance(scheduler, WorkflowScheduler) or scheduler.name not in rows:
        raise OptionError(f"the workflow scheduler must be one of {known}, got {checks.shown(scheduler)}")


def _check_outputs(outputs: object) -> None:
    if isinstance(outputs, SharedOutputs) or (isinstance(outputs, str) and outputs == "node"):
        return
    raise OptionError(f"outputs must be 'node' or SharedOutputs(cost), got {checks.shown(outputs)}")


def _check_combination(
    scheduler: WorkflowScheduler,
    failures: object,
    predictor: object,
    transfers: str,
    outputs: object,
) -> None:
    """Reject incompatible options by name."""
    name = type(scheduler).__name__
    if failures is not None and not isinstance(failures, FailureTrace):
        raise OptionError(f"failures must be a FailureTrace, got {checks.shown(failures, 'FailureTrace')}")
    if predictor is not None and not isinstance(predictor, Predictor):
        raise OptionError(f"predictor must be a predictor such as PredictionTrace, got {checks.shown(predictor)}")
    if scheduler.plans:
        refused = {
            "predictor=": predictor is not None,
            "transfers='in_turn'": transfers != "parallel",
            f"outputs={outputs!r}": outputs != "node",
        }
        for option in (option for option, given in refused.items() if given):
            raise OptionError(
                f"{name} plans with transfers that start at once, in parallel, and without predictions, so {option} is "
                f"not supported with it: leave it out, or use RankHybd(), Flaw() or Fifo()"
            )
    if scheduler.asks and predictor is None:
        raise OptionError(
            f"{name} requires a predictor: give predictor=PredictionTrace(...) or another, or Blind() for none"
        )
    if predictor is None:
        return
    if not predictor.says_where:
        raise OptionError(f"workflows need to know which node will fail, but {predictor!r} only says when: use another")
    if predictor.needs_failures and failures is None:
        raise OptionError(
            f"{predictor!r} predicts the failures of the run, but there are none: give failures=, or Blind()"
        )


def _check_nodes(failures: FailureTrace | None, predictor: Predictor | None, resources: Resources) -> None:
    """Check that failures and predictions are of existing nodes."""
    if failures is not None:
        failures.refuse_domains("failures")
    columns = {} if failures is None else {"failures": failures.node}
    if predictor is not None and "node" in (arrays := predictor.arrays()):
        columns["predictions"] = arrays["node"]
    for what, node in columns.items():
        outside = np.flatnonzero(node >= resources.nodes)
        if len(outside):
            row = int(outside[0])
            repair = f"; map_nodes({resources.nodes}) or drop_outside({resources.nodes}) helps"
            raise InputError(
                f"{len(outside):,} of {len(node):,} {what} are of nodes outside 0 to {resources.nodes - 1:,}, "
                f"first in row {row} (node {node[row]}){repair if what == 'failures' else ''}"
            )
    if failures is not None:
        failures.refuse_others(resources.nodes, "failures", f"failures=trace.map_nodes({resources.nodes})")
