"""Policies: frozen dataclasses that say how a run decides; each lowers to a plain dict that the engine takes.

`POLICIES` lists them all.  A new policy is a class in one of these modules and a row here.
"""

from dataclasses import dataclass, fields
from typing import Any

from faultsim import checks, planned
from faultsim.errors import OptionError
from faultsim.policies.base import Policy
from faultsim.policies.checkpointing import Checkpointing, NoCheckpoint
from faultsim.policies.migration import Defragment, Migration
from faultsim.policies.placement import BOX_ORDERS, FirstFit, MaxFreePartition, Placement
from faultsim.policies.predictors import Blind, Predictor
from faultsim.policies.queueing import (
    ORDERS,
    ArrivalOrder,
    ConservativeBackfill,
    EasyBackfill,
    Fcfs,
    LargestFirst,
    QueueOrder,
    Scheduler,
    ShortestFirst,
    Unicef,
    WaitingJobs,
    Wfp3,
)

__all__ = [
    "BOX_ORDERS",
    "ORDERS",
    "POLICIES",
    "ArrivalOrder",
    "Blind",
    "Checkpointing",
    "ConservativeBackfill",
    "Defragment",
    "EasyBackfill",
    "Fcfs",
    "FirstFit",
    "LargestFirst",
    "MaxFreePartition",
    "Migration",
    "NoCheckpoint",
    "Placement",
    "Policy",
    "PolicyRow",
    "Predictor",
    "QueueOrder",
    "Scheduler",
    "ShortestFirst",
    "Unicef",
    "WaitingJobs",
    "Wfp3",
    "from_lowered",
    "known_policies",
    "parse_policy",
]


@dataclass(frozen=True)
class PolicyRow:
    """One policy: what it decides, its names, its class, the machines it has a meaning on, and its source."""

    kind: str
    name: str
    cls: type[Policy]
    machines: tuple[str, ...]
    source: str
    aliases: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """First line of the class's documentation."""
        return (self.cls.__doc__ or "").strip().splitlines()[0]


_BOTH = ("cluster", "torus")
_KREVAT = "Krevat et al., JSSPP 2002"
_MUALEM = "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001"
_TANG = "Tang et al., CLUSTER 2009"

#: Every policy of this version.  Documentation, the command line and tests walk this table.
POLICIES: tuple[PolicyRow, ...] = (
    PolicyRow("scheduler", "fcfs", Fcfs, _BOTH, f"{_KREVAT}, section 2"),
    PolicyRow("scheduler", "easy", EasyBackfill, _BOTH, f"{_MUALEM}; {_KREVAT}, section 2", ("easy_backfill",)),
    PolicyRow("scheduler", "conservative", ConservativeBackfill, _BOTH, _MUALEM, ("conservative_backfill",)),
    PolicyRow("order", "arrival", ArrivalOrder, _BOTH, "first come first served"),
    PolicyRow("order", "shortest", ShortestFirst, _BOTH, "shortest job first", ("sjf",)),
    PolicyRow("order", "largest", LargestFirst, _BOTH, "largest job first", ("ljf",)),
    PolicyRow("order", "wfp3", Wfp3, _BOTH, _TANG),
    PolicyRow("order", "unicef", Unicef, _BOTH, _TANG),
    PolicyRow("placement", "first_fit", FirstFit, _BOTH, "MODEL section 7", ("ff",)),
    PolicyRow("placement", "max_free_partition", MaxFreePartition, ("torus",), f"{_KREVAT}, section 2", ("mfp",)),
    PolicyRow("migration", "defragment", Defragment, ("torus",), f"{_KREVAT}, section 2"),
    PolicyRow("predictor", "blind", Blind, _BOTH, "MODEL section 10"),
    PolicyRow("checkpointing", "none", NoCheckpoint, _BOTH, "MODEL section 11"),
)


def known_policies(kind: str) -> dict[str, PolicyRow]:
    """Rows of one kind by name.

    Examples
    --------
    >>> list(known_policies("placement"))
    ['first_fit', 'max_free_partition']
    """
    return {row.name: row for row in POLICIES if row.kind == kind}


def from_lowered(kind: str, lowered: dict[str, Any] | None) -> Any:
    """The policy whose ``lower()`` gave this dict.

    Parameters
    ----------
    kind : str
        Kind of policy, as in `POLICIES`.
    lowered : dict or None
        The lowered form; None stays None.

    Raises
    ------
    OptionError
        If the dict names no policy of this version, or one written in Python that did not travel with it.

    Examples
    --------
    >>> from_lowered("migration", Defragment(cost=3).lower()) == Defragment(cost=3)
    True
    """
    if lowered is None:
        return None
    rest = dict(lowered)
    name = rest.pop("name", None)
    if name == "python":
        if isinstance(rest.get("object"), Policy):
            return rest["object"]
        raise OptionError(
            f"this run used a {kind} written in Python ({rest.get('class', 'unknown')}), "
            f"which does not travel; pass it again"
        )
    rows = known_policies(kind)
    cls = rows[checks.choice(kind, name, rows)].cls
    if "order" in rest:
        rest["order"] = from_lowered("order", rest["order"])
    try:
        return cls(**rest)
    except TypeError as error:
        raise OptionError(f"{kind} {name!r} cannot be made from {rest}: {error}") from None


def parse_policy(kind: str, text: str) -> Any:
    """A policy from text, as the command line takes it: ``name`` or ``name:option=value,option=value``.

    Dashes and underscores are the same; short names such as ``mfp`` are in `POLICIES`.

    Raises
    ------
    OptionError
        For an unknown name or option, with the known ones.
    NotAvailableError
        For a policy of the design that this version does not have.

    Examples
    --------
    >>> parse_policy("placement", "mfp")
    MaxFreePartition(box_order='extents-descending')
    >>> parse_policy("scheduler", "easy:order=shortest,reservation=fixed").reservation
    'fixed'
    """
    name, _, options = str(text).partition(":")
    rows: dict[str, PolicyRow] = {}
    for row in POLICIES:
        if row.kind == kind:
            for key in (row.name, *row.aliases, row.cls.__name__):
                rows[_fold(key)] = row
    row = rows.get(_fold(name))  # type: ignore[assignment]
    if row is None:
        planned.refuse_policy(name)
        known = known_policies(kind)
        raise OptionError(f"unknown {kind} {name!r}{checks.did_you_mean(name, known)}; known: {', '.join(known)}")
    taken: dict[str, Any] = {}
    legal = {field.name: field for field in fields(row.cls)}  # type: ignore[arg-type]
    for item in filter(None, (part.strip() for part in options.split(","))):
        key, equals, value = item.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or key not in legal:
            hint = checks.did_you_mean(key, legal)
            raise OptionError(
                f"unknown option {item!r} of {kind} {row.name!r}{hint}; known: "
                f"{', '.join(legal) or 'none'} (write {row.name}:option=value)"
            )
        taken[key] = _value(value.strip())
    return row.cls(**taken)


def _fold(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "")


def _value(text: str) -> Any:
    """An option's value: true, false, a whole number, a number, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    return text
