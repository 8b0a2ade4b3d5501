"""Failures of domains: hosts, links and switches that fail and are repaired, each kind at its own rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from faultsim import checks, rates, renames
from faultsim.arrays import Floats
from faultsim.data.domains import Domains
from faultsim.data.failures import FailureTrace
from faultsim.data.numbering import numbering
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.synthetic.renewal import REPAIRS, Repairs, renewal_failures
from faultsim.synthetic.times import Times

_DAY = 86_400.0


@entry
@renames.arguments("domain_failures")
def domain_failures(
    domains: Domains,
    span: checks.Duration,
    *,
    per_day: float | Mapping[str, float],
    downtime: Times | Mapping[str, Times] | None = None,
    repairs: Repairs = "exponential",
    any_rate: bool = False,
    rng: checks.Random,
) -> FailureTrace:
    """Domains that fail at a constant rate while they are up, are repaired, and fail again, independently.

    Parameters
    ----------
    domains : Domains
        What fails.
    span : float
        Span of the trace in seconds.  All domains begin as new at time 0.
    per_day : float or mapping of str to float
        Failures a day of one domain that is up, or by kind: 0.0008 is 0.08 % of them a day.  With 0 a kind never fails.
    downtime : float, object with sample(n, rng), function of (n, rng), or mapping of str to one of these
        Mean down time in seconds, or what draws down times, or by kind; not for domains that have their own down time.
    repairs : {"exponential", "constant"}
        Distribution of the down times where `downtime` is a number; a domain's own down time is always constant.
    any_rate : bool
        Accept what otherwise is taken for a mistake in units: domains that fail more than once an hour, or that are
        down for most of the time.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.  Each kind has a stream of its own, by its place among the kinds: the rate of
        one changes no failure of another.

    Returns
    -------
    FailureTrace
        Its `node` is the row in `domains`; `FailureTrace.map_domains` makes failures of nodes of it.  Outages of one
        domain never overlap, so that in the long run it is up for ``1 / (1 + rate * downtime)`` of the time.

    Raises
    ------
    InputError
        A kind without a rate or a down time, or one that `domains` does not have; a down time for domains that have
        their own; domains of one kind with different down times of their own.
    OptionError
        For an invalid value; for rates that are taken for a mistake in units, without `any_rate`; for more than 10
        million failures, estimated before any is drawn.

    Examples
    --------
    >>> import faultsim as fs
    >>> parts = fs.Domains.join([
    ...     fs.Domains.hosts(1024),
    ...     fs.Domains.blocks(1024, 16, copies=96, kind="cable"),
    ...     fs.Domains.blocks(1024, 1024, copies=48, kind="switch", effect="none"),
    ... ])
    >>> rates = {"host": 0.0008, "cable": 0.00005, "switch": 0.0004}
    >>> downtime = {"host": "4h", "cable": "1d", "switch": "1h"}
    >>> trace = fs.synthetic.domain_failures(parts, "365d", per_day=rates, downtime=downtime, rng=1)
    >>> trace
    <FailureTrace 'domains': 460 failures, domains 2-7212, span 31536000 s>
    >>> trace.map_domains(parts)
    <FailureTrace 'domains': 2,417 failures, nodes 0-1023, span 31536000 s, 8 dropped>
    """
    if not isinstance(domains, Domains):
        raise InputError(f"domain_failures: expected Domains, got {checks.shown(domains)}")
    end = checks.number("span", span, above=0.0, unit="s")
    kind_of_repairs = checks.choice("distribution of repairs", repairs, REPAIRS)
    any_rate = checks.flag("any_rate", any_rate)
    per_kind = _by_kind("per_day", per_day, domains)
    lasting = {} if downtime is None else _by_kind("downtime", downtime, domains, partly=True)
    parts, used, expected = [], downtime is None or isinstance(downtime, Mapping), 0.0
    for kind, stream in zip(domains.kinds, checks.generator(rng).spawn(len(domains.kinds)), strict=True):
        rows = domains.rows(kind)
        rate = checks.number(f"per_day of {kind!r}", per_kind[kind], low=0.0, unit="failures a day")
        own = np.unique(domains.downtime[rows])
        used |= bool(np.isnan(own).any())
        if rate > 0 or len(own) > 1 or kind in lasting:
            down, constant = _down_time(kind, own, lasting, isinstance(downtime, Mapping))
        if rate > 0:
            expected += _check_rates(kind, rate, down, len(rows) * end, any_rate)
            rates.check_count("domain_failures", expected, f"{len(domains):,} domains for {end:g} s")
            of_kind = renewal_failures(
                len(rows),
                end,
                _DAY / rate,
                down,
                repairs="constant" if constant else kind_of_repairs,
                any_rate=True,
                rng=stream,
            )
            parts.append(of_kind.map_nodes(len(domains), rows))
    if not used:
        raise InputError(f"downtime: {checks.shown(downtime)} has no effect: all domains have their own down time")
    # Of the parts the numbers are rows, which `map_nodes` took for nodes.
    return FailureTrace([], [], span=end).merge(*parts, name="domains")._numbered(numbering(domains))


def _check_rates(kind: str, per_day: float, down: object, time: float, any_rate: bool) -> float:
    """Refuse the rate or the down times of a kind that are taken for a mistake; the failures to expect in that time."""
    what, name, up = "domain_failures", f"per_day of {kind!r}", _DAY / per_day
    if not any_rate and per_day > rates.MOST_PER_DAY_WITH_UNIT:
        raise OptionError(
            f"{what}: {name} is {per_day:,.4g} failures per {kind} and day, more than "
            f"{rates.MOST_PER_DAY_WITH_UNIT:g}; is that per year? any_rate=True accepts it"
        )
    if (lasts := rates.known_mean(down)) is not None:
        between = (f"the time between failures of {kind!r}", None, up)
        rates.check_repair(what, (f"downtime of {kind!r}", down, lasts), between, any_rate, of=kind)
    return time / (up + (lasts or 0.0))


def _by_kind(what: str, given: object, domains: Domains, *, partly: bool = False) -> dict[str, object]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(domains.kinds, given)
    for kind in given:
        if kind not in domains.kinds:
            hint = checks.did_you_mean(kind, domains.kinds)
            raise InputError(
                f"{what}: no domains of kind {checks.shown(kind)}{hint}; kinds: {', '.join(domains.kinds)}"
            )
    if not partly and (missing := [kind for kind in domains.kinds if kind not in given]):
        raise InputError(f"{what}: nothing for the kind {missing[0]!r}; 0 says that it never fails")
    return dict(given)


def _down_time(kind: str, own: Floats, lasting: Mapping[str, object], by_kind: bool) -> tuple[Any, bool]:
    """What draws the down times of a kind, and whether they are constant: those of the domains, else those given."""
    of_domains = own[~np.isnan(own)]
    if not len(of_domains):
        if kind not in lasting:
            raise InputError(f"downtime: nothing for the kind {kind!r}, whose domains have no down time of their own")
        return lasting[kind], False
    if len(own) > 1:
        raise InputError(f"downtime: domains of the kind {kind!r} have different down times; give them different kinds")
    if by_kind and kind in lasting:
        raise InputError(f"downtime: domains of the kind {kind!r} have a down time of their own, {of_domains[0]:g} s")
    return float(of_domains[0]), True
