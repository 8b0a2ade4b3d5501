"""Lists of shapes on a torus, as text and as rows of numbers (model.md#slurm-torus).

A list is shapes joined by ``+``, each ``AxBxC``, with a spacing of its own after ``/`` and a seed after ``@``; or the
name of a list that is made for each torus (`LISTS`).
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from faultsim import checks
from faultsim.errors import OptionError
from faultsim.policies.settings import Settings

__all__ = ["LISTS", "Shape", "shapes_of"]

Three = tuple[int, int, int]
#: Names of lists, and what is in them.
LISTS = {
    "powers-of-two": "one shape per power of two, and one of all nodes",
    "one-per-size": "one shape per size that has a box",
    "every-box": "every box of every size, with all rotations",
}


class Shape(NamedTuple):
    """A shape: extents, and per axis the spacing of its anchors and their seed."""

    extents: Three
    spacing: Three
    seed: Three

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.extents[0] * self.extents[1] * self.extents[2]

    def __str__(self) -> str:
        text = _joined(self.extents)
        text += f"/{_joined(self.spacing)}" if self.spacing != self.extents else ""
        return text + (f"@{_joined(self.seed)}" if any(self.seed) else "")


def list_text(what: str, value: object) -> str:
    """A list of shapes in its text form: from text, or a sequence of text, extents or mappings as in topology.yaml."""
    value = checks.plain(value)
    if isinstance(value, str):
        text = value.strip().lower()
        if text.replace("_", "-") in LISTS:
            return text.replace("_", "-")
        if re.fullmatch(r"[a-z][a-z_-]*", text):
            hint = checks.did_you_mean(text, LISTS)
            raise OptionError(
                f"{what}: unknown list {value!r}{hint}; known: {', '.join(LISTS)}, or shapes as '2x2x4+4x4x4'"
            )
        parts: list[object] = list(re.split(r"[+\s;]+", text))
    elif isinstance(value, Sequence) and value:
        parts = list(value)
        if len(parts) == 3 and all(isinstance(part, int) for part in parts):
            parts = [tuple(parts)]
    else:
        raise OptionError(
            f"{what} must be shapes such as '2x2x4+4x4x4' or [(2, 2, 4)], or one of {', '.join(LISTS)}, got "
            f"{value!r:.60}"
        )
    return "+".join(_one(what, part) for part in parts)


def _one(what: str, part: object) -> str:
    """One shape in its text form."""
    if isinstance(part, str):
        found = re.fullmatch(r"([^/@]+)(?:/([^/@]+))?(?:@([^/@]+))?", part.strip().lower())
        if found is None:
            raise OptionError(f"{what}: a shape is AxBxC, AxBxC/spacing or AxBxC@seed, got {part!r:.60}")
        extents, spacing, seed = found.groups()
    elif isinstance(part, Mapping):
        unknown = set(part) - {"dims", "spacing", "seed"}
        if unknown or "dims" not in part:
            raise OptionError(f"{what}: a shape has dims, spacing and seed, got {sorted(map(str, part))}")
        extents, spacing, seed = (part.get(name) for name in ("dims", "spacing", "seed"))
    elif isinstance(part, Shape):
        extents, spacing, seed = part
    else:
        extents, spacing, seed = part, None, None
    text = _joined(three(f"{what}: a shape", extents, 1))
    spacing_text = _joined(three(f"{what}: a spacing", spacing, 0)) if spacing is not None else ""
    seed_text = _joined(three(f"{what}: a seed", seed, 0)) if seed is not None else ""
    text += f"/{spacing_text}" if spacing_text not in ("", "0x0x0", text) else ""
    return text + (f"@{seed_text}" if seed_text not in ("", "0x0x0") else "")


def three_text(what: str, value: object, low: int) -> str:
    """Three numbers, or one for all axes, as text; "" for None."""
    value = checks.plain(value)
    if value is None or value == "":
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value, value, value)
    return _joined(three(what, value, low))


def three(what: str, value: object, low: int) -> Three:
    """Three whole numbers of at least `low`, from text or a sequence."""
    value = checks.plain(value)
    if isinstance(value, str):
        try:
            value = [checks.parsed(part, int) for part in value.split("x")]
        except ValueError:
            value = None if len(value) > 60 else value
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 3:
        raise OptionError(f"{what} has three numbers, such as (2, 2, 4) or '2x2x4', got {value!r:.60}")
    x, y, z = (checks.whole(f"{what}: a number", number, low=low) for number in value)
    return x, y, z


def _joined(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))


@lru_cache(maxsize=64)
def shapes_of(shapes: str, spacing: str, seed: str, dims: Three) -> tuple[Shape, ...]:
    """The shapes of a list on a torus, by size, equal sizes as listed.

    Raises
    ------
    OptionError
        If a shape, spacing or seed does not fit the torus.

    Examples
    --------
    >>> [str(shape) for shape in shapes_of("2x2x2+1x1x2/1x1x1", "", "", (2, 2, 4))]
    ['1x1x2/1x1x1', '2x2x2']
    >>> [str(shape) for shape in shapes_of("powers-of-two", "", "", (2, 2, 4))]
    ['1x1x1', '1x1x2', '1x2x2', '2x2x2', '2x2x4']
    """
    listed = [_joined(extents) for extents in _named(shapes, dims)] if shapes in LISTS else shapes.split("+")
    found = []
    for text in listed:
        match = re.fullmatch(r"([^/@]+)(?:/([^/@]+))?(?:@([^/@]+))?", text)
        assert match is not None
        extents = three("a shape", match[1], 1)
        given = three("spacing", match[2] or spacing, 0) if match[2] or spacing else (0, 0, 0)
        own_seed = three("seed", match[3] or seed, 0) if match[3] or seed else (0, 0, 0)
        steps = [step or extent for step, extent in zip(given, extents, strict=True)]
        found.append(Shape(extents, (steps[0], steps[1], steps[2]), own_seed))
        for axis, numbers in zip("xyz", zip(extents, steps, own_seed, dims, strict=True), strict=True):
            extent, step, first, whole = numbers
            if extent > whole:
                raise OptionError(
                    f"shape {text} does not fit into {_joined(dims)}: its extent along {axis} is {extent}, of {whole}"
                )
            if step > whole:
                raise OptionError(
                    f"shape {text}: its spacing along {axis} must be 1 to {whole}, the extent of the torus, got {step}"
                )
            if first >= whole:
                raise OptionError(f"shape {text}: its seed along {axis} must be 0 to {whole - 1}, got {first}")
    return tuple(sorted(found, key=lambda shape: shape.size))


def listed_shapes(settings: Settings) -> tuple[Shape, ...]:
    """The shapes of a run with `SlurmTorus`, on each torus."""
    given, machine = settings.placement, settings.machine
    dims = (machine["x"] // given["tori"], machine["y"], machine["z"])
    return shapes_of(given["shapes"], given["spacing"], given["seed"], dims)


def can_overlap(shapes: Sequence[Shape], dims: Three) -> str:
    """The first of these shapes of which two boxes can meet, or a box and one of an earlier shape of its size.

    Sufficient, not necessary: two shapes of one size are taken as such unless they are equal.

    Examples
    --------
    >>> can_overlap(shapes_of("1x1x2+1x2x2/1x1x2", "", "", (2, 2, 4)), (2, 2, 4))
    '1x2x2/1x1x2'
    """
    sizes = [shape.size for shape in shapes]
    for at, shape in enumerate(shapes):
        steps = (gcd(step, whole) for step, whole in zip(shape.spacing, dims, strict=True))
        if any(step < extent for step, extent in zip(steps, shape.extents, strict=True)) or shape.size in sizes[:at]:
            return str(shape)
    return ""


def _surface(box: Sequence[int]) -> int:
    return box[0] * box[1] + box[1] * box[2] + box[2] * box[0]


def _named(name: str, dims: Three) -> list[Three]:
    """The extents of a list of `LISTS`."""
    boxes = [(a, b, c) for a in range(1, dims[0] + 1) for b in range(1, dims[1] + 1) for c in range(1, dims[2] + 1)]
    if name == "every-box":
        return sorted(boxes, key=lambda box: (_surface(box), [-extent for extent in box]))
    if name == "powers-of-two":  # that tile the torus, as far as its extents have the factors
        boxes = [
            box
            for box in boxes
            if box == dims
            or all(whole % extent == 0 and extent & (extent - 1) == 0 for extent, whole in zip(box, dims, strict=True))
        ]
    best: dict[int, Three] = {}
    for box in sorted(boxes, key=lambda box: (_surface(box), box)):
        best.setdefault(box[0] * box[1] * box[2], box)
    return [best[size] for size in sorted(best)]


def rows_of(shapes: Sequence[Shape]) -> list[list[int]]:
    """Nine numbers per shape, as the compiled rule takes them."""
    return [[*shape.extents, *shape.spacing, *shape.seed] for shape in shapes]
