"""How a page writes numbers: three significant digits, in a unit that suits them; a cell keeps the whole number."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
#: Unit -> larger ones, each with its size and the amount from which it is used.
_LARGER = {
    "s": (("d", 86400.0, 172_800.0), ("h", 3600.0, 7200.0), ("min", 60.0, 120.0)),
    "node-s": (("node-d", 86400.0, 864_000.0), ("node-h", 3600.0, 7200.0)),
}


def three_digits(value: float) -> str:
    """A measured number: three significant digits, all of them written, with thousands separators.

    Examples
    --------
    >>> [three_digits(value) for value in (1234567.8, 98.0, 0.123456, 0.0, 1e-7, float("nan"), float("-inf"))]
    ['1,230,000', '98.0', '0.123', '0', '1.00e−07', 'n/a', '−inf']
    """
    if math.isnan(value):
        return "n/a"
    if not value:
        return "0"
    if math.isinf(value):
        return f"{value:g}".replace("-", MINUS)
    if abs(value) < 1e-4:
        return f"{value:.2e}".replace("-", MINUS)
    decimals = 2 - math.floor(math.log10(abs(float(f"{value:.2e}"))))
    return f"{round(value, decimals):,.{max(0, decimals)}f}".replace("-", MINUS)


def suited(unit: str, values: Iterable[float]) -> tuple[str, float]:
    """The unit in which numbers in `unit` are best read, and by what to multiply them.

    Examples
    --------
    >>> suited("s", [30.0, 9000.0]), suited("fraction", [0.5]), suited("jobs", [7])
    (('h', 0.0002777777777777778), ('%', 100.0), ('jobs', 1.0))
    >>> suited("jobs/s", [9.71e-05]), suited("jobs/s", [0.5])
    (('jobs/day', 86400.0), ('jobs/min', 60.0))
    """
    if unit == "fraction":
        return "%", 100.0
    if unit == "jobs/s":
        fastest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        # As many per second, minute, hour or day as make the number at least 1.
        for name, seconds in (("jobs/s", 1.0), ("jobs/min", 60.0), ("jobs/h", 3600.0)):
            if fastest * seconds >= 1.0:
                return name, seconds
        return "jobs/day", 86_400.0
    most = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    for name, size, least in _LARGER.get(unit, ()):
        if most >= least:
            return name, 1.0 / size
    return unit, 1.0


@dataclass(frozen=True)
class Amount:
    """A cell that sorts as `value` and reads as `text`, with `hint` when one points at it.

    Examples
    --------
    >>> from faultsim.report import Amount
    >>> Amount(5400.0, "1.50 h").text
    '1.50 h'
    """

    value: float
    text: str
    hint: str = ""


@dataclass(frozen=True)
class Term:
    """Words with an explanation that is shown when one points at them or reaches them by the keyboard.

    Examples
    --------
    >>> from faultsim.report import Term
    >>> Term("mean wait", "mean(start - submit), in seconds").text
    'mean wait'
    """

    text: str
    hint: str


def exact(value: float, unit: str = "") -> str:
    """A number as it was measured, for those who need all of it.

    Examples
    --------
    >>> exact(5400.25, "s"), exact(3, "jobs"), exact(0.5, "fraction")
    ('5,400.25 s', '3 jobs', '0.5')
    """
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"
    return text if unit in ("", "fraction") else f"{text} {unit}"
