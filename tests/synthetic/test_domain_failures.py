"""`domain_failures`: rates, down times and streams by kind."""

import math

import numpy as np

import faultsim as fs
from faultsim import Domains
from faultsim.errors import InputError, OptionError
from faultsim.synthetic import ExponentialTimes, domain_failures
from helpers.refusals import refused

DAY = 86_400.0
PARTS = Domains.join([
    Domains.hosts(64),
    Domains.blocks(64, 16, copies=4, kind="cable", downtime="1d"),
    Domains([range(64)], 64, kind="switch", effect="none"),
])  # fmt: skip
RATES = {"host": 0.02, "cable": 0.01, "switch": 0.05}
MTTR = {"host": 7200, "switch": 3600}


def of_kind(trace, kind):
    rows = PARTS.rows(kind)
    return trace[(trace.node >= rows[0]) & (trace.node <= rows[-1])]


def test_each_kind_fails_at_its_rate():
    trace = domain_failures(PARTS, 4000 * DAY, per_day=RATES, downtime=MTTR, rng=1)
    for kind, down in (("host", 7200), ("cable", DAY), ("switch", 3600)):
        part = of_kind(trace, kind)
        expected = len(PARTS.rows(kind)) * 4000 / (1 / RATES[kind] + down / DAY)
        assert abs(len(part) - expected) < 4 * math.sqrt(expected)
    hosts = of_kind(trace, "host").downtime
    assert abs(hosts.mean() - 7200) < 4 * 7200 / math.sqrt(len(hosts))
    assert set(of_kind(trace, "cable").downtime) == {DAY}
    assert len(trace.merge_overlaps()) == len(trace)  # a domain does not fail while it is down


def test_streams_of_kinds_are_apart():
    trace = domain_failures(PARTS, 400 * DAY, per_day=RATES, downtime=MTTR, rng=1)
    other = domain_failures(PARTS, 400 * DAY, per_day={**RATES, "host": 0.5}, downtime={**MTTR, "host": 60}, rng=1)
    never = domain_failures(PARTS, 400 * DAY, per_day={**RATES, "host": 0}, downtime=MTTR, rng=1)
    assert of_kind(trace, "cable") == of_kind(other, "cable") == of_kind(never, "cable")
    assert not len(of_kind(never, "host"))
    assert domain_failures(PARTS, 400 * DAY, per_day=RATES, downtime=MTTR, rng=1) == trace


def test_cubes_that_are_up_are_binomial():
    """Independent hosts, 16 to a cube: the number of healthy cubes at independent times, by chi square."""
    up, down = 20 * DAY, 0.2 * DAY
    hosts = Domains.hosts(256)
    trace = domain_failures(hosts, 4000 * DAY, per_day=DAY / up, downtime=ExponentialTimes(down), rng=3).map_domains(
        hosts
    )
    moments = np.arange(20, 4000, 2) * DAY  # ten mean repairs apart
    healthy = np.zeros(len(moments), dtype=int)
    for cube in range(16):
        part = trace[trace.node // 16 == cube]
        begun = np.searchsorted(np.sort(part.time), moments, side="right")
        ended = np.searchsorted(np.sort(part.time + part.downtime), moments, side="right")
        healthy += begun == ended
    a = (up / (up + down)) ** 16
    expected = np.array([math.comb(16, k) * a**k * (1 - a) ** (16 - k) for k in range(17)]) * len(moments)
    seen = np.bincount(healthy, minlength=17)
    first = int(np.argmax(np.cumsum(expected) >= 5)) + 1  # the tail is one class
    classes = [(seen[:first].sum(), expected[:first].sum()), *zip(seen[first:], expected[first:], strict=True)]
    assert len(classes) == 8
    assert sum((got - mean) ** 2 / mean for got, mean in classes) < 24.3  # 7 degrees of freedom, 0.1 %


def test_what_is_refused():
    def call(**changes):
        return domain_failures(PARTS, 400 * DAY, **{"per_day": RATES, "downtime": MTTR, "rng": 1} | changes)

    refused(
        InputError,
        "per_day: nothing for the kind 'switch'; 0 says that it never",
        call,
        per_day={"host": 1, "cable": 1},
    )
    refused(InputError, r"per_day: no domains of kind 'hosts' \(did you mean 'host'\?\)", call, per_day={"hosts": 1})
    refused(InputError, "downtime: nothing for the kind 'switch', whose domains", call, downtime={"host": 1})
    refused(
        InputError,
        "downtime: domains of the kind 'cable' have a down time of their own",
        call,
        downtime={**MTTR, "cable": 1},
    )
    refused(OptionError, "per_day of 'host' must be at least 0 failures a day", call, per_day={**RATES, "host": -1})
    refused(InputError, "expected Domains, got 64", domain_failures, 64, DAY, per_day=1, downtime=1, rng=1)
    mixed = Domains.join([Domains({"a": [0]}, 2, downtime=1), Domains({"b": [1]}, 2)])
    refused(
        InputError, "kind 'domain' have different down times", domain_failures, mixed, DAY, per_day=1, downtime=1, rng=1
    )
    assert len(call(downtime=3600)) > 0  # one for all that have none of their own


def test_a_trace_of_domains_runs():
    trace = domain_failures(PARTS, 400 * DAY, per_day=RATES, downtime=MTTR, rng=1).map_domains(PARTS)
    log = fs.synthetic.exponential(200, rng=1, mean_gap=DAY, mean_runtime=DAY, sizes=[16, 32])
    result = fs.simulate(log, fs.Torus(4, 4, 4), failures=trace)
    assert result.metrics["failures_hit"] > 0


def test_a_down_time_that_nobody_needs():
    """Of domains that have their own it is refused; those that never fail need none."""
    own = Domains.hosts(64, downtime=5)
    refused(InputError, "downtime: 99999 has no effect", domain_failures, own, "30d", per_day=1, downtime=99999, rng=1)
    parts = Domains.join([own, Domains.blocks(64, 16, kind="cube")])
    assert len(domain_failures(parts, "30d", per_day={"host": 0.1, "cube": 0}, rng=1))
    assert len(domain_failures(parts, "30d", per_day={"host": 0.1, "cube": 1}, downtime=60, rng=1))
    refused(InputError, "downtime: nothing for the kind 'cube'", domain_failures, parts, "30d", per_day=1, rng=1)
