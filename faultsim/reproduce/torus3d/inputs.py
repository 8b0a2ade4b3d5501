"""The logs of the study, cut into windows and scaled to a torus and an offered load."""

from pathlib import Path

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import JobLog, find_files
from faultsim.synthetic import sdsc_like, weibull_failures

FILES = {
    "sdsc": "SDSC-SP2-1998-4.2-cln.swf",
    "mira": "mira_walltime.swf",
    "curie": "CEA-Curie-2011-2.1-cln.swf",
}
#: What sizes of a log are scaled from: nodes of its machine (of Curie cores); of Mira, which has 49,152, the next power
#: of two, so that its powers of two stay such.
NODES = {"sdsc": 128, "mira": 65_536, "curie": 80_640}
_LABELS = {"sdsc": "SDSC", "mira": "Mira", "curie": "Curie"}
_STAND_IN_JOBS = 12_000
_HOUR = 3_600.0
#: Mean time between the failures of a node, in seconds.
MTBF = 50 * 24 * _HOUR


class Jobs(JobLog):
    """A job log, and how many nodes its machine has."""

    @property
    def label(self) -> str:
        """``"SDSC"`` and so on, with ``"-like"`` for a stand-in."""
        return _LABELS[self.name] + ("" if self.real else "-like")

    @property
    def nodes(self) -> int:
        """What sizes of the log are scaled from."""
        return NODES[self.name] if self.real else NODES["sdsc"]


def load(data: str | Path | None, *, seed: int) -> dict[str, Jobs]:
    """Job logs by name; what is not in the folder `data` is replaced by a stand-in.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the files.
    """
    found = find_files(data, FILES)
    return {name: _jobs(name, found.get(name), seed) for name in FILES}


def _jobs(name: str, path: Path | None, seed: int) -> Jobs:
    if path is not None:
        log, text = read_swf(path), path.name
    else:
        log = sdsc_like(_STAND_IN_JOBS, rng=np.random.default_rng([seed, list(FILES).index(name)]))
        text = f"built-in stand-in sdsc_like (seed {seed})"
        if name == "mira":
            log = Workload(log.submit, log.runtime, 2 ** np.ceil(np.log2(log.size)).astype(int), estimate=log.estimate)
            text += ", sizes rounded up to powers of two"
    return Jobs(name, log, path is not None, f"{text}: {len(log):,} jobs, sizes to {int(log.size.max()):,}")


def window(jobs: Jobs, share: float, count: int, nodes: int, offered: float) -> Workload:
    """`count` jobs from `share` of the log on, on `nodes` nodes at an offered load; at load 0 all arrive at once.

    Sizes are those of the log times the ratio of the machines, rounded up.  Times between arrivals are scaled.

    Examples
    --------
    >>> log = Workload(submit=[0, 10, 20, 30], runtime=[64, 64, 64, 64], size=[2, 4, 3, 128])
    >>> part = window(Jobs("sdsc", log, False, ""), 0.25, 2, 256, 0.5)
    >>> part.size, part.submit
    (array([8, 6], dtype=int32), array([0., 7.]))
    """
    first = min(int(share * len(jobs.log)), len(jobs.log) - count)
    log = jobs.log
    rows = slice(first, first + count)
    size = np.minimum(-(-log.size[rows].astype(np.int64) * nodes // jobs.nodes), nodes)
    runtime = np.maximum(log.runtime[rows], 1.0)
    submit = log.submit[rows] - log.submit[first]
    if not offered:
        submit = np.zeros(count)
    else:
        span = float((size * runtime).sum()) / (nodes * offered)
        submit = submit * (span / max(float(submit[-1]), 1.0))
    return Workload(submit, runtime, size, estimate=np.maximum(log.estimate[rows], runtime), name=log.name)


def failures(kind: str, nodes: int, span: float, replicate: int, seed: int) -> FailureTrace | None:
    """``"none"``, or single failures or bursts with the hours that repairs take: ``"single 1 h"``, ``"burst 24 h"``."""
    if kind == "none":
        return None
    form, hours, _ = kind.split()
    count = max(1, round(nodes * span / MTBF))
    return weibull_failures(
        nodes,
        span,
        shape=0.7,
        scale=span / count,
        count=count,
        burst=8.0 if form == "burst" else None,
        permute=True,
        downtime=float(hours) * _HOUR,
        rng=np.random.default_rng([seed, replicate, 0x3D]),
    )
