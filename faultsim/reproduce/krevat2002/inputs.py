"""The two logs of [krevat2002]: the real 10,000-job spans where the user has them, else built-in stand-ins."""

from pathlib import Path

import numpy as np

from faultsim.readers.krevat import krevat_span
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import JobLog, find_file, find_files, headed
from faultsim.synthetic import nasa_like, sdsc_like

FILES = {"nasa": "NASA-iPSC-1993-3.1-cln.swf", "sdsc": "SDSC-SP2-1998-4.2-cln.swf"}
NODES = 128


def find_log(folder: str | Path, name: str) -> Path | None:
    """The file of log `name` ("nasa", "sdsc") in `folder` or its folder ``swf``; None when it is not there.

    Examples
    --------
    >>> find_log("/nowhere", "nasa") is None
    True
    """
    return find_file(folder, FILES[name])


def load(data: str | Path | None, *, jobs: int | None, seed: int) -> dict[str, JobLog]:
    """Both logs, `jobs` jobs of each (all 10,000 when None).

    Parameters
    ----------
    data : path or None
        Folder with the real logs. A log that is not there is replaced by its stand-in, which its `JobLog` says.
    jobs : int or None
        Keep the first so many.
    seed : int
        Seed of the stand-ins.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the logs.
    """
    found = find_files(data, FILES)
    sources: dict[str, JobLog] = {}
    for name, make in (("nasa", nasa_like), ("sdsc", sdsc_like)):
        if name in found:
            log = krevat_span(read_swf(found[name]), name)
            text = f"{found[name].name}, the span of Table 1"
        else:
            log = make(10_000, rng=np.random.default_rng([seed, len(sources)]))
            text = f"built-in stand-in {name}_like (seed {seed})"
        log, text = headed(log, text, jobs=jobs, nodes=NODES)
        sources[name] = JobLog(name, log, name in found, text)
    return sources
