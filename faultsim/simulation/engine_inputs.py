"""What the engines receive about failures and predictions: plain columns, made before a run begins.

All draws happen here and in the predictors, from streams keyed by (seed, purpose) and never by a policy, so that two
policies always face the same failures and the same predictions.
"""

import numpy as np

from faultsim.arrays import Floats
from faultsim.data.conditions import has_conditions
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.data.world import NO_REQUESTS, FailureRows, PredictionRows, RequestRows, World
from faultsim.policies import Blind, Checkpointing, Predictor
from faultsim.simulation.absences import absence_rows
from faultsim.simulation.eligibility import eligibility_rows
from faultsim.simulation.jobs import kept_rows
from faultsim.simulation.options import RunOptions
from faultsim.simulation.slowness import clocks


def make_world(run: RunOptions, log: Workload, estimate: Floats, *, formulas: bool = True) -> World:
    """What a run gets besides its settings and the columns of its jobs.

    Parameters
    ----------
    run : RunOptions
    log : Workload
        The jobs that fit.
    estimate : numpy.ndarray of float64
        What the scheduler expects of their run times, in seconds.
    formulas : bool, default True
        Whether the intervals of planned checkpoints by a formula are included; the reference has its own formulas.
    """
    world = World(columns=run.log.columns)
    if run.log is not log:
        world.rows = kept_rows(run)
        world.jobs = np.full(len(run.log), -1, np.int32)
        world.jobs[world.rows] = np.arange(len(world.rows), dtype=np.int32)
    if has_conditions(log._columns):
        world.eligibility = eligibility_rows(run.log, log, world.jobs)
    if run.failures is not None or run.predictor is not None:
        add_failures(world, run, float(log.submit[0]))
    policy = run.checkpointing
    world.asks = run.machine.asks(log)
    if policy is not None and (formulas or policy.plans_in_python or world.asks is not None):
        # Rates of failures are of nodes, whatever sizes count.
        counted = log if world.asks is None else log._derived(size=run.machine.job_nodes(log))
        world.checkpoint_interval = policy.planned_intervals(counted, estimate)
    slowdowns = () if run.failures is None else run.failures.slowdowns
    forms = run.machine.speed_forms(log) if slowdowns else None
    world.shape_rank = run.place_ranks(log)
    world.absences = absence_rows(run)
    if forms is not None:
        world.clocks = clocks(slowdowns, *forms)
    return world


def add_failures(world: World, run: RunOptions, begin: float) -> None:
    """Failures, predictions, requests and ticks of a run whose first job is submitted at `begin` (s); None if empty."""
    trace = run.failures
    if trace is not None and len(trace):
        part = run.machine.parts_that_fail(run.log, trace)
        unit = None if part is None else trace.part_units()
        world.failures = FailureRows(trace.time, trace.node, trace.downtime, part, unit)
    foreseen = (run.predictor or Blind()).all_predictions(trace, run.machine, run.seed)
    if len(foreseen.node):
        world.predictions = foreseen
    asked = alarms(run.checkpointing, run.predictor, trace, foreseen, begin)
    if len(asked.node):
        world.alarms = asked
    if run.rescheduling is not None:
        world.ticks = run.rescheduling.planned_ticks(foreseen)


def predictions(predictor: Predictor | None, trace: FailureTrace | None, *, nodes: int, seed: int) -> PredictionRows:
    """What a predictor predicts, in order of time (model.md#predictors).

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([10, 20], [0, 1], 0, coin=[0.3, 0.6])
    >>> predictions(fs.Accuracy(0.5), trace, nodes=2, seed=0).node
    array([0], dtype=int32)
    """
    return (predictor or Blind()).predictions(trace, nodes, seed)


# -- requested checkpoints


def alarms(
    policy: Checkpointing | None,
    predictor: Predictor | None,
    trace: FailureTrace | None,
    foreseen: PredictionRows,
    begin: float,
) -> RequestRows:
    """Requests for checkpoints, in order of time; none before `begin`, when nothing can run (model.md#requested)."""
    asked = (
        NO_REQUESTS if policy is None else policy.planned_requests(trace, foreseen if predictor is not None else None)
    )
    here = asked.time >= begin
    return RequestRows(asked.time[here], asked.node[here])
