"""Nodes that fail, are repaired and fail again, independently: alternating renewal ([li2009] section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np

from faultsim import checks, rates, renames
from faultsim.arrays import Floats, LongIntegers
from faultsim.data.columns import MAX_NODES
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.synthetic.times import Times, sample_times

#: Weibull shapes of the three sub-populations of [li2009]: early failures, chance, wear.
BATHTUB_SHAPES = (0.5, 1.0, 1.5)
_GAMMA = np.array([math.gamma(1.0 + 1.0 / shape) for shape in BATHTUB_SHAPES])

#: Up times of these nodes, of this mean, one each.
_Draw = Callable[[LongIntegers, float, np.random.Generator], Floats]


def _exponential(nodes: LongIntegers, mean: float, rng: np.random.Generator) -> Floats:
    return rng.exponential(mean, len(nodes))


def _bathtub_per_gap(nodes: LongIntegers, mean: float, rng: np.random.Generator) -> Floats:
    which = rng.integers(len(BATHTUB_SHAPES), size=len(nodes))
    times: Floats = mean / _GAMMA.mean() * rng.weibull(np.array(BATHTUB_SHAPES)[which])
    return times


def _bathtub_per_node(nodes: LongIntegers, mean: float, rng: np.random.Generator) -> Floats:
    which = nodes % len(BATHTUB_SHAPES)
    times: Floats = mean / _GAMMA[which] * rng.weibull(np.array(BATHTUB_SHAPES)[which])
    return times


#: Distributions of the time that a node stays up, by name.
Uptimes: TypeAlias = Literal["exponential", "bathtub_per_gap", "bathtub_per_node"]
Repairs: TypeAlias = Literal["exponential", "constant"]
REPAIRS: tuple[Repairs, ...] = get_args(Repairs)
UPTIMES: dict[Uptimes, _Draw] = {
    "exponential": _exponential,
    "bathtub_per_gap": _bathtub_per_gap,
    "bathtub_per_node": _bathtub_per_node,
}


@entry
@renames.arguments("renewal_failures")
def renewal_failures(
    nodes: int,
    span: checks.Duration,
    mtbf: checks.Duration,
    downtime: Times,
    *,
    uptimes: Uptimes = "exponential",
    repairs: Repairs = "exponential",
    any_rate: bool = False,
    rng: checks.Random,
) -> FailureTrace:
    """Every node is up for a while, fails, is down for a while, and so on, independently of the others.

    Parameters
    ----------
    nodes : int
        Nodes of the machine.
    span : float
        Span of the trace in seconds.  All nodes begin as new at time 0.
    mtbf : float
        Mean up time of a node, in seconds: from a repair to the next failure.
    downtime : float, or object with sample(n, rng), or function of (n, rng)
        Mean down time of a node, in seconds, 0 or more; or what draws down times, as for `weibull_failures`.
    uptimes : {"exponential", "bathtub_per_gap", "bathtub_per_node"}
        Distribution of the up times.  [li2009] makes a bathtub curve of "three sub-populations", Weibull with shapes
        0.5, 1.0 and 1.5, and a scale that gives the MTBF, and does not say of what they are populations:

        - ``"bathtub_per_gap"``: of up times.  One of the three shapes is drawn for each; the common scale is
          ``mtbf / mean(Gamma(1 + 1/shape))``.
        - ``"bathtub_per_node"``: of nodes.  Node k always has shape number ``k % 3``, with the scale
          ``mtbf / Gamma(1 + 1/shape)``.
    repairs : {"exponential", "constant"}
        Distribution of the down times where `downtime` is a number.
    any_rate : bool
        Accept what otherwise is taken for a mistake in units: nodes that fail more than once a day (once an hour if the
        value was given with its unit), or that are down for most of the time.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.

    Returns
    -------
    FailureTrace
        Outages of a node never overlap.  In the long run the share ``mtbf / (mtbf + downtime)`` of the nodes is up.

    Raises
    ------
    OptionError
        For an invalid value; for rates that are taken for a mistake in units, without `any_rate`; for more than 10
        million failures, estimated before any is drawn.

    Notes
    -----
    New nodes with shape 0.5 among them fail early: within a few MTBF either bathtub brings more failures than
    exponential up times of the same mean (at 1.7 MTBF a third more per gap, a fifth more per node).

    Examples
    --------
    >>> import faultsim as fs
    >>> day = 86_400
    >>> trace = fs.synthetic.renewal_failures(512, 1000 * day, mtbf=56 * day, downtime=3600, rng=1)
    >>> round(trace.summary(nodes=512)["availability"], 4)  # 56 days / (56 days + 1 hour)
    0.9993
    """
    n = checks.whole("nodes", nodes, low=1, high=MAX_NODES)
    end = checks.number("span", span, above=0.0, unit="s")
    any_rate = checks.flag("any_rate", any_rate)
    up = rates.mean_time("renewal_failures", mtbf, any_rate, endless=True)
    kind = checks.choice("distribution of repairs", repairs, REPAIRS)
    draw = UPTIMES[checks.choice("distribution of up times", uptimes, UPTIMES)]
    down = rates.known_mean(downtime)
    between = ("mtbf", mtbf, up)
    if down is not None:
        rates.check_repair("renewal_failures", ("downtime", downtime, down), between, any_rate)
    expected = n * (end / (up + (down or 0.0)) + 1)
    rates.check_count("renewal_failures", expected, f"{n:,} nodes for {end:g} s at mtbf={mtbf}")
    if (lasts := checks.seconds(downtime)) is not None:
        downtime = lasts
    ups, downs, coins = checks.generator(rng).spawn(3)
    clock = np.zeros(n)
    alive = np.arange(n)
    parts: list[tuple[Floats, LongIntegers, Floats]] = []
    while len(alive):
        clock += draw(alive, up, ups)
        inside = clock <= end
        alive, clock = alive[inside], clock[inside]
        lasting = sample_times("downtime", downtime, len(alive), downs)
        if kind == "exponential" and isinstance(downtime, int | float | np.number):
            lasting = lasting * downs.standard_exponential(len(alive))
        parts.append((clock, alive, lasting))
        clock = clock + lasting
    time, node, lasting = (np.concatenate(values) for values in zip(*parts, strict=True))
    if down is None and (mean := rates.judged_draws(lasting)) is not None:
        rates.check_repair("renewal_failures", ("the mean of downtime", None, mean), between, any_rate)
    order = np.argsort(time, kind="stable")
    return FailureTrace(
        time[order],
        node[order],
        lasting[order],
        coin=coins.random(len(time)),
        span=end,
        of=n,
        name=f"renewal ({uptimes})",
    )
