"""Three extents, as one value: three numbers, or text such as ``"4x4x8"``."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeVar

from faultsim import checks
from faultsim.errors import OptionError

F = TypeVar("F", bound=Callable[..., None])


def three(
    of: str, value: object, *, low: int | None = 1, high: int | None = None, what: str = ""
) -> tuple[int, int, int]:
    """Three whole numbers, each in bounds, given as a sequence, an array or text.

    Examples
    --------
    >>> three("a torus", "4x4x8"), three("a torus", [2, 2, 1])
    ((4, 4, 8), (2, 2, 1))
    >>> three("a torus", (4, 4))
    Traceback (most recent call last):
    faultsim.errors.OptionError: a torus has three extents, such as (4, 4, 8) or '4x4x8', got (4, 4)
    """
    listed = checks.plain(value)
    if isinstance(listed, str):
        try:
            listed = [checks.parsed(part, int) for part in listed.lower().split("x")]
        except ValueError:
            listed = None
    if not isinstance(listed, Sequence) or len(listed) != 3:
        where = f"{what}: " if what else ""
        raise OptionError(f"{where}{of} has three extents, such as (4, 4, 8) or '4x4x8', got {checks.shown(value)}")
    x, y, z = (checks.whole(f"an extent of {of}", extent, low=low, high=high) for extent in listed)
    return x, y, z


def as_one(init: F) -> F:
    """Decorator of an ``__init__`` whose first argument is three extents: it takes three numbers in their place, too.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Pod(2, 2, 1) == fs.Pod((2, 2, 1))
    True
    """

    @wraps(init)
    def taking(self: object, *args: object, **options: object) -> None:
        if args and isinstance(args[0], int):
            args = (args[:3], *args[3:])
        init(self, *args, **options)

    return taking  # type: ignore[return-value]
