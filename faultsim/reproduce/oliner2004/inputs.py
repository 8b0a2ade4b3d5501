"""The job logs and failure traces of [oliner2004].

The paper names its logs but not their spans, and its failure trace (one year of a 350-node cluster) was never public.
What is used instead was fixed before the runs of this program, by trial runs of others, partly because it fits the
paper's 70 % (O2) and its axes (O9):

SDSC
    The 10,000 jobs of Krevat's Table 1, which the paper builds on; all of the log where 1,000 failures are to be one
    in four days.
NASA
    All of the cleaned log.
LLNL
    The T3D log is not public here: the user's file, else a stand-in.  Its 256 nodes are halved upward onto 128.
Failures
    Bursts over several nodes, as the paper describes its trace: times Weibull with shape .55 in windows of 32,
    locations Zipf with exponent .5 over shuffled nodes.  One trace of the largest count a replicate, thinned to
    smaller ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.readers.krevat import krevat_span
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import JobLog, find_files, headed
from faultsim.reproduce.krevat2002 import inputs as krevat
from faultsim.synthetic import llnl_like, nasa_like, sdsc_like, weibull_failures

NODES = 128
FILES: dict[str, tuple[str, ...]] = {
    "sdsc": (krevat.FILES["sdsc"],),
    "nasa": (krevat.FILES["nasa"],),
    "llnl": ("LLNL-T3D-1996-2.swf", "LLNL-T3D-1996-2-cln.swf"),
}
_DAY = 86_400.0
#: Jobs of the stand-ins, so many as the logs have.
_SDSC_ALL, _NASA_ALL, _LLNL_ALL = 54_044, 18_239, 22_779
_NASA_LOAD = 0.47


@dataclass(frozen=True)
class Bursts:
    """How failures are drawn: so many, in bursts of so many nodes on average."""

    count: int
    nodes: float


#: The paper's counts (section 6.2), in bursts of about eight nodes; and one burst in four days (section 1).
TRACES = {
    "sdsc": Bursts(4000, 8.0),
    "nasa": Bursts(4000, 8.0),
    "llnl": Bursts(1000, 8.0),
    "sdsc-all": Bursts(1000, 5.5),
}


def halved(log: Workload) -> Workload:
    """A log of a 256-node machine on 128 nodes: sizes halved, odd ones upward.

    Examples
    --------
    >>> halved(Workload(submit=[0, 1, 2], runtime=[1, 1, 1], size=[1, 3, 256])).size.tolist()
    [1, 2, 128]
    """
    return Workload(
        submit=log.submit,
        runtime=log.runtime,
        size=(log.size + 1) // 2,
        estimate=log.estimate,
        id=log.id,
        user=log.user,
        name=log.name,
    )


def nasa_like_cleaned(rng: np.random.Generator) -> Workload:
    """The stand-in without the one-node checks, which the cleaned log does not have either, at that log's load."""
    log = nasa_like(round(_NASA_ALL / 0.3865), rng=rng)
    without: Workload = log[log.user != 0]
    return without.with_load(_NASA_LOAD, nodes=NODES)


_STAND_INS: dict[str, tuple[str, Callable[[np.random.Generator], Workload]]] = {
    "sdsc": ("sdsc_like", lambda rng: sdsc_like(10_000, rng=rng)),
    "sdsc-all": ("sdsc_like", lambda rng: sdsc_like(_SDSC_ALL, rng=rng)),
    "nasa": ("nasa_like without its one-node checks", nasa_like_cleaned),
    "llnl": ("llnl_like, sizes halved", lambda rng: halved(llnl_like(_LLNL_ALL, rng=rng))),
}


def load(data: str | Path | None, *, llnl: str | Path | None, jobs: int | None, seed: int) -> dict[str, JobLog]:
    """The four logs, `jobs` jobs of each (all when None).

    Parameters
    ----------
    data : path or None
        Folder with the real logs.  A log that is not there is replaced by its stand-in, which its `JobLog` says.
    llnl : path or None
        The user's LLNL-T3D log (SWF); by default the one in `data`, if there is one.
    jobs : int or None
        Keep the first so many.
    seed : int
        Seed of the stand-ins.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the logs; `llnl` is not a file.
    InputError
        A log has a job of more than 128 nodes (LLNL: 256).
    """
    found = find_files(data, FILES)
    if llnl is not None:
        if not Path(llnl).is_file():
            raise OptionError(f"--llnl {llnl}: no such file")
        found["llnl"] = Path(llnl)
    read = {name: read_swf(path) for name, path in found.items()}
    sources: dict[str, JobLog] = {}
    for number, name in enumerate(("sdsc", "nasa", "llnl", "sdsc-all")):
        place = name.removesuffix("-all")
        if place in found:
            log, text = _real(name, read[place], found[place].name)
        else:
            words, make = _STAND_INS[name]
            log, text = make(np.random.default_rng([seed, number])), f"built-in stand-in {words} (seed {seed})"
        log, text = headed(log, text, jobs=jobs, nodes=NODES)
        text += f": {len(log):,} jobs in {(log.submit[-1] - log.submit[0]) / _DAY:.1f} days"
        sources[name] = JobLog(name, log, place in found, text)
    return sources


def _real(name: str, log: Workload, file: str) -> tuple[Workload, str]:
    if name == "sdsc":
        return krevat_span(log, "sdsc"), f"{file}, the span of Krevat's Table 1"
    if name == "llnl":
        return halved(log), f"{file}, sizes halved upward"
    return log, f"{file}, all of it"


def failures(source: JobLog, replicate: int, *, seed: int, bursts: float | None = None) -> FailureTrace:
    """The failures of one replicate: all of them, from the log's first arrival to its last.

    `bursts` are of so many nodes on average, by default those of `TRACES`.

    What is drawn depends only on log, replicate and seed, so every policy meets the same failures.
    """
    kind = TRACES[source.name]
    rng = np.random.default_rng([seed, sorted(TRACES).index(source.name), replicate, 0xF411])
    begin, span = float(source.log.submit[0]), max(source.span, 1.0)
    drawn = weibull_failures(
        NODES,
        span,
        shape=0.55,
        scale=18_000.0,
        count=kind.count,
        window=32,
        zipf=0.5,
        permute=True,
        burst=kind.nodes if bursts is None else bursts,
        downtime=0.0,
        rng=rng,
    )
    return FailureTrace(drawn.time + begin, drawn.node, drawn.downtime, coin=drawn.coin, span=begin + span)
