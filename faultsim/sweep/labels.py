"""The labels of axis values in tables, files and figures: numbers unchanged, policies as text."""

from collections.abc import Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import numpy as np

from faultsim.data.columns import content_hash
from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload
from faultsim.errors import FaultsimError, OptionError
from faultsim.machines import Machine
from faultsim.machines.resources import Resources
from faultsim.policies import known_policies
from faultsim.policies.base import Policy
from faultsim.policies.contract import Compiled
from faultsim.policies.predictors import Buckets, is_hours
from faultsim.policies.slurm import Slurm

Label = str | int | float | bool | None


def label(value: object) -> Label:
    """The name of an axis value.

    Examples
    --------
    >>> import faultsim as fs
    >>> label(0.7), label(fs.Torus(4, 4, 8)), label(fs.EasyBackfill(reservation="fixed")), label(None)
    (0.7, 'torus:4x4x8', 'easy:reservation=fixed', None)
    >>> label(fs.Resources(32)), label([fs.Workflow([1], name="one"), fs.Workflow([1, 1], name="two")])
    (32, 'one, two')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Machine):
        return str(value)
    if isinstance(value, Policy):
        return word(value)
    if isinstance(value, Workload | FailureTrace | Workflow):
        return value.name or value.digest()[:8]
    if isinstance(value, Resources):
        return value.nodes if value == Resources(value.nodes) else repr(value)
    if isinstance(value, list | tuple) and value and all(isinstance(each, Workflow) for each in value):
        names = ", ".join(str(label(each)) for each in value[:3])
        return names if len(value) <= 3 else f"{names}, ... ({len(value):,})"
    if callable(value):
        return str(getattr(value, "name", "") or getattr(value, "__name__", type(value).__name__))
    return repr(value)


def word(policy: Policy) -> str:
    """A policy as on the command line: its name, and the parameters that differ from the default.

    Examples
    --------
    >>> import faultsim as fs
    >>> word(fs.Periodic(7200, 300)), word(fs.PredictedWindows("4h", fs.LongJobs(600)))
    ('periodic:interval=7200,cost=300', 'predicted_windows:bucket=14400,victims=long:seconds=600')
    """
    if isinstance(policy, Buckets):
        return f"{policy.name}:{_text(policy)}"
    if isinstance(policy, Slurm):
        return policy.title
    if policy.name not in known_policies(policy.kind):
        return policy.title if isinstance(policy, Compiled) else type(policy).__name__
    parts = []
    if is_dataclass(policy):
        plain = _by_default(policy)
        for field in fields(policy):
            value = getattr(policy, field.name)
            if not field.init or isinstance(value, np.ndarray):
                continue
            if plain is None or not _same(value, getattr(plain, field.name)) or _needed(field):
                parts.append(f"{field.name}={_text(value)}")
    arrays = policy.arrays()
    if arrays:
        parts.append(content_hash(arrays)[:8])
    return f"{policy.name}:{','.join(parts)}" if parts else policy.name


def _needed(field: Field[object]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _by_default(policy: Any) -> object:
    """The same policy with only its required parameters; None if there is none."""
    needed = {field.name: getattr(policy, field.name) for field in fields(policy) if field.init and _needed(field)}
    try:
        return type(policy)(**needed)
    except (TypeError, FaultsimError):
        return None


def _same(value: object, default: object) -> bool:
    return type(value) is type(default) and bool(value == default)


def _text(value: object) -> str:
    if isinstance(value, Policy):
        # Buckets("4h") is written as 14400, as it may be given; 10 was 10 hours before.
        if isinstance(value, Buckets):
            return _text(value.length) + "s" * is_hours(value.length)
        return word(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def unique(what: str, labels: Iterable[Label]) -> None:
    """Reject two values of one axis with the same name."""
    seen: set[tuple[type, Label]] = set()
    for name in labels:
        if (type(name), name) in seen:
            raise OptionError(
                f"{what} has two values called {name!r}: leave one out, or name them: {{'one': ..., 'other': ...}}"
            )
        seen.add((type(name), name))
