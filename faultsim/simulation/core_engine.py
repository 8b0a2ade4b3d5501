"""The compiled engine, made from plain settings: which compiled parts a run needs, and the columns that they read."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim._core.engine import Engine
from faultsim.errors import EngineError
from faultsim.policies import from_lowered

__all__ = ["core_engine"]

#: Kind and name of a policy -> module and capsule of its compiled factory, for all machines or by machine.
FACTORIES: dict[tuple[str, str], str | dict[str, str]] = {
    ("machine", "torus"): "torus.machine:TORUS",
    ("machine", "counted"): "cluster.counted:COUNTED",
    ("machine", "named"): "cluster.named:NAMED",
    ("scheduler", "fcfs"): {"cluster": "scheduling.easy_counted:FCFS", "torus": "scheduling.easy_placed:FCFS"},
    ("scheduler", "easy"): {"cluster": "scheduling.easy_counted:EASY", "torus": "scheduling.easy_placed:EASY"},
    ("scheduler", "conservative"): {
        "cluster": "scheduling.conservative_counted:CONSERVATIVE",
        "torus": "scheduling.conservative_placed:CONSERVATIVE",
    },
    ("order", "arrival"): "scheduling.orders:STATIC",
    ("order", "shortest"): "scheduling.orders:STATIC",
    ("order", "largest"): "scheduling.orders:STATIC",
    ("order", "wfp3"): "scheduling.orders:WFP3",
    ("order", "unicef"): "scheduling.orders:UNICEF",
    ("order", "python"): "scheduling.orders:PYTHON",
    ("placement", "first_fit"): {
        "cluster": "placement.cluster_rules:FIRST_FIT",
        "torus": "placement.torus_rules:FIRST_FIT",
    },
    ("placement", "max_free_partition"): {"torus": "placement.torus_rules:MAX_FREE_PARTITION"},
    ("placement", "balancing"): {"torus": "placement.torus_rules:BALANCING"},
    ("placement", "tie_breaking"): {"torus": "placement.torus_rules:TIE_BREAKING"},
    ("placement", "python"): {"torus": "placement.torus_rules:PYTHON"},
    ("placement", "least_failures_first"): {"cluster": "placement.cluster_rules:LEAST_FAILURES_FIRST"},
    ("placement", "safest_first"): {"cluster": "placement.cluster_rules:SAFEST_FIRST"},
    ("migration", "defragment"): {"torus": "migration.defragment:DEFRAGMENT"},
    ("migration", "least_failures"): {"cluster": "migration.least_failures:LEAST_FAILURES"},
    ("recovery", "requeue"): "recovery.requeue:REQUEUE",
    ("recovery", "hold"): "recovery.hold:HOLD",
    ("checkpointing", "periodic"): "checkpointing.planned:PLANNED",
    ("checkpointing", "young"): "checkpointing.planned:PLANNED",
    ("checkpointing", "daly"): "checkpointing.planned:PLANNED",
    ("checkpointing", "before_failure"): "checkpointing.requests:BEFORE_FAILURE",
    ("checkpointing", "predicted_windows"): "checkpointing.requests:PREDICTED_WINDOWS",
    ("checkpointing", "risk_based"): "checkpointing.risk:RISK_BASED",
    ("rescheduling", "fars"): "fars.ticks:FARS",
}
#: Policies to which it matters which nodes of a cluster a job has, and those that follow the progress of jobs.
NAMING = {"least_failures_first", "safest_first", "least_failures", "risk_based"}
TRACKING = NAMING | {"periodic", "young", "daly"}
_KINDS = ("placement", "scheduler", "migration", "checkpointing", "rescheduling")
#: What happens to jobs where nobody said: their failures come from `world` alone.
REQUEUE = {"name": "requeue", "place": "arrival", "restart_cost": 0.0}


@cache
def _factory(kind: str, name: str, machine: str) -> Any:
    """The compiled factory of a policy, or ValueError."""
    found = FACTORIES.get((kind, name), {})
    path = found if isinstance(found, str) else found.get(machine)
    if path is None:
        raise ValueError(f"unknown {kind} {name!r} for a {machine}")
    module, _, capsule = path.partition(":")
    return getattr(import_module(f"faultsim._core.{module}"), capsule)


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
    parts = {kind: settings[kind] for kind in _KINDS if settings.get(kind)}
    parts |= {"order": order, "recovery": settings.get("recovery") or REQUEUE}
    columns: dict[str, Any] = {**(world or {}), "queue_key": None}
    if order["name"] == "shortest":
        columns["queue_key"] = estimate
    elif order["name"] == "largest":
        columns["queue_key"] = -size.astype(np.float64)
    if checkpointing and checkpointing["name"] == "none":
        del parts["checkpointing"]
    elif checkpointing:
        columns["checkpoint_interval"] = from_lowered("checkpointing", checkpointing).work_between(size)
    rows = {table: len(columns[table]["node"]) for table in ("failures", "predictions", "alarms") if columns.get(table)}
    names = {part["name"] for part in parts.values()}
    matters = bool(rows.get("failures") or rows.get("alarms") or names & NAMING)
    factories = {kind: _factory(kind, part["name"], machine) for kind, part in parts.items()}
    # Ticks name nodes of a cluster, too, and so does a record.
    named = matters or settings["record"] or bool("rescheduling" in parts and columns.get("ticks"))
    which = machine if machine != "cluster" else "named" if named else "counted"
    factories["machine"] = _factory("machine", which, machine)
    more = {
        "recovery": parts["recovery"],
        "factories": factories,
        "tracked": bool(matters or rows.get("predictions") or names & TRACKING),
        "error": EngineError,
    }
    return Engine({**settings, **more}, submit, runtime, estimate, size, columns)
