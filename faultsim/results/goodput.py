"""Where the capacity of a run went, what failures did to its jobs, and what it cost: the tables of `Result.goodput`,
`Result.mttf` and `Result.energy`.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Flags, Floats, LongIntegers, Values
from faultsim.errors import OptionError
from faultsim.machines.power import Power
from faultsim.results.energy import Energy
from faultsim.results.exposure import exposed_time
from faultsim.results.goodput_metrics import NODE_DAYS, ettr_of
from faultsim.results.groups import labels_of
from faultsim.results.ledger import GOODPUT_ACCOUNTS
from faultsim.results.printed_table import PrintedTable, suited

if TYPE_CHECKING:
    from faultsim.results.metric_table import Measured

    class _Finished(Measured, Protocol):
        """What `GoodputOfAResult` reads of the result that it is part of."""

        @property
        def ended(self) -> Flags: ...


HOUR = 3600.0


def goodput_table(ledger: Mapping[str, float], metrics: Mapping[str, float]) -> PrintedTable:
    """The groups of the accounts of a ledger, with their node-hours and shares.

    Examples
    --------
    >>> import faultsim as fs
    >>> result = fs.simulate(fs.Workload(submit=[0, 0], runtime=[3600, 7200], size=[2, 4]), fs.Cluster(4))
    >>> goodput_table(result.ledger, result.metrics)["node_hours"]
    array([10.,  0.,  0.,  0.,  0.,  0.,  0.,  0.,  2.,  0.])
    """
    seconds = np.array([math.fsum(ledger[account] for account in group) for group in GOODPUT_ACCOUNTS.values()])
    total = math.fsum(ledger.values())
    names = [group.replace("_", " ") for group in GOODPUT_ACCOUNTS]
    return PrintedTable(
        {
            "account": np.array(names, dtype=object),
            "node_hours": seconds / HOUR,
            "share": seconds / total if total else np.full(len(seconds), math.nan),
        },
        "goodput",
        {"node_hours": "{:,.1f}", "share": "{:.2%}"},
        [f"ETTR {metrics['ettr']:.2%} since first starts, {metrics['ettr_with_queue']:.2%} since submits"],
    )


def poisson_interval(count: ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Bounds of the mean of a Poisson number of which one was counted: quantiles of chi-squared, exact ([garwood1936]).

    The lower one is half of the quantile of 2 k degrees of freedom at (1 - confidence) / 2, and 0 for k = 0, the upper
    one half of that of 2 k + 2 degrees at (1 + confidence) / 2.

    Examples
    --------
    >>> low, high = poisson_interval([0, 10], 0.95)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 4.7954], [3.6889, 18.3904])
    """
    from scipy.special import gammaincinv  # the quantile of chi-squared of 2 k degrees is twice that of Gamma(k)

    k = np.asarray(count, dtype=np.float64)
    tail = (1.0 - confidence) / 2.0
    low: Floats = np.where(k > 0, gammaincinv(np.maximum(k, 1.0), tail), 0.0)
    high: Floats = np.asarray(gammaincinv(k + 1.0, 1.0 - tail))
    return low, high


def mttf_table(
    result: "Measured", among: Flags, by: str | ArrayLike, confidence: float, count_swaps: bool = False
) -> PrintedTable:
    """A row per group of jobs: how long they could be killed, how often they were, and the time between kills."""
    level = checks.number("confidence", confidence, above=0.0)
    if level >= 1.0:
        raise OptionError(f"confidence must be below 1, such as 0.95, got {confidence!r}")
    # With hot spares, which go with no other moves, each move is a failure that killed nobody.
    recovery = (result.settings.get("recovery") or {}).get("name")
    spared = recovery == "hot_spares"
    if checks.flag("swaps", count_swaps) and not spared:
        raise OptionError(
            f"swaps=True counts what hot spares took over, and this run has none (recovery={recovery!r}): leave it out"
        )
    name, labels = labels_of(result, by)
    rows = np.flatnonzero(among)
    values, group = np.unique(labels[rows], return_inverse=True)

    def summed(column: Values) -> Floats:
        return np.asarray(np.bincount(group, weights=column[rows], minlength=len(values)), np.float64)

    exposed = result.exposed
    seconds, kills = summed(exposed), summed(result.jobs["restarts"])
    node_seconds = summed(exposed * (_at_work(result) if count_swaps else result.jobs["allocated"]))
    swapped = summed(result.jobs["moves"]) if count_swaps else np.zeros_like(kills)
    hits = kills + swapped
    low, high = poisson_interval(hits, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        columns: dict[str, Values] = {
            name: values,
            "jobs": np.bincount(group, minlength=len(values)),
            "exposed": seconds,
            "kills": kills.astype(np.int64),
            **({"swaps": swapped.astype(np.int64)} if count_swaps else {}),
            "mttf": seconds / hits,
            "low": seconds / high,
            "high": seconds / low,
            "per_1000_node_days": NODE_DAYS * hits / node_seconds,
        }
    times = {each: suited(columns[each], 0) for each in ("exposed", "mttf", "low", "high")}
    between = "kills and swaps" if count_swaps else "kills"
    notes = [f"in seconds; low and high: {level:.0%} interval of the mean time between {between}"]
    of_all = int(np.add.reduce(result.jobs["restarts"]))
    swaps = int(np.add.reduce(result.jobs["moves"])) if spared else 0
    if swaps and not count_swaps:
        notes.append(f"no kills: what hot spares took over, {swaps:,} times")
    if others := of_all - (result.counters["failures_hit"] - swaps):
        notes.append(f"{others:,} of the {of_all:,} kills of the run are not of failures")
    return PrintedTable(columns, f"time between {between} by {name}", {**times, "per_1000_node_days": "{:.4g}"}, notes)


def _at_work(result: "Measured") -> LongIntegers:
    """The nodes of each job that are not spare (model.md#hot-spares): on a pod whole cubes, or a part of one."""
    blocks = result.machine.blocks
    unit = 1 if blocks is None else blocks[1]
    size = np.asarray(result.jobs["size"], np.int64)
    at_work: LongIntegers = np.minimum(-(-size // unit) * unit, result.jobs["allocated"])
    return at_work


class GoodputOfAResult:
    """`goodput`, `ettr`, `exposed`, `mttf` and `energy` of a result."""

    @property
    def goodput(self: "Measured") -> PrintedTable:
        """Where the capacity went: columns account, node_hours and share, a row per group of accounts of the ledger.

        The groups hold every node-second of the machine once (model.md#goodput); below them ``print`` says which share
        of their time jobs worked, `METRICS` ettr and ettr_with_queue.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 0], runtime=[3600, 7200], size=[2, 4])
        >>> print(fs.simulate(log, fs.Cluster(4)).goodput)
        account              node_hours   share
        productive                 10.0  83.33%
        cut at limit                0.0   0.00%
        rolled back                 0.0   0.00%
        checkpointing               0.0   0.00%
        restarting                  0.0   0.00%
        slowed                      0.0   0.00%
        waiting for repair          0.0   0.00%
        rounded up                  0.0   0.00%
        idle despite demand         2.0  16.67%
        idle without demand         0.0   0.00%
        ETTR 100.00% since first starts, 71.43% since submits
        """
        return goodput_table(self.ledger, self.metrics)

    @property
    def ettr(self: "Measured") -> Floats:
        """Effective training time ratio of each job, run time / (finish - first start); NaN for jobs without time.

        Of a run that is not over it is NaN for jobs that have not ended.
        """
        ratios = ettr_of(self)
        ratios.setflags(write=False)
        return ratios

    @property
    def exposed(self: "Measured") -> Floats:
        """Seconds for which each job could be killed: it held nodes, and did not wait for a repair (model.md#goodput).

        Start delays, checkpoints, restarts and the pauses of moves are in it. Of a run that is not over it is NaN for
        jobs that have not ended.
        """
        seconds = exposed_time(self)
        seconds.setflags(write=False)
        return seconds

    def mttf(
        self: "_Finished", by: str | ArrayLike = "size_class", *, confidence: float = 0.95, swaps: bool = False
    ) -> PrintedTable:
        """Mean time of a job between kills, for each class of sizes, user, or value of any column.

        Parameters
        ----------
        by : str or array_like, shape (n_jobs,)
            As in `by`: ``"size_class"``, that of 1, 2, 3-4, 5-8, ... nodes, named by its largest size; ``"user"``; any
            column of `jobs`; or a label for each job.
        confidence : float, default 0.95
            Of the interval: the exact one of a Poisson number of kills ([garwood1936]).
        swaps : bool, default False
            Whether failures that `HotSpares` took over count, too: they interrupt a job, which goes on in place from
            what it has saved.  Then there is a column ``swaps``, the time is that between kills and swaps, and the rate
            is per node at work.

        Returns
        -------
        PrintedTable
            The groups in ascending order; ``jobs``; ``exposed``, the seconds for which they could be killed, see
            `exposed`; ``kills``, by whatever killed them: those that are not of failures, but of `NodeStealing`,
            preemption or an `act`, are in a note below; ``mttf`` = exposed / kills, in seconds, with ``low`` and
            ``high``; ``per_1000_node_days``, the kills per 1,000 days of one node that they hold. Of a run that is
            not over, of jobs that have ended.

        Raises
        ------
        OptionError
            For an unknown column, a confidence that is not between 0 and 1, or swaps of a run without `HotSpares`.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 0], runtime=[36_000, 3600], size=[4, 1])
        >>> failures = fs.FailureTrace(time=[3600], node=[0], span=100_000)
        >>> print(fs.simulate(log, fs.Cluster(5), failures=failures).mttf())
        size_class  jobs  exposed  kills    mttf    low       high  per_1000_node_days
                 1     1    3,600      0     inf    976        inf                   0
                 4     1   39,600      1  39,600  7,107  1,564,116               545.5
        in seconds; low and high: 95% interval of the mean time between kills
        """
        return mttf_table(self, self.ended, by, confidence, swaps)

    def energy(self: "Measured", power: Power | str) -> Energy:
        """What the run took in energy, by account of the ledger.

        Parameters
        ----------
        power : Power or str
            Watts of a node, or text as in ``"idle=100,busy=300,down=0"``.

        Returns
        -------
        Energy
            Columns account, node_hours, watts, kwh and share; with the total, the energy per useful node-hour, and
            that of failures.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 0], runtime=[3600, 7200], size=[2, 4])
        >>> energy = fs.simulate(log, fs.Cluster(4)).energy(fs.Power(idle=100, busy=300))
        >>> energy.kwh, energy.per_useful_node_hour, energy.of_failures
        (3.2, 0.32, 0.0)
        """
        return Energy(self.ledger, power)
