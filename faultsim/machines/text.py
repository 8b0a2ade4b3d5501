"""Machines from text, and from the plain form that provenance keeps."""

from typing import Any

from faultsim import checks
from faultsim.errors import OptionError
from faultsim.machines.cluster import Cluster
from faultsim.machines.torus import Torus

_FORMS = "'cluster:128', 'cluster:4x4x8', 'torus:4x4x8' or 'mesh:4x4x8'"
_PRESETS = {"bluegene-l": Torus.bluegene_l, "bluegene-l-nodes": Torus.bluegene_l_nodes, "tpu-v4": Torus.tpu_v4}


def parse_machine(text: str) -> "Cluster | Torus":
    """A machine from text, as written on the command line.

    Parameters
    ----------
    text : str
        ``"cluster:N"``, ``"cluster:XxYxZ"`` (nodes with coordinates), ``"torus:XxYxZ"``, ``"mesh:XxYxZ"`` or a preset:
        ``"bluegene-l"``, ``"bluegene-l-nodes"``, ``"tpu-v4"``.  ``str(machine)`` returns the first four.

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
    """
    kind, colon, rest = str(text).strip().partition(":")
    kind = kind.lower()
    if not colon and kind.replace("_", "-") in _PRESETS:
        return _PRESETS[kind.replace("_", "-")]()
    if kind not in ("cluster", "torus", "mesh"):
        hint = checks.did_you_mean(kind, ["cluster", "torus", "mesh", *_PRESETS])
        raise OptionError(f"unknown machine {text!r}{hint}; write {_FORMS}, or one of {', '.join(_PRESETS)}")
    parts = rest.lower().split("x")
    try:
        extents = [checks.parsed(p, int) for p in parts]
    except ValueError:
        raise OptionError(f"machine {text!r} needs whole numbers after the colon: {_FORMS}") from None
    if len(extents) != 3 and (kind != "cluster" or len(extents) != 1):
        needed = "one number, or three extents" if kind == "cluster" else "three extents"
        raise OptionError(f"machine {text!r} needs {needed}: {_FORMS}")
    if len(extents) == 1:
        return Cluster(extents[0])
    x, y, z = extents
    return Cluster(x * y * z, shape=(x, y, z)) if kind == "cluster" else Torus(x, y, z, wrap=kind == "torus")


def machine_from_lowered(lowered: dict[str, Any]) -> "Cluster | Torus":
    """The machine whose ``lower()`` gave this dict.

    Examples
    --------
    >>> machine_from_lowered({"name": "cluster", "nodes": 4})
    Cluster(nodes=4)
    """
    kinds: dict[str, type[Cluster] | type[Torus]] = {"cluster": Cluster, "torus": Torus}
    rest = dict(lowered)
    return kinds[checks.choice("machine", rest.pop("name", None), kinds)](**rest)
