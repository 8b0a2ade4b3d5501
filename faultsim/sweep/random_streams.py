"""Random streams of replicates: keyed by (seed, purpose, replicate), never by a policy or any other axis.

So all policies of a replicate face the same jobs and the same failures (common random numbers), and replicates are
independent of each other.
"""

import zlib

import numpy as np

from faultsim.policies import IntervalPredictor


def _sequence(seed: int, purpose: str, replicate: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), replicate))


def generator(seed: int, purpose: str, replicate: int) -> np.random.Generator:
    """The stream of one replicate for one purpose.

    Examples
    --------
    >>> generator(0, "failures", 3).random() == generator(0, "failures", 3).random()
    True
    >>> generator(0, "failures", 3).random() == generator(0, "failures", 4).random()
    False
    """
    return np.random.Generator(np.random.PCG64DXSM(_sequence(seed, purpose, replicate)))


def derived_seed(seed: int, purpose: str, replicate: int) -> int:
    """A seed below 2**63 (what SQLite keeps) for a function that takes one."""
    return int(_sequence(seed, purpose, replicate).generate_state(1, np.uint64)[0] >> np.uint64(1))


def run_seed(seed: int, replicate: int) -> int:
    """The ``seed`` of a replicate's run: replicate 0 has the sweep's own, so that it is the given run itself.

    Examples
    --------
    >>> run_seed(7, 0), run_seed(7, 1) == run_seed(7, 1), run_seed(7, 1) == run_seed(7, 2)
    (7, True, False)
    """
    return seed if replicate == 0 else derived_seed(seed, "run", replicate)


def draws_from_seed(predictor: object) -> bool:
    """Whether a run with this predictor draws anything from its ``seed``.

    If nothing is drawn, every replicate has the same seed, hence the same content, and is run once.
    """
    return isinstance(predictor, IntervalPredictor) and predictor.index is None
