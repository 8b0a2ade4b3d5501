"""Which options go together: unsupported combinations are rejected by name before anything runs.

What is supported is in the rows of `faultsim.policies.registry`: the machines of a policy, and what it needs of the
run.  The tables here say when a need is met, and which parameters only a torus supports.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from faultsim.errors import InputError, OptionError
from faultsim.policies import (
    BOX_ORDERS,
    Backfill,
    Buckets,
    CompiledPlacement,
    CompiledScheduler,
    ConservativeBackfill,
    EasyBackfill,
    External,
    Fcfs,
    Hold,
    NoCheckpoint,
    Policy,
    Requeue,
    Slurm,
)
from faultsim.policies.base import REMEMBERED
from faultsim.policies.registry import KINDS, MACHINES, PolicyRow, known_policies, parts_of, row_of
from faultsim.simulation.options import RunOptions


@dataclass(frozen=True)
class Need:
    """What a policy may need of a run: when the run has it, and the message if not.

    The message is formatted with the `policy`, its `name`, what is `usual` by its row, and the `run`.
    """

    is_met: Callable[[Any], bool]
    message: str


#: By the names that rows use.
NEEDS: dict[str, Need] = {
    "predictor": Need(
        lambda run: run.predictor is not None,
        "{name} requires a predictor: give predictor={usual}, or Blind() for none",
    ),
    "where": Need(
        lambda run: run.predictor is None or run.predictor.says_where,
        "{name} must know which node will fail; {run.predictor!r} only says when: use {usual} or another "
        "predictor, or checkpointing=PredictedWindows('{run.predictor.length:g}s')",
    ),
    "failures": Need(
        lambda run: run.failures is not None or not run.predictor.needs_failures,
        "{policy!r} predicts the failures of the run, but there are none: give failures=, or omit the predictor "
        "(Blind() where one is required)",
    ),
    "buckets": Need(
        lambda run: not isinstance(run.predictor, Buckets) or run.predictor == run.checkpointing.bucket,
        "{name} has its own buckets, {policy.bucket!r}, and predictor={run.predictor!r} differs: give the same, or "
        "no predictor",
    ),
    "checkpoints": Need(
        lambda run: not isinstance(run.checkpointing, NoCheckpoint | None),
        "{name} requires checkpoints, or the job that it stops would lose everything: give checkpointing={usual} or "
        "another, or use strategy=ServiceUnitLoss()",
    ),
    "coordinates": Need(
        lambda run: run.machine.shape is not None,
        "{name} requires nodes with coordinates, and {run.machine} has none: use {usual}, or placement=FirstFit()",
    ),
    "switches": Need(
        lambda run: run.machine.exchanges_nodes,
        "{name} exchanges cubes of a slice, and those of {run.machine} are neighbours: use recovery=Requeue(), or "
        "wiring='ocs'",
    ),
    "built in": Need(
        lambda run: (
            not isinstance(run.scheduler, External | CompiledScheduler)
            and not isinstance(run.placement, CompiledPlacement)
            and not run.scheduler.is_written()
            and not run.placement.is_written()
        ),
        "{name} starts jobs on more nodes than they ask for, which decisions from outside do not: use "
        "scheduler={usual} and a built-in placement, or recovery=Requeue()",
    ),
    "planned boxes": Need(
        lambda run: isinstance(run.scheduler, Fcfs | EasyBackfill | Backfill) and run.rescheduling is None,
        "{name} has boxes of listed shapes only, for which {run.scheduler!r} and rescheduling={run.rescheduling!r} do "
        "not plan: use scheduler={usual}, Backfill() or Fcfs(), and no rescheduling",
    ),
    "fixed boxes": Need(
        lambda run: (
            (getattr(run.placement, "unlisted", "") != "segments" and getattr(run.placement, "tori", 1) == 1)
            or (run.migration is None and getattr(run.scheduler, "reservation", "fixed") == "fixed")
        ),
        "{name} with unlisted='segments' or several tori has jobs of several boxes, which reservation='any' does not "
        "plan for and migration={run.migration!r} does not move: use scheduler={usual}, Backfill(depth, "
        "reservation='fixed') or Fcfs(), and no migration",
    ),
    "foresight": Need(
        lambda run: not run.placement.foresees or (run.predictor is not None and run.predictor.says_where),
        "{name}(score={policy.score!r}) must know which nodes may fail: give predictor={usual} or another that says "
        "where, or Blind() for none",
    ),
    "staying": Need(
        lambda run: run.migration is None and run.rescheduling is None,
        "{name} exchanges nodes that fail, and does not go with moves away from others: leave out migration= and "
        "rescheduling=, or use recovery=Requeue()",
    ),
    "recovery": Need(lambda run: run.recovery is not None, "{name} requires a recovery: give recovery={usual}"),
    "room": Need(
        lambda run: run.spare_nodes < run.machine.nodes,
        "{policy!r} leaves no node of {run.machine} for jobs: fewer than {run.machine.nodes:,} can be spare",
    ),
}

#: Parameters of policies that only some machines have, besides a torus: these, the values that others support, and the
#: end of the message.
ON_TORUS: tuple[tuple[str, str, tuple[str, ...], Callable[[Any], bool], str], ...] = (
    ("placement", "box_order", (), BOX_ORDERS[0].__eq__, "which has no boxes: leave it out"),
    ("scheduler", "reservation", ("pod",), "any".__eq__, "which has no boxes: use reservation='any'"),
    ("scheduler", "max_growth", ("pod",), (1).__ge__, "where every size fits exactly: leave it out"),
)

#: The policies among the options of a run.
_policies = attrgetter(*(kind for kind, row in KINDS.items() if row.option))


def check_combination(run: RunOptions, policies: list[tuple[Policy, PolicyRow]]) -> None:
    """Reject incompatible options by name; `policies` are those that are `refusable`."""
    placement, machine = run.placement, run.kind
    assert placement is not None  # __post_init__ put the machine's default
    placement.check_machine(run.machine)
    for policy, row in policies:
        if machine not in row.machines:
            words = {"policy": policy, "name": type(policy).__name__, "run": run, "there": MACHINES[machine]}
            raise OptionError(row.elsewhere.format(**words))
    for kind, name, others, is_supported, hint in () if run.machine.has_boxes else ON_TORUS:
        if machine in others:
            continue
        value = getattr(getattr(run, kind), name, None)
        if value is not None and not is_supported(value):
            raise OptionError(f"{name}={value!r} is not supported on {run.machine}, {hint}, or use a Torus")
    for policy, row in policies:
        for what, usual in row.needs.items():
            if not NEEDS[what].is_met(run):
                words = {"policy": policy, "name": type(policy).__name__, "run": run}
                raise OptionError(NEEDS[what].message.format(usual=usual.format(**words), **words))
    if run.machine.held_back:
        _check_held_back(run)
    _check_nodes(run)
    if isinstance(run.scheduler, External):
        _check_asked(run, run.scheduler)
    if isinstance(run.scheduler, Slurm) and isinstance(run.recovery, Hold):
        raise OptionError(f"Slurm keeps no job on a node that fails, as {run.recovery!r} does: use recovery=Requeue()")


def _check_held_back(run: RunOptions) -> None:
    """Whoever has reservations beside that of the head, or a place of its own for it, does not count cubes."""
    scheduler = run.scheduler
    if getattr(scheduler, "reservation", "any") != "any":
        raise OptionError(
            f"{run.machine} holds cubes back, wherever they are: use reservation='any', not {scheduler!r}"
        )
    if isinstance(scheduler, Backfill | ConservativeBackfill):
        raise OptionError(
            f"{type(scheduler).__name__} does not hold back the spare cubes of {run.machine}: use EasyBackfill() or "
            f"Fcfs(), or a pod without spares"
        )


def _check_asked(run: RunOptions, external: External) -> None:
    """One of the caller and a policy answers."""
    for kind, policy in (
        ("failure", run.recovery if run.recovery is not None and run.recovery.is_written() else None),
        ("checkpoint", run.checkpointing if run.checkpointing is not None and run.checkpointing.is_written() else None),
        ("tick", run.rescheduling),
    ):
        if kind in external.at and policy is not None:
            raise OptionError(
                f"External(at={external.at!r}) and {type(policy).__name__} both answer at a {kind}: give one of them"
            )
    if "checkpoint" in external.at and not getattr(run.checkpointing, "requests", False):
        raise OptionError(
            f"External(at={external.at!r}) must know when to ask for checkpoints and what they cost: give "
            f"checkpointing=BeforeFailure(cost), PredictedWindows(...) or RiskBased(interval, cost), not "
            f"{run.checkpointing!r}"
        )


def refusable(run: RunOptions) -> list[tuple[Policy, PolicyRow]]:
    """The policies of a run that may be incompatible with its machine or its other options, with their rows."""
    given = _policies(run)
    found = []
    for place, row, parts in _doubtful(run.kind, *map(type, given)):
        found.append((given[place], row))
        for name in parts:
            part = getattr(given[place], name)
            if isinstance(part, Policy) and (part_row := row_of(type(part))) is not None:
                found.append((part, part_row))
    return found


@lru_cache(REMEMBERED)
def _doubtful(machine: str, *classes: type[Policy]) -> list[tuple[int, PolicyRow, list[str]]]:
    """Which of these may be rejected, as (place, row, parameters that may); cached, as most runs are short."""

    def fits(row: PolicyRow) -> bool:
        return machine in row.machines and not row.needs

    found = []
    for place, cls in enumerate(classes):
        if issubclass(cls, Policy) and (row := row_of(cls)) is not None:
            parts = [kind for kind in parts_of(cls) if not all(map(fits, known_policies(kind).values()))]
            if parts or not fits(row):
                found.append((place, row, parts))
    return found


def check_slowdowns(run: RunOptions) -> None:
    """Refuse slowdowns of another machine, and of slices that it does not have."""
    outages = () if run.failures is None else run.failures.slowdowns
    for outage in outages:
        if outage.nodes != run.machine.nodes:
            raise InputError(
                f"failures: {outage.domain!r} slows jobs on {outage.nodes} nodes, and {run.machine} has "
                f"{run.machine.nodes}: give domains of this machine to map_domains"
            )
    for effect in dict.fromkeys(outage.effect for outage in outages):
        run.machine.check_slowdown(effect)


def check_parts(run: RunOptions) -> None:
    """Refuse failures of parts of nodes where something would overlook that they are parts."""
    if run.failures is None or run.failures.part is None:
        return
    run.machine.parts_that_fail(run.log, run.failures)
    what = ""
    if run.recovery is not None and not isinstance(run.recovery, Requeue | Hold):
        what, remedy = f"recovery={run.recovery!r}", "use Requeue() or Hold()"
    elif isinstance(run.scheduler, External) and "failure" in run.scheduler.at:
        what, remedy = f"External(at={run.scheduler.at!r})", "leave out 'failure'"
    if what:
        raise OptionError(
            f"{what} is about nodes that fail as a whole, and the trace has failures of parts: {remedy}, or leave the "
            f"parts out, trace[trace.part == '']"
        )


def _check_nodes(run: RunOptions) -> None:
    """Failures and predictions are of nodes that the machine has."""
    if run.failures is not None:
        run.failures.refuse_domains("failures")
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
    if run.failures is not None:
        run.failures.refuse_others(run.machine.nodes, "failures", f"failures=trace.map_nodes({run.machine.nodes})")
