"""Random times for failures: gaps, down times; each a small frozen dataclass with a mean and a `sample`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.data.columns import in_seconds
from faultsim.errors import OptionError

# Below it a Weibull variable spans more than 30 decades and sums lose all but the largest term.
_LEAST_SHAPE = 0.05


@runtime_checkable
class _Sampler(Protocol):
    def sample(self, n: int, rng: np.random.Generator, /) -> ArrayLike: ...


#: What `downtime=` takes: seconds, something with ``sample(n, rng)``, or a function of ``(n, rng)``.
Times: TypeAlias = checks.Duration | _Sampler | Callable[[int, np.random.Generator], ArrayLike]


@dataclass(frozen=True)
class ExponentialTimes:
    """Exponential times of a given mean, in seconds.

    Examples
    --------
    >>> import faultsim as fs
    >>> len(fs.synthetic.ExponentialTimes(3600).sample(5, 1))
    5
    """

    mean: float

    if TYPE_CHECKING:

        def __init__(self, mean: checks.Duration) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", checks.number("mean of ExponentialTimes", self.mean, above=0.0, unit="s"))

    def sample(self, n: int, rng: checks.Random) -> Floats:
        """`n` independent values in seconds."""
        return checks.generator(rng).exponential(self.mean, _count(n))


@dataclass(frozen=True)
class LognormalTimes:
    """Lognormal times by their own mean and standard deviation (not those of the logarithm), in seconds.

    Repair times of real machines are close to lognormal ([schroeder2006]).

    Examples
    --------
    >>> import faultsim as fs
    >>> round(fs.synthetic.LognormalTimes(mean=6 * 3600, sd=12 * 3600).median)
    9660
    """

    mean: float
    sd: float

    if TYPE_CHECKING:

        def __init__(self, mean: checks.Duration, sd: checks.Duration) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", checks.number("mean of LognormalTimes", self.mean, above=0.0, unit="s"))
        object.__setattr__(self, "sd", checks.number("sd of LognormalTimes", self.sd, low=0.0, unit="s"))

    @property
    def median(self) -> float:
        """The median in seconds."""
        return self.mean / math.sqrt(1.0 + (self.sd / self.mean) ** 2)

    def sample(self, n: int, rng: checks.Random) -> Floats:
        """`n` independent values in seconds."""
        spread = math.sqrt(math.log1p((self.sd / self.mean) ** 2))
        return checks.generator(rng).lognormal(math.log(self.median), spread, _count(n))


@dataclass(frozen=True)
class WeibullTimes:
    """Weibull times, in seconds: below shape 1 clustered, at 1 exponential, above it more even.

    Examples
    --------
    >>> import faultsim as fs
    >>> round(fs.synthetic.WeibullTimes(shape=0.85, scale=18_000).mean)
    19583
    """

    shape: float
    scale: float

    if TYPE_CHECKING:

        def __init__(self, shape: float, scale: checks.Duration) -> None: ...

    def __post_init__(self) -> None:
        checks.number("shape", self.shape, low=_LEAST_SHAPE)
        object.__setattr__(self, "scale", checks.number("scale", self.scale, above=0.0, unit="s"))

    @property
    def mean(self) -> float:
        """The mean in seconds, scale * Gamma(1 + 1/shape)."""
        return self.scale * math.gamma(1.0 + 1.0 / self.shape)

    def sample(self, n: int, rng: checks.Random) -> Floats:
        """`n` independent values in seconds."""
        return self.scale * checks.generator(rng).weibull(self.shape, _count(n))


def _count(n: int) -> int:
    return checks.whole("n", n, low=0, high=checks.MOST_ROWS)


def _in_seconds(drawn: ArrayLike) -> Floats:
    return np.asarray(in_seconds(drawn, np.asarray(drawn)), dtype=np.float64)


def sample_times(what: str, times: object, n: int, rng: np.random.Generator) -> Floats:
    """`n` values of `times` (see `Times`), all finite and not negative.

    Examples
    --------
    >>> sample_times("downtime", 120, 3, np.random.default_rng(1))
    array([120., 120., 120.])
    >>> sample_times("downtime", lambda n, rng: rng.integers(1, 3, n), 3, np.random.default_rng(1))
    array([1., 2., 2.])
    """
    if isinstance(times, _Sampler) and not hasattr(times, "iloc"):  # a column of pandas samples itself
        values = _in_seconds(times.sample(n, rng))
    elif callable(times):
        values = _in_seconds(times(n, rng))
    else:
        return np.full(n, checks.number(what, times, low=0.0, unit="s"))
    if values.shape != (n,):
        raise OptionError(f"{what}: expected {n} values, got an array of shape {values.shape}")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise OptionError(f"{what}: drew {values[np.argmax(bad)].item()!r}; expected finite times of 0 s or more")
    return values
