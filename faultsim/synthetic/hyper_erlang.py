"""Hyper-Erlang distributions of common order, fitted to three moments, and workloads drawn from them.

A hyper-Erlang variable goes with probability p1 through n exponential stages of rate1, else through n of rate2.
[jann1997] models a log with one such fit per size class, for the gaps between arrivals of that class and for its run
times.  [zhang2004] section 3 uses workloads made in this way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from faultsim import checks, renames
from faultsim.arrays import Floats
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError

# A fit that needs more stages is a constant for all purposes.
_MAX_STAGES = 1000


@dataclass(frozen=True)
class HyperErlang:
    """A hyper-Erlang distribution of common order.

    Parameters
    ----------
    stages : int
        Number of stages of both branches.
    rate1, rate2 : float
        Rate of a stage in each branch, per second; the first branch is the longer one.
    p1 : float
        Probability of the first branch.

    Examples
    --------
    >>> import faultsim as fs
    >>> fit = fs.synthetic.hyper_erlang_fit(10.0, 400.0, 40_000.0)
    >>> [round(m, 6) for m in fit.moments()]
    [10.0, 400.0, 40000.0]
    """

    stages: int
    rate1: float
    rate2: float
    p1: float

    def __post_init__(self) -> None:
        checks.whole("stages", self.stages, low=1)
        for name in ("rate1", "rate2"):
            checks.number(name, getattr(self, name), above=0.0)
        checks.number("p1", self.p1, low=0.0, high=1.0)

    def moments(self) -> tuple[float, float, float]:
        """The first three moments, in seconds, seconds squared and seconds cubed."""
        n, p, a, b = self.stages, self.p1, 1 / self.rate1, 1 / self.rate2
        rising = (n, n * (n + 1), n * (n + 1) * (n + 2))
        one, two, three = (r * (p * a ** (k + 1) + (1 - p) * b ** (k + 1)) for k, r in enumerate(rising))
        return one, two, three

    def sample(self, n: int, rng: checks.Random) -> Floats:
        """`n` independent values in seconds."""
        rng = checks.generator(rng)
        scale = np.where(
            rng.random(checks.whole("n", n, low=0, high=checks.MOST_ROWS)) < self.p1, 1 / self.rate1, 1 / self.rate2
        )
        return rng.gamma(self.stages, scale)


@entry
def hyper_erlang_fit(m1: float, m2: float, m3: float) -> HyperErlang:
    """The hyper-Erlang distribution of the smallest order that has these three moments.

    The scales 1/rate1 and 1/rate2 are the roots of a quadratic whose coefficients come from the moments of the
    two-point distribution below the stages.  An order n can do it if n > 1/CV^2 and m1 m3 / m2^2 > (n + 2)/(n + 1);
    an exact Erlang distribution comes back with two equal rates.

    Parameters
    ----------
    m1, m2, m3 : float
        First three moments (about zero) of a positive variable.

    Returns
    -------
    HyperErlang

    Raises
    ------
    InputError
        No positive variable has these moments, or it takes more than 1,000 stages (an almost constant one).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.synthetic.hyper_erlang_fit(1.0, 2.0, 6.0)
    HyperErlang(stages=1, rate1=1.0, rate2=1.0, p1=1.0)
    >>> fs.synthetic.hyper_erlang_fit(1.0, 1.2, 1.68).stages
    5
    """
    given = f"got {m1!r:.40}, {m2!r:.40}, {m3!r:.40}"
    try:
        m1, m2, m3 = checks.number("m1", m1), checks.number("m2", m2), checks.number("m3", m3)
    except OptionError:
        raise InputError(f"hyper_erlang_fit: expected three positive moments, {given}") from None
    if not all(1e-60 <= moment <= 1e60 for moment in (m1, m2, m3)):  # their products are numbers, too
        raise InputError(f"hyper_erlang_fit: expected three positive moments, from 1e-60 to 1e60, {given}")
    skew = m1 * m3 / m2**2
    if m2 < m1**2 or skew < 1:
        raise InputError(f"hyper_erlang_fit: no positive variable has the moments {m1!r}, {m2!r}, {m3!r}")
    for n in range(1, _MAX_STAGES + 1):
        u1, u2, u3 = m1 / n, m2 / (n * (n + 1)), m3 / (n * (n + 1) * (n + 2))
        variance = u2 - u1**2
        if abs(variance) <= 1e-12 * u2 and abs(u3 - u1**3) <= 1e-9 * u3:
            return HyperErlang(n, 1 / u1, 1 / u1, 1.0)
        if variance <= 1e-12 * u2 or u1 * u3 - u2**2 <= 1e-12 * u2**2:
            continue
        total = (u3 - u1 * u2) / variance  # of the two scales
        product = (u1 * u3 - u2**2) / variance
        root = math.sqrt(max(total**2 - 4 * product, 0.0))
        long = (total + root) / 2
        short = product / long  # steadier than (total - root) / 2
        return HyperErlang(n, 1 / long, 1 / short, min(max((u1 - short) / (long - short), 0.0), 1.0))
    raise InputError(f"hyper_erlang_fit: the moments {m1!r}, {m2!r}, {m3!r} take more than {_MAX_STAGES} stages")


@dataclass(frozen=True)
class SizeClass:
    """The jobs of one range of sizes: how often they arrive and how long they run.

    Parameters
    ----------
    low, high : int
        Sizes of the class, both included.
    sizes, weights : tuple
        The sizes that occur, and how often.
    gaps, runtimes : HyperErlang
        Between arrivals of this class, and run times.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.exponential(2000, rng=1, mean_gap=60, mean_runtime=600)
    >>> only = fs.synthetic.HyperErlangModel.fit(log).classes[0]
    >>> only.low, only.high, round(only.runtimes.moments()[0], 6) == round(float(log.runtime.mean()), 6)
    (1, 1, True)
    """

    low: int
    high: int
    sizes: tuple[int, ...]
    weights: tuple[float, ...]
    gaps: HyperErlang
    runtimes: HyperErlang


@dataclass(frozen=True)
class HyperErlangModel:
    """A log as independent streams of jobs, one per size class (1, 2, 3-4, 5-8, ...).

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.exponential(2000, rng=1, mean_gap=60, mean_runtime=600, sizes=[1, 3, 4])
    >>> model = fs.synthetic.HyperErlangModel.fit(log)
    >>> [(c.low, c.high, c.sizes) for c in model.classes]
    [(1, 1, (1,)), (3, 4, (3, 4))]
    """

    classes: tuple[SizeClass, ...]

    @classmethod
    def fit(cls, log: Workload) -> HyperErlangModel:
        """Fit every size class of a log by its sample moments.

        Run times of 0 are ignored (a stage takes time). A class whose values are almost equal becomes an Erlang
        distribution of 1,000 stages; one with fewer than 3 jobs is omitted.

        Raises
        ------
        InputError
            No class has 3 jobs with work.
        """
        classes = []
        useful = log.runtime > 0
        top = 1
        while top < 2 * int(log.size.max()):
            low = top // 2 + 1
            inside = (log.size >= low) & (log.size <= top) & useful
            if inside.sum() >= 3 and log.submit[inside][-1] > log.submit[inside][0]:
                sizes, counts = np.unique(log.size[inside], return_counts=True)
                classes.append(
                    SizeClass(
                        low,
                        top,
                        tuple(sizes.tolist()),
                        tuple((counts / counts.sum()).tolist()),
                        _fit_sample(np.diff(log.submit[inside])),
                        _fit_sample(log.runtime[inside]),
                    )
                )
            top *= 2
        if not classes:
            raise InputError("HyperErlangModel.fit: no size class has 3 jobs with a run time above 0")
        return cls(tuple(classes))


def _fit_sample(values: Floats) -> HyperErlang:
    moments = [float(np.mean(values**k)) for k in (1, 2, 3)]
    try:
        return hyper_erlang_fit(*moments)
    except InputError:  # all values (almost) equal
        rate = _MAX_STAGES / moments[0]
        return HyperErlang(_MAX_STAGES, rate, rate, 1.0)


@entry
@renames.arguments("hyper_erlang")
def hyper_erlang(jobs: int, *, rng: checks.Random, model: HyperErlangModel | Workload) -> Workload:
    """A workload from per-class hyper-Erlang fits ([jann1997]; [zhang2004] section 3).

    Parameters
    ----------
    jobs : int
        Number of jobs.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.
    model : HyperErlangModel or Workload
        The fits; a workload is fitted first.

    Returns
    -------
    Workload
        The first `n` arrivals of all classes together, without estimates; `user` is the number of the class.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.exponential(2000, rng=1, mean_gap=60, mean_runtime=600, sizes=[1, 2, 8])
    >>> len(fs.synthetic.hyper_erlang(500, rng=2, model=log))
    500
    """
    n, rng = checks.whole("jobs", jobs, low=1, high=checks.MOST_ROWS), checks.generator(rng)
    if isinstance(model, Workload):
        model = HyperErlangModel.fit(model)
    if not isinstance(model, HyperErlangModel):
        given = checks.shown(model, "Workload")
        raise InputError(f"model must be a HyperErlangModel or a Workload, got {given}")
    rates = np.array([1 / c.gaps.moments()[0] for c in model.classes])
    horizon = 1.05 * n / rates.sum()
    parts: list[Floats] = [np.zeros(0) for _ in model.classes]
    while True:
        for index, group in enumerate(model.classes):
            while not len(parts[index]) or parts[index][-1] < horizon:
                gaps = group.gaps.sample(max(16, int(1.1 * horizon * rates[index] - len(parts[index]))), rng)
                begin = parts[index][-1] if len(parts[index]) else 0.0
                parts[index] = np.concatenate([parts[index], begin + np.cumsum(gaps)])
        if sum(int((part <= horizon).sum()) for part in parts) >= n:
            break
        horizon *= 1.2
    submit = np.concatenate(parts)
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    order = np.argsort(submit, kind="stable")[:n]
    submit, owner = submit[order], owner[order]
    size = np.zeros(n, dtype=np.int64)
    runtime = np.zeros(n)
    for index, group in enumerate(model.classes):
        mine = owner == index
        size[mine] = rng.choice(group.sizes, size=int(mine.sum()), p=group.weights)
        runtime[mine] = group.runtimes.sample(int(mine.sum()), rng)
    return Workload(submit=submit, runtime=runtime, size=size, user=owner, name="hyper-Erlang")
