"""`simulate_workflows`: runs workflows on nodes that may fail.

They and the nodes become tables of plain columns, the policies a plain dict; an engine gets those and runs in slices,
so that Ctrl-C and progress live here; what comes out is a `WorkflowResult`.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faultsim import checks
from faultsim._core.workflow.engine import WorkflowEngine
from faultsim.data.columns import WORKLOAD, as_column, by_name, read_only
from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.errors import BusyError, EngineError, InputError, OptionError
from faultsim.machines.resources import Resources
from faultsim.policies import Predictor, RankHybd, SharedOutputs, WorkflowScheduler, known_policies, parse_policy
from faultsim.policies.words import PredictorWord, WorkflowSchedulerWord
from faultsim.reference.workflow.engine import WorkflowEngine as PlainEngine
from faultsim.results.prediction_accuracy import matched
from faultsim.results.workflow_result import WorkflowResult
from faultsim.simulation.core_engine import core_workflow_engine
from faultsim.simulation.engine_inputs import predictions
from faultsim.simulation.execution import next_budget
from faultsim.simulation.progress import Progress, reporting

_ENGINES: dict[str, Any] = {"core": core_workflow_engine, "reference": PlainEngine}
_TRANSFERS = ("parallel", "in_turn")
DEFAULT_SCHEDULER = RankHybd()
#: Events and nodes examined in the first slice of the engine.
FIRST = 10_000


def simulate_workflows(
    workflows: Workflow | Sequence[Workflow],
    resources: Resources,
    *,
    scheduler: WorkflowScheduler | WorkflowSchedulerWord = DEFAULT_SCHEDULER,
    failures: FailureTrace | None = None,
    predictor: Predictor | PredictorWord | None = None,
    transfers: str = "parallel",
    outputs: str | SharedOutputs = "node",
    arrivals: ArrayLike | None = None,
    seed: int = 0,
    record: bool = False,
    progress: bool | Progress = False,
    engine: str = "core",
) -> WorkflowResult:
    """Simulate workflows on nodes that may fail.

    Parameters
    ----------
    workflows : Workflow or sequence of Workflow
        What runs; each arrives at its `Workflow.submit`.
    resources : Resources
        The nodes, their speeds, and how fast they exchange data.
    scheduler : WorkflowScheduler, default RankHybd()
        `RankHybd`, `Flaw`, `Fifo` or `Heft`.
    failures : FailureTrace, optional
        When each node fails, and for how long it is down. The job on it is killed, and so are those to which it sends;
        all of them start over from scratch.
    predictor : Predictor, optional
        Consulted by `Flaw` and ``Fifo(aware=True)``: `PredictionTrace`, `Perfect`, `Confidence`, `Accuracy`,
        `IntervalPredictor` or `Blind`.
    transfers : {"parallel", "in_turn"}, default "parallel"
        Whether a job receives its inputs all at once, or one after another.
    outputs : "node" or SharedOutputs, default "node"
        Where outputs are kept: on the node that produced them, where they are unreachable while it is down, or, at a
        cost, also on shared storage.
    arrivals : array_like of float, shape (workflows,), optional
        When each workflow arrives (s, 0 or more), instead of its `Workflow.submit`.
    seed : int, default 0
        Key of the streams from which `IntervalPredictor` draws its reports; nothing else is random.
    record : bool, default False
        Keep `WorkflowResult.events`.
    progress : bool or callable(done, total, now), default False
        True shows progress on stderr if that is a terminal.
    engine : {"core", "reference"}, default "core"
        The compiled engine, or the reference implementation in plain Python, which is slow and meant for reading.

    Returns
    -------
    WorkflowResult

    Raises
    ------
    InputError
        If a workflow does not fit the resources, or failures or predictions are of nodes that they do not have.
    OptionError
        If an option has an invalid value, or options are combined in an unsupported way.

    References
    ----------
    [yu2010].

    Examples
    --------
    The worked example of the paper, first without predictions, then with those of its Figure 5:

    >>> import faultsim as fs
    >>> cost = [[30, 40, 50], [30, 25, 40], [35, 30, 20], [45, 35, 40], [30, 45, 45]]
    >>> edges = [(0, 1, 10), (0, 2, 10), (0, 3, 10), (1, 4, 10), (2, 4, 10), (3, 4, 20)]
    >>> workflow, nodes = fs.Workflow(cost, edges), fs.Resources(3)
    >>> failures = fs.FailureTrace([5, 15, 60], [2, 0, 1], 5, span=200)
    >>> result = fs.simulate_workflows(workflow, nodes, failures=failures)
    >>> result.makespan, result.loss_time, result.reschedulings
    (155.0, 30.0, 4)
    >>> foreseen = fs.PredictionTrace([18, 8, 90], [0, 2, 2])
    >>> result = fs.simulate_workflows(workflow, nodes, scheduler=fs.Flaw(), failures=failures, predictor=foreseen)
    >>> result.makespan, result.loss_time, result.reschedulings
    (150.0, 20.0, 1)
    >>> result.aoa, result.aaa["per_pass"]
    (0.5, 0.9)
    """
    flows = _workflows(workflows, resources)
    when = _arrivals(arrivals, flows)
    if isinstance(scheduler, str):
        scheduler = parse_policy("workflow_scheduler", scheduler)
    if isinstance(predictor, str):
        predictor = parse_policy("predictor", predictor)
    _check_scheduler(scheduler)
    checks.choice("transfers", transfers, _TRANSFERS)
    checks.flag("record", record)
    _check_outputs(outputs)
    _check_combination(scheduler, failures, predictor, transfers, outputs)
    _check_nodes(failures, predictor, resources)
    seed = checks.whole("seed", seed, low=0)
    world, pairing = _world(failures, predictor, resources, seed)
    copy = outputs.cost if isinstance(outputs, SharedOutputs) else None
    settings = {
        "scheduler": scheduler.lower(),
        "transfers": transfers,
        "outputs": copy,
        "record": record,
    }
    tables = _tables(flows, resources, when)
    _check_range(tables, world or {}, copy or 0.0)
    errors = {"error": EngineError, "busy_error": BusyError}
    made = _ENGINES[checks.choice("engine", engine, _ENGINES)]({**settings, **errors}, tables, world)
    with reporting(progress, "jobs") as report:
        _drive(made, sum(map(len, flows)), report)
    about = {"predictor": None if predictor is None else predictor.lower(), "seed": seed, "engine": engine}
    return WorkflowResult(
        made.output(),
        workflows=flows,
        resources=resources,
        arrivals=when,
        matched=pairing,
        settings={**settings, **about},
        trace=failures,
    )


def _drive(engine: WorkflowEngine, total: int, report: Progress | None) -> None:
    """Run the engine in short slices: Ctrl-C takes effect between two."""
    budget = FIRST
    while True:
        began = time.perf_counter()
        ended = engine.run(budget) == "done"
        if report is not None:
            report(engine.n_done, total, engine.now)
        if ended:
            return
        budget = next_budget(budget, time.perf_counter() - began)


# -- what the engines receive


def _tables(flows: Sequence[Workflow], resources: Resources, when: NDArray[np.float64]) -> dict[str, Any]:
    """All workflows as one graph, with consecutive job numbers."""
    first = np.cumsum([0, *map(len, flows)])
    tables: dict[str, Any] = {"first_job": first, "arrival": when, "speed": resources.speed}
    for side in ("predecessor", "successor"):
        rows = [getattr(flow, f"{side}_start") for flow in flows]
        edges = np.cumsum([0, *(int(starts[-1]) for starts in rows)])
        starts = [starts[:-1] + offset for starts, offset in zip(rows, edges, strict=False)]
        tables[f"{side}_start"] = np.append(np.concatenate(starts), edges[-1])
        jobs = [getattr(flow, side) + offset for flow, offset in zip(flows, first, strict=False)]
        tables[side] = np.concatenate(jobs).astype(np.int32)
        tables[f"{side}_transfer"] = np.concatenate([getattr(flow, f"{side}_transfer") for flow in flows])
    if all(flow.cost.ndim == 1 for flow in flows):
        tables["cost"] = np.concatenate([flow.cost for flow in flows])
    else:
        tables["cost"] = np.concatenate([resources.durations(flow) for flow in flows])
        tables["speed"] = np.ones(resources.n_nodes)
    tables["bandwidth"] = 1.0 if resources.bandwidth is None else resources.bandwidth
    return tables


def _world(trace: FailureTrace | None, predictor: Predictor | None, resources: Resources, seed: int) -> tuple[Any, Any]:
    """Failures and predictions, and how they match."""
    foreseen = predictions(predictor, trace, nodes=resources.n_nodes, seed=seed)
    world: dict[str, Any] = {"predictions": foreseen}
    none = np.empty(0)
    failing: tuple[Any, Any, Any] = (none, none, none.astype(np.int32))
    if trace is not None:
        failing = (trace.time, trace.downtime, trace.node)
        world["failures"] = dict(zip(("time", "downtime", "node"), failing, strict=True))
    pairing = matched(*failing, foreseen["begin"], foreseen["end"], foreseen["node"])
    return {name: table for name, table in world.items() if len(table["node"])} or None, pairing


def _check_range(tables: dict[str, Any], world: dict[str, Any], copy: float) -> None:
    """Check that no time of the run can overflow: after the last external event everything happens at most once."""
    with np.errstate(over="ignore"):
        longest = tables["cost"].max(axis=1) if tables["cost"].ndim == 2 else tables["cost"] / tables["speed"].min()
        moved = tables["predecessor_transfer"] / np.min(tables["bandwidth"])
        last = float(longest.sum() + moved.sum() + copy * len(longest) + tables["arrival"].max())
        if "failures" in world:
            last += float((world["failures"]["time"] + world["failures"]["downtime"]).max())
        if "predictions" in world:
            last += float(world["predictions"]["end"][-1])
    if not last < float("inf"):
        raise InputError("the costs, transfers and times add up to more than a float64 holds: take a larger unit")


# -- checks


def _workflows(given: object, resources: object) -> tuple[Workflow, ...]:
    """The workflows, one or many, each of which fits the resources."""
    flows = (given,) if isinstance(given, Workflow) else given
    if not isinstance(flows, Sequence) or isinstance(flows, str):
        raise OptionError(f"workflows must be a Workflow or a list of them, got {given!r:.60}")
    if not flows:
        raise InputError("no workflow: give at least one")
    if not isinstance(resources, Resources):
        hint = f"; write Resources({resources})" if isinstance(resources, int) else ""
        raise OptionError(f"the resources must be Resources, got {resources!r:.60}{hint}")
    for row, flow in enumerate(flows):
        if not isinstance(flow, Workflow):
            raise OptionError(f"workflows, row {row}: expected a Workflow, got {flow!r:.60}")
        try:
            resources.check(flow)
        except InputError as error:
            raise InputError(f"workflows, row {row}: {error}" if len(flows) > 1 else str(error)) from None
    if sum(map(len, flows)) >= 2**31:
        raise InputError(f"{sum(map(len, flows)):,} jobs in total: at most 2,147,483,647 run at once")
    return tuple(flows)


def _arrivals(given: ArrayLike | None, flows: Sequence[Workflow]) -> NDArray[np.float64]:
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
        raise OptionError(f"the workflow scheduler must be one of {known}, got {scheduler!r:.60}")


def _check_outputs(outputs: object) -> None:
    if isinstance(outputs, SharedOutputs) or (isinstance(outputs, str) and outputs == "node"):
        return
    raise OptionError(f"outputs must be 'node' or SharedOutputs(cost), got {outputs!r:.60}")


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
        raise OptionError(f"failures must be a FailureTrace, got {failures!r:.60}")
    if predictor is not None and not isinstance(predictor, Predictor):
        raise OptionError(f"predictor must be a predictor such as PredictionTrace, got {predictor!r:.60}")
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
    columns = {} if failures is None else {"failures": failures.node}
    if predictor is not None and "node" in (arrays := predictor.arrays()):
        columns["predictions"] = arrays["node"]
    for what, node in columns.items():
        outside = np.flatnonzero(node >= resources.n_nodes)
        if len(outside):
            row = int(outside[0])
            repair = f"; map_nodes({resources.n_nodes}) or drop_outside({resources.n_nodes}) helps"
            raise InputError(
                f"{len(outside):,} of {len(node):,} {what} are of nodes outside 0 to {resources.n_nodes - 1:,}, "
                f"first in row {row} (node {node[row]}){repair if what == 'failures' else ''}"
            )
