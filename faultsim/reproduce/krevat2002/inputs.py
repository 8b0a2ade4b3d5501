"""The two logs of [krevat2002]: the real 10,000-job spans where the user has them, else built-in look-alikes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faultsim.data.workload import Workload
from faultsim.errors import InputError
from faultsim.readers.krevat import krevat_span
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import find_file, find_files
from faultsim.synthetic import nasa_like, sdsc_like

__all__ = ["FILES", "Source", "find_log", "load"]

FILES = {"nasa": "NASA-iPSC-1993-3.1-cln.swf", "sdsc": "SDSC-SP2-1998-4.2-cln.swf"}
LABELS = {"nasa": "NASA", "sdsc": "SDSC"}
NODES = 128


@dataclass(frozen=True)
class Source:
    """One of the two logs, and where it comes from."""

    name: str
    log: Workload
    real: bool
    text: str

    @property
    def label(self) -> str:
        """``"NASA"`` or ``"SDSC"``, with ``"-like"`` for a look-alike."""
        return LABELS[self.name] + ("" if self.real else "-like")


def find_log(folder: str | Path, name: str) -> Path | None:
    """The file of log `name` ("nasa", "sdsc") in `folder` or its folder ``swf``; None when it is not there.

    Examples
    --------
    >>> find_log("/nowhere", "nasa") is None
    True
    """
    return find_file(folder, FILES[name])


def load(data: str | Path | None, *, jobs: int | None, seed: int) -> dict[str, Source]:
    """Both logs, `jobs` jobs of each (all 10,000 when None).

    Parameters
    ----------
    data : path or None
        Folder with the real logs. A log that is not there is replaced by its look-alike, which its `Source` says.
    jobs : int or None
        Keep the first so many.
    seed : int
        Seed of the look-alikes.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the logs.
    """
    found = find_files(data, FILES)
    sources: dict[str, Source] = {}
    for name, make in (("nasa", nasa_like), ("sdsc", sdsc_like)):
        if name in found:
            log = krevat_span(read_swf(found[name]), name)
            text = f"{found[name].name}, the span of Table 1"
        else:
            log = make(10_000, np.random.default_rng([seed, len(sources)]))
            text = f"built-in look-alike {name}_like (seed {seed})"
        if jobs is not None and jobs < len(log):
            log = log.head(jobs)
            text += f", first {jobs:,} jobs"
        if int(log.size.max()) > NODES:
            raise InputError(f"{text}: a job of {int(log.size.max())} nodes does not fit {NODES}")
        sources[name] = Source(name, log, name in found, text)
    return sources
