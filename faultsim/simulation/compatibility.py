"""What has no meaning together: each such combination is refused by name before anything runs."""

import numpy as np

from faultsim.errors import InputError, OptionError
from faultsim.machines import Torus
from faultsim.policies import (
    BOX_ORDERS,
    BeforeFailure,
    Buckets,
    Defragment,
    Fars,
    LeastFailuresMigration,
    NoCheckpoint,
    NodeStealing,
    Placement,
    Policy,
    PredictedWindows,
    RiskBased,
    Static,
    known_policies,
)
from faultsim.simulation.options import RunOptions

__all__ = ["check_combination", "spare_nodes"]


def check_combination(run: RunOptions) -> None:
    """Refuse, by name, what has no meaning together."""
    placement = run.placement
    assert placement is not None  # __post_init__ put the machine's default
    if type(placement).choose is Placement.choose and placement.name == "python":
        raise OptionError(f"{type(placement).__name__} must define choose(self, job, candidates, state)")
    if isinstance(run.machine, Torus):
        _check_torus(run, placement)
    else:
        _check_cluster(run, placement)
    _check_predictor(run, placement)
    _check_rescheduling(run)
    _check_nodes(run)


def _check_torus(run: RunOptions, placement: Placement) -> None:
    known = known_policies("placement")
    if placement.name in known and "torus" not in known[placement.name].machines:
        raise OptionError(
            f"{type(placement).__name__} chooses single nodes, and on {run.machine} jobs take boxes: use "
            f"placement=Balancing(), TieBreaking() or another for boxes, or take a Cluster"
        )
    if isinstance(run.migration, LeastFailuresMigration):
        raise OptionError(
            f"LeastFailuresMigration moves single nodes, and on {run.machine} jobs keep boxes: use "
            f"migration=Defragment() or None, or take a Cluster"
        )


def _check_cluster(run: RunOptions, placement: Placement) -> None:
    known = known_policies("placement")
    if placement.name not in known or "cluster" not in known[placement.name].machines:
        raise OptionError(
            f"{type(placement).__name__} places boxes, and {run.machine} has none: use "
            f"placement=FirstFit(), or take a Torus"
        )
    if placement.box_order != BOX_ORDERS[0]:
        raise OptionError(
            f"box_order={placement.box_order!r} has no meaning on {run.machine}, which has no boxes: "
            f"leave it out, or take a Torus"
        )
    if isinstance(run.migration, Defragment):
        raise OptionError(
            f"Defragment has no meaning on {run.machine}, where free nodes need not be together: "
            f"use migration=None, or take a Torus"
        )
    if getattr(run.scheduler, "reservation", "any") != "any":
        raise OptionError(
            f"reservation={run.scheduler.reservation!r} has no meaning on {run.machine}, "  # type: ignore[attr-defined]
            f"which has no boxes: use reservation='any', or take a Torus"
        )
    if getattr(run.scheduler, "max_growth", 1) > 1:
        raise OptionError(
            f"max_growth={run.scheduler.max_growth} has no meaning on {run.machine}, "  # type: ignore[attr-defined]
            f"where every size fits as it is: leave it out, or take a Torus"
        )


def _check_predictor(run: RunOptions, placement: Placement) -> None:
    """Who asks a predictor has one that can answer, and it has something to predict."""
    predictor = run.predictor
    asking: list[Policy] = [placement] if placement.needs_predictor else []
    asking += [run.checkpointing] if isinstance(run.checkpointing, RiskBased) else []
    asking += [run.rescheduling] if isinstance(run.rescheduling, Fars) else []
    for policy in asking:
        if predictor is None:
            usual = "Confidence(0.1)"
            if isinstance(policy, Fars):
                usual = f"IntervalPredictor(precision=0.7, recall=0.7, interval={policy.interval:g})"
            raise OptionError(
                f"{type(policy).__name__} asks a predictor, and there is none: "
                f"give predictor={usual}, or Blind() for none"
            )
    if isinstance(run.checkpointing, BeforeFailure):
        asking.append(run.checkpointing)
    if predictor is None:
        return
    for policy in asking:
        if not predictor.says_where:
            instead = "IntervalPredictor" if isinstance(policy, Fars) else ""
            raise OptionError(
                f"{type(policy).__name__} must know which node will fail, and {predictor!r} says only when: use "
                + (instead or f"another predictor, or checkpointing=PredictedWindows({predictor.hours:g})")  # type: ignore[attr-defined]
            )
    if isinstance(run.checkpointing, PredictedWindows) and isinstance(predictor, Buckets):
        own = run.checkpointing.bucket
        if own != predictor:
            raise OptionError(
                f"PredictedWindows has buckets of its own, {own!r}, and predictor={predictor!r} differs: "
                f"give the same, or no predictor"
            )
    if predictor.needs_failures and run.failures is None:
        raise OptionError(
            f"{predictor!r} predicts the failures of the run, and there are none: give failures=, "
            f"or leave the predictor out (Blind() where one is asked)"
        )


def _check_rescheduling(run: RunOptions) -> None:
    policy, machine = run.rescheduling, run.machine
    if not isinstance(policy, Fars):
        return
    stealing, pool = isinstance(policy.strategy, NodeStealing), policy.spares
    if isinstance(machine, Torus) and stealing:
        raise OptionError(
            f"NodeStealing takes single nodes of a job, and on {machine} jobs keep boxes: use "
            f"strategy=ServiceUnitLoss(), or take a Cluster"
        )
    if isinstance(machine, Torus) and isinstance(pool, Static):
        raise OptionError(
            f"{pool!r} keeps single nodes, and on {machine} jobs take boxes: use spares='dynamic', or take a Cluster"
        )
    if isinstance(pool, Static) and pool.k >= machine.nodes:
        raise OptionError(
            f"{pool!r} leaves no node of {machine} to the jobs: at most {machine.nodes - 1:,} can be spare"
        )
    if stealing and (run.checkpointing is None or isinstance(run.checkpointing, NoCheckpoint)):
        raise OptionError(
            "NodeStealing needs checkpoints, or the job that it stops would lose everything: give "
            "checkpointing=Young(cost, mtbf) or another, or use strategy=ServiceUnitLoss()"
        )


def spare_nodes(run: RunOptions) -> int:
    """Nodes that `Static` keeps from the jobs."""
    policy = run.rescheduling
    return policy.spares.k if isinstance(policy, Fars) and isinstance(policy.spares, Static) else 0


def _check_nodes(run: RunOptions) -> None:
    """Failures and predictions are of nodes that the machine has."""
    columns = {} if run.failures is None else {"failures": run.failures.node}
    if run.predictor is not None and "node" in (arrays := run.predictor.arrays()):
        columns["predictions"] = arrays["node"]
    for what, node in columns.items():
        outside = np.flatnonzero(node >= run.machine.nodes)
        if len(outside):
            first = ", ".join(f"row {row} (node {node[row]})" for row in outside[:5].tolist())
            repair = f"; map_nodes({run.machine.nodes}) or drop_outside({run.machine.nodes}) helps"
            raise InputError(
                f"{len(outside):,} of {len(node):,} {what} are of nodes outside {run.machine} (0 to "
                f"{run.machine.nodes - 1:,}): {first}{', ...' if len(outside) > 5 else ''}"
                f"{repair if what == 'failures' else ''}"
            )
