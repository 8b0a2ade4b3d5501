"""Options that have no effect in a run because of its other options, one sentence each, for `Result.warnings`."""

from faultsim.policies import (
    Balancing,
    BeforeFailure,
    Blind,
    Buckets,
    CompiledPlacement,
    External,
    FailureSlowdown,
    Fars,
    LeastFailuresMigration,
    NodeStealing,
    PredictedWindows,
    Predictor,
    Preemptive,
    Recovery,
    RiskBased,
    SafestFirst,
    SlurmTorus,
    TieBreaking,
)
from faultsim.simulation.options import RunOptions

_LOOKING = (Balancing, TieBreaking, SafestFirst, CompiledPlacement)


def without_effect(run: RunOptions) -> list[str]:
    """What was given for nothing.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[1])
    >>> without_effect(fs.Run(log, fs.Cluster(2), recovery=fs.Hold()))
    ['recovery=Hold has no effect: nothing fails in this run']
    """
    said = [] if run.predictor is None or _is_asked(run) else of_predictor(run.predictor)
    if run.failures is None:
        said += _of_failures(run)
    if isinstance(run.rescheduling, Fars):
        said += _of_fars(run.rescheduling)
    return said


def of_predictor(predictor: Predictor) -> list[str]:
    """What to say of one that no policy looks at."""
    if isinstance(predictor, Blind):
        return []
    return [f"predictor={type(predictor).__name__} has no effect: no policy of this run uses what it predicts"]


def recovers(run: RunOptions) -> bool:
    """Whether the recovery of a run matters although nothing fails: jobs are requeued, or have spare nodes."""
    from_start = isinstance(run.recovery, Recovery) and run.recovery.from_start
    steals = isinstance(run.rescheduling, Fars) and isinstance(run.rescheduling.strategy, NodeStealing)
    return from_start or steals or isinstance(run.scheduler, Preemptive) or _is_outside(run)


def _is_outside(run: RunOptions) -> bool:
    """Whether a caller, or a policy in Python, gets decisions at which it may act, wherever nothing fails."""
    rescheduling = run.rescheduling
    if isinstance(run.scheduler, External) or run.scheduler.is_written():
        return True
    return rescheduling is not None and rescheduling.is_written()


def _is_asked(run: RunOptions) -> bool:
    """Whether a policy looks at predictions, by itself or by `Decision.foreseen`."""
    saves = run.checkpointing
    if isinstance(run.predictor, Buckets):
        return isinstance(saves, PredictedWindows)
    return (
        isinstance(run.placement, _LOOKING)
        or (isinstance(run.placement, SlurmTorus) and run.placement.foresees)
        or run.rescheduling is not None
        or isinstance(saves, BeforeFailure | RiskBased)
        or (saves is not None and saves.is_asked())
        or (run.recovery is not None and run.recovery.is_written() and run.failures is not None)
        or _is_outside(run)
    )


def _of_failures(run: RunOptions) -> list[str]:
    """Options that matter only where something fails."""
    unused: list[str] = []
    saves = run.checkpointing
    if run.recovery is not None and not recovers(run):
        unused.append(f"recovery={type(run.recovery).__name__}")
    if (repairs := getattr(run.scheduler, "repairs", "known")) != "known":
        unused.append(f"repairs={repairs!r}")
    if run.migration is not None and isinstance(run.migration, LeastFailuresMigration):
        unused.append("migration=LeastFailuresMigration")
    windows = isinstance(saves, PredictedWindows)
    if windows or (isinstance(saves, BeforeFailure) and run.predictor is None):
        unused.append(f"checkpointing={type(saves).__name__}")
    return [f"{option} has no effect: nothing fails in this run" for option in unused]


def _of_fars(fars: Fars) -> list[str]:
    """Parameters that others make idle; the default of one says nothing."""
    said = []
    if fars.live and fars.checkpoint_cost != Fars.checkpoint_cost:
        said.append(f"checkpoint_cost={fars.checkpoint_cost:g} of Fars has no effect: live moves take no checkpoint")
    if fars.queue_cost != Fars.queue_cost and not isinstance(fars.strategy, FailureSlowdown):
        said.append(f"queue_cost={fars.queue_cost!r} of Fars has no effect: only FailureSlowdown estimates waits")
    return said
