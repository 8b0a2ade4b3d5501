"""Answers of Slurm's compiled topology/torus3d: the cases of shared/data/torus3d, read for a rule of this package."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from faultsim.reference.torus import listed_shapes as rule

#: What Slurm calls the outcomes.
OUTCOMES = {
    "OK": rule.PLACED,
    "NO_FIT": rule.NO_BOX,
    "SEGMENT_NO_FIT": rule.NO_SEGMENTS,
    "NO_SHAPE": rule.NO_SHAPE,
    "REQUIRED_OUTSIDE": rule.OUTSIDE,
    "TOO_MANY_REQUIRED": rule.TOO_MANY,
    "FAILED": rule.TOO_FEW,
}
#: Kinds of cases outside the rule: no available node is in a torus with shapes.
LEFT_OUT = ("elsewhere",)


def cases_in(folder: Path) -> list[dict[str, Any]]:
    """All cases; skips where the folder has none."""
    path = folder / "torus3d" / "cases.jsonl.xz"
    if not path.is_file():
        pytest.skip(f"no cases of torus3d: {folder} has no torus3d/cases.jsonl.xz")
    with lzma.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def grid_of(placement: dict[str, Any]) -> rule.Grid:
    """A shape of a case."""
    return rule.Grid(*(tuple(placement.get(name) or (0, 0, 0)) for name in ("dims", "spacing", "seed")))


def reference_of(case: dict[str, Any]) -> rule.ListedShapes:
    """The plain rule for the tori of a case."""
    tori = [
        rule.ListedTorus(tuple(torus["dims"]), torus["cells"], [grid_of(each) for each in torus["placements"]])
        for torus in case["tori"]
    ]
    return rule.ListedShapes(tori, case.get("weights"))


def mask_of(nodes: Any) -> int:
    """A set of nodes."""
    return sum(1 << node for node in nodes)


def available_in(case: dict[str, Any]) -> list[int]:
    """The nodes that are available, ascending."""
    return [node for node, sign in enumerate(case["free"]) if sign == "1"]
