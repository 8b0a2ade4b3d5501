"""Which slices a pod has: the shapes that are allowed, and the default shape of a number of chips.

Shapes are three extents in chips.  A slice is made of whole cubes, or lies inside one.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from faultsim import checks
from faultsim.errors import OptionError

Shape = tuple[int, int, int]
#: Chips, and an extent, that no slice of any pod has.
MOST_CHIPS, MOST_EXTENT = 2**31 - 1, 10**6


class SliceRule(NamedTuple):
    """A rule of the allowed shapes AxBxC."""

    rule: str
    source: str


#: What is allowed.  All of it was read in Google's documentation but the last line, which has no other source than us.
SLICE_RULES = (
    SliceRule(
        "Slices of whole cubes: A <= B <= C, all of them multiples of the extent of a cube, 4.",
        "Cloud TPU, page 'TPU v5p': the table of shapes from 4x4x4 on",
    ),
    SliceRule(
        "Slices inside a cube of 4x4x4 chips and 16 hosts: 2x2x1, 2x2x2, 2x2x4 and 2x4x4.",
        "Google Kubernetes Engine, 'Dynamic slicing': partitions of a sub-block",
    ),
    SliceRule(
        "A cube of another size is halved along its longest extent again and again, down to the chips of one host; "
        "16 hosts with 4x4x4 chips give Google's four shapes.",
        "this package",
    ),
    SliceRule("The largest slice of TPU v5p has 96 cubes, 16x16x24.", "Cloud TPU, page 'TPU v5p'"),
    SliceRule(
        "With static wiring a shape must fit into the pod, its shortest extent along the pod's shortest and so on; who "
        "asks for it may get it turned.",
        "this package",
    ),
)


class Slice(NamedTuple):
    """An allowed slice: its shape in chips, and how many cubes (0: less than one), hosts and chips it has."""

    shape: Shape
    cubes: int
    hosts: int
    chips: int

    def __str__(self) -> str:
        return as_text(self.shape)


def as_text(shape: Sequence[int]) -> str:
    """A shape as it is written.

    Examples
    --------
    >>> as_text((4, 4, 8))
    '4x4x8'
    """
    return "x".join(map(str, shape))


def surface(shape: Sequence[int]) -> int:
    """Half of the surface of a box: of all with the same volume, the most cubic one has the least."""
    a, b, c = shape
    return a * b + b * c + c * a


def inside(edge: int, hosts: int) -> list[Slice]:
    """The slices inside a cube of `edge`**3 chips, largest first.

    Examples
    --------
    >>> [str(each) for each in inside(4, 16)]
    ['2x4x4', '2x2x4', '2x2x2', '2x2x1']
    """
    chips = edge**3 // hosts  # of a host
    shape = [edge] * 3
    found = []
    while hosts % 2 == 0 and shape[-1] % 2 == 0:
        shape[-1] //= 2
        shape.sort()
        hosts //= 2
        # Google writes all shapes in ascending order but that of a single host.
        written = tuple(sorted(shape, reverse=hosts == 1))
        found.append(Slice((written[0], written[1], written[2]), 0, hosts, hosts * chips))
    return found


@lru_cache(maxsize=32)
def allowed_slices(cubes: Shape, edge: int, hosts: int, fits: bool, largest: int) -> tuple[Slice, ...]:
    """All slices of a pod, by chips and, of as many chips, the most cubic first.

    Parameters
    ----------
    cubes : (int, int, int)
        Extents of the pod in cubes.
    edge, hosts : int
        Extent of a cube in chips; hosts of a cube.
    fits : bool
        Whether a slice must fit into `cubes` as a box; otherwise any cubes make a slice.
    largest : int
        Cubes of the largest slice.
    """
    shortest, middle, longest = sorted(cubes) if fits else (largest, largest, largest)
    found = inside(edge, hosts)
    for a in range(1, shortest + 1):
        for b in range(a, min(middle, largest // a) + 1):
            for c in range(b, min(longest, largest // (a * b)) + 1):
                count = a * b * c
                found.append(Slice((a * edge, b * edge, c * edge), count, count * hosts, count * edge**3))
    return tuple(sorted(found, key=lambda each: (each.chips, surface(each.shape), each.shape)))


def default_slice(allowed: Sequence[Slice], chips: int) -> Slice:
    """The most cubic slice with so many chips.

    Raises
    ------
    OptionError
        If none has; says which numbers next to it are allowed.

    Examples
    --------
    >>> str(default_slice(allowed_slices((4, 4, 4), 4, 16, False, 64), 1024))
    '8x8x16'
    """
    for each in allowed:
        if each.chips == chips:
            return each
    below = [each for each in allowed if each.chips < chips][-1:]
    above = [each for each in allowed if each.chips > chips][:1]
    near = " and ".join(f"{each.chips} ({_most_cubic(allowed, each.chips)})" for each in [*below, *above])
    unit = allowed[0].chips
    why = f", which is no multiple of {unit}, the chips of the smallest slice" if chips % unit else ""
    wanted = f"{chips} chip" if chips == 1 else f"{chips} chips"
    raise OptionError(f"no slice has {wanted}{why}; the nearest that are allowed have {near}")


def slice_of_shape(allowed: Sequence[Slice], shape: object) -> Slice:
    """The slice with this shape, three extents in chips or text such as "4x4x8".

    Raises
    ------
    OptionError
        If it is no shape, or one that is not allowed; says which are nearest.

    Examples
    --------
    >>> slice_of_shape(allowed_slices((4, 4, 4), 4, 16, False, 64), "4x4x8").hosts
    32
    """
    extents = as_shape(shape)
    for each in allowed:
        if each.shape == extents:
            return each
    for each in allowed:
        if sorted(each.shape) == sorted(extents):
            raise OptionError(f"the shape {as_text(extents)} of a slice is written {each}")
    chips = extents[0] * extents[1] * extents[2]
    near = _nearest([each for each in allowed if each.chips <= chips], extents)
    near += _nearest([each for each in allowed if each.chips > chips], extents)
    said = " and ".join(f"{each} ({each.chips} chips)" for each in near)
    raise OptionError(f"the shape {as_text(extents)} of a slice is not allowed; the nearest that are: {said}")


def as_shape(shape: object) -> Shape:
    """Three extents, from a sequence or from text.

    Examples
    --------
    >>> as_shape("2x2x1")
    (2, 2, 1)
    """
    parts = shape.lower().split("x") if isinstance(shape, str) else checks.plain(shape)
    if not isinstance(parts, Sequence) or len(parts) != 3:
        raise OptionError(f"the shape of a slice must be three extents, such as '4x4x8', got {checks.shown(shape)}")
    try:
        numbers = [checks.parsed(part, int) if isinstance(part, str) else part for part in parts]
    except ValueError:
        raise OptionError(f"the shape of a slice must be three whole numbers, got {checks.shown(shape)}") from None
    a, b, c = (checks.whole("an extent of the shape of a slice", number, low=1, high=MOST_EXTENT) for number in numbers)
    return a, b, c


def _most_cubic(allowed: Sequence[Slice], chips: int) -> Slice:
    return next(each for each in allowed if each.chips == chips)


def _nearest(allowed: Sequence[Slice], shape: Shape) -> list[Slice]:
    """The slice whose extents differ least from a shape's, then its chips; none of none."""
    wanted, chips = sorted(shape), shape[0] * shape[1] * shape[2]

    def differs(each: Slice) -> tuple[int, int]:
        return sum(abs(a - b) for a, b in zip(sorted(each.shape), wanted, strict=True)), abs(each.chips - chips)

    return [min(allowed, key=differs)] if allowed else []
