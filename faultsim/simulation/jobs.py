"""The jobs that a run simulates: which fit the machine, and how long the scheduler expects them to run."""

import math
from dataclasses import fields

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, Integers
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.policies import Fars, IntervalPredictor, NodeStealing, Policy, PredictionTrace, Predictor
from faultsim.policies.interval_reports import EXACT, MOST
from faultsim.simulation.options import RunOptions

#: Most checkpoints that a job may plan: more suggest a mistake in units, and would not be counted exactly.
MOST_CHECKPOINTS = 1e9
#: Least seconds of work between two checkpoints.
LEAST_INTERVAL = 1e-6


def fitting_log(run: RunOptions) -> Workload:
    """The log without jobs larger than the machine, or `InputError` if they are not to be dropped.

    Nodes reserved by `Static` are not available to jobs.
    """
    if run.machine.asks(run.log) is not None:
        return _held_log(run)
    log, nodes = _listed_log(run), run.most_nodes
    needed = run.nodes_needed(log.size)
    if (log._sum_and_most("size")[1] if needed is log.size else needed.max()) <= nodes:
        return log
    spare, larger = run.spare_nodes, needed > nodes
    reason = f"larger than the {run.machine.largest_place}" + (" without its spare nodes" if spare else "")
    less = f"{run.machine.nodes:,} - {spare:,} = " if spare else ""
    unit = run.machine.node_unit
    of = "" if reason.endswith("machine") or spare else f" of {run.machine}"
    what = f"{reason}{of} ({less}{checks.count(nodes, unit)})"
    if needed is not log.size:
        what += f" with {_short(run.recovery)}"  # type: ignore[arg-type]
    remedy = "take a larger machine" + (" or fewer spare nodes," if spare or needed is not log.size else "")
    if run.oversized == "drop":
        if larger.all():
            raise InputError(f"all {len(log):,} jobs are {what}: {remedy.rstrip(',')}")
        return log.drop(larger, reason)
    count = int(larger.sum())
    asked = (each[larger][:5].tolist() for each in (log.id, log.size, needed))
    first = ", ".join(
        f"{job} ({checks.count(size, unit)}{f', {held:,} with spares' if held != size else ''})"
        for job, size, held in zip(*asked, strict=True)
    )
    raise InputError(
        f"{count:,} of {len(log):,} jobs {'is' if count == 1 else 'are'} {what}: id {first}"
        f'{", ..." if count > 5 else ""}; {remedy} or pass oversized="drop"'
    )


def _short(policy: Policy) -> str:
    """A policy with the parameters that differ from their defaults."""
    values = ((each, getattr(policy, each.name)) for each in fields(policy))  # type: ignore[arg-type]
    given = (f"{each.name}={value!r}" for each, value in values if value != each.default)
    return f"{type(policy).__name__}({', '.join(given)})"


#: Why jobs are left out that no nodes of a site can hold.
NOT_HELD = "no nodes of the site hold it"


def _held_log(run: RunOptions) -> Workload:
    """The log without jobs that no nodes of a site can hold, or `InputError` if they are not to be dropped."""
    log, refused = run.log, run.machine.refusals(run.log)
    if not refused:
        return log
    if run.oversized == "drop" and len(refused) < len(log):
        which = np.zeros(len(log), np.bool_)
        which[list(refused)] = True
        return log.drop(which, NOT_HELD)
    row, why = next(iter(refused.items()))
    count = len(refused)
    others = f" ({count:,} of {len(log):,} jobs cannot be held)" if count > 1 else ""
    raise InputError(
        f'job {log.id[row]} (row {row}) {why}{others}; change the site, or pass oversized="drop" to leave such jobs out'
    )


def kept_rows(run: RunOptions) -> Integers:
    """The rows of the user's log whose jobs `fitting_log` kept, where it left some out."""
    log = run.log
    if run.machine.asks(log) is None:
        return np.flatnonzero(~run.refused_sizes(log.size)).astype(np.int32)
    kept = np.ones(len(log), np.bool_)
    kept[list(run.machine.refusals(log))] = False
    return np.flatnonzero(kept).astype(np.int32)


def _listed_log(run: RunOptions) -> Workload:
    """The log without jobs of sizes that the placement does not list, or `InputError` if they are not to be dropped."""
    log, placement = run.log, run.placement
    unlisted = None if placement is None else placement.unlisted_sizes(run.machine, log.size)
    if unlisted is None or not unlisted.any():
        return log
    if run.oversized == "drop" and not unlisted.all():
        return log.drop(unlisted, "of a size without a listed shape")
    count = int(unlisted.sum())
    sizes = np.unique(log.size[unlisted])
    first = ", ".join(map(str, sizes[:5].tolist())) + (", ..." if len(sizes) > 5 else "")
    remedy = "" if run.oversized == "drop" else ', or pass oversized="drop"'
    raise InputError(
        f"{count:,} of {len(log):,} jobs have a size that no shape of {type(placement).__name__} has ({first} nodes): "
        f"list shapes of these sizes, use unlisted='round_up' for sizes below the largest{remedy}"
    )


def expected_runtimes(run: RunOptions, log: Workload) -> Floats:
    """What the scheduler uses: the requested time (run time if missing), the run time, or a multiple of it."""
    if run.estimates == "requested":
        estimate, total, most = log.requested, *log._sum_and_most("requested")
    else:
        estimate, total, most = log.runtime, *log._sum_and_most("runtime")
    if not isinstance(run.estimates, str):
        factor = float(run.estimates)
        with np.errstate(over="ignore"):  # infinite ones are rejected below
            estimate, total, most = estimate * factor, total * factor, most * factor
    _refuse_endless(run, log, total, most, _refuse_many_checkpoints(run, log, estimate))
    return estimate


def _refuse_many_checkpoints(run: RunOptions, log: Workload, estimate: Floats) -> float:
    """Reject intervals that are far too short for the run times; return the seconds of planned checkpoints."""
    policy = run.checkpointing
    between = None if policy is None else policy.all_intervals(log, estimate)
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


def _refuse_endless(run: RunOptions, log: Workload, expected: float, longest: float, planned_time: float) -> None:
    """Reject times that add up, as node-seconds, to more than a double holds: they cannot be seconds."""
    # Plain floats become infinite silently, and this is done once per run, however short.
    pauses = run.start_delay + _cost(run.migration) + _cost(run.checkpointing)
    moving = run.rescheduling if isinstance(run.rescheduling, Fars) else None
    last = _last_prediction(run.predictor)
    runtimes, runtime = log._sum_and_most("runtime")
    seconds = float(log.submit[-1]) + runtimes + expected + len(log) * pauses + planned_time
    # A kill costs a job at most what it had done, plus the cost of starting again.
    again = runtime + longest + pauses + planned_time + _cost(run.recovery, "restart_cost")
    if run.failures is not None and len(run.failures):
        downtime = run.failures.downtime
        longest_down = float(np.max(downtime, initial=0.0, where=np.isfinite(downtime)))  # infinite: for good
        seconds += run.failures.span + len(run.failures) * (again + longest_down)
    if moving is not None:
        kill = again if isinstance(moving.strategy, NodeStealing) else 0.0
        # Each move is of a job that holds a predicted node.
        seconds += MOST * (moving.checkpoint_cost + moving.restart_cost + kill)
        seconds += last + 2.0 * moving.interval
    between = getattr(run.scheduler, "tick", None)
    if run.rescheduling is not None and run.rescheduling.is_written():
        between = run.rescheduling.lower()["interval"]
    if between is not None and seconds / between > EXACT:
        raise OptionError(f"ticks every {between:g} s are too many for a run that may last {seconds:g} s")
    if math.isfinite(seconds * run.capacity):
        if max(seconds, again) > checks.LATEST:
            _refuse_beyond_the_clock(run, moving)
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
        f"up to {runtime:g} s, estimates up to {longest:g} s, start_delay {run.start_delay:g} "
        f"s{moves}"
    )


def _refuse_beyond_the_clock(run: RunOptions, moving: Fars | None) -> None:
    """Reject delays and costs that are longer than the clock; log and failures are checked when they are made."""
    lasting = {
        "start_delay": run.start_delay,
        "the cost of the migration": _cost(run.migration),
        "the cost of a checkpoint": _cost(run.checkpointing),
        "restart_cost": _cost(run.recovery, "restart_cost"),
        "checkpoint_cost of a move": moving.checkpoint_cost if moving else 0.0,
        "restart_cost of a move": moving.restart_cost if moving else 0.0,
    }
    for what, length in lasting.items():
        if length > checks.LATEST:
            raise InputError(f"{what}: {length:g} s {checks.beyond_the_clock(length)}")


def _cost(policy: Policy | None, name: str = "cost") -> float:
    """In seconds."""
    return 0.0 if policy is None else float(policy.lower().get(name, 0.0))


def _last_prediction(predictor: Predictor | None) -> float:
    """When the last of a predictor's own predictions ends, in seconds; 0 for predictors that use the failures."""
    if isinstance(predictor, PredictionTrace) and len(predictor.time):
        return float(predictor.time[-1])
    if isinstance(predictor, IntervalPredictor) and predictor.index is not None and len(predictor.index):
        return (float(predictor.index[-1]) + 1.0) * predictor.interval
    return 0.0
