"""What the experiments of [zhang2004] run on: the Hyper-Erlang workload, a real log beside it, and failures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from faultsim.arrays import Values
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import InputError
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import find_files
from faultsim.reproduce.zhang2004.fit import CTC, FITTED_JOBS, NODES
from faultsim.synthetic import hyper_erlang, weibull_failures

FILE = "CTC-SP2-1996-3.1-cln.swf"
DAY = 86_400.0
#: Days of workload: what 78, 138, 198 and 266 failures at 1.2, 2.2, 3.2 and 4.3 a day last (65.0, 62.7, 61.9, 61.9).
DAYS = 62.0
#: The real log begins with two jobs and then nothing for days; its 62 days begin here.
_FIRST_DAY = 3.5
#: Table 1: shape -> number of failures.
COUNTS = {0.2: 78, 0.55: 138, 0.65: 198, 0.85: 266}
SCALE = 18_000.0
# Purposes of random streams (model.md#streams): a stream is (seed, purpose, replicate).
_JOBS, _FAILURES, _RENEWALS = 0, 1, 2


@dataclass(frozen=True)
class Kind:
    """What kind of failures: the settings of section 3.2.

    Parameters
    ----------
    shape : float
        Of the Weibull distribution of the times between failures; the number of failures is Table 1's.
    window : int
        W: how many times between failures are sorted together (2: none).
    zipf : float
        Skewness alpha of the locations; node 0 fails most.
    downtime : float
        Seconds.
    """

    shape: float = 0.85
    window: int = 2
    zipf: float = 0.01
    downtime: float = 120.0


@dataclass(frozen=True)
class Source:
    """A workload of the experiments: one log per replicate, and where it comes from."""

    name: str
    label: str
    text: str
    real: bool
    logs: Sequence[Workload]

    def log(self, replicate: int) -> Workload:
        """The jobs of a replicate: drawn separately for each, or the same real ones."""
        return self.logs[replicate % len(self.logs)]


def load(data: str | Path | None, *, replicates: int, seed: int, days: float = DAYS) -> dict[str, Source]:
    """The workloads: "fit" always, "ctc" where `data` has the log.

    Parameters
    ----------
    data : path or None
        Folder with the real log.
    replicates : int
        How many workloads to draw from the fit.
    seed : int
        Seed of the draws.
    days : float
        How long the workloads are.

    Raises
    ------
    OptionError
        `data` is not a folder, or does not hold the log.
    """
    logs = [_drawn(np.random.default_rng([seed, _JOBS, replicate]), days) for replicate in range(replicates)]
    sources = {
        "fit": Source(
            "fit",
            "Hyper-Erlang",
            f"Hyper-Erlang fit of {FITTED_JOBS:,} jobs of the CTC SP2, sizes capped at {NODES}, {days:g} days, drawn "
            f"separately for each of {replicates} replicates (seed {seed})",
            False,
            logs,
        )
    }
    if data is None:
        return sources
    path = find_files(data, {"ctc": FILE})["ctc"]
    real = _capped(_span(read_swf(path), days))
    text = f"{path.name}, {days:g} days from day {_FIRST_DAY:g}, sizes capped at {NODES}; {replicates} failure traces"
    sources["ctc"] = Source("ctc", "CTC SP2", text, True, [real])
    return sources


def _drawn(rng: np.random.Generator, days: float) -> Workload:
    """The arrivals of the first `days` days of the fit."""
    rate = sum(1 / group.gaps.moments()[0] for group in CTC.classes)
    log = hyper_erlang(int(1.5 * rate * days * DAY), rng=rng, model=CTC)
    if log.submit[-1] < days * DAY:  # gaps vary, but not by a half over weeks
        raise InputError(f"the Hyper-Erlang workload ends after {log.submit[-1] / DAY:.1f} of {days:g} days")
    return log[log.submit < days * DAY]


def shortened(
    data: str | Path | None, by: float, *, replicates: int, seed: int, days: float = DAYS
) -> dict[str, Source]:
    """The workloads of `load` with jobs that are `by` times as long and come so much faster: at the same load."""
    sources = load(data, replicates=replicates, seed=seed, days=days / by)
    return {
        name: replace(
            source,
            logs=[_replaced(log, submit=by * log.submit, runtime=by * log.runtime) for log in source.logs],
        )
        for name, source in sources.items()
    }


def _span(log: Workload, days: float) -> Workload:
    first = _FIRST_DAY * DAY
    inside = log[(log.submit >= first) & (log.submit < first + days * DAY) & (log.runtime > 0)]
    return _replaced(inside, submit=inside.submit - first)


def _capped(log: Workload) -> Workload:
    return _replaced(log, size=np.minimum(log.size, NODES))


def _replaced(log: Workload, **changed: Values) -> Workload:
    columns: dict[str, Any] = dict(log.columns) | changed
    return Workload(**columns, name=log.name)


def failures(kind: Kind, *, seed: int, replicate: int, days: float = DAYS) -> FailureTrace:
    """The failures of a replicate: as many as Table 1 says for the shape (in proportion for other spans).

    All kinds share a stream, so that kinds that differ in one setting differ in nothing else.
    """
    count = max(1, round(COUNTS[kind.shape] * days / DAYS))
    return weibull_failures(
        nodes=NODES,
        span=days * DAY,
        shape=kind.shape,
        scale=SCALE,
        window=kind.window,
        zipf=kind.zipf,
        downtime=kind.downtime,
        count=count,
        rng=np.random.default_rng([seed, _FAILURES, replicate]),
    )


def renewal_counts(seed: int, *, days: float = DAYS, draws: int = 2000) -> dict[float, tuple[float, float, float]]:
    """How many failures a Weibull renewal process gives: shape -> 5 % quantile, mean, 95 % quantile of `draws`."""
    found = {}
    for number, shape in enumerate(COUNTS):
        rng = np.random.default_rng([seed, _RENEWALS, number])
        counts, clocks = np.zeros(draws), np.zeros(draws)
        while (alive := clocks < days * DAY).any():
            clocks[alive] += SCALE * rng.weibull(shape, int(alive.sum()))
            counts += clocks < days * DAY
        low, high = np.quantile(counts, (0.05, 0.95))
        found[shape] = (float(low), float(counts.mean()), float(high))
    return found
