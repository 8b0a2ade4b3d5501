"""`simulate_workflows`: runs workflows on nodes that may fail.

They and the nodes become tables of plain columns, the policies a plain dict; an engine gets those and runs in slices,
so that Ctrl-C and progress live here; what comes out is a `WorkflowResult`.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.data.world import FailureRows, World
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.machines.resources import Resources
from faultsim.policies import Predictor
from faultsim.reference.workflow.engine import WorkflowEngine as PlainEngine
from faultsim.results.prediction_accuracy import Matched, matched
from faultsim.results.workflow_result import WorkflowResult
from faultsim.simulation.core_engine import core_workflow_engine
from faultsim.simulation.engine_inputs import predictions
from faultsim.simulation.execution import Stopped, next_budget
from faultsim.simulation.options import EngineName, refuse_unknown, takes
from faultsim.simulation.progress import Progress, reporting
from faultsim.simulation.without_effect import of_predictor
from faultsim.simulation.workflow_run import WORKFLOW_OPTIONS, WorkflowOptions, WorkflowRun

_ENGINES: dict[str, Any] = {"core": core_workflow_engine, "reference": PlainEngine}
#: Events and nodes examined in the first slice of the engine.
FIRST = 10_000


@entry
@takes(WorkflowOptions, WORKFLOW_OPTIONS)
def simulate_workflows(
    workflows: Workflow | Sequence[Workflow],
    resources: Resources,
    *,
    progress: bool | Progress = False,
    engine: EngineName = "core",
    **options: Unpack[WorkflowOptions],
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
    refuse_unknown("simulate_workflows", options, WORKFLOW_OPTIONS)
    execution = WorkflowExecution(WorkflowRun(workflows, resources, **options), engine)
    with reporting(progress, "jobs") as report:
        execution.go_on(report=report)
    return execution.result()


class WorkflowExecution:
    """One run of workflows on one engine: what `simulate_workflows` and the workers of sweeps drive."""

    def __init__(self, run: WorkflowRun, engine: EngineName = "core") -> None:
        self._run = run
        world, self._matched = _world(run.failures, run.predictor, run.resources, run.seed)
        settings = run.engine_settings()
        tables = _tables(run.flows, run.resources, run.arrival)
        _check_range(tables, world, settings.outputs or 0.0)
        self._engine = _ENGINES[checks.choice("engine", engine, _ENGINES)](settings, tables, world)
        self._settings = {**run.lower(), "engine": engine}
        if run.predictor is not None and not run.scheduler.asks and (unused := of_predictor(run.predictor)):
            self._settings["without_effect"] = unused

    def go_on(self, *, report: Progress | None = None, stop: Callable[[], bool] | None = None) -> None:
        """Run the engine in short slices to the end; raises `Stopped` if `stop` returns True between two."""
        engine, total, budget = self._engine, sum(map(len, self._run.flows)), FIRST
        while True:
            began = time.perf_counter()
            ended = engine.run(budget) == "done"
            if report is not None:
                report(engine.n_done, total, engine.now)
            if ended:
                return
            if stop is not None and stop():
                raise Stopped
            budget = next_budget(budget, time.perf_counter() - began)

    def result(self) -> WorkflowResult:
        """The result, once everything has happened."""
        return WorkflowResult(
            self._engine.output(),
            workflows=self._run.flows,
            resources=self._run.resources,
            arrivals=self._run.arrival,
            matched=self._matched,
            settings=self._settings,
            trace=self._run.failures,
        )


# -- what the engines receive


def _tables(flows: Sequence[Workflow], resources: Resources, when: Floats) -> dict[str, object]:
    """All workflows as one graph, with consecutive job numbers."""
    first = np.cumsum([0, *map(len, flows)])
    tables: dict[str, object] = {"first_job": first, "arrival": when, "speed": resources.speed}
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
        tables["speed"] = np.ones(resources.nodes)
    tables["bandwidth"] = 1.0 if resources.bandwidth is None else resources.bandwidth
    return tables


def _world(
    trace: FailureTrace | None, predictor: Predictor | None, resources: Resources, seed: int
) -> tuple[World, Matched]:
    """Failures and predictions, and how they match."""
    foreseen = predictions(predictor, trace, nodes=resources.nodes, seed=seed)
    failing = FailureRows(np.empty(0), np.empty(0, np.int32), np.empty(0))
    if trace is not None:
        failing = FailureRows(trace.time, trace.node, trace.downtime)
    pairing = matched(failing.time, failing.downtime, failing.node, foreseen.begin, foreseen.end, foreseen.node)
    world = World(failures=failing if len(failing.node) else None, predictions=foreseen if len(foreseen.node) else None)
    return world, pairing


def _check_range(tables: dict[str, Any], world: World, copy: float) -> None:
    """Check that no time of the run can overflow: after the last external event everything happens at most once."""
    with np.errstate(over="ignore"):
        longest = tables["cost"].max(axis=1) if tables["cost"].ndim == 2 else tables["cost"] / tables["speed"].min()
        moved = tables["predecessor_transfer"] / np.min(tables["bandwidth"])
        last = float(longest.sum() + moved.sum() + copy * len(longest) + tables["arrival"].max())
        if world.failures is not None:
            up = world.failures.time + world.failures.downtime
            last += float(np.max(up, initial=0.0, where=np.isfinite(up)))  # infinite: down for good
        if world.predictions is not None:
            last += float(world.predictions.end[-1])
    if not last < float("inf"):
        raise InputError("the costs, transfers and times add up to more than a float64 holds: take a larger unit")
    lasting = {"cost of a job": longest.max(initial=0.0), "transfer": moved.max(initial=0.0), "copy": copy}
    for what, length in lasting.items():
        if length > checks.LATEST:
            raise InputError(f"{what}: {length:g} s {checks.beyond_the_clock(float(length))}")
