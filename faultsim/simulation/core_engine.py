"""The compiled engine, built from plain settings: which compiled parts a run needs, and the columns that they read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from faultsim._core.engine import Engine
from faultsim._core.workflow.engine import WorkflowEngine
from faultsim.arrays import Floats, Integers, Values
from faultsim.data.lowered import Lowered
from faultsim.data.world import World
from faultsim.policies.base import REMEMBERED, SeenJobs, hidden_runtime, no_column, nothing_returned
from faultsim.policies.curves import nodes_along
from faultsim.policies.orders import QueueOrder
from faultsim.policies.recovery import Recovery
from faultsim.policies.registry import MACHINES, find, from_lowered
from faultsim.policies.rescheduling import Rescheduling
from faultsim.policies.settings import Settings, WorkflowSettings
from faultsim.policies.shapes import listed_shapes, rows_of
from faultsim.results.ledger import LEDGER_ACCOUNTS

_KINDS = ("placement", "scheduler", "migration", "checkpointing", "rescheduling")
#: The recovery of engines that are made without one: their failures come from `World` alone.
REQUEUE: Lowered = {"name": "requeue", "place": "arrival", "restart_cost": 0.0}


@dataclass(frozen=True, slots=True)
class Parts:
    """What the compiled engine reads besides a run: its compiled parts, and names from the folders above it.

    Attributes
    ----------
    factories : dict of str to capsule
        The compiled factory of the machine and of each kind of policy that the run has.
    inputs : dict of str to object
        What the factories of policies read, by name: an open set, which policies extend (`QueueOrder.inputs`).
    tracked : bool
        Whether progress, failures and nodes are followed.
    accounts, hidden_runtime, no_column, nothing_returned, seen_job
        The names of the ledger's accounts, two errors, and the class of a job as a `Placement` sees it.
    """

    factories: dict[str, object]
    inputs: dict[str, object]
    tracked: bool
    accounts: tuple[str, ...] = LEDGER_ACCOUNTS
    hidden_runtime: Callable[[], Exception] = hidden_runtime
    no_column: Callable[..., Exception] = no_column
    nothing_returned: Callable[[object, str, object], Exception] = nothing_returned
    seen_job: type[SeenJobs] = SeenJobs


@cache
def _factory(path: str) -> object:
    """The compiled factory that a row of the registry names, module:capsule; None for ""."""
    module, _, capsule = path.partition(":")
    return getattr(import_module(f"faultsim._core.{module}"), capsule) if path else None


@cache
def _part(kind: str, name: str, machine: str) -> tuple[object, str]:
    """The compiled factory of a policy, and what the engine must follow for it."""
    row = find(kind, name)
    path = row.compiled_on(machine) if row else None
    if row is None or path is None:
        raise ValueError(f"unknown {kind} {name!r} for a {machine}")
    return _factory(path), row.follows


@lru_cache(REMEMBERED)
def _parts(machine: str, order: str, recovery: str, *names: str) -> tuple[dict[str, object], object, frozenset[str]]:
    """The compiled factories by kind, of policies by `_KINDS` ("": none), with the allocator that counts; the one that
    names nodes; and what the engine must follow for them.
    """
    given = {kind: name for kind, name in zip(_KINDS, names, strict=True) if name}
    parts = {kind: _part(kind, name, machine) for kind, name in {**given, "order": order, "recovery": recovery}.items()}
    factories = {kind: factory for kind, (factory, _) in parts.items() if factory}
    allocator = MACHINES[machine]
    factories["machine"] = _factory(allocator.counted)
    return factories, _factory(allocator.named), frozenset(follow for _, follow in parts.values())


@cache
def has_inputs(order: str) -> bool:
    """Whether an order's compiled part reads what Python has prepared."""
    row = find("order", order)
    return row is not None and row.cls.inputs is not QueueOrder.inputs  # type: ignore[attr-defined]


def order_inputs(order: Lowered, estimate: Floats, size: Integers, columns: Mapping[str, Values]) -> dict[str, Any]:
    """What the compiled part of a lowered order reads; `columns` are those of the user's log."""
    if not has_inputs(order["name"]):
        return {}
    inputs: dict[str, Any] = from_lowered("order", order).inputs(estimate, size)
    if "queue_program" in inputs and inputs["queue_program"].further:
        inputs["queue_columns"] = further_numbers(inputs["queue_program"].further, columns, len(size))
    return inputs


def further_numbers(names: Sequence[str], columns: Mapping[str, Values], count: int) -> Floats:
    """Columns of the user's log as float64, for `count` jobs or more; 0 for those that are to come."""
    numbers = np.zeros((len(names), max(count, *(len(columns[name]) for name in names))))
    for row, name in enumerate(names):
        numbers[row, : len(columns[name])] = columns[name]
    return numbers


def scheduler_parts(
    scheduler: Lowered, machine: str, estimate: Floats, size: Integers, columns: Mapping[str, Values]
) -> tuple[object, object, dict[str, object]]:
    """The compiled parts of a lowered scheduler and its order, and what the order reads."""
    order = scheduler["order"]
    inputs = order_inputs(order, estimate, size, columns)
    return _part("scheduler", scheduler["name"], machine)[0], _part("order", order["name"], machine)[0], inputs


def core_engine(
    settings: Settings,
    submit: Floats,
    runtime: Floats,
    estimate: Floats,
    size: Integers,
    world: World | None = None,
) -> Engine:
    """An engine for the settings, the columns of the jobs, and the world of a run."""
    world = world or World()
    settings = replace(settings, recovery=settings.recovery or REQUEUE)
    if (policy := settings.checkpointing) and world.checkpoint_interval is None and "object" not in policy:
        rule = from_lowered("checkpointing", policy)
        world = replace(world, checkpoint_interval=rule.work_between(size) if rule.planned else None)
    parts = parts_of_run(settings, estimate, size, world)
    if "tick" in settings.scheduler.get("at", ()):
        settings = replace(settings, rescheduling={"interval": settings.scheduler["tick"]})
    return Engine(settings, submit, runtime, estimate, size, world, parts)


def parts_of_run(settings: Settings, estimate: Floats, size: Integers, world: World) -> Parts:
    """The compiled parts that a run needs, and what they read."""
    machine, order = settings.machine["name"], settings.scheduler["order"]
    assert settings.recovery is not None  # the default is `REQUEUE`
    names = [policy["name"] if (policy := getattr(settings, kind)) else "" for kind in _KINDS]
    factories, named, follows = _parts(machine, order["name"], settings.recovery["name"], *names)
    asked = settings.scheduler.get("at", ())
    if "failure" in asked:
        factories = {**factories, "recovery": _part("recovery", Recovery.name, machine)[0]}
    if "tick" in asked:
        factories = {**factories, "rescheduling": _part("rescheduling", Rescheduling.name, machine)[0]}
    absences = world.absences
    matters = "nodes" in follows or world.failures is not None or world.alarms is not None or world.live
    # Ticks and records name nodes of a cluster too.
    ticking = "rescheduling" in factories and world.ticks is not None
    if matters or settings.record or "places" in follows or ticking or absences is not None:
        factories = {**factories, "machine": named}
    row = find("placement", settings.placement["name"])
    if row is not None and row.places:
        factories = {**factories, "machine": _factory(row.places)}
    tracked = matters or "progress" in follows or world.predictions is not None or world.clocks is not None
    tracked = tracked or (absences is not None and bool(absences.kills.any()))
    if world.eligibility is not None:  # a running job that is withdrawn is killed
        tracked = tracked or len(world.eligibility.withdrawal) > 0
    return Parts(factories, _inputs(settings, estimate, size, world), tracked)


def _inputs(settings: Settings, estimate: Floats, size: Integers, world: World) -> dict[str, object]:
    """What the compiled parts of policies read, by name."""
    inputs: dict[str, object] = order_inputs(settings.scheduler["order"], estimate, size, world.columns)
    if "per" in (settings.recovery or ()):
        inputs["unit"] = settings.machine.get("hosts", 1)
    if "curve" in settings.placement:
        inputs["curve"] = nodes_along(settings.placement["curve"], tuple(settings.machine["shape"]))
    if "shapes" in settings.placement:
        inputs["listed"] = rows_of(listed_shapes(settings))
        inputs["larger"] = settings.placement["larger"]
        inputs["tori"] = settings.placement["tori"]
    if settings.rescheduling and "strategy" in settings.rescheduling:
        strategy = settings.rescheduling["strategy"]["name"]
        inputs["parts"] = {"strategy": _part("strategy", strategy, settings.machine["name"])[0]}
    return inputs


def core_workflow_engine(
    settings: WorkflowSettings, tables: dict[str, object], world: World | None = None
) -> WorkflowEngine:
    """An engine for the tables of workflows, with the arguments of the reference implementation."""
    factory, _ = _part("workflow_scheduler", settings.scheduler["name"], "resources")
    return WorkflowEngine(settings, tables, world, factory)
