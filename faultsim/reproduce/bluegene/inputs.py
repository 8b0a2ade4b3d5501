"""The failure record of a real Blue Gene/L and the jobs that are run against it.

The record (LLNL, June 2005 to January 2006) names the midplane of every message.  A midplane is one supernode of 8x8x8
nodes and there are 128 of them, so they are the papers' 4x4x8 torus; where each lies on it is not in the data, and any
map is an assumption:

natural
    Rack R<row><column>, midplane M<0 or 1>: node (row * 8 + column) * 2 + midplane.  So a row of racks, 16 midplanes
    that share power and cooling, is a box of 1x2x8 supernodes.
permuted
    A random permutation, another one in each replicate.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from faultsim.arrays import Indices
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.readers.bluegene_ras import read_bluegene_ras
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import JobLog, find_files
from faultsim.reproduce.krevat2002 import inputs as krevat
from faultsim.reproduce.oliner2004.inputs import NODES, nasa_like_cleaned
from faultsim.synthetic import sdsc_like, weibull_failures

FILES = {"ras": "Best.all-fail", **krevat.FILES}
MAPS = ("natural", "permuted")
#: Messages of one midplane closer than this are one failure (seconds).
GAP = 600.0
_DAY = 86_400.0


@dataclass(frozen=True)
class Record:
    """A failure record: midplanes as nodes in natural order, time from 0 to its span, down time 0."""

    name: str
    trace: FailureTrace
    real: bool
    text: str

    @property
    def label(self) -> str:
        """``"failures"`` with its name."""
        return f"failures, {self.name}"


class Jobs(JobLog):
    """A job log that begins again where it ends."""

    @property
    def period(self) -> float:
        """After how many seconds the log begins again: its span and one mean gap."""
        return self.span * len(self.log) / max(len(self.log) - 1, 1)

    @property
    def load(self) -> float:
        """Offered load of the endless repetition of the log on 128 nodes."""
        return float(self.log.work.sum()) / (NODES * self.period)


def aligned(jobs: Jobs, share: float, span: float, load: float) -> Workload:
    """The jobs of `span` seconds from `share` of the log on, beginning again where it ends, at an offered load.

    Arrivals keep their times; run times are scaled by the ratio of the wanted load to that of the whole log.

    Examples
    --------
    >>> log = Workload(submit=[0, 10, 20], runtime=[64, 64, 64], size=[2, 4, 2])
    >>> part = aligned(Jobs("sdsc", log, False, ""), 0.5, 40.0, 0.1)
    >>> part.submit, part.size
    (array([ 5., 15., 25., 35.]), array([2, 2, 4, 2], dtype=int32))
    """
    log, begin = jobs.log, share * jobs.period
    laps = int(np.ceil((begin + span) / jobs.period)) + 1
    submit = (np.arange(laps)[:, None] * jobs.period + (log.submit - log.submit[0])).ravel() - begin
    rows = np.flatnonzero((submit >= 0) & (submit < span))
    source: Indices = rows % len(log)
    return Workload(
        submit=submit[rows],
        runtime=log.runtime[source] * (load / jobs.load),
        size=log.size[source],
        user=log.user[source],
        name=log.name,
    )


def mapped(record: Record, map_name: str, replicate: int, *, seed: int) -> FailureTrace:
    """The record on the torus under one of `MAPS`."""
    if map_name == "natural":
        return record.trace
    shuffled = np.random.default_rng([seed, replicate, 0xB61]).permutation(NODES)
    return record.trace.map_nodes(NODES, shuffled)


def load(data: str | Path | None, *, seed: int) -> tuple[dict[str, Record], dict[str, Jobs]]:
    """Failure records by name and job logs by name; what is not in the folder `data` is replaced by a stand-in.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the files.
    """
    found = find_files(data, FILES)
    logs = {name: jobs_named(name, found.get(name), seed) for name in ("sdsc", "nasa")}
    return _records(found.get("ras"), seed), logs


def _records(path: Path | None, seed: int) -> dict[str, Record]:
    if path is None:
        trace = weibull_failures(
            NODES,
            212 * _DAY,
            shape=0.7,
            scale=30_000.0,
            count=537,
            window=32,
            zipf=0.5,
            permute=True,
            burst=1.6,
            downtime=0.0,
            rng=np.random.default_rng([seed, 0xB6]),
        )
        text = f"built-in stand-in: weibull_failures(shape .7, W = 32, Zipf .5, bursts of 1.6) (seed {seed})"
        return {"hardware": _record("hardware", trace, False, text)}
    records: dict[str, Record] = {}
    readings: tuple[tuple[Literal["hardware", "all"], str], ...] = (
        ("hardware", "without file system and job errors"),
        ("all", "all messages"),
    )
    for name, words in readings:
        trace = read_bluegene_ras(path, level="midplane", gap=GAP, kinds=name)
        records[name] = _record(name, trace, True, f"{path.name}, {words}, merged over {GAP:g} s")
    return records


def _record(name: str, trace: FailureTrace, real: bool, text: str) -> Record:
    days = trace.span / _DAY
    text += f": {len(trace):,} failures of {len(np.unique(trace.node))} midplanes in {days:.1f} days"
    return Record(name, trace, real, text)


def jobs_named(name: str, path: Path | None, seed: int) -> Jobs:
    """The jobs of a log, or of the stand-in for ``"sdsc"`` or ``"nasa"``."""
    if path is not None:
        log, text = read_swf(path), path.name
    elif name == "sdsc":
        log, text = (
            sdsc_like(54_044, rng=np.random.default_rng([seed, 3])),
            f"built-in stand-in sdsc_like (seed {seed})",
        )
    else:
        log = nasa_like_cleaned(np.random.default_rng([seed, 1]))
        text = f"built-in stand-in nasa_like without its one-node checks (seed {seed})"
    jobs = Jobs(name, log, path is not None, text)
    text += f": {len(log):,} jobs in {jobs.period / _DAY:.1f} days, offered load {jobs.load:.2f}"
    return Jobs(name, log, path is not None, text)
