"""Synthetic stand-ins for the logs that the papers use, for commands to run on when the real ones are missing.

The tables for NASA and SDSC are our own summaries of the logs in the Parallel Workloads Archive: shares of sizes, mean
run times, and deciles to two digits.  They contain no record of a log. The table for LLNL is invented: see `llnl_like`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from faultsim import checks, renames
from faultsim.arrays import Floats, Indices
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.synthetic.stand_in import Mix, Whole, counts, daily_arrivals, draw_mix, in_series, site_schedule

_DAY = 86_400.0
_JOBS = 10_000  # the tables describe spans of this many jobs ([krevat2002] Table 1)


@dataclass(frozen=True)
class _Site:
    """How one site's log is ordered in time.

    `length`, `likeness`, `spread` and `slots` as in `in_series`; `hours`, `gaps` and `memory` as in `daily_arrivals`.
    Jobs enter the log when they would start on `nodes` nodes (see `site_schedule`), which is what evens out the load.
    These values were chosen by the saturation points and waits that FCFS and EASY show on the real spans.
    """

    mix: tuple[Mix, ...]
    hours: tuple[float, ...]
    gaps: tuple[tuple[float, float], ...]
    span: float  # seconds for 10,000 jobs
    begin: float  # time of day of the first arrival
    length: float
    likeness: float
    spread: float
    slots: int
    memory: float
    nodes: int
    patience: float
    users: int


# Jobs of NASA's iPSC/860 (job numbers 20,001-30,000 of late 1993), without the machine checks: 3,865 of 10,000.
_NASA_MIX = (
    Mix(1, 818, 139, (1, 10, 17, 22, 34, 130, 18000)),
    Mix(2, 488, 734, (1, 21, 49, 120, 270, 890, 44000)),
    Mix(4, 791, 907, (1, 21, 39, 68, 150, 1300, 36000)),
    Mix(8, 389, 454, (1, 25, 55, 80, 130, 910, 7200)),
    Mix(16, 336, 302, (1, 21, 39, 80, 160, 450, 20000)),
    Mix(32, 830, 1586, (1, 41, 130, 230, 1200, 3700, 45000)),
    Mix(64, 163, 3145, (1, 61, 200, 510, 2600, 11000, 41000)),
    Mix(128, 50, 4825, (44, 83, 110, 1500, 9700, 9800, 11000)),
)
# `pwd` on one node, run all day to see whether the machine is up: the other 6,135 (36 s: see `krevat_span`).
_NASA_CHECKS, _NASA_CHECK_RUNTIME = 6135, 36.0

# The first 10,000 jobs of SDSC's SP2 (April to August 1998) that ran; rare sizes joined to their neighbours.
_SDSC_MIX = (
    Mix(1, 3140, 7942, (1, 33, 1400, 3800, 6300, 17000, 65000)),
    Mix(2, 1244, 1055, (1, 31, 43, 57, 210, 1800, 65000)),
    Mix(3, 239, 258, (30, 34, 48, 54, 110, 630, 16000)),
    Mix(4, 1433, 4372, (1, 32, 45, 140, 670, 12000, 65000)),
    Mix(5, 87, 24710, (24, 32, 350, 18000, 50000, 51000, 120000)),
    Mix(6, 48, 10108, (31, 33, 35, 110, 270, 590, 470000)),
    Mix(7, 42, 39897, (35, 40, 9000, 59000, 60000, 65000, 65000)),
    Mix(8, 1157, 9632, (3, 38, 160, 910, 4800, 40000, 95000)),
    Mix(9, 47, 9557, (35, 79, 260, 1100, 4200, 45000, 63000)),
    Mix(10, 19, 17292, (33, 36, 42, 390, 35000, 52000, 52000)),
    Mix(11, 68, 11959, (32, 1100, 3600, 15000, 17000, 17000, 36000)),
    Mix(12, 81, 4363, (37, 110, 1100, 1400, 7200, 12000, 15000)),
    Mix(13, 40, 27699, (30, 33, 62, 7300, 60000, 65000, 65000)),
    Mix(15, 81, 25530, (30, 180, 2100, 11000, 43000, 65000, 65000)),
    Mix(16, 930, 11778, (26, 51, 1200, 6800, 15000, 24000, 65000)),
    Mix(18, 14, 4186, (40, 81, 160, 2300, 8100, 10000, 11000)),
    Mix(19, 77, 1667, (54, 77, 83, 1200, 1800, 3000, 11000)),
    Mix(20, 8, 28728, (49, 94, 1100, 24000, 40000, 62000, 65000)),
    Mix(24, 50, 13123, (28, 53, 1600, 3900, 9700, 42000, 65000)),
    Mix(25, 34, 3214, (41, 44, 520, 1200, 2900, 9300, 22000)),
    Mix(27, 37, 232, (50, 51, 58, 310, 330, 340, 370)),
    Mix(28, 75, 23331, (30, 49, 340, 15000, 47000, 60000, 61000)),
    Mix(32, 483, 10196, (28, 54, 290, 1600, 8400, 46000, 65000)),
    Mix(35, 58, 962, (140, 140, 170, 180, 1800, 2400, 3600)),
    Mix(36, 25, 947, (76, 290, 470, 740, 1100, 1800, 3600)),
    Mix(43, 54, 11445, (44, 68, 170, 650, 13000, 46000, 65000)),
    Mix(48, 22, 4449, (35, 39, 94, 120, 3000, 6000, 65000)),
    Mix(49, 14, 1137, (540, 580, 900, 1100, 1200, 1700, 2300)),
    Mix(50, 10, 450, (58, 60, 63, 69, 97, 480, 3800)),
    Mix(63, 75, 16257, (12, 97, 1900, 6100, 28000, 43000, 65000)),
    Mix(64, 227, 7808, (39, 73, 140, 300, 1100, 34000, 230000)),
    Mix(65, 9, 34072, (150, 740, 22000, 40000, 50000, 53000, 65000)),
    Mix(81, 18, 1170, (140, 450, 660, 850, 1100, 1600, 5900)),
    Mix(100, 24, 714, (240, 280, 410, 680, 870, 1300, 1500)),
    Mix(103, 3, 43988, (2200, 15000, 40000, 65000, 65000, 65000, 65000)),
)

_LEVELS = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1)

_NASA = _Site(
    mix=_NASA_MIX,
    hours=(25, 16, 22, 11, 5, 40, 89, 110, 141, 186, 259, 388, 379, 341, 322, 338, 309, 294, 180, 164, 86, 91, 45, 24),
    gaps=tuple(zip(_LEVELS, (0, 0.024, 0.045, 0.08, 0.13, 0.18, 0.25, 0.35, 0.49, 0.75, 1.5, 3.1, 6, 10), strict=True)),
    span=17.08 * _DAY,
    begin=11 * 3600.0,
    length=6,
    likeness=0.3,
    spread=1.2,
    slots=30,
    memory=0.0,
    nodes=110,
    patience=_DAY / 2,
    users=46,
)

_SDSC = _Site(
    mix=_SDSC_MIX,
    hours=(
        *(427, 318, 245, 176, 195, 286, 153, 118, 119, 124, 143, 255),
        *(345, 516, 617, 668, 718, 789, 693, 760, 681, 729, 526, 399),
    ),
    gaps=tuple(zip(_LEVELS, (0, 0.003, 0.012, 0.042, 0.1, 0.16, 0.21, 0.35, 0.57, 1, 2.2, 4.3, 9.5, 40), strict=True)),
    span=110.6 * _DAY,
    begin=13 * 3600.0,
    length=3.5,
    likeness=0.4,
    spread=1.5,
    slots=30,
    memory=0.4,
    nodes=160,
    patience=_DAY / 2,
    users=155,
)

# Invented from what the archive's page on LLNL-T3D-1996 says about the machine: partitions of the T3D are powers of
# two; up to 4 hours (2 for interactive jobs of up to 32 nodes), 40 hours in one queue of 64 nodes; 22,779 jobs from
# June to September 1996.  Shares and run times are chosen by us such that these jobs offer a load of 0.62 to 256 nodes.
_LLNL_MIX = (
    Mix(2, 300, 440, (1, 8, 30, 80, 240, 900, 7200)),
    Mix(4, 500, 500, (1, 9, 35, 100, 300, 1100, 7200)),
    Mix(8, 1100, 840, (1, 10, 45, 140, 450, 1700, 14000)),
    Mix(16, 1100, 1080, (2, 15, 70, 220, 700, 2600, 14000)),
    Mix(32, 3300, 1150, (2, 18, 80, 260, 850, 3000, 14300)),
    Mix(64, 2600, 2100, (3, 25, 110, 340, 1000, 3200, 50000)),
    Mix(128, 900, 1500, (4, 30, 150, 480, 1500, 4000, 14300)),
    Mix(256, 200, 1150, (5, 35, 130, 350, 900, 2600, 14300)),
)

_LLNL = _Site(
    mix=_LLNL_MIX,
    hours=(
        *(60, 45, 35, 30, 28, 30, 45, 90, 180, 260, 300, 290),
        *(270, 310, 330, 320, 280, 220, 160, 130, 110, 100, 85, 70),
    ),
    gaps=_SDSC.gaps,
    span=122 * _DAY * _JOBS / 22_779,
    begin=0.0,
    length=3.5,
    likeness=0.4,
    spread=1.3,
    slots=30,
    memory=0.3,
    nodes=320,
    patience=_DAY / 2,
    users=100,
)

# Run time over requested time, and the requests that users type (seconds); the site's limit is 18 hours.
_USED = ((0.0, 0.0005), (0.05, 0.002), (0.1, 0.009), (0.25, 0.046), (0.5, 0.18), (0.75, 0.56), (0.9, 0.9), (1.0, 1.0))
_ROUND = np.array(
    [300, 600, 900, 1200, 1800, 2400, 3600, 5400, 7200, 10800, 14400, 18000, 21600, 28800, 36000, 43200, 57600, 64800],
    dtype=float,
)
_ROUND_SHARE = 0.85


@entry
@renames.arguments("nasa_like")
def nasa_like(jobs: int, *, rng: checks.Random) -> Workload:
    """A stand-in for the NASA iPSC/860 log of [krevat2002] (128 nodes, sizes powers of two, no estimates).

    Parameters
    ----------
    jobs : int
        Number of jobs; 10,000 give the paper's span of 17.08 days, other numbers a span in proportion.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.

    Returns
    -------
    Workload
        61 % of the jobs are one-node checks of 36 s, spread over the day; the others come in series, most of them by
        day.  For 10,000 jobs the statistics of Table 1 hold within 5 %, and the offered load on 128 nodes is 0.597.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.nasa_like(10_000, rng=1)
    >>> summary = log.summary(nodes=128)
    >>> round(summary["size_mean"], 1), round(summary["offered_load"], 2), summary["power_of_two_share"]
    (6.3, 0.6, 1.0)
    """
    n, rng = checks.whole("jobs", jobs, low=1, high=checks.MOST_ROWS), checks.generator(rng)
    jobs, probes = counts([_JOBS - _NASA_CHECKS, _NASA_CHECKS], n).tolist()
    span = _NASA.span * n / _JOBS
    size, runtime, user, submit = _ordered(_NASA, jobs, span, rng)
    when = (np.arange(probes) + rng.random(probes)) / max(probes, 1) * span
    submit = np.concatenate([submit, when])
    size = np.concatenate([size, np.ones(probes, dtype=np.int64)])
    runtime = np.concatenate([runtime, np.full(probes, _NASA_CHECK_RUNTIME)])
    user = np.concatenate([user, np.zeros(probes, dtype=np.int64)])
    order = np.argsort(submit, kind="stable")
    submit, rows = _as_logged(_NASA, submit[order], runtime[order], size[order], span)
    rows = order[rows]
    return _workload("NASA stand-in", submit, runtime[rows], size[rows], user[rows])


@entry
@renames.arguments("sdsc_like")
def sdsc_like(jobs: int, *, rng: checks.Random) -> Workload:
    """A stand-in for the SDSC SP2 log of [krevat2002] (128 nodes, any size, with estimates).

    Parameters
    ----------
    jobs : int
        Number of jobs; 10,000 give the paper's span of 110.6 days, other numbers a span in proportion.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.

    Returns
    -------
    Workload
        Series of jobs with a daily cycle; 4 % of the jobs have a size without a box on a 4x4x8 torus; estimates are at
        least the run time and mostly round numbers up to 18 hours.  For 10,000 jobs the statistics of Table 1 hold
        within 5 %, and the offered load on 128 nodes is 0.74.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.sdsc_like(10_000, rng=1)
    >>> round(log.summary(nodes=128)["offered_load"], 2), bool((log.estimate >= log.runtime).all())
    (0.74, True)
    """
    n, rng = checks.whole("jobs", jobs, low=1, high=checks.MOST_ROWS), checks.generator(rng)
    span = _SDSC.span * n / _JOBS
    size, runtime, user, submit = _ordered(_SDSC, n, span, rng)
    submit, rows = _as_logged(_SDSC, submit, runtime, size, span)
    size, runtime, user = size[rows], runtime[rows], user[rows]
    return _workload("SDSC stand-in", submit, runtime, size, user, _requests(runtime, rng))


@entry
@renames.arguments("llnl_like")
def llnl_like(jobs: int, *, rng: checks.Random) -> Workload:
    """A stand-in for the LLNL Cray T3D log of [oliner2004] (256 nodes, sizes powers of two, no estimates).

    Parameters
    ----------
    jobs : int
        Number of jobs; 10,000 give a span of 53.6 days (22,779 those 122 days of the log), others one in proportion.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.

    Returns
    -------
    Workload
        Series of jobs with a daily cycle, more than half of them of 32 or 64 nodes.  The offered load on 256 nodes is
        0.62.

    Notes
    -----
    Unlike `nasa_like` and `sdsc_like` this one is not fitted to its log, which was not available. It uses only what the
    log's page in the Parallel Workloads Archive says: the machine, the number of jobs, the months (June to September
    1996), and the limits of the queues (4 hours, for some jobs of 64 nodes 40).  Shares of sizes, run times, the load
    and the daily cycle are chosen by us, and arrivals are spread as in `sdsc_like`.  On that machine jobs shared nodes
    in time (gang scheduling); here run times are those of a job alone.  Results with it say something about the method,
    not about LLNL.

    Examples
    --------
    >>> import faultsim as fs
    >>> summary = fs.synthetic.llnl_like(10_000, rng=1).summary(nodes=256)
    >>> round(summary["size_mean"], 1), round(summary["offered_load"], 2), summary["power_of_two_share"]
    (46.7, 0.62, 1.0)
    """
    n, rng = checks.whole("jobs", jobs, low=1, high=checks.MOST_ROWS), checks.generator(rng)
    span = _LLNL.span * n / _JOBS
    size, runtime, user, submit = _ordered(_LLNL, n, span, rng)
    submit, rows = _as_logged(_LLNL, submit, runtime, size, span)
    return _workload("LLNL stand-in", submit, runtime[rows], size[rows], user[rows], nodes=256)


def _ordered(site: _Site, n: int, span: float, rng: np.random.Generator) -> tuple[Whole, Floats, Whole, Floats]:
    """Size, run time, user and time of arrival of `n` jobs, in order of arrival."""
    if n == 0:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, np.zeros(0), nothing, np.zeros(0)
    size, runtime, series = in_series(
        draw_mix(site.mix, n, rng),
        rng,
        length=site.length,
        likeness=site.likeness,
        spread=site.spread,
        slots=site.slots,
    )
    activity = 1.0 / np.arange(1, site.users + 1)  # a few users do most of it
    user = rng.choice(site.users, size=int(series.max()) + 1, p=activity / activity.sum())[series] + 1
    submit = daily_arrivals(n, rng, span=span, hours=site.hours, gaps=site.gaps, memory=site.memory, begin=site.begin)
    return size, runtime, user, submit


def _as_logged(site: _Site, submit: Floats, runtime: Floats, size: Whole, span: float) -> tuple[Floats, Indices]:
    """Times from 0 to `span` at which the jobs get into the log, ascending, and the rows in that order."""
    entered = site_schedule(submit, runtime, size, nodes=site.nodes, patience=site.patience)
    rows = np.argsort(entered, kind="stable")
    entered = entered[rows] - entered[rows[0]]
    if entered[-1] > 0:
        entered *= span / entered[-1]
    return np.floor(entered), rows


def _requests(runtime: Floats, rng: np.random.Generator) -> Floats:
    """Requested times: the run time over what users use of their request, rounded up to what they type."""
    levels, shares = np.array(_USED).T
    used = np.interp(rng.random(len(runtime)), levels, shares)
    wanted = np.maximum(np.minimum(runtime / used, _ROUND[-1]), runtime)
    typed = _ROUND[np.minimum(np.searchsorted(_ROUND, wanted), len(_ROUND) - 1)]
    minutes = np.ceil(wanted / 60) * 60
    is_round = (rng.random(len(runtime)) < _ROUND_SHARE) & (wanted <= _ROUND[-1])
    requests: Floats = np.where(is_round, typed, minutes)
    return requests


def _workload(
    name: str,
    submit: Floats,
    runtime: Floats,
    size: Whole,
    user: Whole,
    estimate: Floats | None = None,
    nodes: int = 128,
) -> Workload:
    comments: Sequence[str] = (
        "; Version: 2.2",
        f"; MaxNodes: {nodes}",
        f"; MaxProcs: {nodes}",
        f"; Note: synthetic ({name}), made by faultsim",
    )
    return Workload(
        submit=submit, runtime=runtime, size=size, user=user, estimate=estimate, name=name, comments=comments
    )
