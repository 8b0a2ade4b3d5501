"""The arguments common to all generators here: a NumPy generator and a number of jobs."""

from __future__ import annotations

import numpy as np

from faultsim.errors import OptionError


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or a new one (PCG64DXSM) from an integer seed.  There is no hidden default.

    Examples
    --------
    >>> bool(generator(7).integers(100) == generator(7).integers(100))
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.Generator(np.random.PCG64DXSM(int(rng)))
    raise OptionError(f"rng: expected a numpy.random.Generator or a seed (an integer of 0 or more), got {rng!r}")


def check_count(n: int) -> int:
    """A number of jobs, 1 or more.

    Examples
    --------
    >>> check_count(10)
    10
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise OptionError(f"n: expected a number of jobs (1 or more), got {n!r}")
    return int(n)
