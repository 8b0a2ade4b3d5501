"""The records that are replayed: StepFun's faults of 400 servers on a pod of 25 cubes, Titan's on a torus (`titan`).

StepFun's record does not say where its servers stand.  That they are 25 cubes of 16 servers, wired as 5x5x1, and which
server is in which cube, are assumptions: each replicate spreads them at random.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.readers.stepfun import read_stepfun
from faultsim.readers.titan import read_titan
from faultsim.reproduce.bluegene.inputs import Jobs, jobs_named
from faultsim.reproduce.data_files import find_files
from faultsim.reproduce.krevat2002 import inputs as krevat
from faultsim.reproduce.pods.queues import DAY
from faultsim.reproduce.pods.titan import in_cages
from faultsim.reproduce.report import Input, job_logs
from faultsim.synthetic import renewal_failures, weibull_failures

FILES = {"stepfun": "fault_trace.json", "titan": "gc_full.csv", "sdsc": krevat.FILES["sdsc"]}
#: Servers of StepFun's record, and their cubes.
SERVERS, EXTENTS = 400, (5, 5, 1)


@dataclass(frozen=True)
class Record:
    """A failure record."""

    name: str
    label: str
    trace: FailureTrace
    real: bool
    text: str


def load(data: str | Path | None, *, seed: int) -> dict[str, Record]:
    """The records by name; what is not in the folder `data` is replaced by a stand-in.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the files.
    """
    found = find_files(data, FILES)
    return {"stepfun": _stepfun(found.get("stepfun"), seed), "titan": _titan(found.get("titan"), seed)}


def load_jobs(data: str | Path | None, *, seed: int) -> Jobs:
    """The jobs on Titan's torus: those of the SDSC log, or of a stand-in."""
    return jobs_named("sdsc", find_files(data, FILES).get("sdsc"), seed)


def _stepfun(path: Path | None, seed: int) -> Record:
    if path is not None:
        trace, text = read_stepfun(path), path.name
    else:
        rng = np.random.default_rng([seed, 0x57E9])
        trace = renewal_failures(SERVERS, 348 * DAY, 238 * DAY, 5.5 * DAY, rng=rng)
        text = f"built-in stand-in: renewal_failures(400, 348 days, 238 days, 5.5 days) (seed {seed})"
    up = trace.summary(SERVERS)["availability"]
    text += f": {len(trace):,} faults of {SERVERS} servers in {trace.span / DAY:.0f} days, {100 * up:.1f} % up"
    return Record("stepfun", "StepFun", trace, path is not None, text)


def _titan(path: Path | None, seed: int) -> Record:
    if path is not None:
        trace, text = in_cages(read_titan(path)), path.name
    else:
        rng = np.random.default_rng([seed, 0x717A])
        trace = weibull_failures(
            600, 2016 * DAY, 0.7, 30_000.0, count=6340, window=32, zipf=0.5, permute=True, downtime=0.0, rng=rng
        )
        text = f"built-in stand-in: weibull_failures(shape .7, W = 32, Zipf .5) (seed {seed})"
    text += f": {len(trace):,} failures of {len(np.unique(trace.node))} of 600 cages in {trace.span / DAY:.0f} days"
    return Record("titan", "Titan", trace, path is not None, text)


def placed(record: Record, replicate: int, *, seed: int) -> FailureTrace:
    """StepFun's servers spread over the cubes, at random."""
    return record.trace.map_nodes(SERVERS, "permute", rng=np.random.default_rng([seed, replicate, 0x5F]))


def inputs_of(records: Iterable[Record], jobs: Jobs) -> list[Input]:
    """For the page."""
    found = [Input(r.name, r.label, r.text, r.real, len(r.trace), "failures") for r in records]
    return [*found, *job_logs([jobs])]
