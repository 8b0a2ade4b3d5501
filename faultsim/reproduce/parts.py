"""When one part of a claim's rule is true, where the runs have an interval.

What is measured over random inputs has a 95 % confidence interval.  A part is true where the whole interval is on the
side of the bound that the rule names, false where it is on the other side, and open (None) where it contains the bound:
a difference whose interval contains 0 is shown in neither direction, and "no more than 10 %" is not shown by an
interval that reaches far beyond.  Only the size that `sized` asks for is compared by value.  With one replicate there
is no interval, and all is open.  So is what rests on a number that the runs did not give (NaN).
"""

import math
from typing import Protocol

from faultsim.reproduce.claims import Part


class Interval(Protocol):
    """A value with the ends of its interval."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def higher(found: Interval, bound: float = 0.0) -> Part:
    """Whether it is above `bound`.

    Examples
    --------
    >>> from faultsim.sweep.jackknife import Estimate
    >>> higher(Estimate(0.3, 0.2)), higher(Estimate(-0.3, 0.2)), higher(Estimate(0.3, 0.4))
    (True, False, None)
    """
    return True if found.low > bound else False if found.high <= bound else None


def lower(found: Interval, bound: float = 0.0) -> Part:
    """Whether it is below `bound`."""
    return True if found.high < bound else False if found.low >= bound else None


def within(found: Interval, low: float, high: float) -> Part:
    """Whether it lies between two bounds.

    Examples
    --------
    >>> from faultsim.sweep.jackknife import Estimate
    >>> [within(Estimate(value, 0.02), -0.1, 0.1) for value in (0.05, 0.2, 0.09)]
    [True, False, None]
    """
    if found.low >= low and found.high <= high:
        return True
    return False if found.low > high or found.high < low else None


def sized(found: Interval, good: bool) -> Part:
    """Whether a difference is of the size that the rule names (`good`, by its value), and not 0: else it is open.

    Examples
    --------
    >>> from faultsim.sweep.jackknife import Estimate
    >>> sized(Estimate(0.5, 0.2), True), sized(Estimate(0.5, 0.6), True), sized(Estimate(0.5, 0.2), False)
    (True, None, False)
    """
    if not good:
        return known(False, found.value)
    return True if found.low > 0 or found.high < 0 else None


def known(good: bool, *numbers: float) -> Part:
    """`good`, which compares numbers by value; open where one of these is NaN, with which no comparison is true.

    Examples
    --------
    >>> value = float("nan")
    >>> known(3.0 <= 2.0, 3.0), known(value <= 2.0, value)
    (False, None)
    """
    return None if any(math.isnan(number) for number in numbers) else bool(good)


def every(*parts: Part) -> Part:
    """Several that are one part of the rule: true if all are, false if one is, else open.

    Examples
    --------
    >>> every(True, True), every(True, None), every(None, False)
    (True, None, False)
    """
    return None if None in parts and all(part is None or part for part in parts) else all(parts)


def some(*parts: Part) -> Part:
    """True if one is, false if all are false, else open.

    Examples
    --------
    >>> some(False, True), some(False, None), some(False, False)
    (True, None, False)
    """
    return True if any(parts) else None if None in parts else False
