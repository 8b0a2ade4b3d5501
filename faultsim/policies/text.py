"""Policies as text, as on the command line and in sweep files: ``easy``, ``young:cost=30,mtbf=4838400``."""

import re
from dataclasses import MISSING, fields
from typing import Any, Literal, overload

from faultsim import checks, renames
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.policies.base import Policy
from faultsim.policies.checkpointing import Checkpointing
from faultsim.policies.key import ORDER_COLUMNS, Key, named_key
from faultsim.policies.migration import Migration
from faultsim.policies.orders import QueueOrder
from faultsim.policies.parameters import COLUMNS, unit_of
from faultsim.policies.placement import Placement
from faultsim.policies.predictors import Predictor, is_hours
from faultsim.policies.queueing import Scheduler
from faultsim.policies.recovery import Recovery
from faultsim.policies.registry import KINDS, POLICIES, PolicyRow, known_policies
from faultsim.policies.rescheduling import Rescheduling
from faultsim.policies.workflows import WorkflowScheduler

__all__ = ["parse_policy"]


@overload
def parse_policy(kind: Literal["scheduler"], text: str) -> Scheduler: ...
@overload
def parse_policy(kind: Literal["order"], text: str) -> QueueOrder: ...
@overload
def parse_policy(kind: Literal["placement"], text: str) -> Placement: ...
@overload
def parse_policy(kind: Literal["migration"], text: str) -> Migration: ...
@overload
def parse_policy(kind: Literal["recovery"], text: str) -> Recovery: ...
@overload
def parse_policy(kind: Literal["predictor"], text: str) -> Predictor: ...
@overload
def parse_policy(kind: Literal["checkpointing"], text: str) -> Checkpointing: ...
@overload
def parse_policy(kind: Literal["rescheduling"], text: str) -> Rescheduling: ...
@overload
def parse_policy(kind: Literal["workflow_scheduler"], text: str) -> WorkflowScheduler: ...
@overload
def parse_policy(kind: str, text: str) -> Any: ...
@entry
def parse_policy(kind: str, text: str) -> Any:
    """A policy from text, as on the command line: ``name`` or ``name:option=value,option=value``.

    Dashes and underscores are the same; short names such as ``mfp`` are in `POLICIES`.  Values without a name are the
    first parameters: ``periodic:7200,300``. Durations are seconds, or have a unit (``s``, ``m``, ``h``, ``d``, ``w``):
    ``periodic:2h,5m``. Values can be policies: ``fars:300,sul,static:16``. A queue order can be an expression (`Key`),
    in quotes where it stands within other options: ``easy:order='log10(estimate) * size'``.

    Raises
    ------
    OptionError
        For an unknown name or option, with the known ones, or one that is missing.

    Examples
    --------
    >>> from faultsim import parse_policy
    >>> parse_policy("placement", "mfp")
    MaxFreePartition(box_order='extents-descending')
    >>> parse_policy("scheduler", "easy:order=shortest,reservation=fixed").reservation
    'fixed'
    >>> parse_policy("scheduler", "easy:order='max(estimate, 60) * size',reservation=fixed").order
    Key(text='max(estimate, 60) * size')
    >>> parse_policy("checkpointing", "predicted_windows:bucket=4h,victims=long:seconds=10m").victims
    LongJobs(seconds=600.0)
    """
    if kind not in KINDS:
        raise OptionError(
            f"unknown kind of policy {kind!r}{checks.did_you_mean(kind, KINDS)}; kinds: {', '.join(KINDS)}"
        )
    if len(str(text)) > _LONGEST:
        raise OptionError(f"a policy as text has at most {_LONGEST:,} characters, got {len(str(text)):,}")
    if kind == "order" and (order := _expression(str(text).strip())):
        return order
    name, _, options = str(text).partition(":")
    row = _rows(name).get(kind)
    if row is None:
        raise OptionError(_unknown(kind, name))
    return _made(row, _options(row, options))


def _expression(text: str) -> Key | None:
    """An order that is an expression, in quotes or without, or a preset of `Key`; None for the name of another one."""
    if text[:1] in _QUOTES:
        return Key(_value(text))
    if _rows(text.partition(":")[0]).get("order"):
        return None
    if key := named_key(text):
        return key
    return None if re.fullmatch(r"[\w\s]*(:.*)?", text) else Key(text)


def _rows(name: str) -> dict[str, PolicyRow]:
    """The rows that a name, an alias or the name of a class means, by kind."""
    return _NAMED.get(_fold(name), {})


def _unknown(kind: str, name: str) -> str:
    """What is wrong with a name: the nearest one, the known ones, and where it belongs if elsewhere."""
    rows = known_policies(kind).values()
    words = [*(["dynamic"] if kind == "spares" else []), *(row.name for row in rows)]
    words = list(dict.fromkeys([*words, *([*Key.presets, *ORDER_COLUMNS] if kind == "order" else [])]))
    near = checks.did_you_mean(name, [*words, *(alias for row in rows for alias in row.aliases)])
    others = list(_rows(name))
    where = f" (it is {checks.a(others[0].replace('_', ' '))})" if others else near
    if others and kind == "scheduler" and others[0] == "order":
        where = " (it is an order, which is an option of a scheduler)"
    return f"unknown {kind.replace('_', ' ')} {name!r}{where}; known: {', '.join(words)}"


def _options(row: PolicyRow, text: str) -> dict[str, object]:
    """``option=value,option=value``, or positional values that are numbers or policies."""
    # Those that only have a name come last.
    parameters = [field for field in fields(row.cls) if field.name not in COLUMNS]  # type: ignore[arg-type]
    by_place = [field.name for field in parameters if not field.kw_only]
    legal = by_place + [field.name for field in parameters if field.kw_only]
    taken: dict[str, object] = {}
    for place, item in enumerate(filter(None, (part.strip() for part in _split(text)))):
        key, equals, given = item.partition("=")
        if ":" in key:  # an option of a positional policy: long:seconds=600
            equals = ""
        if item[0] in _QUOTES:
            equals = ""
        key, value = key.strip().replace("-", "_"), _value(given.strip())
        if equals and (old := renames.renamed("parameter", row.cls.__name__).get(key)) is not None:
            renames.warn(f"{key}= of {row.kind} {row.name!r}", f"{old.new}=")
            key = old.new
        here = by_place[place] if not equals and place < len(by_place) else ""
        if here in _POLICIES or (here and _can_stand_alone(row, here, item)):
            key, value = here, item if here in _POLICIES else _value(item)
        elif not equals or key not in legal:
            hint = checks.did_you_mean(key, legal)
            raise OptionError(
                f"unknown option {item!r} of {row.kind} {row.name!r}{hint}; known: "
                f"{', '.join(legal) or 'none'} (write {row.name}:option=value)"
            )
        if key in taken:
            raise OptionError(f"option {key!r} of {row.kind} {row.name!r} is given twice")
        if key == "order" and not re.fullmatch(r"[\w-]+", given.strip()):
            if not given.strip():
                known = ", ".join(legal) or "none"
                raise OptionError(
                    f"{item!r} is no option of {row.kind} {row.name!r}; known: {known} (write {row.name}:option=value)"
                )
            value = parse_policy("order", given.strip())
        is_policy = key in _POLICIES and isinstance(value, str) and value != "dynamic"
        taken[key] = parse_policy(key, value) if is_policy else value
    return taken


def _can_stand_alone(row: PolicyRow, name: str, item: str) -> bool:
    """Whether a value needs no name: a number, a duration where one is wanted, or what is in quotes."""
    is_number = item[0] in _QUOTES or type(_value(item)) in (int, float)
    return is_number or (unit_of(row.cls, name) in ("s", "") and checks.seconds(item) is not None)


def _made(row: PolicyRow, taken: dict[str, object]) -> Policy:
    """The policy with these parameters; `OptionError` says which are missing."""
    missing = [
        field.name
        for field in fields(row.cls)  # type: ignore[arg-type]
        if field.init and field.default is MISSING and field.default_factory is MISSING and field.name not in taken
    ]
    for name in {"length", "bucket"} & taken.keys():
        if is_hours(given := taken[name]):
            what = f"{name}={given} of {row.kind} {row.name!r}"
            raise OptionError(f"{what} was in hours before: write {name}={given}h, or {name}={given}s")
    if not missing:
        return row.cls(**taken)
    if set(missing) & set(COLUMNS):
        raise OptionError(f"{row.kind} {row.name!r} needs columns: create a {row.cls.__name__} in Python")
    raise OptionError(f"{row.kind} {row.name!r} needs {' and '.join(missing)}, for instance {row.example}")


def _named() -> dict[str, dict[str, PolicyRow]]:
    found: dict[str, dict[str, PolicyRow]] = {}
    for row in POLICIES:
        for name in (row.name, *row.aliases, row.cls.__name__):
            found.setdefault(_fold(name), {})[row.kind] = row
    return found


#: Characters of a policy as text; the longest that are meant have some hundreds.
_LONGEST = 100_000
_QUOTES = ("'", '"')
#: Parameters that are policies, and so kinds; a scheduler takes the name of an order as it is.
_POLICIES = {kind for kind, row in KINDS.items() if not row.option and kind != "order"}


def _split(text: str) -> list[str]:
    """The parts between commas that are in no quotes and in no parentheses."""
    parts, begin, quote, depth = [], 0, "", 0  # the part that is read begins at `begin`
    for at, sign in enumerate(text):
        if sign == "," and not quote and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
        elif sign in _QUOTES and quote in ("", sign):
            quote = "" if quote else sign
        elif not quote:
            depth = max(0, depth + (sign == "(") - (sign == ")"))
    return [*parts, text[begin:]]


def _fold(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "")


#: Folded name, alias or name of a class -> kind -> row: a run whose policies are words asks for each of them.
_NAMED = _named()


def _value(text: str) -> Any:
    """An option's value: true, false, a whole number, a number, or the text itself, without its quotes."""
    if len(text) > 1 and text[0] in _QUOTES and text[-1] == text[0]:
        return text[1:-1]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return checks.parsed(text, convert)
        except ValueError:
            pass
    return text
