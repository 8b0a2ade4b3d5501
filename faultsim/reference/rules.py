"""The rules of a run: for each policy the part of this engine that its row in the registry names.

A part is a function, or a class whose instances are made of the lowered policy.
"""

from importlib import import_module

from faultsim.data.lowered import Lowered
from faultsim.errors import NotAvailableError, OptionError
from faultsim.policies.registry import KINDS, find, known_policies
from faultsim.policies.settings import Settings
from faultsim.reference.scheduling.migration import NoMigration


def rules_of(settings: Settings) -> dict[str, object]:
    """The rules of lowered settings by kind, also of policies that are parameters of others.

    Raises
    ------
    NotAvailableError
        This engine has no such policy.
    OptionError
        The machine does not support it.
    """
    given = {kind: settings.policy(kind) for kind, row in KINDS.items() if row.option and settings.policy(kind)}
    for policy in list(given.values()):
        given |= {kind: part for kind, part in policy.items() if kind in KINDS and isinstance(part, dict)}
    given.setdefault("checkpointing", {"name": "none"})
    machine = settings.machine["name"]
    rules = {kind: rule(kind, policy, machine) for kind, policy in given.items()}
    return {"migration": NoMigration({}), "recovery": None} | rules


def rule(kind: str, policy: Lowered, machine: str) -> object:
    """The part of one lowered policy; None where there is nothing to do."""
    row = find(kind, policy["name"])
    known = [other for other in known_policies(kind).values() if machine in other.machines]
    if row is None:
        raise NotAvailableError(f"{kind} {policy['name']!r}: known are {', '.join(other.name for other in known)}")
    if machine not in row.machines:
        there = ", ".join(other.name for other in known) or "none"
        raise OptionError(f"{kind} {row.name!r} is for a {' or '.join(row.machines)}: a {machine} has {there}")
    if not row.reference:
        return None
    path = row.reference if isinstance(row.reference, str) else row.reference[machine]
    module, _, name = path.partition(":")
    part = getattr(import_module(f"faultsim.reference.{module}"), name)
    return part(policy) if isinstance(part, type) else part
