"""`expected_ettr`: the effective training time ratio of one long job by formulas (equations.md#ettr)."""

import math

from faultsim import checks, rates
from faultsim.entries import entry

_RULES = ("first-order", "renewal")
#: What a float still counts one by one.
_MOST_NODES = 2**53


@entry
def expected_ettr(
    nodes: int,
    mtbf: checks.Duration,
    interval: checks.Duration,
    *,
    cost: checks.Duration = 0.0,
    restart_cost: checks.Duration = 0.0,
    rule: str = "first-order",
    any_rate: bool = False,
) -> float:
    """Share of its time in which a long job works, if its nodes fail independently and it starts again at once.

    With r = 1 / `mtbf`, N = `nodes`, dt = `interval`, w = `cost` and u0 = `restart_cost`, the first-order rule of
    [kokolis2025] is (1 - N r (u0 + dt / 2)) / (1 + w / dt), and 0 where that is negative. It assumes that

    - failures are independent, at a constant rate, and any of them kills the job;
    - the job is long, saves its progress every dt seconds of work, and has a node for each that fails at once: it
      waits for nothing;
    - N r (u0 + dt / 2) is much less than 1: failures during a restart, and second ones before the next checkpoint, are
      neglected.

    Parameters
    ----------
    nodes : int
        Nodes of the job.
    mtbf : duration
        Mean time between failures of one node: 1,000 days / 6.5 for 6.5 failures per 1,000 node-days.
    interval : duration
        Work between two checkpoints, in seconds or as text ("1h"), above 0; as in `Periodic`.
    cost : duration, default 0
        Time of a checkpoint, during which the job does not work.
    restart_cost : duration, default 0
        From a failure until the job works again; as in `Requeue`.
    rule : {"first-order", "renewal"}
        ``"renewal"`` is exact for exponential failures, also during restarts and checkpoints:
        N r dt exp(-N r u0) / (exp(N r (dt + w)) - 1) ([daly2006]).
    any_rate : bool, default False
        Accept what otherwise is taken for a mistake in units: a node that fails more than once a day (once an hour if
        `mtbf` was given with its unit), a restart that takes longer than `mtbf`, and a checkpoint of more than ten
        times the interval.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    OptionError
        For a time that is not positive, an unknown rule, or times that are taken for a mistake in units.

    Examples
    --------
    >>> import faultsim as fs
    >>> job = {"nodes": 1024, "mtbf": 1000 / 6.5 * 86_400, "interval": "1h", "cost": "1m", "restart_cost": "5m"}
    >>> round(fs.expected_ettr(**job), 4), round(fs.expected_ettr(**job, rule="renewal"), 4)
    (0.8245, 0.832)
    """
    job = checks.whole("nodes", checks.whole("nodes", nodes, low=1), high=_MOST_NODES)
    any_rate = checks.flag("any_rate", any_rate)
    of_node = checks.number("mtbf", mtbf, above=0.0, unit="seconds")
    mean = of_node / job
    work = checks.number("interval", interval, above=0.0, unit="seconds")
    save = checks.number("cost", cost, low=0.0, unit="seconds")
    again = checks.number("restart_cost", restart_cost, low=0.0, unit="seconds")
    exact = checks.choice("rule", rule, _RULES) == "renewal"
    rates.mean_time("expected_ettr", mtbf, any_rate)
    rates.check_repair("expected_ettr", ("restart_cost", restart_cost, again), ("mtbf", mtbf, of_node), any_rate)
    rates.check_saving("expected_ettr", ("cost", cost, save), ("interval", interval, work), any_rate)
    if not mean:
        return 0.0
    if exact:
        period = (work + save) / mean
        if not period or math.isinf(period):  # beyond the range of floats: its limits
            return 0.0 if period else work / (work + save) * math.exp(-again / mean)
        return work / mean * math.exp(-again / mean - period) / -math.expm1(-period)
    return max(0.0, (1.0 - (again + work / 2.0) / mean) / (1.0 + save / work))
