"""Policies and options as text on the command line: ``easy``, ``defragment:when=always,cost=10``."""

from dataclasses import fields, replace
from typing import Any, Literal, TypeVar

from faultsim.checks import parsed
from faultsim.cli.parser import hint
from faultsim.errors import OptionError
from faultsim.machines import Machine
from faultsim.policies import Placement, Policy, Scheduler, parse_policy
from faultsim.policies.registry import MACHINES

Chosen = TypeVar("Chosen", bound=Policy)


def _with(policy: Chosen, **given: object) -> Chosen:
    """`policy` with the options that were given separately (None: not given)."""
    values = {key: value for key, value in given.items() if value is not None}
    known: Any = policy  # each is a dataclass, which their common base is not
    allowed = [field.name for field in fields(known)]
    for key in values:
        if key not in allowed:
            raise OptionError(
                f"--{key.replace('_', '-')}: {policy.kind} {policy.name!r} has no such option; "
                f"it has: {', '.join(allowed) or 'none'}"
            )
    if not values:
        return policy
    changed: Chosen = replace(known, **values)
    return changed


def scheduler(
    text: str, *, order: str | None = None, reservation: str | None = None, max_growth: int | None = None
) -> Scheduler:
    """The scheduler that `text` names.

    Examples
    --------
    >>> scheduler("easy", reservation="fixed").reservation
    'fixed'
    """
    chosen = None if order is None else parse_policy("order", order)
    return _with(parse_policy("scheduler", text), order=chosen, reservation=reservation, max_growth=max_growth)


def placement(text: str | None, *, box_order: str | None = None, on: Machine | None = None) -> Placement | None:
    """The placement that `text` names; without it the default of the machine `on` (with `box_order`).

    Examples
    --------
    >>> placement("mfp", box_order="bases")
    MaxFreePartition(box_order='bases')
    """
    if text is None:
        if box_order is None or on is None:
            return None
        text = MACHINES[on.name].placement.name
    return _with(parse_policy("placement", text), box_order=box_order)


def policy(kind: str, text: str | None) -> Any:
    """The policy of a kind that `text` names, None without one, or for ``none`` where that is no policy.

    Examples
    --------
    >>> policy("checkpointing", "periodic:7200,300").interval
    7200.0
    >>> policy("migration", "none"), policy("checkpointing", "none")
    (None, NoCheckpoint())
    """
    if text is None or (text.strip().lower() == "none" and kind in ("migration", "rescheduling")):
        return None
    return parse_policy(kind, text)


def estimates(text: str) -> Literal["requested", "actual"] | float:
    """``requested``, ``actual`` or a factor of the run time.

    Examples
    --------
    >>> estimates("actual"), estimates("2")
    ('actual', 2.0)
    """
    if text in ("requested", "actual"):
        return "actual" if text == "actual" else "requested"
    try:
        return parsed(text, float)
    except ValueError:
        near = hint(text, ("requested", "actual"))
        raise OptionError(
            f"--estimates: got {text!r}; {near + ' ' if near else ''}"
            "known: requested, actual, or a factor of the run time such as 2.0"
        ) from None
