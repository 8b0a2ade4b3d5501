"""Which slices are wanted, from shapes, chips and text, and what they are called."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from faultsim import checks
from faultsim.errors import OptionError
from faultsim.machines.pod import Pod
from faultsim.machines.slices import Slice

#: What a caller may write: text, chips, a sequence of them or of extents, or how many of each.
Shapes = str | int | Sequence[Any] | Mapping[Any, int]


class Wanted(NamedTuple):
    """So many slices of one shape."""

    slice: Slice
    number: int

    def __str__(self) -> str:
        return f"{self.number:,} of {self.slice}"


def wanted_slices(pod: Pod, shapes: Shapes | None) -> tuple[list[Wanted], bool]:
    """The slices that are wanted, and whether they are wanted at once: some number of them was given.

    Parameters
    ----------
    pod : Pod
        What must have such slices.
    shapes : str, int, sequence or mapping, optional
        ``"8x8x16"``, ``(8, 8, 16)`` or chips; ``"8x8x16=8,4x4x4=20"``; several in a list; or shape -> how many.  By
        default one cube, two, four and so on, each with the most cubic shape.

    Raises
    ------
    OptionError
        A shape that the pod has not (with the nearest ones), one that is given twice, no shape, or no whole number.

    Examples
    --------
    >>> wanted, at_once = wanted_slices(Pod.tpu_v4(), "8x8x16=2,64")
    >>> [str(each) for each in wanted], at_once
    (['2 of 8x8x16', '1 of 4x4x4'], True)
    """
    if shapes is None:
        sizes = {each.chips for each in pod.slices if each.cubes and each.cubes & (each.cubes - 1) == 0}
        return [Wanted(pod.slice_of(chips=size), 1) for size in sorted(sizes)], False
    pairs, at_once = _pairs(shapes if isinstance(shapes, Slice) else checks.plain(shapes))
    found: dict[Slice, int] = {}
    for shape, count in pairs:
        given = _slice(pod, shape)
        if given in found:
            raise OptionError(f"shapes: {given} is given twice{_one_shape(shapes)}")
        found[given] = checks.whole(f"slices of {given}", count, low=1)
    if not found:
        raise OptionError("shapes: give at least one, such as '4x4x8'")
    return [Wanted(each, count) for each, count in found.items()], at_once


def _pairs(shapes: object) -> tuple[list[tuple[object, object]], bool]:
    """Shape and number of each, and whether any number was given."""
    if isinstance(shapes, Mapping):
        return list(shapes.items()), True
    listed = shapes.split(",") if isinstance(shapes, str) else shapes
    if not isinstance(listed, Sequence) or isinstance(listed, Slice) or _is_shape(listed):
        return [(listed, 1)], False
    pairs: list[tuple[object, object]] = []
    at_once = False
    for each in listed:
        shape, count = each, 1
        if isinstance(each, str):
            shape, equals, text = (part.strip() for part in each.partition("="))
            if equals:
                at_once = True
                try:
                    count = checks.parsed(text, int)
                except ValueError:
                    raise OptionError(f"shapes: {each.strip()!r} needs a whole number after '='") from None
        pairs.append((shape, count))
    return pairs, at_once


def _is_shape(listed: Sequence[object]) -> bool:
    """Whether it is one shape, a tuple of three extents."""
    return isinstance(listed, tuple) and len(listed) == 3 and all(isinstance(each, int) for each in listed)


def _one_shape(shapes: object) -> str:
    """A hint, where three numbers in a list look like the extents of one shape."""
    if not isinstance(shapes, list) or not _is_shape(tuple(shapes)):
        return ""
    return f"; one shape of three extents is {'x'.join(map(str, shapes))!r}"


def _slice(pod: Pod, shape: Any) -> Slice:
    """The slice of a shape, or with a number of chips."""
    if isinstance(shape, str) and "x" not in shape.lower():
        try:
            shape = checks.parsed(shape, int)
        except ValueError:
            raise OptionError(f"shapes: expected a shape such as '4x4x8' or a number of chips, got {shape!r}") from None
    if isinstance(shape, Slice):
        shape = shape.shape
    if isinstance(checks.plain(shape), str | Sequence):
        return pod.slice_of(shape=shape)
    return pod.slice_of(chips=shape)


def together(wanted: Sequence[Wanted]) -> str:
    """All of them in words.

    Examples
    --------
    >>> pod = Pod.tpu_v4()
    >>> together([Wanted(pod.slice_of(chips=1024), 2), Wanted(pod.slice_of(chips=64), 20)])
    '2 of 8x8x16 and 20 of 4x4x4'
    """
    words = [str(each) for each in wanted]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
