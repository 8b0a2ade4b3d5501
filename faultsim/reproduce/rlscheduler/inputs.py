"""RLScheduler's logs, its ten sequences of jobs, and the table that it publishes."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.readers.swf import read_swf
from faultsim.reproduce.data_files import JobLog, find_files
from faultsim.synthetic import lublin, sdsc_like

FILES = {"lublin": "lublin_256.swf", "sdsc": "SDSC-SP2-1998-4.2-cln.swf"}
NODES = {"lublin": 256, "sdsc": 128}
#: Without backfilling and with it: mean bounded slowdown by policy, of README.md of DIR-LAB/deep-batch-scheduler.
PUBLISHED: Mapping[tuple[str, bool], Mapping[str, float]] = {
    ("lublin", False): {
        "FCFS": 7273.77, "WFP3": 19753.53, "UNICEF": 22274.74, "SJF": 277.35, "F1": 258.37, "RL": 254.67,
    },
    ("lublin", True): {"FCFS": 235.82, "WFP3": 133.87, "UNICEF": 307.23, "SJF": 73.31, "F1": 75.07, "RL": 58.64},
    ("sdsc", False): {
        "FCFS": 1727.54, "WFP3": 3000.88, "UNICEF": 1848.45, "SJF": 2680.55, "F1": 1232.06, "RL": 466.44,
    },
    ("sdsc", True): {
        "FCFS": 1595.12, "WFP3": 1083.12, "UNICEF": 548.01, "SJF": 2167.84, "F1": 1098.22, "RL": 397.82,
    },
}  # fmt: skip
#: The same, of an independent program with the published rules and the time that jobs have waited.
WITH_WAIT: Mapping[tuple[bool, str], float] = {
    (False, "WFP3"): 337.34, (False, "UNICEF"): 381.71, (True, "WFP3"): 126.50, (True, "UNICEF"): 103.10,
}  # fmt: skip


def old_gym_generator(seed: int) -> np.random.RandomState:
    """The generator that old versions of gym make of a seed.

    Examples
    --------
    >>> [int(old_gym_generator(1).randint(1024, 8975)) for _ in range(2)]
    [1981, 1981]
    """
    digest = hashlib.sha512(str(seed).encode()).digest()[:8] + bytes(4)
    whole, words = int.from_bytes(digest, "little"), []
    while whole:
        whole, word = divmod(whole, 1 << 32)
        words.append(word)
    return np.random.RandomState(words)


def sequences(log: Workload, count: int, length: int) -> list[Workload]:
    """The first so many of its sequences, for its seed of 1; fewer jobs than its 1,024 in each for tests."""
    if len(log) < 2 * length + 2:
        raise OptionError(f"{log.name}: {len(log):,} jobs are too few for sequences of {length:,}: need twice as many")
    generator = old_gym_generator(1)
    starts = [int(generator.randint(length, len(log) - length - 1)) for _ in range(count)]
    return [log[start : start + length] for start in starts]


def load(data: str | Path | None, *, seed: int) -> dict[str, JobLog]:
    """Both logs; what is not in the folder `data` is replaced by a stand-in.

    A size is the larger of those allocated and requested; jobs of run time 0 are left out.

    Raises
    ------
    OptionError
        `data` is not a folder, or holds none of the logs.
    """
    found = find_files(data, FILES)
    return {name: _read(name, found[name]) if name in found else _stand_in(name, seed) for name in FILES}


def _read(name: str, path: Path) -> JobLog:
    log, allocated = (read_swf(path, size=which) for which in ("requested", "allocated"))
    larger = np.maximum(log.size, allocated.size)
    whole = Workload(submit=log.submit, runtime=log.runtime, size=larger, estimate=log.estimate, name=log.name)
    return _ready(name, whole, True, path.name)


def _stand_in(name: str, seed: int) -> JobLog:
    if name == "lublin":
        log = lublin(10_000, rng=np.random.default_rng([seed, 0x256]), nodes=256)
        return _ready(name, log, False, f"built-in stand-in lublin (seed {seed})")
    log = sdsc_like(54_044, rng=np.random.default_rng([seed, 3]))
    return _ready(name, log, False, f"built-in stand-in sdsc_like (seed {seed})")


def _ready(name: str, log: Workload, real: bool, text: str) -> JobLog:
    log = log[log.runtime > 0]
    return JobLog(name, log, real, f"{text}: {len(log):,} jobs with a run time and a size")
