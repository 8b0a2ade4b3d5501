"""The model of Lublin and Feitelson: sizes, run times that grow with size, and arrivals with a daily cycle.

Source: [lublin2003].  Parameters are those of the authors' program (lublin99).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from faultsim import checks, renames
from faultsim.arrays import Floats, LongIntegers
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import OptionError

_BUCKETS = 48  # half hours of a day
_BUCKET = 1800.0  # seconds
_DAY_START = 11  # the gamma curve of the day begins at this half hour, where the fewest jobs arrive
_MAX_LOG_RUNTIME = 12.0  # natural logarithm of seconds: 45 hours
_MAX_LOG_GAP = 13.0  # 5 days


@dataclass(frozen=True)
class _Type:
    """Parameters of one type of jobs, for a machine of 128 nodes."""

    serial: float  # share of jobs of one node
    power2: float  # share of jobs whose size is made a power of two
    low: float  # log2 size: two-stage uniform on [low, medium] with probability `lower`, else on [medium, high]
    medium: float
    high: float
    lower: float
    runtime1: tuple[float, float]  # log run time: gamma (shape, scale), short jobs
    runtime2: tuple[float, float]  # and long ones
    short_slope: float  # probability of a short one = short_slope * size + short_base
    short_base: float
    gap: tuple[float, float]  # log gap in rush hours: gamma (shape, scale)
    day: tuple[float, float]  # arrivals over the half hours of a day: gamma (shape, scale)
    rush_ratio: float  # makes the gap one of the whole day


_BATCH = _Type(
    serial=0.2927, power2=0.6686, low=1.2, medium=5.0, high=7.0, lower=0.875,
    runtime1=(6.57, 0.823), runtime2=(639.1, 0.0156), short_slope=-0.003, short_base=0.6986,
    gap=(6.0415, 0.8531), day=(6.1271, 5.2740), rush_ratio=1.0519,
)  # fmt: skip
_INTERACTIVE = _Type(
    serial=0.1541, power2=0.625, low=1.0, medium=3.0, high=5.5, lower=0.705,
    runtime1=(3.8351, 0.6605), runtime2=(7.073, 0.6856), short_slope=-0.0118, short_base=0.9156,
    gap=(6.5510, 0.6621), day=(8.9186, 3.6680), rush_ratio=0.9797,
)  # fmt: skip
_ANY = _Type(
    serial=0.244, power2=0.576, low=0.8, medium=4.5, high=7.0, lower=0.86,
    runtime1=(4.2, 0.94), runtime2=(312.0, 0.03), short_slope=-0.0054, short_base=0.78,
    gap=(10.2303, 0.4871), day=(8.1737, 3.9631), rush_ratio=1.0225,
)  # fmt: skip


@entry
@renames.arguments("lublin")
def lublin(jobs: int, *, rng: checks.Random, nodes: int = 128, types: bool = True) -> Workload:
    """A workload by the model of [lublin2003].

    Sizes are two-stage uniform in log2, most of them powers of two; the logarithm of the run time is a mixture of two
    gamma variables, the larger job the more often the longer one; gaps are the exponential of a gamma variable,
    stretched by the daily cycle.

    Parameters
    ----------
    jobs : int
        Number of jobs.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.
    nodes : int
        Size of the machine, at least 8.  The published values are for 128; the largest size and the knee of the size
        distribution move with its logarithm, as the authors advise.  Interactive jobs stay below 46 nodes.
    types : bool
        True: batch and interactive jobs with separate parameters. False: the parameters of all jobs together.

    Returns
    -------
    Workload
        In whole seconds from midnight, without estimates; `user` is 1 for batch and 0 for interactive jobs (and for all
        with ``types=False``).

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.lublin(2000, rng=1, nodes=256)
    >>> len(log), int(log.size.max()) <= 256
    (2000, True)
    """
    n, rng = checks.whole("jobs", jobs, low=1, high=checks.MOST_ROWS), checks.generator(rng)
    if not float(nodes).is_integer() or nodes < 8:
        raise OptionError(f"nodes: expected a whole number of at least 8, got {nodes!r}")
    kinds = (_INTERACTIVE, _BATCH) if types else (_ANY,)
    submit = np.concatenate([_arrivals(kind, n, rng) for kind in kinds])
    owner = np.repeat(np.arange(len(kinds)), n)
    order = np.argsort(submit, kind="stable")[:n]
    submit, owner = submit[order], owner[order]
    size = np.zeros(n, dtype=np.int64)
    runtime = np.zeros(n)
    for index, kind in enumerate(kinds):
        mine = owner == index
        size[mine] = _sizes(kind, int(mine.sum()), int(nodes), rng)
        runtime[mine] = _runtimes(kind, size[mine], rng)
    return Workload(
        submit=np.floor(submit), runtime=np.floor(runtime), size=size, user=owner, name=f"Lublin, {int(nodes)} nodes"
    )


def _sizes(kind: _Type, n: int, nodes: int, rng: np.random.Generator) -> LongIntegers:
    shift = math.log2(nodes) - 7.0
    high = min(kind.high, 7.0 + shift) if kind is _INTERACTIVE else kind.high + shift
    medium = max(kind.medium + (high - kind.high), kind.low)
    lower = rng.random(n) < kind.lower
    log_size = np.where(lower, rng.uniform(kind.low, medium, n), rng.uniform(medium, high, n))
    which = rng.random(n)
    power = which <= kind.serial + kind.power2
    largest_power = math.floor(math.log2(nodes))
    log_size = np.where(power, np.minimum(np.floor(log_size + 0.5), largest_power), log_size)
    size = np.minimum(np.floor(2.0**log_size + 0.5), nodes).astype(np.int64)
    return np.where(which <= kind.serial, 1, size)


def _runtimes(kind: _Type, size: LongIntegers, rng: np.random.Generator) -> Floats:
    share = np.clip(kind.short_slope * size + kind.short_base, 0, 1)
    log_runtime = np.full(len(size), np.inf)
    while (again := np.flatnonzero(log_runtime > _MAX_LOG_RUNTIME)).size:
        short = rng.random(again.size) <= share[again]
        shape = np.where(short, kind.runtime1[0], kind.runtime2[0])
        log_runtime[again] = rng.gamma(shape, np.where(short, kind.runtime1[1], kind.runtime2[1]))
    runtime: Floats = np.exp(log_runtime)
    return runtime


def _arrivals(kind: _Type, n: int, rng: np.random.Generator) -> Floats:
    """Arrival times in seconds from midnight: gaps are paid in points, a half hour is worth its share of the day."""
    from scipy.special import gammainc

    log_gap = np.full(n, np.inf)
    while (again := np.flatnonzero(log_gap > _MAX_LOG_GAP)).size:
        log_gap[again] = rng.gamma(kind.gap[0] * kind.rush_ratio, kind.gap[1], again.size)
    points = np.cumsum(np.exp(log_gap) / _BUCKET)
    edges = np.arange(_DAY_START, _DAY_START + _BUCKETS + 1) - 0.5
    shares = np.diff(gammainc(kind.day[0], edges / kind.day[1]))
    # Half hour k of the day (from 0) has the share of k + 1, counted on beyond midnight up to the start of the curve.
    worth = np.roll(shares / shares.mean(), _DAY_START - 1)
    paid = np.concatenate([[0.0], np.cumsum(worth)])
    days, rest = np.divmod(points, paid[-1])
    submit: Floats = (days * _BUCKETS + np.interp(rest, paid, np.arange(_BUCKETS + 1))) * _BUCKET
    return submit
