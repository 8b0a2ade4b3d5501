"""Machines from text, and from the plain form that provenance keeps."""

from collections.abc import Callable
from typing import Any

from faultsim import checks
from faultsim.errors import OptionError
from faultsim.machines.cluster import Cluster
from faultsim.machines.kinds import ANY, KINDS
from faultsim.machines.machine import Machine
from faultsim.machines.pod import Pod
from faultsim.machines.site import FORM, parse_site
from faultsim.machines.torus import Torus

_FORMS = "'cluster:128', 'cluster:4x4x8', 'torus:4x4x8', 'mesh:4x4x8' or 'pod:4x4x4'"
_POD = "'pod:4x4x4', 'pod:tpu-v5p' or, with options, 'pod:4x4x4,wiring=static,aligned=false'"
_PODS: dict[str, Callable[..., Pod]] = {"tpu-v4": Pod.tpu_v4, "tpu-v5p": Pod.tpu_v5p, "tpu7x": Pod.tpu7x}
#: Pods whose chips are one plain torus.
_PLAIN_TORI = {"tpu-v5e": "torus:16x16x1", "tpu-v6e": "torus:16x16x1", "v5e": "torus:16x16x1", "v6e": "torus:16x16x1"}
#: Machines by one word; "tpu-v4" is the pod of cubes, as "pod:tpu-v4" is: a torus of its chips is "torus:16x16x16".
_PRESETS: dict[str, Callable[[], Machine]] = {
    "bluegene-l": Torus.bluegene_l,
    "bluegene-l-nodes": Torus.bluegene_l_nodes,
    **_PODS,
}


def parse_machine(text: str) -> Machine:
    """A machine from text, as written on the command line.

    Parameters
    ----------
    text : str
        ``"cluster:N"``, ``"cluster:XxYxZ"`` (nodes with coordinates), ``"torus:XxYxZ"``, ``"mesh:XxYxZ"`` or a preset:
        ``"bluegene-l"``, ``"bluegene-l-nodes"``, ``"tpu-v4"``, ``"tpu-v5p"``, ``"tpu7x"``.  A pod is ``"pod:XxYxZ"``,
        in cubes, or a preset after ``pod:`` or alone, and may have the options of `Pod`:
        ``"pod:4x4x4,wiring=static,aligned=false"``, ``"tpu-v4,spares=2"``.  A site is
        ``"site:CLASS,CLASS/PARTITION/PARTITION"``: ``"site:cpu=180x32c187G,gpu=8x40c187Gx2v100@50+ib"`` has 180 nodes
        of 32 cores and 187 GiB, and 8 nodes with two GPUs, the weight 50 and the feature ib; a partition is
        ``general=cpu+gpu,max_time=3d,default``.  ``str(machine)`` returns such a text, but no preset.

    Raises
    ------
    OptionError
        If the text has none of these forms or an extent is not a whole number of at least 1.

    Examples
    --------
    >>> parse_machine("torus:4x4x8")
    Torus(x=4, y=4, z=8, wrap=True)
    >>> parse_machine("cluster:128")
    Cluster(nodes=128)
    >>> parse_machine("cluster:4x4x8")
    Cluster(128, shape=(4, 4, 8))
    >>> parse_machine("pod:tpu-v4,wiring=static").chips
    4096
    """
    kind, colon, rest = str(text).strip().partition(":")
    kind = kind.lower()
    preset = kind.replace("_", "-")
    if not colon and preset in _PRESETS:
        return _PRESETS[preset]()
    if not colon and preset.partition(",")[0].strip() in _PODS:
        return _pod(str(text), kind)
    if kind == "pod":
        return _pod(str(text), rest.lower())
    if kind == "site":
        return parse_site(str(text), rest)
    if kind not in ("cluster", "torus", "mesh"):
        hint = checks.did_you_mean(kind, ["cluster", "torus", "mesh", "pod", "site", *_PRESETS])
        if not colon and preset in _PLAIN_TORI:
            hint = f": a {preset} has no cubes; it is a {_PLAIN_TORI[preset]!r} of chips"
        elif not colon and "," not in kind and kind.replace("x", "").isdigit():
            hint = f" (did you mean 'cluster:{kind}'?)"
        raise OptionError(f"unknown machine {text!r}{hint}; write {_FORMS}, {FORM}, or one of {', '.join(_PRESETS)}")
    parts = rest.lower().split("x")
    try:
        extents = [checks.parsed(p, int) for p in parts]
    except ValueError:
        raise OptionError(f"machine {text!r} needs whole numbers after the colon, as in {_FORMS}") from None
    if len(extents) != 3 and (kind != "cluster" or len(extents) != 1):
        needed = "one number, or three extents" if kind == "cluster" else "three extents"
        raise OptionError(f"machine {text!r} needs {needed}, as in {_FORMS}")
    if len(extents) == 1:
        return Cluster(extents[0])
    x, y, z = extents
    return Cluster(x * y * z, shape=(x, y, z)) if kind == "cluster" else Torus(x, y, z, wrap=kind == "torus")


def _pod(text: str, rest: str) -> Pod:
    """A pod from what follows the colon."""
    first, *options = [part.strip() for part in rest.split(",")]
    given: dict[str, Any] = {}
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        known = ("cube", "hosts", "wiring", "aligned", "largest", "spares")
        if not equals or key not in known:
            hint = checks.did_you_mean(key, known)
            raise OptionError(f"machine {text!r}: {option!r} is no option of a pod{hint}; it has {', '.join(known)}")
        if key in given:
            raise OptionError(f"machine {text!r}: {key} is given twice")
        given[key] = _value(text, key, value)
    if (preset := first.replace("_", "-")) in _PODS:
        if beyond := given.keys() - {"wiring", "aligned", "spares"}:
            raise OptionError(f"machine {text!r}: {preset} has its own {', '.join(sorted(beyond))}; write {_POD}")
        return _PODS[preset](**given)
    if "x" not in first or first[:1].isalpha():
        if preset in _PLAIN_TORI:
            raise OptionError(f"machine {text!r}: a {preset} has no cubes: it is a {_PLAIN_TORI[preset]} of chips")
        hint = checks.did_you_mean(first, _PODS)
        raise OptionError(f"unknown pod {text!r}{hint}; write {_POD}; presets: {', '.join(_PODS)}")
    return Pod(_extents(text, first), **given)


def _value(text: str, key: str, value: str) -> object:
    """The value of an option of a pod."""
    if key == "cube":
        return _extents(text, value)
    if key == "aligned":
        if value not in ("true", "false"):
            raise OptionError(f"machine {text!r}: aligned must be true or false, got {value!r}")
        return value == "true"
    if key in ("hosts", "largest", "spares"):
        try:
            return checks.parsed(value, int)
        except ValueError:
            raise OptionError(f"machine {text!r}: {key} must be a whole number, got {value!r}") from None
    return value


def _extents(text: str, given: str) -> tuple[int, int, int]:
    """Three extents of a pod or of a cube."""
    try:
        x, y, z = (checks.parsed(part, int) for part in given.split("x"))
    except ValueError:
        raise OptionError(f"machine {text!r}: {given!r} must be three whole numbers: write {_POD}") from None
    return x, y, z


def as_machine(value: object) -> Machine:
    """A machine, or one from text, as `parse_machine` reads it.

    Raises
    ------
    OptionError
        If it is neither.

    Examples
    --------
    >>> as_machine("cluster:128")
    Cluster(nodes=128)
    >>> as_machine(128)
    Traceback (most recent call last):
    faultsim.errors.OptionError: the machine must be a Cluster, a Torus, a Pod or a Site, or text such as \
'cluster:128', got 128 (did you mean 'cluster:128'?)
    """
    if isinstance(value, Machine):
        return value
    if isinstance(value, str):
        return parse_machine(value)
    hint = f" (did you mean 'cluster:{value}'?)" if type(value) is int else ""
    if isinstance(value, type) and issubclass(value, Machine):
        hint = f" (a class: did you mean {value.__name__}(...)?)"
    if hasattr(value, "tori"):
        hint = (
            " (a topology has tori, and simulations equal ones without empty cells: give Torus(*topology.joined), and "
            "placement=SlurmTorus(topology.tori[0].listed, tori=len(topology.tori)))"
        )
    raise OptionError(f"the machine must be {ANY}, or text such as 'cluster:128', got {checks.shown(value)}{hint}")


def machine_from_lowered(lowered: dict[str, object]) -> Machine:
    """The machine whose ``lower()`` gave this dict.

    Examples
    --------
    >>> machine_from_lowered({"name": "cluster", "nodes": 4})
    Cluster(nodes=4)
    """
    rest = dict(lowered)
    return KINDS[checks.choice("machine", rest.pop("name", None), KINDS)](**rest)
