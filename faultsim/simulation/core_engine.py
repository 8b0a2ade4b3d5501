"""The compiled engine, built from plain settings: which compiled parts a run needs, and the columns that they read."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.engine import Engine
from faultsim._core.workflow.engine import WorkflowEngine
from faultsim.errors import BusyError, DecisionError, EngineError
from faultsim.policies.base import REMEMBERED, SeenJobs, hidden_runtime, nothing_returned
from faultsim.policies.curves import nodes_along
from faultsim.policies.orders import QueueOrder
from faultsim.policies.recovery import Recovery
from faultsim.policies.registry import MACHINES, find, from_lowered
from faultsim.policies.rescheduling import Rescheduling
from faultsim.results.ledger import LEDGER_ACCOUNTS

_KINDS = ("placement", "scheduler", "migration", "checkpointing", "rescheduling")
#: What an engine is told besides what a run says.
_FOR_ALL: dict[str, Any] = {
    "accounts": LEDGER_ACCOUNTS,
    "error": EngineError,
    "busy_error": BusyError,
    "decision_error": DecisionError,
    "hidden_runtime": hidden_runtime,
    "nothing_returned": nothing_returned,
    "seen_job": SeenJobs,
    "latest": checks.LATEST,
}
#: What happens to jobs where nobody said: their failures come from `world` alone.
REQUEUE = {"name": "requeue", "place": "arrival", "restart_cost": 0.0}


@cache
def _factory(path: str) -> Any:
    """The compiled factory that a row of the registry names, module:capsule; None for ""."""
    module, _, capsule = path.partition(":")
    return getattr(import_module(f"faultsim._core.{module}"), capsule) if path else None


@cache
def _part(kind: str, name: str, machine: str) -> tuple[Any, str]:
    """The compiled factory of a policy, and what the engine must follow for it."""
    row = find(kind, name)
    path = row.compiled_on(machine) if row else None
    if row is None or path is None:
        raise ValueError(f"unknown {kind} {name!r} for a {machine}")
    return _factory(path), row.follows


@lru_cache(REMEMBERED)
def _parts(machine: str, order: str, recovery: str, *names: str) -> tuple[dict[str, Any], Any, frozenset[str]]:
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


def order_inputs(
    order: dict[str, Any], estimate: NDArray[np.float64], size: NDArray[np.int32], world: Mapping[str, Any]
) -> dict[str, Any]:
    """What the compiled part of a lowered order reads; `world` has the columns of the user's log."""
    if not has_inputs(order["name"]):
        return {}
    inputs: dict[str, Any] = from_lowered("order", order).inputs(estimate, size)
    if "queue_program" in inputs and inputs["queue_program"].further:
        inputs["queue_columns"] = further_numbers(inputs["queue_program"].further, world["columns"], len(size))
    return inputs


def further_numbers(names: Sequence[str], columns: Mapping[str, Any], count: int) -> NDArray[np.float64]:
    """Columns of the user's log as float64, for `count` jobs or more; 0 for those that are to come."""
    numbers = np.zeros((len(names), max(count, *(len(columns[name]) for name in names))))
    for row, name in enumerate(names):
        numbers[row, : len(columns[name])] = columns[name]
    return numbers


def scheduler_parts(
    scheduler: dict[str, Any],
    machine: str,
    estimate: NDArray[np.float64],
    size: NDArray[np.int32],
    world: Mapping[str, Any],
) -> tuple[Any, Any, dict[str, Any]]:
    """The compiled parts of a lowered scheduler and its order, and what the order reads."""
    order = scheduler["order"]
    inputs = order_inputs(order, estimate, size, world)
    return _part("scheduler", scheduler["name"], machine)[0], _part("order", order["name"], machine)[0], inputs


def core_engine(
    settings: dict[str, Any],
    submit: NDArray[np.float64],
    runtime: NDArray[np.float64],
    estimate: NDArray[np.float64],
    size: NDArray[np.int32],
    world: dict[str, Any] | None = None,
) -> Engine:
    """An engine for lowered settings (`Run.lower`) and the columns of `engine_inputs.make_world`."""
    machine = settings["machine"]["name"]
    order, checkpointing = settings["scheduler"]["order"], settings.get("checkpointing")
    recovery = settings.get("recovery") or REQUEUE
    names = [policy["name"] if (policy := settings.get(kind)) else "" for kind in _KINDS]
    factories, named, follows = _parts(machine, order["name"], recovery["name"], *names)
    columns: dict[str, Any] = dict(world or {})
    if "per" in recovery:
        columns["unit"] = settings["machine"].get("hosts", 1)
    if has_inputs(order["name"]):
        columns |= order_inputs(order, estimate, size, columns)
    if "curve" in settings["placement"]:
        columns["curve"] = nodes_along(settings["placement"]["curve"], tuple(settings["machine"]["shape"]))
    if "strategy" in (settings.get("rescheduling") or ()):
        columns["parts"] = {"strategy": _part("strategy", settings["rescheduling"]["strategy"]["name"], machine)[0]}
    if checkpointing and "checkpoint_interval" not in columns and "object" not in checkpointing:
        columns["checkpoint_interval"] = from_lowered("checkpointing", checkpointing).work_between(size)
    matters = "nodes" in follows or "failures" in columns or "alarms" in columns or "live" in columns
    # Ticks and records name nodes of a cluster too.
    settings = {**settings, "recovery": recovery}
    asked = settings["scheduler"].get("at", ())
    if "failure" in asked:
        factories = {**factories, "recovery": _part("recovery", Recovery.name, machine)[0]}
    if "tick" in asked:
        factories = {**factories, "rescheduling": _part("rescheduling", Rescheduling.name, machine)[0]}
        settings["rescheduling"] = {"interval": settings["scheduler"]["tick"]}
    if matters or settings["record"] or "places" in follows or ("rescheduling" in factories and "ticks" in columns):
        factories = {**factories, "machine": named}
    settings["factories"] = factories
    settings["tracked"] = matters or "progress" in follows or "predictions" in columns or "clocks" in columns
    settings |= _FOR_ALL
    return Engine(settings, submit, runtime, estimate, size, columns)


def core_workflow_engine(
    settings: dict[str, Any], tables: dict[str, Any], world: dict[str, Any] | None = None
) -> WorkflowEngine:
    """An engine for the tables of workflows, with the arguments of the reference implementation."""
    factory, _ = _part("workflow_scheduler", settings["scheduler"]["name"], "resources")
    return WorkflowEngine({**settings, "factory": factory}, tables, world)
