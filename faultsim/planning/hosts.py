"""How hosts fail in the long run: availability, mean times up and down; from two of them or from a trace."""

from typing import NamedTuple

import numpy as np

from faultsim import checks, rates
from faultsim.data.failure_summary import merged_outages
from faultsim.data.failures import FailureTrace
from faultsim.errors import InputError, OptionError
from faultsim.machines.pod import Pod

#: A trace begins late if nothing fails for this share of its span, and for so many mean times between failures.
_LATE, _GAPS = 0.05, 20.0


class Hosts(NamedTuple):
    """Hosts in the long run: the share of time that one is up, and how long it is up and down; NaN: not known."""

    availability: float
    mtbf: float
    downtime: float


def share(what: str, value: object, example: float) -> float:
    """A number between 0 and 1, both of them excluded.

    Examples
    --------
    >>> share("availability", 99.9, 0.999)
    Traceback (most recent call last):
    faultsim.errors.OptionError: availability must be above 0 and below 1, such as 0.999, got 99.9 (is that in %?)
    """
    number = checks.number(what, value, finite=False)
    if not 0.0 < number < 1.0:
        hint = " (is that in %?)" if 1.0 < number < 100.0 else ""
        raise OptionError(f"{what} must be above 0 and below 1, such as {example:g}, got {value!r}{hint}")
    return number


def given_hosts(availability: object, mtbf: object, downtime: object, any_rate: bool = False) -> Hosts:
    """Of availability = mtbf / (mtbf + downtime): from any two, or the availability alone.

    Raises
    ------
    OptionError
        For one or three of them; for values that are taken for a mistake in units, unless any rate will do.

    Examples
    --------
    >>> given_hosts(None, "99h", "1h")
    Hosts(availability=0.99, mtbf=356400.0, downtime=3600.0)
    >>> given_hosts(0.99, None, "1h").mtbf
    356400.0
    """
    nan = float("nan")
    up = nan if mtbf is None else rates.mean_time("plan", mtbf, any_rate, of="host")
    down = nan if downtime is None else checks.number("downtime", downtime, above=0.0, unit="seconds")
    if availability is None:
        if mtbf is None or downtime is None:
            raise OptionError("plan: give availability=, or mtbf= and downtime=, or failures=")
        rates.check_repair("plan", ("downtime", downtime, down), ("mtbf", mtbf, up), any_rate, of="host")
        return Hosts(share("availability, mtbf / (mtbf + downtime),", up / (up + down), 0.999), up, down)
    if mtbf is not None and downtime is not None:
        raise OptionError("plan: availability follows from mtbf= and downtime=: give two of the three")
    a = share("availability", availability, 0.999)
    rates.check_up("plan", a, any_rate)
    if mtbf is not None:
        return Hosts(a, up, up * (1.0 - a) / a)
    if downtime is None:
        return Hosts(a, nan, nan)
    between = round(down * a / (1.0 - a), 6)
    per_day = 86_400.0 / between if between else float("inf")
    rates.check_rate(f"plan: with availability={a:.6g}", "downtime", downtime, down, per_day, any_rate, of="host")
    return Hosts(a, between, down)


def checked_trace(trace: object, pod: Pod, any_rate: bool) -> FailureTrace:
    """The trace, unless it is no record of this pod's hosts in seconds.

    Raises
    ------
    NotAvailableError
        A trace with outages that slow jobs down.
    InputError
        No trace, one without a span, with failures of hosts that the pod does not have, or that looks as though it was
        in days or began later than at 0 s.
    """
    if not isinstance(trace, FailureTrace):
        raise InputError(f"plan: failures must be a FailureTrace, got {checks.shown(trace, 'FailureTrace')}")
    if not trace.span > 0:
        raise InputError("plan: the trace has no span, so there is no time to count; give it one with span=")
    trace.check_against(pod.nodes)
    trace.refuse_slowdowns("plan")
    trace.refuse_parts("plan")
    if not any_rate:
        trace.refuse_days("plan", any_rate)
        _refuse_late(trace)
    return trace


def _refuse_late(trace: FailureTrace) -> None:
    """Raise if nothing fails for so long at first that the record must begin later than at 0 s."""
    times = np.unique(trace.time)
    if not len(times):
        return
    first, gap = float(times[0]), (trace.span - float(times[0])) / len(times)
    if first > _LATE * trace.span and first > _GAPS * gap:
        raise InputError(
            f"plan: the first failure is at {first:,.0f} s, then one comes every {gap:,.4g} s: was nothing recorded "
            "before, or are times those of a calendar? Time without a record would count as time up: take "
            "trace.window(begin, end, under_way=True); any_rate=True takes the trace as it is"
        )


def recorded_hosts(trace: FailureTrace, nodes: int) -> Hosts:
    """The average host of a trace; an outage that goes on at the end of the span counts up to there.

    Examples
    --------
    >>> recorded_hosts(FailureTrace([10, 15, 90], [0, 0, 1], [10, 10, 20], span=100), nodes=2)
    Hosts(availability=0.875, mtbf=87.5, downtime=12.5)
    """
    first, lasts = merged_outages(trace.columns)
    down = float(np.minimum(lasts, trace.span - trace.time[first]).sum())
    up = nodes * trace.span - down
    count = len(first)
    times = (up / count, down / count) if count else (float("inf"), float("nan"))
    return Hosts(up / (nodes * trace.span), *times)
