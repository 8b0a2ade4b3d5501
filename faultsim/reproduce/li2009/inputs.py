"""What the experiments of [li2009] run on: the drawn jobs and failures of section 5.2.1, and a real log with a real
failure record in place of those of section 5.2.2, which are not public.

Jobs
    The paper's are six months of TACC Lonestar, 512 nodes.  Here: 180 days of the CTC SP2, every size times 512 / 338
    (its batch partition), rounded.  The paper says that they load the machine by 84 % without failures, but its own
    arrival rate, mean size and mean run time give 38 %: both are run, by scaling the run times.
Failures
    The paper's are those of a cluster of the NCSA.  Here: LANL system 20 (510 node numbers), end to end, with the
    times stretched to the NCSA's MTBF of a node (14.16 days), and the down times to its MTTR (1.73 h).  Which node of
    the record is which of the machine, and where in the record a run begins, is drawn separately for each replicate.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.readers.lanl import read_lanl
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import find_files
from faultsim.simulation.options import Estimates
from faultsim.synthetic import LognormalTimes, exponential, renewal_failures, sdsc_like, weibull_failures
from faultsim.synthetic.renewal import Uptimes

NODES = 512
HOUR, DAY = 3600.0, 86_400.0
FILES = {"jobs": "CTC-SP2-1996-3.1-cln.swf", "failures": "LA-UR-05-7318-failure-data-1996-2005.csv"}
#: Parameter -> its values, the default first.
CHOICES = {
    "suspicious": ("last", "ignore"),
    "queue_cost": ("last", "mean"),
    "residual": ("printed", "difference"),
    "bathtub": ("per_node", "per_gap"),
}
#: Of the NCSA's cluster (section 5.2.2): MTBF of a node in days, MTTR in hours.
TRACE_MTBF, TRACE_MTTR = 14.16, 1.73
#: Failure-free loads of the trace: as the paper states it, and 3,171 s * 14 nodes * .0044 / s / 512.
TRACE_LOADS = (0.84, 0.38)
_BATCH_NODES, _FIRST_DAY, _TRACE_DAYS, _LANL_SYSTEM = 338, 3.5, 180.0, 20
# Purposes of random streams: a stream is (seed, purpose, replicate).
_JOBS, _FAILURES, _TRACE, _STAND_IN_JOBS, _STAND_IN_FAILURES = range(5)
#: The trace of failures is so much longer than the arrivals: an overloaded machine works on after the last of them.
_SPARE = 1.5


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The baseline (Table 3 of the paper, whose numbers are not in its text).

    Node MTBF (448 days / 8) and the load (.7) follow from the text; all others are chosen by us, for the failed jobs
    of Figure 4 and the MTBF curve of Figure 7.

    Parameters
    ----------
    jobs : int
        Jobs of a drawn workload.
    gap, runtime, size : float
        Means of the exponential distributions: seconds between arrivals, seconds of run time, nodes.
    mtbf, mttr : float
        Of a node: days, hours.
    checkpoint_cost, restart_cost, interval : float
        Seconds: of a checkpoint, of a restart, between two ticks of FARS.
    precision, recall : float
        Of the predictor.
    suspicious, queue_cost, residual, live
        As for `Fars`.
    bathtub : {"per_node", "per_gap"}
        What the three sub-populations of the bathtub curve consist of: see `synthetic.renewal_failures`.
    """

    jobs: int = 20_000
    gap: float = 418.5
    runtime: float = 15_000.0
    size: float = 10.0
    mtbf: float = 56.0
    mttr: float = 1.0
    checkpoint_cost: float = 30.0
    restart_cost: float = 30.0
    interval: float = 300.0
    precision: float = 0.7
    recall: float = 0.45
    suspicious: Literal["last", "ignore"] = "last"
    queue_cost: Literal["last", "mean"] = "last"
    residual: Literal["printed", "difference"] = "printed"
    live: bool = False
    bathtub: str = "per_node"

    def __post_init__(self) -> None:
        checks.whole("jobs", self.jobs, low=1)
        for what in ("gap", "runtime", "size", "mtbf", "mttr", "checkpoint_cost", "interval"):
            checks.number(what, getattr(self, what), above=0.0)
        checks.number("restart_cost", self.restart_cost, low=0.0)
        for what in ("precision", "recall"):
            checks.number(what, getattr(self, what), above=0.0, high=1.0)
        for what, choices in CHOICES.items():
            checks.choice(f"value of {what}", getattr(self, what), choices)

    @property
    def load(self) -> float:
        """Offered load: size * run time / (gap * nodes)."""
        return self.size * self.runtime / (self.gap * NODES)

    def near(self, load: float) -> float:
        """The baseline's load in place of one that differs from it by rounding.

        Examples
        --------
        >>> Parameters().near(0.7) == Parameters().load, Parameters().near(0.8)
        (True, 0.8)
        """
        return self.load if abs(load - self.load) < 1e-3 else load

    def text(self) -> str:
        """All of it in a line."""
        return ", ".join(f"{field.name} {getattr(self, field.name)}" for field in fields(self))


@dataclass(frozen=True)
class Drawn:
    """Jobs and failures of section 5.2.1: the jobs do not depend on the failures, nor the failures on the load."""

    label: str
    uptimes: Uptimes
    parameters: Parameters
    seed: int
    real: bool = False
    estimates: Estimates = "actual"

    @property
    def text(self) -> str:
        """What is drawn."""
        p = self.parameters
        return (
            f"drawn separately for each replicate (seed {self.seed}): {p.jobs:,} jobs, exponential gaps of "
            f"{p.gap:g} s, run times of {p.runtime:g} s and sizes of {p.size:g} (rounded half up, at least 1); up "
            f"times {self.uptimes}, repairs exponential"
        )

    @property
    def count(self) -> int:
        """Number of jobs."""
        return self.parameters.jobs

    def log(self, replicate: int, load: float) -> Workload:
        """The same arrivals and sizes at every load."""
        p = self.parameters
        log = exponential(
            p.jobs,
            rng=np.random.default_rng([self.seed, _JOBS, replicate]),
            mean_gap=p.gap,
            mean_runtime=p.runtime,
            mean_size=p.size,
            max_size=NODES,
        )
        return log if load == p.load else log.with_runtime_factor(load / p.load)

    def failures(self, replicate: int, mtbf: float) -> FailureTrace:
        """Every node on its own, from new."""
        p = self.parameters
        return renewal_failures(
            NODES,
            _SPARE * p.jobs * p.gap,
            mtbf * DAY,
            p.mttr * HOUR,
            uptimes=self.uptimes,
            any_rate=True,
            rng=np.random.default_rng([self.seed, _FAILURES, replicate]),
        )


@dataclass(frozen=True)
class Real:
    """A job log with a failure record, both of which stay as they are but for node numbers and the record's begin."""

    jobs: Workload
    record: FailureTrace
    text: str
    real: bool
    seed: int
    label: str = "system trace"
    estimates: Estimates = "requested"

    @property
    def count(self) -> int:
        """Number of jobs."""
        return len(self.jobs)

    @property
    def load(self) -> float:
        """Offered load of the jobs on the machine."""
        return float(self.jobs.work.sum()) / (NODES * float(self.jobs.submit[-1] - self.jobs.submit[0]))

    def log(self, replicate: int, load: float) -> Workload:
        """Run times and estimates scaled."""
        return self.jobs.with_runtime_factor(load / self.load)

    def failures(self, replicate: int, mtbf: float) -> FailureTrace:
        """The record brought to an MTBF, from a random moment on, going round, its nodes shuffled."""
        rng = np.random.default_rng([self.seed, _TRACE, replicate])
        moment, shuffled = rng.random(), rng.permutation(NODES)
        span = _SPARE * float(self.jobs.submit[-1])
        once = self.record.with_span(mtbf * DAY * len(self.record) / NODES)
        laps = FailureTrace.concat([once] * (int(np.ceil(span / once.span)) + 1))
        coins = np.random.default_rng([self.seed, _TRACE, replicate, 1]).random(len(laps))
        begin = moment * once.span
        laps = FailureTrace(laps.time, laps.node, laps.downtime, coin=coins, span=laps.span, name=laps.name)
        return laps.window(begin, begin + span, under_way=True).map_nodes(NODES, shuffled)


#: Where the jobs and failures of a replicate come from.
Source = Drawn | Real


def resized(log: Workload, nodes: int) -> Workload:
    """A log of a machine of `nodes` nodes on 512: every size times 512 / nodes, rounded, at least 1.

    Examples
    --------
    >>> resized(Workload(submit=[0, 1, 2], runtime=[1, 1, 1], size=[1, 10, 338]), 338).size.tolist()
    [2, 15, 512]
    """
    columns: dict[str, Any] = dict(log.columns)
    columns["size"] = np.clip(np.floor(log.size * (NODES / nodes) + 0.5), 1, NODES).astype(np.int64)
    return Workload(**columns, name=log.name)


def load(data: str | Path | None, parameters: Parameters, *, seed: int, days: float = _TRACE_DAYS) -> dict[str, Source]:
    """The sources by name: "exp", "weibull" and "trace".

    Parameters
    ----------
    data : path or None
        Folder with the real log and the real record; what is not there is replaced by a stand-in.
    parameters : Parameters
        Of the drawn ones.
    seed : int
        Of all that is drawn.
    days : float
        How long the jobs of the trace are.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the files.
    """
    found = find_files(data, FILES)
    bathtub: Uptimes = "bathtub_per_gap" if parameters.bathtub == "per_gap" else "bathtub_per_node"
    jobs, what = _jobs(found.get("jobs"), days, seed)
    record, which = _record(found.get("failures"), seed)
    return {
        "exp": Drawn("exponential failures", "exponential", parameters, seed),
        "weibull": Drawn("bathtub failures", bathtub, parameters, seed),
        "trace": Real(jobs, record, f"{what}; failures: {which}", len(found) == len(FILES), seed),
    }


def _jobs(path: Path | None, days: float, seed: int) -> tuple[Workload, str]:
    if path is not None:
        log = read_swf(path)
        first = _FIRST_DAY * DAY  # the log begins with two jobs and then nothing for days
        inside = log[(log.submit >= first) & (log.submit < first + days * DAY) & (log.runtime > 0)]
        inside = _shifted(inside, first)
        text = f"{path.name}, {days:g} days from day {_FIRST_DAY:g}, sizes times {NODES} / {_BATCH_NODES}"
        jobs = resized(inside, _BATCH_NODES)
    else:
        count = round(43_000 * days / _TRACE_DAYS)
        log = sdsc_like(count, rng=np.random.default_rng([seed, _STAND_IN_JOBS]))
        jobs = resized(log, 128)
        jobs = jobs.with_gap_factor(days * DAY / float(jobs.submit[-1] - jobs.submit[0]))
        jobs = _shifted(jobs, float(jobs.submit[0]))
        text = f"built-in stand-in sdsc_like (seed {seed}) in {days:g} days, sizes times {NODES} / 128"
    loads = " and ".join(f"{value:g}" for value in TRACE_LOADS)
    return jobs, f"{text}: {len(jobs):,} jobs, run times scaled to loads of {loads}"


def _shifted(log: Workload, by: float) -> Workload:
    columns: dict[str, Any] = dict(log.columns)
    return Workload(**columns | {"submit": log.submit - by}, name=log.name)


def _record(path: Path | None, seed: int) -> tuple[FailureTrace, str]:
    if path is not None:
        record = read_lanl(path, _LANL_SYSTEM)
        text = f"{path.name}, system {_LANL_SYSTEM}"
    else:
        record = weibull_failures(
            NODES,
            1000 * DAY,
            0.7,
            50_000.0,
            window=32,
            zipf=0.5,
            permute=True,
            downtime=LognormalTimes(TRACE_MTTR * HOUR, 4 * TRACE_MTTR * HOUR),
            count=2_400,
            rng=np.random.default_rng([seed, _STAND_IN_FAILURES]),
        )
        text = f"built-in stand-in weibull_failures(shape .7, W = 32, Zipf .5), lognormal repairs (seed {seed})"
    own = NODES * record.span / len(record) / DAY, float(record.downtime.mean()) / HOUR
    scaled = record.downtime * (TRACE_MTTR / own[1])
    record = FailureTrace(record.time, record.node, scaled, coin=record.coin, span=record.span, name=record.name)
    return record, (
        f"{text}, {len(record):,} failures, its node MTBF of {own[0]:.0f} days and MTTR of {own[1]:.2f} h scaled to "
        f"{TRACE_MTBF} days and {TRACE_MTTR} h"
    )
