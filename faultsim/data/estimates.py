"""Whether the estimates of a log can be meant: most jobs end within what their users asked for."""

from __future__ import annotations

import numpy as np

from faultsim.arrays import Values

#: Share of the jobs with an estimate that run past it from which on estimates are doubtful.  Logs of the Parallel
#: Workloads Archive, whose systems kill late, have at most 0.19; the same logs with limits in minutes 0.49 and more.
DOUBTFUL = 0.4
#: If half of the overruns are above this multiple of the estimate, no system that kills late explains them: the unit
#: may be another one.
LATE = 2.0
#: Seconds of the units in which estimates stand beside run times in seconds, and what they are called.
_UNITS = {"minutes": 60.0, "hours": 3600.0}


def doubtful_estimates(runtime: Values, estimate: Values) -> str | None:
    """A sentence if at least two fifths (`DOUBTFUL`) of the jobs that have an estimate run past it, else None.

    Parameters
    ----------
    runtime, estimate : array of shape (n,)
        Seconds; an estimate below 0 is missing, a run time that is not finite is unknown.

    Examples
    --------
    >>> doubtful_estimates(np.array([300.0, 1200.0, 60.0]), np.array([10.0, 30.0, 5.0]))
    '100 % of the jobs run past their estimate (3 of the 3 that have one); are estimates in minutes?'
    >>> doubtful_estimates(np.array([300.0, 1200.0, 60.0]), np.array([600.0, 1800.0, 30.0])) is None
    True
    """
    known = (estimate >= 0) & np.isfinite(runtime)
    past = known & (runtime > estimate)
    count, n = int(np.count_nonzero(past)), int(np.count_nonzero(known))
    if not count or count < DOUBTFUL * n:
        return None
    runtime, estimate, past = runtime[known], estimate[known], past[known]
    said = f"{100 * count / n:.0f} % of the jobs run past their estimate ({count:,} of the {n:,} that have one)"
    zeros = int(np.count_nonzero(estimate == 0))
    if 2 * int(np.count_nonzero(past & (estimate == 0))) >= count:
        return f"{said}; {zeros:,} estimates are 0: is that no limit? A missing estimate is -1"
    if 2 * int(np.count_nonzero(runtime > LATE * estimate)) < count:
        return f"{said}: schedulers go by estimates that are too short"
    for unit, length in _UNITS.items():
        if np.count_nonzero(runtime > length * estimate) < DOUBTFUL * n:
            return f"{said}; are estimates in {unit}?"
    return f"{said}; are run times and estimates in the same unit?"


def warn_of_estimates(where: str, runtime: Values, estimate: Values) -> None:
    """Log what `doubtful_estimates` finds of a file, to the logger "faultsim"."""
    said = doubtful_estimates(runtime, estimate)
    if said is not None:
        import logging

        logging.getLogger("faultsim").warning("%s: %s", where, said)
