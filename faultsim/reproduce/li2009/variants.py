"""The baseline of [li2009] under other readings and parameters: what the choices that we made do to it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.reproduce.li2009.inputs import Drawn, Parameters
from faultsim.reproduce.li2009.runs import COLUMNS, EASY, key, run
from faultsim.reproduce.study import simulated

#: Name -> parameters that differ from the baseline's.
VARIANTS: dict[str, Mapping[str, Any]] = {
    "as it is": {},
    "suspicious nodes used as any other": {"suspicious": "ignore"},
    "the same, recall .6": {"suspicious": "ignore", "recall": 0.6},
    "live migration": {"live": True},
    "a tick every 30 min": {"interval": 1800.0},
    "residual: difference": {"residual": "difference"},
    "MTTR 12 h": {"mttr": 12.0},
    "MTTR 9 h, run time 16,000 s, gap 446.4 s": {"mttr": 9.0, "runtime": 16_000.0, "gap": 446.4},
    "checkpoint and restart of 5 min": {"checkpoint_cost": 300.0, "restart_cost": 300.0},
    "printed run time of 1,500 s": {"runtime": 1_500.0},
}
_METHODS = (EASY, "SUL-D")
Columns = dict[str, NDArray[np.float64]]


def variants(parameters: Parameters, *, replicates: int, seed: int, workers: int) -> dict[str, dict[str, Columns]]:
    """Columns over the replicates of EASY and SUL-D under exponential failures, by variant."""
    tasks = []
    for words in VARIANTS.values():
        p = replace(parameters, **words)
        source = Drawn("", "exponential", p, seed)
        for replicate in range(replicates):
            log, trace = source.log(replicate, p.load), source.failures(replicate, p.mtbf)
            for method in _METHODS:
                k = key("exp", p.load, p.mtbf, method, p.precision, p.recall)
                tasks.append(run(log, trace, k, p, estimates=source.estimates, seed=1000 * seed + replicate))
    results = simulated(tasks, lambda task: task, batch=16 * workers, workers=workers)
    rows = [[float(result.metrics[name]) for name in COLUMNS] for _, result in results]
    table = np.array(rows).reshape(len(VARIANTS), replicates, len(_METHODS), len(COLUMNS))
    return {
        name: {method: dict(zip(COLUMNS, table[at, :, which].T, strict=True)) for which, method in enumerate(_METHODS)}
        for at, name in enumerate(VARIANTS)
    }
