"""Users who give up: times at which waiting jobs are withdrawn."""

from __future__ import annotations

import numpy as np

from faultsim import checks
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.synthetic.times import ExponentialTimes, Times, sample_times


@entry
def with_patience(log: Workload, patience: Times, *, rng: checks.Random, share: float = 1.0) -> Workload:
    """The same jobs with a column ``cancel``: each is withdrawn when its user has waited for as long as is drawn.

    A job that runs by then is killed (model.md#withdrawal), so give what a user waits for the whole job.

    Parameters
    ----------
    log : Workload
        Without a column ``cancel``.
    patience : float, str, times or callable
        Times from the submission to the withdrawal, in seconds: a mean (exponential times), such as ``"2h"``; an object
        with ``sample(n, rng)``, such as `LognormalTimes`; or a function of ``(n, rng)``.
    rng : numpy.random.Generator, numpy.random.SeedSequence or int
        Source of randomness, or a seed.
    share : float
        Probability that a job has a limited patience; the others are never withdrawn.

    Returns
    -------
    Workload
        With ``cancel`` in seconds on the clock of the log, -1 where a job is not withdrawn.

    Raises
    ------
    InputError
        If the log has a column ``cancel``.
    OptionError
        A share that is no probability; times that are negative or infinite.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 10, 20], runtime=[5, 5, 5], size=[1, 1, 1])
    >>> fs.synthetic.with_patience(log, lambda n, rng: [60] * n, rng=1).columns["cancel"]
    array([60., 70., 80.])
    """
    if "cancel" in log.further:
        raise InputError("with_patience: the log has a column cancel already; log.with_columns(cancel=None) removes it")
    rng, n = checks.generator(rng), len(log)
    limited = rng.random(n) < checks.number("share", share, low=0.0, high=1.0)
    is_mean = not callable(patience) and not hasattr(patience, "sample")
    times = ExponentialTimes(patience) if is_mean else patience  # type: ignore[arg-type]
    drawn = sample_times("patience", times, n, rng)
    return log.with_columns(cancel=np.where(limited, np.minimum(log.submit + drawn, checks.LATEST), -1.0))
