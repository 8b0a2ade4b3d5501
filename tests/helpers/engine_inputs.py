"""Engines that take settings and worlds as plain dictionaries, which tests draw, vary and print more easily."""

from faultsim._core.workflow.engine import WorkflowEngine as _CompiledWorkflows
from faultsim.data.world import ClockRows, FailureRows, PredictionRows, RequestRows, TickRows, World
from faultsim.policies.settings import Settings, WorkflowSettings
from faultsim.reference.engine import simulate as _simulate
from faultsim.reference.workflow.engine import WorkflowEngine as _PlainWorkflows
from faultsim.simulation import core_engine as _core

_TABLES = {
    "failures": FailureRows, "predictions": PredictionRows, "alarms": RequestRows, "ticks": TickRows,
    "clocks": ClockRows,
}  # fmt: skip


def as_world(world: dict | None) -> World | None:
    """The `World` of a dictionary of its tables and columns."""
    if world is None:
        return None
    fields = {
        name: _TABLES[name](**value) if isinstance(value, dict) and name in _TABLES else value
        for name, value in world.items()
    }
    return World(**fields)


def core_engine(config: dict, *columns, world: dict | None = None, **named):
    """The compiled engine."""
    return _core.core_engine(Settings(**config), *columns, world=as_world(world), **named)


def simulate(config: dict, *columns, world: dict | None = None, **named) -> dict:
    """The reference engine, to the end."""
    return _simulate(Settings(**config), *columns, world=as_world(world), **named)


def compiled_workflows(config: dict, tables: dict, world: dict | None = None) -> _CompiledWorkflows:
    """The compiled engine of workflows."""
    return _core.core_workflow_engine(WorkflowSettings(**config), tables, as_world(world))


def plain_workflows(config: dict, tables: dict, world: dict | None = None, **options) -> _PlainWorkflows:
    """The reference engine of workflows."""
    return _PlainWorkflows(WorkflowSettings(**config), tables, as_world(world), **options)
