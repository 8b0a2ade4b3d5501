"""One check for each kind of option value; each raises `OptionError` that says what was wrong, what was given and what
would be right.

The dataclasses of `faultsim.machines` and `faultsim.policies` call these once, in ``__post_init__``.
"""

import difflib
import importlib
import math
import operator
from collections.abc import Iterable
from typing import Any

from faultsim.errors import MissingExtraError, OptionError


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for the nearest known name, or nothing.

    Examples
    --------
    >>> did_you_mean("shortst", ["shortest", "largest"])
    " (did you mean 'shortest'?)"
    >>> did_you_mean("zebra", ["shortest", "largest"])
    ''
    """
    folded = {k.lower().replace("-", "_"): k for k in known}
    near = difflib.get_close_matches(str(name).lower().replace("-", "_"), folded, n=1)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""


def _bounds(low: float | None, high: float | None, above: float | None) -> str:
    words = []
    if low is not None:
        words.append(f"at least {low if isinstance(low, int) else format(low, 'g')}")
    if above is not None:
        words.append(f"above {above:g}")
    if high is not None:
        words.append(f"at most {high if isinstance(high, int) else format(high, 'g')}")
    return " and ".join(words)


def number(
    what: str,
    value: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    unit: str = "",
    finite: bool = True,
) -> float:
    """A real number in bounds, as a float; NaN never passes."""
    if type(value) is float:
        x = value
    elif isinstance(value, str | bytes | bool) or value is None:
        raise OptionError(f"{what} must be a number{unit and ' in ' + unit}, got {value!r}")
    else:
        try:
            x = float(value)
        except (TypeError, ValueError, OverflowError):
            raise OptionError(f"{what} must be a number{unit and ' in ' + unit}, got {value!r}") from None
    if (
        math.isnan(x)
        or (finite and math.isinf(x))
        or (low is not None and x < low)
        or (high is not None and x > high)
        or (above is not None and not x > above)
    ):
        right = _bounds(low, high, above) or "finite"
        raise OptionError(f"{what} must be {right}{unit and ' ' + unit}, got {value!r}")
    return x


def whole(what: str, value: Any, *, low: int | None = None, high: int | None = None, unit: str = "") -> int:
    """A whole number in bounds, as an int; 4.0 is not one, True is not one."""
    if type(value) is int:
        n = value
    else:
        try:
            if isinstance(value, bool):
                raise TypeError
            n = operator.index(value)
        except TypeError:
            raise OptionError(f"{what} must be a whole number, got {value!r}") from None
    if (low is not None and n < low) or (high is not None and n > high):
        raise OptionError(f"{what} must be {_bounds(low, high, None)}{unit and ' ' + unit}, got {n}")
    return n


def flag(what: str, value: object) -> bool:
    """True or False, nothing else."""
    if value is True or value is False:
        return bool(value)
    raise OptionError(f"{what} must be True or False, got {value!r}")


def choice(what: str, value: object, known: Iterable[str]) -> str:
    """One of the known names, exactly; for an unknown one the error suggests the nearest and lists them all."""
    names = tuple(known)
    if isinstance(value, str) and value in names:
        return value
    listed = ", ".join(repr(k) for k in names)
    if isinstance(value, str):
        raise OptionError(f"unknown {what} {value!r}{did_you_mean(value, names)}; known: {listed}")
    raise OptionError(f"{what} must be one of {listed}, got {value!r}")


def extra(module: str, name: str, what: str) -> Any:
    """The module of an optional dependency, which the extra of this name installs.

    Raises
    ------
    MissingExtraError
        If it is not installed.

    Examples
    --------
    >>> extra("nowhere_to_be_found", "plot", "this")
    Traceback (most recent call last):
    faultsim.errors.MissingExtraError: this needs nowhere_to_be_found: pip install "faultsim[plot]"
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError(f'{what} needs {package}: pip install "faultsim[{name}]"') from None
