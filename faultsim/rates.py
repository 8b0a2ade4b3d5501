"""The check of mean times, repair times and costs of checkpoints: whether their units can be right.

A number without a unit is seconds, and the usual mistake is to give hours or days.  One value can be judged by itself
(a mean time between failures), others beside another one (a repair beside the time between failures, a checkpoint
beside the interval).  Every function that takes such values calls the functions below, so that the limits and the words
are the same everywhere; ``any_rate=True`` accepts every value.
"""

from collections.abc import Callable
from typing import Any

from faultsim import checks
from faultsim.errors import OptionError

#: Failures of one node per day up to which a mean time is accepted: without a unit, and with one.  Nodes in service
#: fail less than once in weeks ([kokolis2025]: 6.5 in 1,000 days).  A lower limit would refuse accelerated experiments,
#: a higher one would accept hours given as seconds: 20,000 h are 2.3 years, and 20,000 s are 4.3 failures per day.
MOST_PER_DAY, MOST_PER_DAY_WITH_UNIT = 1.0, 24.0
#: Failures of a synthetic trace: drawing them takes about 120 bytes each, so that 10 million take 1.2 GB.
MOST_FAILURES = 10_000_000
#: How many times as long as the work between two checkpoints one may take: a tenth of the time is left for work.
MOST_COST = 10.0
#: Share of the time for which a machine must be up.
LEAST_UP = 0.5
#: Draws of a function of one's own after which their mean is judged.
_ENOUGH_DRAWS = 100

_DAY = 86_400.0


def per_day(mean: float) -> float:
    """Events per day at this mean time in seconds.

    Examples
    --------
    >>> per_day(3600.0)
    24.0
    """
    return _DAY / mean


def _has_unit(given: object) -> bool:
    """Whether a duration was given with its unit: as text, or as a timedelta."""
    return checks.seconds(given) is not None


def _number(given: Any) -> str:
    """A bare number as its user may have written it."""
    return f"{float(given):.10g}"


def _is_number(given: object) -> bool:
    return not _has_unit(given) and (isinstance(given, int | float) or hasattr(given, "dtype"))


def _named(name: str, given: object) -> str:
    """``mtbf=20`` or ``mtbf='2h'``; the name alone of what is no number, or follows from others."""
    if isinstance(given, str):
        return f"{name}={given!r}"
    return f"{name}={_number(given)}" if _is_number(given) else f"{name}={given}" if _has_unit(given) else name


def _shown(name: str, given: object, seconds: float) -> str:
    """``mtbf=20 is 20 s``, or ``mtbf='2h' is 7,200 s``."""
    return f"{_named(name, given)} is {seconds:,.6g} s"


def _hint(name: str, given: object, per_day: float) -> str:
    """The unit in which a bare number would be plausible, and the way through."""
    if not _is_number(given):
        return f"more than {MOST_PER_DAY_WITH_UNIT:g} are taken for a mistake in units; any_rate=True accepts them"
    for unit, word in (("h", "hours"), ("d", "days")):
        if per_day / checks.UNITS[unit] <= MOST_PER_DAY_WITH_UNIT:
            seconds = f", {name}='{_number(given)}s'" if per_day <= MOST_PER_DAY_WITH_UNIT else ""
            return f"are these {word}? write {name}='{_number(given)}{unit}'{seconds}, or any_rate=True"
    return "check its unit, or give any_rate=True"


def check_rate(
    what: str,
    name: str,
    given: object,
    seconds: float,
    per_day: float,
    any_rate: bool,
    *,
    most: float = MOST_PER_DAY,
    of: str = "node",
) -> None:
    """Raise `OptionError` if a node fails more often than any does: `per_day` times, because `name` is what it is.

    Parameters
    ----------
    what : str
        The function or class that takes the value.
    name : str
        Its parameter.
    given, seconds : object, float
        Its value, as given and in seconds.
    per_day : float
        Failures of one node per day that follow.
    any_rate : bool
        Whether every rate is accepted.
    most : float
        Failures of one node per day up to which a value without a unit is accepted.
    of : str
        What fails.

    Examples
    --------
    >>> check_rate("Young", "mtbf", 20, 20.0, 4320.0, False)
    Traceback (most recent call last):
    faultsim.errors.OptionError: Young: mtbf=20 is 20 s: 4,320 failures per node and day; are these hours? write
    mtbf='20h', or any_rate=True
    """
    if any_rate or per_day <= (most if _is_number(given) else MOST_PER_DAY_WITH_UNIT):
        return
    raise OptionError(
        f"{what}: {_shown(name, given, seconds)}: {per_day:,.4g} failures per {of} and day; "
        f"{_hint(name, given, per_day)}"
    )


def mean_time(
    what: str, given: object, any_rate: bool, *, name: str = "mtbf", of: str = "node", endless: bool = False
) -> float:
    """A mean time between failures of one node in seconds, above 0, that is not refused by `check_rate`.

    With `endless` it may be infinite: the node never fails.

    Examples
    --------
    >>> mean_time("plan", "100d", False)
    8640000.0
    """
    seconds = checks.number(name, given, above=0.0, unit="seconds", finite=not endless)
    check_rate(what, name, given, seconds, per_day(seconds), any_rate, of=of)
    return seconds


def check_repair(
    what: str,
    repair: tuple[str, object, float],
    between: tuple[str, object, float],
    any_rate: bool,
    *,
    of: str = "node",
) -> None:
    """Raise `OptionError` if repairs last longer than the time between failures, so that nodes are mostly down.

    Parameters
    ----------
    what : str
        The function or class that takes the values.
    repair, between : (str, object, float)
        Parameter, value as given, and value in seconds, of the time to repair and of that between failures.
    any_rate : bool
        Whether every pair is accepted.
    of : str
        What is down.

    Examples
    --------
    >>> check_repair("plan", ("repair", "4h", 14400.0), ("mtbf", "3h", 10800.0), False)
    Traceback (most recent call last):
    faultsim.errors.OptionError: plan: repair='4h' is 14,400 s, longer than mtbf='3h', 10,800 s: a node would be down
    for most of the time; check their units, or give any_rate=True
    """
    (name, given, down), (other, value, up) = repair, between
    if any_rate or not down > up:
        return
    against = f"{_named(other, value)}, {up:,.6g} s"
    raise OptionError(
        f"{what}: {_shown(name, given, down)}, longer than {against}: a {of} would be down for most of the time; "
        f"check their units, or give any_rate=True"
    )


def check_up(what: str, share: float, any_rate: bool) -> None:
    """Raise `OptionError` for an availability below a half.

    Examples
    --------
    >>> check_up("plan", 0.999, False)
    """
    if not any_rate and share < LEAST_UP:
        raise OptionError(
            f"{what}: availability={share:.6g}: a node would be down for most of the time; check it, or give "
            f"any_rate=True"
        )


def check_saving(
    what: str, cost: tuple[str, object, float], interval: tuple[str, object, float], any_rate: bool
) -> None:
    """Raise `OptionError` if checkpoints leave less than a tenth of the time for work.

    Parameters
    ----------
    what : str
        The function or class that takes the values.
    cost, interval : (str, object, float)
        Parameter, value as given, and value in seconds, of a checkpoint and of the work between two.
    any_rate : bool
        Whether every pair is accepted.

    Examples
    --------
    >>> check_saving("Periodic", ("cost", 300, 300.0), ("interval", 2, 2.0), False)
    Traceback (most recent call last):
    faultsim.errors.OptionError: Periodic: cost=300 is 300 s for a checkpoint after each 2 s of work (interval=2): less
    than a tenth of the time is left for work; are these hours? write interval='2h', or any_rate=True
    """
    (name, given, save), (other, value, work) = cost, interval
    if any_rate or save <= MOST_COST * work:
        return
    raise OptionError(
        f"{what}: {_shown(name, given, save)} for a checkpoint after each {work:,.6g} s of work "
        f"({_named(other, value)}): less than a tenth of the time is left for work; "
        + (
            "check their units, or give any_rate=True"
            if not _is_number(value) or save > MOST_COST * work * 3600.0
            else f"are these hours? write {other}='{_number(value)}h', or any_rate=True"
        )
    )


def check_checkpoint(
    what: str, cost: tuple[str, object, float], between: tuple[str, object, float], any_rate: bool
) -> None:
    """Raise `OptionError` if a checkpoint takes longer than the time between failures of one node.

    Examples
    --------
    >>> check_checkpoint("Young", ("cost", "1m", 60.0), ("mtbf", "56d", 4838400.0), False)
    """
    (name, given, save), (other, value, up) = cost, between
    if any_rate or save <= up:
        return
    against = f"{_named(other, value)}, {up:,.6g} s"
    raise OptionError(
        f"{what}: {_shown(name, given, save)} for a checkpoint, longer than {against}: hardly any ends before the next "
        f"failure; check their units, or give any_rate=True"
    )


def known_mean(times: Any) -> float | None:
    """The mean of down times in seconds: of a number, or of what has a mean; None of a function.

    Examples
    --------
    >>> known_mean("2h"), known_mean(lambda n, rng: rng.random(n))
    (7200.0, None)
    """
    lasts = checks.seconds(times)
    if lasts is not None:
        return lasts
    mean = times if isinstance(times, int | float) or hasattr(times, "dtype") else getattr(times, "mean", None)
    try:
        return None if mean is None or isinstance(mean, bool | Callable) else float(mean)
    except (TypeError, ValueError, OverflowError):
        return None


def judged_draws(drawn: Any) -> float | None:
    """The mean of down times that a function has drawn; None of too few.

    Examples
    --------
    >>> import numpy as np
    >>> judged_draws(np.full(100, 60.0)), judged_draws(np.full(3, 60.0))
    (60.0, None)
    """
    return float(drawn.mean()) if len(drawn) >= _ENOUGH_DRAWS else None


def _count(expected: float) -> str:
    return f"{expected:,.0f}" if expected < 1e15 else f"{expected:.3g}"


def check_count(what: str, expected: float, why: str) -> None:
    """Raise `OptionError` for a trace of more failures than the memory should hold.

    Examples
    --------
    >>> check_count("exponential_failures", 1e8, "1,000 nodes for 1e+09 s at mtbf=10000")
    Traceback (most recent call last):
    faultsim.errors.OptionError: exponential_failures: 1,000 nodes for 1e+09 s at mtbf=10000 are about 100,000,000
    failures, and at most 10,000,000 are drawn at once: check the units, or take a shorter span and FailureTrace.concat
    """
    if expected > MOST_FAILURES:
        raise OptionError(
            f"{what}: {why} are about {_count(expected)} failures, and at most {MOST_FAILURES:,} are drawn at once: "
            f"check the units, or take a shorter span and FailureTrace.concat"
        )
