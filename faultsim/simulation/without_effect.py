"""Options that have no effect in a run because of its other options, one sentence each, for `Result.warnings`."""

from collections.abc import Iterator

from faultsim.policies import (
    Balancing,
    BeforeFailure,
    Blind,
    Buckets,
    CompiledPlacement,
    External,
    FailureSlowdown,
    Fars,
    HotSpares,
    LeastFailuresMigration,
    NodeStealing,
    PredictedWindows,
    Predictor,
    Preemptive,
    RiskBased,
    SafestFirst,
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
        said += [f"{option} has no effect: nothing fails in this run" for option in _of_failures(run)]
    if isinstance(run.rescheduling, Fars):
        said += _of_fars(run.rescheduling)
    return said


def of_predictor(predictor: Predictor) -> list[str]:
    """What to say of one that no policy looks at."""
    if isinstance(predictor, Blind):
        return []
    return [f"predictor={type(predictor).__name__} has no effect: no policy of this run uses what it predicts"]


def acts_on_jobs(run: RunOptions) -> bool:
    """Whether jobs may be requeued where nothing fails: by decisions from outside, or because nodes are stolen."""
    rescheduling = run.rescheduling
    if isinstance(run.scheduler, External) or run.scheduler.is_written():
        return True
    if isinstance(rescheduling, Fars):
        return isinstance(rescheduling.strategy, NodeStealing)
    return rescheduling is not None and rescheduling.is_written()


def _is_asked(run: RunOptions) -> bool:
    """Whether a policy looks at predictions, by itself or by `Decision.foreseen`."""
    saves = run.checkpointing
    if isinstance(run.predictor, Buckets):
        return isinstance(saves, PredictedWindows)
    return (
        isinstance(run.placement, _LOOKING)
        or run.rescheduling is not None
        or isinstance(saves, BeforeFailure | RiskBased)
        or (saves is not None and saves.is_asked())
        or (run.recovery is not None and run.recovery.is_written() and run.failures is not None)
        or acts_on_jobs(run)
    )


def _of_failures(run: RunOptions) -> Iterator[str]:
    """Options that matter only where something fails."""
    recovery, saves = run.recovery, run.checkpointing
    used = isinstance(recovery, HotSpares) or isinstance(run.scheduler, Preemptive) or acts_on_jobs(run)
    if recovery is not None and not used:
        yield f"recovery={type(recovery).__name__}"
    if (repairs := getattr(run.scheduler, "repairs", "known")) != "known":
        yield f"repairs={repairs!r}"
    if isinstance(run.migration, LeastFailuresMigration):
        yield "migration=LeastFailuresMigration"
    if isinstance(saves, PredictedWindows) or (isinstance(saves, BeforeFailure) and run.predictor is None):
        yield f"checkpointing={type(saves).__name__}"


def _of_fars(fars: Fars) -> Iterator[str]:
    """Parameters that others make idle; the default of one says nothing."""
    if fars.live and fars.checkpoint_cost != Fars.checkpoint_cost:
        yield f"checkpoint_cost={fars.checkpoint_cost:g} of Fars has no effect: live moves take no checkpoint"
    if fars.queue_cost != Fars.queue_cost and not isinstance(fars.strategy, FailureSlowdown):
        yield f"queue_cost={fars.queue_cost!r} of Fars has no effect: only FailureSlowdown estimates waits"
