"""Machines and policies as words on the command line: ``torus:4x4x8``, ``easy``, ``defragment:when=always,cost=10``."""

import re
from collections.abc import Mapping
from typing import Any

import faultsim as fs
from faultsim.cli.parser import hint
from faultsim.errors import NotAvailableError, OptionError

__all__ = ["estimates", "machine", "migration", "order", "placement", "scheduler"]

# Words -> public class.  None as a class: the policy is designed and comes later.
SCHEDULERS: dict[str, str | None] = {"fcfs": "Fcfs", "easy": "EasyBackfill", "conservative": "ConservativeBackfill"}
PLACEMENTS: dict[str, str | None] = {
    "first-fit": "FirstFit", "mfp": "MaxFreePartition", "max-free-partition": "MaxFreePartition",
    "balancing": None, "tie-breaking": None, "least-failures-first": None, "safest-first": None,
}
MIGRATIONS: dict[str, str | None] = {"none": "", "defragment": "Defragment", "least-failures": None}
ORDERS = ("arrival", "shortest", "largest", "wfp3", "unicef")
PRESETS = ("bluegene_l", "bluegene_l_nodes", "tpu_v4")


def _known(words: Mapping[str, str | None]) -> str:
    return ", ".join(word for word, name in words.items() if name is not None)


def _number(text: str) -> Any:
    """``true`` / ``false``, an integer, a float, else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _parameters(kind: str, text: str, allowed: list[str]) -> dict[str, Any]:
    """``a=1,b=x`` as a dict, its keys checked against `allowed`."""
    found: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise OptionError(f"{kind}: got {part!r} where key=value is expected, for example {allowed[0]}=...")
        if key not in allowed:
            near = hint(key, allowed)
            raise OptionError(f"{kind}: unknown parameter {key!r}; {near + ' ' if near else ''}"
                              f"known: {', '.join(allowed)}")
        found[key] = _number(value.strip())
    return found


def _policy(option: str, text: str, words: Mapping[str, str | None], **given: Any) -> Any:
    """The policy that ``name:key=value,...`` names; `given` are values of options of their own (None: not given)."""
    name, _, rest = text.partition(":")
    word = name.strip().lower().replace("_", "-")
    if word not in words:
        near = hint(word, words)
        raise OptionError(f"--{option}: unknown {option} {name!r}; {near + ' ' if near else ''}known: {_known(words)}")
    attribute = words[word]
    if attribute is None:
        raise NotAvailableError(f"--{option} {word}: not in this version yet; known: {_known(words)}")
    if not attribute:
        return None
    policy = getattr(fs, attribute)
    allowed = list(policy.__dataclass_fields__)
    values = {key: value for key, value in given.items() if value is not None}
    for key in values:
        if key not in allowed:
            raise OptionError(f"--{key.replace('_', '-')}: the {option} {word!r} has no such parameter; "
                              f"it has: {', '.join(allowed)}")
    return policy(**values, **_parameters(f"--{option} {word}", rest, [k for k in allowed if k not in values]))


def machine(text: str) -> Any:
    """`Cluster` or `Torus` of ``cluster:128``, ``torus:4x4x8``, ``mesh:4x4x8`` or a preset.

    Examples
    --------
    >>> machine("torus:4x4x8").nodes
    128
    """
    word = text.strip().lower().replace("-", "_")
    if word in PRESETS:
        return getattr(fs.Torus, word)()
    kind, colon, rest = word.partition(":")
    forms = "cluster:NODES, torus:XxYxZ, mesh:XxYxZ, " + ", ".join(PRESETS)
    if kind not in ("cluster", "torus", "mesh"):
        near = hint(kind, ("cluster", "torus", "mesh", *PRESETS))
        raise OptionError(f"--machine: unknown machine {text!r}; {near + ' ' if near else ''}known: {forms}")
    pattern = r"[-+]?\d+" if kind == "cluster" else r"[-+]?\d+(x[-+]?\d+){2}"
    if not colon or not re.fullmatch(pattern, rest):
        example = "cluster:128" if kind == "cluster" else f"{kind}:4x4x8"
        raise OptionError(f"--machine: got {text!r} where whole numbers are expected as in {example}")
    extents = [int(part) for part in rest.split("x")]
    return fs.Cluster(extents[0]) if kind == "cluster" else fs.Torus(*extents, wrap=kind == "torus")


def order(text: str | None) -> str | None:
    """A queue order's name, checked."""
    if text is None or text in ORDERS:
        return text
    near = hint(text, ORDERS)
    raise OptionError(f"--order: unknown order {text!r}; {near + ' ' if near else ''}known: {', '.join(ORDERS)}")


def scheduler(text: str, *, order: str | None = None, reservation: str | None = None,
              max_growth: int | None = None) -> Any:
    """The scheduler that `text` names."""
    return _policy("scheduler", text, SCHEDULERS, order=order, reservation=reservation, max_growth=max_growth)


def placement(text: str | None, *, box_order: str | None = None, on: Any = None) -> Any:
    """The placement that `text` names; without it the default of the machine `on` (with `box_order`)."""
    if text is None:
        if box_order is None:
            return None
        text = "first-fit" if isinstance(on, fs.Cluster) else "mfp"
    return _policy("placement", text, PLACEMENTS, box_order=box_order)


def migration(text: str | None) -> Any:
    """The migration policy that `text` names, None without one."""
    return None if text is None else _policy("migration", text, MIGRATIONS)


def estimates(text: str) -> str | float:
    """``requested``, ``actual`` or a factor of the run time."""
    if text in ("requested", "actual"):
        return text
    try:
        return float(text)
    except ValueError:
        near = hint(text, ("requested", "actual"))
        raise OptionError(f"--estimates: got {text!r}; {near + ' ' if near else ''}"
                          "known: requested, actual, or a factor of the run time such as 2.0") from None
