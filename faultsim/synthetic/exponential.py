"""The textbook workload: exponential gaps and run times, independent sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks, renames
from faultsim.arrays import LongIntegers
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import OptionError


@entry
@renames.arguments("exponential")
def exponential(
    jobs: int,
    *,
    rng: checks.Random,
    mean_gap: checks.Duration,
    mean_runtime: checks.Duration,
    sizes: ArrayLike = (1,),
    weights: ArrayLike | None = None,
    mean_size: float | None = None,
    max_size: int | None = None,
) -> Workload:
    """Poisson arrivals, exponential run times, independent sizes: the case that queueing theory can solve.

    Parameters
    ----------
    jobs : int
        Number of jobs.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.
    mean_gap, mean_runtime : float
        Mean time between arrivals and mean run time, in seconds.
    sizes : array_like of int
        Sizes to choose from.
    weights : array_like of float, optional
        Relative frequency of each of `sizes`; equal by default.
    mean_size : float, optional
        Instead of `sizes`: exponential sizes of this mean, rounded half up, at least 1 ([li2009] section 6.1).
    max_size : int, optional
        With `mean_size`: larger sizes are drawn again.

    Returns
    -------
    Workload
        Without estimates; the first job arrives after one gap.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.exponential(1000, rng=1, mean_gap=60, mean_runtime=600, sizes=[1, 2, 4], weights=[2, 1, 1])
    >>> len(log), sorted(set(log.size.tolist()))
    (1000, [1, 2, 4])
    """
    n, rng = checks.whole("jobs", jobs, low=1, high=checks.MOST_ROWS), checks.generator(rng)
    between = checks.number("mean_gap", mean_gap, above=0.0, unit="seconds")
    runs = checks.number("mean_runtime", mean_runtime, above=0.0, unit="seconds")
    gaps = rng.exponential(between, n)
    runtime = rng.exponential(runs, n)
    if mean_size is None:
        size = _chosen(n, rng, np.asarray(sizes), weights)
    else:
        size = _rounded_exponential(n, rng, mean_size, max_size)
    return Workload(submit=np.cumsum(gaps), runtime=runtime, size=size, name="exponential")


def _chosen(n: int, rng: np.random.Generator, sizes: LongIntegers, weights: ArrayLike | None) -> LongIntegers:
    if sizes.ndim != 1 or not len(sizes):
        raise OptionError("sizes: expected at least one size")
    share = np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=float)
    if share.shape != sizes.shape or not (np.isfinite(share).all() and (share >= 0).all() and share.sum() > 0):
        raise OptionError(f"weights: expected {len(sizes)} numbers of 0 or more, not all 0, got {weights!r}")
    return rng.choice(sizes, size=n, p=share / share.sum())


def _rounded_exponential(n: int, rng: np.random.Generator, mean: float, largest: int | None) -> LongIntegers:
    most = np.iinfo(np.int32).max if largest is None else checks.whole("max_size", largest, low=1, unit="nodes")
    # Of a hundred draws from a mean of so many times the largest size, one is small enough.
    checks.number("mean_size", mean, above=0.0, high=100.0 * most, unit="nodes")
    size = np.zeros(n)
    again = np.ones(n, dtype=bool)
    while again.any():
        size[again] = np.maximum(np.floor(rng.exponential(mean, int(again.sum())) + 0.5), 1)
        again = size > most
    return size.astype(np.int64)
